"""stickslip.torch: the bits of `stickslip.solve`, what it refuses, its examples."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from batches import LAWS, NAMES, ROOT, batch, examples_of, first, tensors

import stickslip
from stickslip import Status

torch = pytest.importorskip("torch", reason="torch is in the extra `torch`")
adapter = pytest.importorskip("stickslip.torch")

FIELDS = ("impulse", "residual", "status", "iterations", "solver", "rows_needed", "rung")


def expect_same(got, expected):
    for name in FIELDS:
        assert np.array_equal(getattr(got, name).numpy(), getattr(expected, name)), name


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("dtype", "precision"),
    [("float64", "float64"), ("float64", "mixed"), ("float32", "float32"), ("float32", "float64")],
)
def test_has_the_bits_of_numpy(name, law, dtype, precision):
    arguments = batch(name, dtype)
    kind = {"law": law, "precision": precision}
    got = adapter.solve(**tensors(arguments), **kind)
    expect_same(got, stickslip.solve(**arguments, **kind))
    assert got.impulse.dtype == getattr(torch, dtype)
    assert got.residual.dtype == torch.float64


@pytest.mark.parametrize("name", ["contacts", "kinds of rows", "dimensions", "warm"])
def test_one_problem_omits_the_environments(name):
    arguments = first(batch(name))
    got = adapter.solve(**tensors(arguments))
    expect_same(got, stickslip.solve(**arguments))
    assert got.ok.shape == ()


def test_an_empty_batch_has_empty_results():
    got = adapter.solve(torch.zeros(0, 6, 6), torch.zeros(0, 6), 0.5)
    assert got.impulse.shape == (0, 6)
    assert got.status.shape == (0,)


def test_an_environment_with_nan_leaves_the_bits_of_the_others():
    arguments = batch("contacts")
    before = stickslip.solve(**arguments)
    arguments["W"][3, 2, 1] = np.nan
    got = adapter.solve(**tensors(arguments))
    others = np.arange(len(before.status)) != 3
    assert got.status[3] == Status.bad_input
    assert np.array_equal(got.impulse.numpy()[others], before.impulse[others])


def test_what_integers_hold_is_a_matter_of_the_environment():
    given = tensors(batch("all kinds ragged"))
    given["counts"][1, 3] = -1
    given["dims"][5, 0] = 5
    status = adapter.solve(**given).status
    assert status[1] == status[5] == Status.bad_input
    given["counts"][2] = torch.tensor([0, 0, 0, 2**40])
    assert adapter.solve(**given).status[2] == Status.over_capacity


def test_tensors_may_lie_apart_in_memory():
    arguments = batch("contacts")
    expected = stickslip.solve(**arguments)
    given = tensors(arguments)
    wide = torch.zeros(9, 12, 20, dtype=torch.float64)
    wide[..., :12] = given["W"]
    turned = given["b"].T.contiguous().T
    every = torch.stack([given["mu"], given["mu"]], -1).reshape(9, 8)[:, ::2]
    expect_same(adapter.solve(wide[..., :12], turned, every), expected)
    apart = torch.zeros(9, 150, dtype=torch.float64)
    apart[:, :144] = given["W"].reshape(9, 144)
    expect_same(adapter.solve(apart[:, :144].unflatten(1, (12, 12)), turned, every), expected)
    same = given["W"][:1].expand(9, 12, 12)  # not copied: one matrix for all environments
    one = stickslip.solve(same.contiguous().numpy(), arguments["b"], arguments["mu"])
    expect_same(adapter.solve(same, given["b"], given["mu"]), one)


REFUSED = {
    "W: expected a tensor, got ndarray": {"W": np.eye(3)},
    r"W: expected shape \(E, n, n\)": {"W": torch.zeros(9, 12)},
    "W: expected float32 or float64, got int64": {"W": torch.zeros(9, 12, 12, dtype=torch.int64)},
    r"W: expected 13 rows \(.*contacts 13\), got 12": {"dims": [3, 4, 6]},
    r"b: expected shape \(9, 12\), got \(9, 11\)": {"b": torch.zeros(9, 11, dtype=torch.float64)},
    "b: expected float64, as W has, got float32": {"b": torch.zeros(9, 12)},
    "b: expected a tensor on cpu, as W is, got meta": {
        "b": torch.zeros(9, 12, dtype=torch.float64, device="meta")
    },
    r"mu: expected a number or shape \(9, 4\) or \(9, 8\)": {
        "mu": torch.zeros(9, 5, dtype=torch.float64)
    },
    "mu: expected a tensor, got str": {"mu": "0.5"},
    "hi: expected a tensor because lo is given": {"lo": torch.zeros(2, dtype=torch.float64)},
    "R: expected shape": {"R": torch.zeros(9, 1, dtype=torch.float64)},
    "warm_start: expected a tensor, got float": {"warm_start": 0.0},
    "dims: expected 3, 4 or 6, got 5": {"dims": [3, 3, 5, 1]},
    "dims: expected integers, got float32": {"dims": torch.full((4,), 3.0)},
    "dims: expected a list of numbers or a tensor, got int": {"dims": 3},
    "counts: expected integers, got float32": {"counts": torch.zeros(9)},
    r"counts: expected shape \(9,\) or \(9, 4\)": {"counts": torch.zeros(8, dtype=torch.int64)},
    r"dims: expected a list .* counts has shape \(E, 4\)": {
        "counts": torch.zeros(9, 4, dtype=torch.int64)
    },
    "n_free: expected an integer": {"n_free": 1.5},
    "law: expected one of 'coulomb'": {"law": "sticky"},
    "law: expected one of .*, got list": {"law": []},
    "tol: expected a number > 0": {"tol": -1.0},
    "options: expected SolveOptions, got dict": {"options": {}},
    "threads: expected an integer >= 1": {"threads": 0},
}


@pytest.mark.parametrize("message", REFUSED)
def test_errors_name_the_argument(message):
    given = tensors(batch("contacts")) | REFUSED[message]
    with pytest.raises((TypeError, ValueError), match=message):
        adapter.solve(**given)


def operands(**changes):
    """Arguments of the operator, which anyone may call without the checks of `solve`."""
    text, _ = adapter.settings_of(
        (12, None, None, 0, 0, 0, None), ("coulomb", "auto", "float64", None, None)
    )
    given = tensors(batch("contacts"))
    given["mu"] = torch.full((9, 8), 0.5, dtype=torch.float64)
    names = ("W", "b", "mu", "R", "lo", "hi", "warm_start", "counts", "dims")
    found = {name: given.get(name) for name in names} | changes
    return (*[found[name] for name in names], text, 1)


MISSIZED = {
    r"b: expected shape \(9, 12\) or \(12,\), got \(9, 11\)": {
        "b": torch.zeros(9, 11, dtype=torch.float64)
    },
    r"R: expected shape \(9, 12\) or \(12,\), got": {"R": torch.zeros(8, 12, dtype=torch.float64)},
    r"warm_start: expected shape \(9, 12\) or \(12,\), got": {
        "warm_start": torch.zeros(13, dtype=torch.float64)
    },
    r"hi: expected shape \(9, 3\) or \(3,\), got \(9, 2\)": {
        "lo": torch.zeros(9, 3, dtype=torch.float64),
        "hi": torch.zeros(9, 2, dtype=torch.float64),
    },
    r"b: expected shape \(9, 12\) or \(12,\), got \(9, 10\)": {
        "b": torch.zeros(12, dtype=torch.float64).expand(8, 12)
    },
    "counts: expected environments a multiple of 4 integers apart": {
        "counts": torch.zeros(9, 5, dtype=torch.int32)[:, :4]
    },
    r"counts: expected shape \(9, 4\) or \(4,\), got \(9, 3\)": {
        "counts": torch.zeros(9, 3, dtype=torch.int32)
    },
    "mu: expected a number for each tangential row": {"mu": torch.zeros(9, 7, dtype=torch.float64)},
    "lo, hi: expected a bound for each box row, got 0": {
        "counts": torch.tensor([[0, 0, 3, 3]] * 9, dtype=torch.int32)
    },
    "expected torch.float64, got torch.float32": {"b": torch.zeros(9, 12)},
    "expected torch.int32, got torch.int64": {"counts": torch.zeros(9, 4, dtype=torch.int64)},
    "expected float32 or float64, got torch.float16": {
        "W": torch.zeros(9, 12, 12, dtype=torch.float16)
    },
}


@pytest.mark.parametrize("message", MISSIZED)
def test_the_operator_reads_no_memory_that_is_not_there(message):
    assert (torch.ops.stickslip.solve(*operands())[2][0] == Status.solved).all()
    with pytest.raises((TypeError, ValueError, RuntimeError), match=message):
        torch.ops.stickslip.solve(*operands(**MISSIZED[message]))


def test_a_tensor_that_is_negated_lazily_is_read_as_its_numbers():
    given = tensors(batch("contacts"))
    b = torch.complex(torch.zeros_like(given["b"]), -given["b"]).conj().imag
    assert b.is_neg()
    expect_same(adapter.solve(**given | {"b": b}), stickslip.solve(**batch("contacts")))


def test_several_threads_may_call_at_once():
    arguments = [batch(name) for name in NAMES] * 8
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda each: adapter.solve(**tensors(each), threads=1), arguments))
    for got, each in zip(found, arguments, strict=True):
        expect_same(got, stickslip.solve(**each))


def test_a_bound_solver_reads_what_the_tensors_hold():
    given = tensors(batch("contacts") | {"mu": 0.5})
    bound = adapter.BoundSolver(**given)
    for _ in range(2):
        impulse = bound().impulse
        assert impulse is bound.out.impulse
        expect_same(bound.out, stickslip.solve(given["W"].numpy(), given["b"].numpy(), 0.5))
        given["b"] *= -0.5
    with pytest.raises(TypeError, match="out: expected none"):
        adapter.BoundSolver(**given, out={})
    with pytest.raises(TypeError, match=r"W: expected a tensor of shape \(E, n, n\)"):
        adapter.BoundSolver(W=given["W"][0], b=given["b"][0], mu=0.5)


def test_a_bound_solver_takes_friction_per_contact():
    given = tensors(batch("contacts"))
    bound = adapter.BoundSolver(**given)
    for _ in range(2):
        expected = stickslip.solve(*(given[name].numpy() for name in ("W", "b", "mu")))
        expect_same(bound(), expected)
        given["mu"] *= 0.5


def test_a_bound_solver_takes_mechanisms():
    rng = np.random.default_rng(0)
    M, J, v_free = np.eye(7), rng.normal(size=(5, 6, 7)), rng.normal(size=(5, 7))
    given = {"M": M, "J": J, "b": np.einsum("eij,ej->ei", J, v_free), "v_free": v_free, "mu": 0.5}
    expected = stickslip.BoundSolver(**given, certificates=True)()
    bound = adapter.BoundSolver(**tensors(given), certificates=True)
    expect_same(bound(), expected)
    assert np.array_equal(bound.v_next.numpy(), expected.v_next)
    assert np.array_equal(bound.certificate.numpy(), expected.certificate)


@pytest.mark.parametrize("name", NAMES)
def test_the_path_of_a_gpu_has_the_same_bits(name, monkeypatch):
    """Run on the CPU: the arrays of a BoundSolver, which solves where they are."""
    monkeypatch.setattr(adapter.torch_gradient, "solve", adapter.op._on_cuda)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: None)
    expect_same(adapter.solve(**tensors(batch(name))), stickslip.solve(**batch(name)))
    alone = first(batch("contacts"))
    expect_same(adapter.solve(**tensors(alone)), stickslip.solve(**alone))
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    with pytest.raises(RuntimeError, match=r"create a stickslip\.torch\.BoundSolver before"):
        adapter.solve(**tensors(batch(name)))


def test_the_path_of_a_gpu_knows_rows_from_contacts(monkeypatch):
    """Ten slots for contacts of any dimension, in 12 rows: at most ten are tangential."""
    rng = np.random.default_rng(2)
    J = rng.normal(size=(6, 12, 15))
    given = {
        "W": J @ J.transpose(0, 2, 1),
        "b": rng.normal(size=(6, 12)),
        "mu": rng.uniform(0.1, 1.0, (6, 10)),
        "dims": rng.choice([3, 4], (6, 10)),
        "counts": np.arange(6) % 4,
    }
    monkeypatch.setattr(adapter.torch_gradient, "solve", adapter.op._on_cuda)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: None)
    expect_same(adapter.solve(**tensors(given)), stickslip.solve(**given))


@pytest.mark.filterwarnings("ignore:.torch.jit.script:FutureWarning")  # of torch itself
def test_forward_derivatives_are_refused():
    W, b = torch.eye(3, dtype=torch.float64), torch.tensor([-1.0, 0.3, 0.0], dtype=torch.float64)
    with pytest.raises(TypeError, match="b: expected a tensor without a forward derivative"):
        torch.func.jvp(lambda b: adapter.solve(W, b, 0.5).impulse, (b,), (torch.ones_like(b),))
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(W, torch.ones_like(W))
        with pytest.raises(TypeError, match="W: expected a tensor without"):
            adapter.solve(dual, b, 0.5)
        assert adapter.solve(W, b, 0.5).ok


@pytest.mark.parametrize(
    "script", ["docs", "examples/adapters/torch_solve.py", "examples/adapters/torch_friction.py"]
)
def test_the_examples_run(script, tmp_path):
    program = examples_of("torch.md") if script == "docs" else (ROOT / script).read_text()
    (tmp_path / "program.py").write_text(program)
    ran = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
