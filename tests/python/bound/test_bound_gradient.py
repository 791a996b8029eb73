"""BoundSolver.vjp: the bits of stickslip.vjp, in place."""

import gc
import tracemalloc

import numpy as np
import pytest

import stickslip
from stickslip import BoundSolver, GradientStatus

FIELDS = ("b", "mu", "R", "lo", "hi", "status", "kink_distance", "inconsistency", "redundant")


def problem(dtype=np.float64, num_envs=5):
    """A free, a nonneg and two box rows, and contacts of dimension 3, 4 and 6."""
    rng = np.random.default_rng(4)
    J = rng.normal(size=(num_envs, 17, 20))
    given = {
        "W": J @ J.transpose(0, 2, 1) / 17,
        "b": rng.normal(size=(num_envs, 17)),
        "mu": rng.uniform(0.2, 1.0, (num_envs, 10)),
        "R": rng.uniform(0.1, 0.3, 17),
        "lo": -rng.uniform(0, 1, 2),
        "hi": rng.uniform(0, 1, (num_envs, 2)),
    }
    return {key: value.astype(dtype) for key, value in given.items()} | {
        "n_free": 1, "n_nonneg": 1, "dims": [3, 4, 6]
    }  # fmt: skip


def expect_same(got, expected):
    for field in FIELDS:
        found, right = getattr(got, field), getattr(expected, field)
        assert (found is None) == (right is None), field
        assert found is None or np.array_equal(found, right), field


@pytest.mark.parametrize("law", ["coulomb", "convex", "pyramid", "box", "frictionless"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_has_the_bits_of_vjp_at_each_call(law, dtype):
    given = problem(dtype)
    bound = BoundSolver(**given, law=law)
    rng = np.random.default_rng(5)
    loss = {name: np.zeros((5, 17), dtype) for name in ("d_impulse", "d_velocity")}
    first = None
    for _ in range(3):
        given["b"][:] = rng.normal(size=(5, 17))
        for each in loss.values():
            each[:] = rng.normal(size=(5, 17))
        bound()
        gradient = bound.vjp(**loss)
        first = first or gradient
        assert gradient is first
        solution = stickslip.solve(**given, law=law)
        expect_same(gradient, stickslip.vjp(**given, solution=solution, **loss, law=law))
        assert (gradient.status == GradientStatus.valid).any()
        assert gradient.b.any()


def test_other_losses_write_to_the_same_arrays():
    given = problem()
    bound = BoundSolver(**given)
    bound()
    solution = stickslip.solve(**given)
    ones, one = np.ones((5, 17)), np.arange(17.0)
    for loss in (
        {"d_impulse": ones},
        {"d_velocity": ones},
        {"d_impulse": one},
        {"d_impulse": ones.copy()},
    ):
        gradient = bound.vjp(**loss)
        every = {name: np.broadcast_to(value, (5, 17)) for name, value in loss.items()}
        expect_same(gradient, stickslip.vjp(**given, solution=solution, **every))
    assert gradient is bound.vjp(d_impulse=one)


def test_ragged_batches_and_environments_that_are_not_solved():
    rng = np.random.default_rng(6)
    J = rng.normal(size=(4, 6, 9))
    W, b = J @ J.transpose(0, 2, 1) / 6, rng.normal(size=(4, 6))
    counts = np.array([[0, 0, 0, 2], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 2]], np.int32)
    W[3, 2, 1] = np.nan
    bound = BoundSolver(W=W, b=b, mu=0.5, dims=[3, 3], counts=counts)
    bound()
    loss = np.ones((4, 6))
    gradient = bound.vjp(d_impulse=loss)
    kinds = {"counts": counts, "dims": [3, 3]}
    expected = stickslip.vjp(
        W, b, 0.5, stickslip.solve(W, b, 0.5, **kinds), d_impulse=loss, **kinds
    )
    assert np.array_equal(gradient.b, expected.b)
    assert np.array_equal(gradient.status, expected.status)
    assert gradient.status[3] == GradientStatus.unsolved
    assert not gradient.b[3].any()


def test_rows_that_are_no_longer_there_get_zeros():
    W = np.broadcast_to(np.eye(7) + 0.1, (2, 7, 7)).copy()
    b = np.tile([0.5, -1.0, 2.0, 0.0, -1.0, 0.1, 0.0], (2, 1))
    counts = np.array([[0, 0, 1, 2], [0, 0, 1, 2]], np.int32)
    bounds = np.ones(7)
    given = {"W": W, "b": b, "mu": np.full(4, 0.5), "lo": -0.1 * bounds, "hi": bounds}
    bound = BoundSolver(**given, dims=[3, 3], counts=counts)
    loss = {"d_impulse": np.ones((2, 7)), "d_velocity": np.ones((2, 7))}
    bound()
    before = bound.vjp(**loss)
    assert all(getattr(before, name).any(1).all() for name in ("b", "mu", "R", "lo"))
    counts[:] = [[0, 0, 0, 1], [0, 0, -1, 1]]
    bound()
    after, new = bound.vjp(**loss), BoundSolver(**given, dims=[3, 3], counts=counts)
    new()
    expect_same(after, new.vjp(**loss))
    assert list(after.status) == [GradientStatus.valid, GradientStatus.unsolved]


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
    assert peak < 64 * 17 * 8 / 2  # half of the smallest matrix of results


def test_what_is_refused():
    given = problem()
    bound = BoundSolver(**given)
    bound()
    for loss, message in (
        ({"d_impulse": np.ones((5, 16))}, r"d_impulse: expected shape \(5, 17\)"),
        ({"d_velocity": np.ones((5, 17), np.float32)}, "d_velocity: expected float64, as W has"),
        ({"d_impulse": 1.0}, "d_impulse: expected"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            bound.vjp(**loss)
    gradient = bound.vjp(d_impulse=np.ones((5, 17)))
    with pytest.raises(ValueError, match=r"out\['b'\]: expected memory of its own"):
        bound.vjp(d_impulse=gradient.b)
    rng = np.random.default_rng(0)
    mechanism = BoundSolver(M=np.eye(7), J=rng.normal(size=(2, 3, 7)), b=np.zeros((2, 3)), mu=0.5)
    with pytest.raises(NotImplementedError, match=r"expected a solver of W, got M and J.*step_vjp"):
        mechanism.vjp(d_impulse=np.ones((2, 3)))
    with pytest.raises(ValueError, match="stream: expected None because the arrays are in host"):
        bound.vjp(d_velocity=np.ones((5, 17)), stream=1)


def test_before_the_first_call_nothing_is_solved():
    solver = stickslip.BoundSolver(W=np.tile(np.eye(3), (2, 1, 1)), b=np.ones((2, 3)), mu=0.5)
    found = solver.vjp(d_velocity=np.ones((2, 3)))
    assert (found.status == stickslip.GradientStatus.unsolved).all()
    assert not found.b.any()
    solver()
    assert (solver.vjp(d_velocity=np.ones((2, 3))).status == stickslip.GradientStatus.valid).all()
