"""stickslip.jax: the bits of `stickslip.solve` under jit, vmap and scan, and what it refuses."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from batches import LAWS, NAMES, ROOT, batch, examples_of, first

import stickslip
from stickslip import SolveOptions, Status, _core

jax = pytest.importorskip("jax", reason="JAX is in the extra `jax`")
if not _core.jax_targets():
    pytest.skip("built where JAX was not installed", allow_module_level=True)

import jax.numpy as jnp  # noqa: E402

from stickslip import jax as adapter  # noqa: E402

pytestmark = pytest.mark.usefixtures("float64")
FIELDS = ("impulse", "status", "iterations")


def arrays(arguments):
    return {
        key: jnp.asarray(value) if isinstance(value, np.ndarray) else value
        for key, value in arguments.items()
    }


def split(arguments):
    """Arrays, which JAX traces, and the rest, which it does not."""
    traced = {k: v for k, v in arguments.items() if isinstance(v, jax.Array)}
    return traced, {k: v for k, v in arguments.items() if k not in traced}


def jitted(arguments, **kind):
    traced, known = split(arguments)
    return jax.jit(partial(adapter.solve, **known, **kind))(**traced)


def expect_same(got, expected):
    for name in FIELDS:
        assert np.array_equal(getattr(got, name), getattr(expected, name)), name
    residual = np.asarray(expected.residual, got.impulse.dtype)
    assert np.array_equal(got.residual, residual)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("dtype", "precision"), [("float64", "float64"), ("float32", "float32"), ("float32", "float64")]
)
def test_has_the_bits_of_numpy(name, law, dtype, precision):
    arguments = batch(name, dtype)
    kind = {"law": law, "precision": precision}
    expected = stickslip.solve(**arguments, **kind)
    expect_same(adapter.solve(**arrays(arguments), **kind), expected)


@pytest.mark.parametrize("name", NAMES)
def test_jit_has_the_same_bits(name):
    arguments = batch(name)
    expect_same(jitted(arrays(arguments)), stickslip.solve(**arguments))


@pytest.mark.parametrize("name", ["contacts", "kinds of rows", "dimensions", "warm"])
def test_one_problem_omits_the_environments(name):
    arguments = first(batch(name))
    got = jitted(arrays(arguments))
    expect_same(got, stickslip.solve(**arguments))
    assert got.ok.shape == ()


@pytest.mark.parametrize("name", ["contacts", "kinds of rows", "dimensions", "warm"])
def test_vmap_has_the_same_bits(name):
    arguments = batch(name)
    traced, known = split(arrays(arguments))
    axes = {key: 0 if len(value) == 9 else None for key, value in traced.items()}
    over = jax.vmap(lambda given: adapter.solve(**given, **known), in_axes=(axes,))
    expect_same(over(traced), stickslip.solve(**arguments))
    expect_same(jax.jit(over)(traced), stickslip.solve(**arguments))


def test_nested_vmap_has_the_same_bits():
    arguments = batch("contacts")
    given = [
        jnp.reshape(arguments[key], (3, 3, *arguments[key].shape[1:])) for key in ("W", "b", "mu")
    ]
    expected = stickslip.solve(**arguments)
    twice = jax.jit(jax.vmap(jax.vmap(adapter.solve)))(*given)
    outside = jax.vmap(adapter.solve)(*given)  # environments within
    for got in (twice, outside, adapter.solve(*given)):
        assert np.array_equal(got.impulse.reshape(9, 12), expected.impulse)
        assert got.status.shape == (3, 3)


def test_vmap_of_some_arguments():
    arguments = batch("contacts")
    W, mu = arguments["W"][0], np.linspace(0.1, 1.0, 9)
    got = jax.vmap(lambda b, mu: adapter.solve(W, b, mu))(arguments["b"], mu)
    expected = stickslip.solve(np.tile(W, (9, 1, 1)), arguments["b"], np.tile(mu[:, None], (1, 4)))
    assert np.array_equal(got.impulse, expected.impulse)
    ragged = arrays(batch("ragged"))
    axes = {"W": 0, "b": 0, "mu": None, "counts": None}
    tiled = {key: ragged[key][None] if axes[key] == 0 else ragged[key] for key in axes}
    over = jax.vmap(lambda given: adapter.solve(**given), in_axes=(axes,))
    expected = stickslip.solve(**batch("ragged"))
    assert np.array_equal(over(tiled).impulse[0], expected.impulse)


def test_a_scan_makes_steps():
    arguments = batch("contacts")
    W, mu = jnp.asarray(arguments["W"]), jnp.asarray(arguments["mu"])

    def step(b, _):
        solution = adapter.solve(W, b, mu)
        return b - 0.25 * solution.impulse, solution.status

    last, status = jax.jit(lambda b: jax.lax.scan(step, b, None, length=4))(arguments["b"])
    b = arguments["b"]
    for _ in range(4):
        b = b - 0.25 * stickslip.solve(arguments["W"], b, arguments["mu"]).impulse
    assert np.array_equal(last, b)
    assert status.shape == (4, 9)


def test_without_x64_all_is_float32():
    arguments = batch("contacts", "float32")
    with jax.enable_x64(False):
        got = jax.jit(adapter.solve)(*arguments.values())
        assert got.residual.dtype == jnp.float32
        expect_same(got, stickslip.solve(**arguments))


def test_an_environment_with_nan_leaves_the_bits_of_the_others():
    arguments = batch("contacts")
    before = stickslip.solve(**arguments)
    arguments["W"][3, 2, 1] = np.nan
    got = jitted(arrays(arguments))
    others = np.arange(9) != 3
    assert got.status[3] == Status.bad_input
    assert np.array_equal(got.impulse[others], before.impulse[others])


def test_what_integers_hold_is_a_matter_of_the_environment():
    arguments = batch("all kinds ragged")
    arguments["counts"][1, 3] = -1
    arguments["dims"][5, 0] = 5
    arguments["counts"][2] = [0, 0, 0, 2**40]
    status = jitted(arrays(arguments)).status
    assert status[1] == status[5] == Status.bad_input
    assert status[2] == Status.over_capacity


REFUSED = {
    r"W: expected shape \(E, n, n\)": {"W": np.zeros((9, 12))},
    "W: expected float32 or float64, got int": {"W": np.zeros((9, 12, 12), int)},
    r"W: expected 13 rows \(.*contacts 13\), got 12": {"dims": [3, 4, 6]},
    r"b: expected shape \(9, 12\), got \(9, 11\)": {"b": np.zeros((9, 11))},
    "b: expected float64, as W has, got float32": {"b": np.zeros((9, 12), np.float32)},
    r"mu: expected a number or shape \(9, 4\) or \(9, 8\)": {"mu": np.zeros((9, 5))},
    "mu: expected an array, got str": {"mu": "0.5"},
    "hi: expected an array because lo is given": {"lo": np.zeros(2)},
    "R: expected shape": {"R": np.zeros((9, 1))},
    "dims: expected 3, 4 or 6, got 5": {"dims": [3, 3, 5, 1]},
    "dims: expected integers, got float64": {"dims": np.full(4, 3.0)},
    "counts: expected integers, got float64": {"counts": np.zeros(9)},
    r"counts: expected shape \(9,\) or \(9, 4\)": {"counts": np.zeros(8, int)},
    r"dims: expected a list .* counts has shape \(E, 4\)": {"counts": np.zeros((9, 4), int)},
    "n_free: expected an integer": {"n_free": 1.5},
    "law: expected one of 'coulomb'": {"law": "sticky"},
    "tol: expected a number > 0": {"tol": -1.0},
    "options: expected SolveOptions, got dict": {"options": {}},
    "threads: expected an integer >= 1": {"threads": 0},
}


@pytest.mark.parametrize("message", REFUSED)
def test_errors_name_the_argument(message):
    given = batch("contacts") | REFUSED[message]
    with pytest.raises((TypeError, ValueError), match=message):
        adapter.solve(**given)
    with pytest.raises((TypeError, ValueError), match=message):
        jitted(arrays(given) if "mu" not in message else given)


def test_errors_of_the_library_arrive():
    given = arrays(batch("contacts"))
    options = SolveOptions(fixed_sweeps=True)
    told = r"INVALID_ARGUMENT: options\.fixed_sweeps: expected solver pgs"
    with pytest.raises(jax.errors.JaxRuntimeError, match=told):
        jitted(given, options=options).impulse.block_until_ready()
    box = jnp.array([[0, 0, 2, 3]] * 9)
    with pytest.raises(jax.errors.JaxRuntimeError, match="lo, hi: expected a bound for each box"):
        adapter.solve(**given, counts=box, dims=[3] * 4).impulse.block_until_ready()


def test_several_threads_may_call_at_once():
    arguments = [batch(name) for name in NAMES]
    calls = []
    for each in arguments:
        traced, known = split(arrays(each))
        calls.append(partial(jax.jit(partial(adapter.solve, **known, threads=1)), **traced))

    def call(number):
        with jax.enable_x64(True):  # holds in one thread
            return calls[number % len(calls)]()

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(call, range(20 * len(calls))))
    for number, got in enumerate(found):
        expect_same(got, stickslip.solve(**arguments[number % len(calls)]))


def test_a_build_without_jax_says_what_to_do():
    program = """
import stickslip._core as core
core.jax_targets = dict
try:
    import stickslip.jax
except ImportError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install jax; make setup" in ran.stdout, ran.stderr


@pytest.mark.parametrize("script", ["docs", "examples/adapters/jax_solve.py"])
def test_the_examples_run(script, tmp_path):
    program = examples_of("jax.md") if script == "docs" else (ROOT / script).read_text()
    (tmp_path / "program.py").write_text(program)
    ran = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr


# Numbers beyond the range of a small type were clipped to nonsense.
@pytest.mark.parametrize("dtype", ["int8", "int16", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integers_of_every_type(dtype):
    W, b = np.tile(np.eye(9), (4, 1, 1)), np.tile([-1.0, 0.3, 0.0] * 3, (4, 1))
    counts, dims = np.array([1, 2, 3, 0]), np.array([3, 3, 3])
    for name, value in (("counts", counts), ("dims", dims)):
        expected = stickslip.solve(W, b, 0.5, **{name: value})
        got = adapter.solve(W, b, 0.5, **{name: jnp.asarray(value.astype(dtype))})
        np.testing.assert_array_equal(got.status, expected.status)
        np.testing.assert_array_equal(got.impulse, expected.impulse)
