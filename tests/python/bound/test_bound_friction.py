"""BoundSolver with one coefficient of friction per contact: the bits of one per tangential row."""

import gc
import tracemalloc

import numpy as np
import pytest
import test_bound
import test_bound_gradient
from problems import mechanisms

import stickslip
from stickslip import BoundSolver, GradientStatus, Status

DIMS = [3, 4, 6]
OF_ROW = np.repeat(np.arange(3), [2, 3, 5])  # the contact of each tangential row


def problem(dtype=np.float64, num_envs=5):
    """Rows of every kind, and contacts of dimension 3, 4 and 6; mu per contact."""
    given = test_bound_gradient.problem(dtype, num_envs)
    mu = np.random.default_rng(7).uniform(0.2, 1.0, (num_envs, 3)).astype(dtype)
    return given | {"mu": mu}


def per_row(given):
    return given | {"mu": np.ascontiguousarray(given["mu"][..., OF_ROW])}


def ragged(seed=0, num_envs=6):
    """Contacts of any dimension in slots of 15 rows and 4 contacts; mu per contact."""
    rng = np.random.default_rng(seed)
    dims = rng.choice([3, 4, 6], (num_envs, 4)).astype(np.int32)
    counts = np.zeros((num_envs, 4), np.int32)
    counts[:, 3] = np.arange(num_envs) % 3
    counts[:, 1] = 1
    J = rng.normal(size=(num_envs, 15, 20))
    return {
        "W": J @ J.transpose(0, 2, 1) / 15,
        "b": rng.normal(size=(num_envs, 15)),
        "mu": rng.uniform(0.2, 1.0, (num_envs, 4)),
        "dims": dims,
        "counts": counts,
    }


@pytest.mark.parametrize("precision", ["float64", "mixed", "float32"])
@pytest.mark.parametrize("law", ["coulomb", "convex", "pyramid", "box"])
def test_has_the_bits_of_one_per_row(law, precision):
    given = problem(np.float32 if precision == "float32" else np.float64)
    how = {"law": law, "precision": precision}
    found = BoundSolver(**given, **how)()
    test_bound.expect_same(found, BoundSolver(**per_row(given), **how)())
    test_bound.expect_same(found, stickslip.solve(**given, **how))
    assert (found.status == Status.solved).all()


def test_each_call_reads_what_the_array_holds():
    given = problem()
    bound = BoundSolver(**given)
    before = test_bound.as_solution(bound())
    for factor in (0.5, 1.7):
        given["mu"] *= factor
        test_bound.expect_same(bound(), stickslip.solve(**given))
    assert not np.array_equal(bound.out.impulse, before[0])


def test_environments_may_share_it_or_be_in_any_order():
    given = problem()
    for mu in (given["mu"][0], given["mu"][::-1], np.tile(given["mu"], (1, 2))[:, :3]):
        bound = BoundSolver(**given | {"mu": mu})
        mu *= 0.9
        test_bound.expect_same(bound(), stickslip.solve(**given | {"mu": mu.copy()}))


def test_mechanisms():
    M, J, v_free, b = mechanisms()
    mu = np.random.default_rng(1).uniform(0.2, 1.0, (len(J), 4))
    found = BoundSolver(M=M, J=J, b=b, mu=mu, v_free=v_free)()
    expected = BoundSolver(M=M, J=J, b=b, mu=np.repeat(mu, 2, axis=1), v_free=v_free)()
    test_bound.expect_same(found, expected)
    assert np.array_equal(found.v_next, expected.v_next)


def test_without_contacts_it_has_no_columns():
    free = BoundSolver(W=np.eye(2)[None], b=np.full((1, 2), -1.0), mu=np.zeros((1, 0)), n_free=2)
    assert free().status[0] == Status.solved
    assert free.vjp(d_impulse=np.ones((1, 2))).mu.shape == (1, 0)
    assert BoundSolver(W=np.zeros((0, 6, 6)), b=np.zeros((0, 6)), mu=np.zeros((0, 2)))() is not None


def test_counts_and_dims_may_change_and_may_not_fit():
    given = ragged()
    bound = BoundSolver(**given)
    test_bound.expect_same(bound(), stickslip.solve(**given))
    given["counts"][:, 3] = [2, 0, 1, 2, 0, 1]
    given["dims"][:] = given["dims"][:, ::-1].copy()
    given["mu"] *= 0.7
    test_bound.expect_same(bound(), stickslip.solve(**given))
    given["counts"][1] = [0, 0, 0, 5]  # more than the slot has
    given["counts"][2] = [0, 0, 0, -1]
    given["dims"][3, :2] = 2**31 - 1, -(2**31)
    given["mu"][4, 3] = np.nan  # of no contact
    given["counts"][4, 3] = 3
    given["dims"][4] = 4
    status = bound().status.tolist()
    assert status[1:5] == [Status.over_capacity, Status.bad_input, Status.over_capacity, 0]
    given["mu"][4, 2] = np.nan
    given["mu"][5, 0] = -0.1
    assert bound().status[4:].tolist() == [Status.bad_input] * 2


@pytest.mark.parametrize("law", ["coulomb", "convex", "pyramid", "box", "frictionless"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_derivatives_are_the_sums_over_the_rows(law, dtype):
    given = problem(dtype)
    bound = BoundSolver(**given, law=law)
    rng = np.random.default_rng(5)
    loss = {name: np.zeros((5, 17), dtype) for name in ("d_impulse", "d_velocity")}
    for _ in range(2):
        given["mu"][:] = rng.uniform(0.2, 1.0, (5, 3))
        for each in loss.values():
            each[:] = rng.normal(size=(5, 17))
        bound()
        gradient = bound.vjp(**loss)
        solution = stickslip.solve(**given, law=law)
        expected = stickslip.vjp(**given, solution=solution, **loss, law=law)
        assert gradient.mu.shape == given["mu"].shape
        test_bound_gradient.expect_same(gradient, expected)
        rows = BoundSolver(**per_row(given), law=law)
        rows()
        by_row = rows.vjp(**loss)
        for field in ("b", "R", "lo", "hi", "status", "kink_distance"):
            assert np.array_equal(getattr(gradient, field), getattr(by_row, field)), field
        sums = np.add.reduceat(by_row.mu, [0, 2, 5], axis=1)
        np.testing.assert_allclose(gradient.mu, sums, rtol=1e-5 if dtype == np.float32 else 1e-12)
        assert (gradient.status == GradientStatus.valid).any()


def test_derivatives_against_differences():
    given = problem(num_envs=20)
    exact = {"tol": 1e-13}
    bound = BoundSolver(**given, **exact)
    d_impulse = np.random.default_rng(8).normal(size=(20, 17))
    bound()
    gradient = bound.vjp(d_impulse=d_impulse)
    smooth = (gradient.status == GradientStatus.valid) & (gradient.kink_distance > 1e-3)
    found, mu, step = gradient.mu.copy(), given["mu"], 1e-5
    assert smooth.sum() > 10
    assert np.abs(found[smooth]).max(axis=0).min() > 1e-3
    for k in range(3):
        loss = []
        for sign in (1, -1):
            mu[:, k] += sign * step
            loss.append((d_impulse * bound().impulse).sum(axis=1))
            mu[:, k] -= sign * step
        slope = (loss[0] - loss[1]) / (2 * step)
        np.testing.assert_allclose(found[smooth, k], slope[smooth], rtol=1e-4, atol=1e-6)


def test_a_change_has_the_product_with_the_derivative():
    given = problem()
    bound = BoundSolver(**given)
    bound()
    rng = np.random.default_rng(9)
    d_impulse, dmu = rng.normal(size=(5, 17)), rng.normal(size=(5, 3))
    gradient = bound.vjp(d_impulse=d_impulse)
    change = stickslip.jvp(**given, solution=stickslip.solve(**given), dmu=dmu)
    ok = gradient.status == GradientStatus.valid
    by_change = (d_impulse * change.impulse).sum(axis=1)
    np.testing.assert_allclose((gradient.mu * dmu).sum(axis=1)[ok], by_change[ok], rtol=1e-9)
    assert ok.any()


def test_derivatives_of_contacts_that_are_no_longer_there_are_zero():
    given = ragged()
    given["counts"][:, 3] = 2
    bound = BoundSolver(**given)
    loss = np.ones((6, 15))
    bound()
    before = bound.vjp(d_impulse=loss).mu.copy()
    assert before[:, :2].any()
    assert not before[:, 2:].any()
    given["counts"][:3, 3] = 1
    given["counts"][5] = [0, 0, 0, -1]
    bound()
    gradient = bound.vjp(d_impulse=loss)
    assert not gradient.mu[:3, 1:].any()
    assert not gradient.mu[5].any()
    new = BoundSolver(**given)
    new()
    assert np.array_equal(gradient.mu, new.vjp(d_impulse=loss).mu)


def test_derivatives_at_results_of_the_caller_need_no_call_before():
    given = problem()
    solution = stickslip.solve(**given)
    out = {name: getattr(solution, name).copy() for name in ("impulse", "status")}
    out["status"] = out["status"].astype(np.int32)
    gradient = BoundSolver(**given, out=out).vjp(d_impulse=np.ones((5, 17)))
    expected = stickslip.vjp(**given, solution=solution, d_impulse=np.ones((5, 17)))
    test_bound_gradient.expect_same(gradient, expected)


def test_as_many_slots_as_rows():
    """The columns of mu are those of contacts where they could be of either, as in `solve`."""
    given = ragged()
    given |= {name: np.tile(given[name], (1, 3))[:, :12] for name in ("mu", "dims")}
    given["W"], given["b"] = given["W"][:, :12, :12].copy(), given["b"][:, :12].copy()
    given["counts"][:] = [0, 0, 0, 2]
    test_bound.expect_same(BoundSolver(**given)(), stickslip.solve(**given))
    wide = given | {"mu": np.ones((6, 13))}
    narrow = given | {"mu": np.ones((6, 10))}
    test_bound.expect_same(BoundSolver(**wide)(), stickslip.solve(**wide))
    with pytest.raises(ValueError, match=r"shape \(6, 12\) or \(6, 13\).*, got \(6, 10\)"):
        BoundSolver(**narrow)


def test_repeated_calls_do_not_allocate():
    bound = BoundSolver(**problem(num_envs=64))
    loss = np.ones((64, 17))
    bound()
    bound.vjp(d_impulse=loss)
    gc.collect()
    tracemalloc.start()
    for _ in range(20):
        bound()
        bound.vjp(d_impulse=loss)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 3 * 8 / 2  # half of the coefficients


@pytest.mark.parametrize("shape", [(5, 2), (5, 4), (4, 3), (2,), (5, 3, 1), ()])
def test_other_shapes_are_refused(shape):
    given = problem() | {"mu": np.ones(shape)}
    message = r"mu: expected a number or shape \(5, 3\) or \(5, 10\) or \(3,\) or \(10,\), got \("
    with pytest.raises(ValueError, match=message):
        BoundSolver(**given)


def test_printing_does_not_depend_on_it():
    given = problem()
    text = "BoundSolver(W of 5 × 17 rows, float64, in host memory)"
    assert repr(BoundSolver(**given)) == repr(BoundSolver(**per_row(given))) == text
