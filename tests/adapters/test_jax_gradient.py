"""Gradients through stickslip.jax: against differences and numpy, under transforms, refusals."""

from functools import partial

import numpy as np
import pytest
from batches import LAWS, NAMES, batch, compliant

import stickslip
from stickslip import GradientStatus, _core

jax = pytest.importorskip("jax", reason="JAX is in the extra `jax`")
if not _core.jax_targets():
    pytest.skip("built where JAX was not installed", allow_module_level=True)

import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

from stickslip import jax as adapter  # noqa: E402

pytestmark = pytest.mark.usefixtures("float64")
KINDS = ("contacts", "one number", "kinds of rows", "dimensions", "ragged", "all kinds ragged")


def split(arguments):
    """Arrays of floats, which are differentiated, and the rest."""
    arguments = arguments | {"mu": np.asarray(arguments["mu"], arguments["b"].dtype)}
    traced = {k: jnp.asarray(v) for k, v in arguments.items() if getattr(v, "dtype", int) in FLOATS}
    return traced, {k: v for k, v in arguments.items() if k not in traced}


FLOATS = (np.float64, np.float32)


def loss_of(traced, known, **kind):
    return (adapter.solve(**traced, **known, **kind).impulse ** 2).sum()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", KINDS)
def test_gradients_are_those_of_differences(name, law):
    traced, known = split(compliant(name))
    W = traced.pop("W")

    def impulse(turn, others):
        changed = W + turn @ turn.mT  # stays symmetric and definite
        return adapter.solve(W=changed, **others, **known, law=law, tol=1e-12).impulse

    turn = 0.1 * np.random.default_rng(1).normal(size=(*W.shape[:2], 2))
    check_grads(impulse, (turn, traced), order=1, modes=["rev"], eps=1e-6, rtol=1e-4, atol=1e-4)
    found = jax.grad(lambda turn: impulse(turn, traced).sum())(turn)
    assert jnp.abs(found).max() > 1e-3


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_vjp_has_the_bits_of_numpy(name, law, dtype):
    arguments = batch(name, dtype)
    solution = stickslip.solve(**arguments, law=law)
    traced, known = split(arguments)
    own = adapter.solve(**traced, **known, law=law)
    arguments.pop("warm_start", None), traced.pop("warm_start", None)
    rng = np.random.default_rng(3)
    loss = {
        key: rng.normal(size=arguments["b"].shape).astype(dtype)
        for key in ("d_impulse", "d_velocity")
    }
    expected = stickslip.vjp(**arguments, solution=solution, **loss, law=law)
    got = adapter.vjp(**traced, **known, solution=own, **loss, law=law)
    for field in ("b", "R", "lo", "hi", "W", "status"):
        found, right = getattr(got, field), getattr(expected, field)
        assert (found is None) == (right is None), field
        assert found is None or np.array_equal(found, right), field
    for field in ("kink_distance", "inconsistency"):
        assert np.array_equal(getattr(got, field), getattr(expected, field).astype(dtype)), field
    sums = {"rtol": 1e-6 if dtype == "float32" else 1e-14, "atol": 1e-6}  # in another order
    np.testing.assert_allclose(got.mu, expected.mu, **sums)
    assert got.ok.any()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["contacts", "kinds of rows", "dimensions"])
def test_transforms_agree_with_vjp(name, dtype):
    arguments = batch(name, dtype)
    arguments["R"] = np.random.default_rng(2).uniform(0.1, 0.3, arguments["b"].shape).astype(dtype)
    traced, known = split(arguments)
    every = jax.grad(lambda traced: loss_of(traced, known))
    solution = adapter.solve(**traced, **known)
    found = adapter.vjp(**traced, **known, solution=solution, d_impulse=2 * solution.impulse)
    for gradient in (every(traced), jax.jit(every)(traced)):
        for key in ("W", "b", "R", "mu"):
            np.testing.assert_allclose(gradient[key], getattr(found, key), rtol=1e-6, atol=1e-6)
        assert gradient["b"].dtype == dtype
    axes = {key: 0 if value.shape[:1] == (9,) else None for key, value in traced.items()}
    over = jax.vmap(jax.grad(lambda one: loss_of(one, known)), in_axes=(axes,))
    for gradient in (over(traced), jax.jit(over)(traced)):
        assert np.array_equal(gradient["b"], every(traced)["b"])
    one = jax.vmap(lambda b, mu: jax.jacrev(lambda b: solve_one(b, mu))(b), in_axes=(0, None))
    if name == "contacts":
        solve_one = lambda b, mu: adapter.solve(traced["W"][0], b, mu, R=traced["R"][0]).impulse  # noqa: E731
        assert one(traced["b"], traced["mu"][0]).shape == (9, 12, 12)


def test_shared_arguments_get_the_sum():
    traced, known = split(compliant("kinds of rows", 9))
    solution = adapter.solve(**traced, **known)
    found = adapter.vjp(**traced, **known, solution=solution, d_impulse=2 * solution.impulse)
    gradient = jax.grad(lambda traced: loss_of(traced, known))(traced)
    for key in ("R", "lo"):
        assert gradient[key].ndim == 1
        np.testing.assert_allclose(gradient[key], getattr(found, key).sum(0), rtol=1e-12)
    one = jax.grad(lambda mu: loss_of(traced | {"mu": mu}, known))(jnp.asarray(0.5))
    each = jax.grad(lambda mu: loss_of(traced | {"mu": mu}, known))(jnp.full((9, 4), 0.5))
    assert abs(one) > 1e-3
    np.testing.assert_allclose(one, each.sum(), rtol=1e-12)


def test_a_scan_is_differentiated():
    traced, _ = split(compliant("contacts", 3))
    W, b, R = traced["W"], traced["b"], traced["R"]

    def last(mu, steps):
        def step(b, _):
            return b + 0.1 * adapter.solve(W, b, mu, R=R, tol=1e-12).impulse, None

        return jax.lax.scan(step, b, None, length=steps)[0]

    loss = jax.jit(lambda mu: (last(mu, 4) ** 2).sum())
    gradient = jax.grad(loss)(0.4)
    difference = (loss(0.4 + 1e-6) - loss(0.4 - 1e-6)) / 2e-6
    assert abs(gradient) > 1e-3
    np.testing.assert_allclose(gradient, difference, rtol=1e-5)


def test_without_x64_all_is_float32():
    traced, known = split(batch("contacts", "float32"))
    with jax.enable_x64(False):
        gradient = jax.jit(jax.grad(lambda traced: loss_of(traced, known)))(traced)
        assert {value.dtype for value in gradient.values()} == {jnp.dtype("float32")}
        solution = adapter.solve(**traced)
        found = adapter.vjp(**traced, solution=solution, d_impulse=2 * solution.impulse)
        np.testing.assert_allclose(gradient["b"], found.b, rtol=1e-6)


def test_what_is_not_solved_has_no_gradient():
    traced, known = split(compliant("contacts", 9))
    before = jax.grad(lambda traced: loss_of(traced, known))(traced)
    traced["W"] = traced["W"].at[3, 2, 1].set(np.nan)
    gradient = jax.grad(lambda traced: loss_of(traced, known))(traced)
    others = np.arange(9) != 3
    for name in ("W", "b"):
        assert not gradient[name][3].any()
        assert np.array_equal(gradient[name][others], before[name][others])
    status = adapter.vjp(**traced, solution=adapter.solve(**traced)).status
    assert status[3] == GradientStatus.unsolved


def test_verdicts_and_warm_starts_have_no_derivative():
    traced, known = split(batch("warm"))
    own = lambda traced: adapter.solve(**traced, **known)  # noqa: E731
    assert not jax.grad(lambda traced: own(traced).residual.sum())(traced)["b"].any()
    gradient = jax.grad(lambda traced: own(traced).impulse.sum())(traced)
    assert not gradient["warm_start"].any()
    assert gradient["b"].any()


def test_forward_and_second_derivatives_are_refused():
    traced, known = split(compliant("contacts"))
    b = traced["b"]
    loss = lambda b: loss_of(traced | {"b": b}, known)  # noqa: E731
    for derivative in (
        jax.jacfwd(loss),
        jax.jit(jax.jacfwd(loss)),
        lambda b: jax.jvp(loss, (b,), (b,)),
    ):
        with pytest.raises(NotImplementedError, match=r"stickslip\.jax\.solve: .* jax\.grad"):
            derivative(b)
    with pytest.raises(TypeError, match="forward-mode"):  # found by JAX alone
        jax.jit(partial(jax.jvp, loss))((b,), (b,))
    twice = jax.grad(lambda b: (jax.grad(loss)(b) ** 2).sum())
    for second in (twice, jax.jit(twice), jax.jacrev(jax.jacrev(loss))):
        with pytest.raises(NotImplementedError, match=r"stickslip\.jax: .*second derivative"):
            second(b)
    with pytest.raises(NotImplementedError, match=r"stickslip\.jax"):
        jax.hessian(loss)(b)
    held = lambda b: (jax.grad(loss)(jax.lax.stop_gradient(b)) * b).sum()  # noqa: E731
    assert jnp.array_equal(jax.grad(held)(b), jax.grad(loss)(b))


def test_errors_name_the_argument():
    traced, _ = split(compliant("contacts"))
    solution = adapter.solve(**traced)
    for change, message in (
        ({"solution": tuple(solution)}, "solution: expected a Solution, got tuple"),
        (
            {"d_impulse": np.zeros(12, np.float32)},
            "d_impulse: expected float64, as W has, got float32",
        ),
        ({"d_velocity": traced["b"][:, :3]}, r"d_velocity: expected shape \(2, 12\) or \(12,\)"),
        ({"b": traced["b"][0]}, r"b: expected shape \(2, 12\), got \(12,\)"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            adapter.vjp(**{**traced, "solution": solution, **change})


@pytest.mark.parametrize("count", [0, 1, 3])
def test_one_environment_with_rows_that_are_not_used_has_zeros_there(count):
    W, b, counts = jnp.eye(6)[None], -jnp.ones((1, 6)), jnp.array([count])
    loss = lambda b, mu, R: adapter.solve(W, b, mu, R=R, counts=counts).impulse.sum()  # noqa: E731
    given = b, jnp.full((1, 2), 0.5), jnp.full((1, 6), 1e-3)
    for _ in range(20):
        rubbish = [np.full(k, 1e300) for k in (3, 6, 12, 24, 48) for _ in range(100)]
        del rubbish
        gradients = jax.grad(loss, argnums=(0, 1, 2))(*given)
        used = 3 * count if count < 3 else 0
        assert not np.asarray(gradients[0])[0, used:].any()
        assert not np.asarray(gradients[2])[0, used:].any()
        assert np.isfinite(np.asarray(gradients[1])).all()
