"""solve and residual: their contract for valid input."""

import concurrent.futures
import dataclasses

import numpy as np
import pytest
from oracle import assert_bounds, bound, oracle
from problems import random_batch

import stickslip
from stickslip import Law, Solver, Status, _core
from stickslip._src.batch import assemble

PAIRS = [(law.name, solver.name) for law in Law for solver in Solver if _core.supports(solver, law)]
BOX = {"W": np.tile(np.eye(3), (4, 1, 1)), "b": np.array([[-1.0, 0.3, 0.0]] * 4)}


@pytest.mark.parametrize(("law", "solver"), PAIRS)
@pytest.mark.parametrize("rows", [{}, {"n_free": 2, "n_nonneg": 1, "n_box": 2}])
def test_solved_means_solved(law, solver, rows):
    arguments = random_batch(1, num_envs=50, **rows)
    solution = stickslip.solve(**arguments, law=law, solver=solver)
    assert solution.ok.mean() >= (0.98 if solver != "pgs" else 0.9)
    assert_bounds(arguments, solution.impulse, law, solution.residual)
    np.testing.assert_array_equal(solution.ok, solution.residual <= bound(arguments, 1e-9))


def test_closed_forms():
    b = np.array([[-1.0, 0.3, 0.0], [-1.0, 0.8, 0.0], [1.0, 0.5, 0.0]])  # sticks, slides, leaves
    W = np.tile(np.eye(3), (3, 1, 1))
    impulse = stickslip.solve(W, b, 0.5).impulse
    np.testing.assert_allclose(impulse, [[1, -0.3, 0], [1, -0.5, 0], [0, 0, 0]], atol=1e-8)
    # The associated law dilates: the projection of -b on the cone (Todorov 2014).
    convex = stickslip.solve(W, b, 0.5, law="convex").impulse[1]
    normal = (1 + 0.5 * 0.8) / 1.25
    np.testing.assert_allclose(convex, [normal, -0.5 * normal, 0], atol=1e-8)


def test_one_problem_has_no_environment_axis():
    batch = stickslip.solve(**BOX, mu=0.5)
    one = stickslip.solve(BOX["W"][0], BOX["b"][0], np.array([0.5]))
    assert one.impulse.shape == (3,)
    assert one.status is Status.solved
    assert one.ok
    assert one.solver in Solver
    assert one.impulse.tobytes() == batch.impulse[0].tobytes()
    assert stickslip.residual(BOX["W"][0], BOX["b"][0], 0.5, one.impulse) == one.residual
    assert "solved" in repr(one)


def test_summary():
    b = BOX["b"].copy()
    b[2] = np.nan
    solution = stickslip.solve(BOX["W"], b, 0.5)
    assert repr(solution).startswith("Solution(4 environments: 3 solved, 1 bad_input; worst")
    assert solution.worst == 2
    assert solution.status_counts == {"solved": 3, "bad_input": 1}
    with pytest.raises(dataclasses.FrozenInstanceError):
        solution.status = None


def test_empty_batches():
    assert stickslip.solve(np.empty((0, 3, 3)), np.empty((0, 3)), 0.5).ok.shape == (0,)
    assert repr(stickslip.solve(np.empty((0, 3, 3)), np.empty((0, 3)), 0.5))
    no_rows = stickslip.solve(np.empty((2, 0, 0)), np.empty((2, 0)), np.empty((2, 0)))
    assert no_rows.ok.all()


def test_friction_per_contact_and_per_row_are_the_same():
    arguments = random_batch(2)
    rows = {**arguments, "mu": np.repeat(arguments["mu"], 2, axis=1)}
    first, second = stickslip.solve(**arguments), stickslip.solve(**rows)
    assert first.impulse.tobytes() == second.impulse.tobytes()
    shared = stickslip.solve(**{**arguments, "mu": arguments["mu"][0]})
    assert shared.impulse[0].tobytes() == first.impulse[0].tobytes()


def test_ragged_batch_equals_its_problems_one_by_one():
    rng = np.random.default_rng(3)
    dims = np.array([[3, 4, 6], [6, 3, 0], [4, 0, 0], [0, 0, 0]])
    counts = np.array([[1, 2, 1, 3], [0, 1, 2, 2], [2, 0, 0, 1], [1, 1, 1, 0]])
    n = 19
    J = rng.normal(size=(4, n, n + 2))
    W = J @ J.transpose(0, 2, 1) / n
    b, mu = rng.normal(size=(4, n)), rng.uniform(0.2, 1, (4, 10))
    lo, hi = np.full((4, 2), -0.3), np.full((4, 2), 0.4)
    R = rng.uniform(0, 0.1, (4, n))
    batch = stickslip.solve(W, b, mu, dims=dims, counts=counts, lo=lo, hi=hi, R=R)
    assert batch.ok.all()
    for e, (n_free, n_nonneg, n_box, p) in enumerate(counts):
        rows = n_free + n_nonneg + n_box + dims[e, :p].sum()
        one = stickslip.solve(
            W[e, :rows, :rows],
            b[e, :rows],
            mu[e, : (dims[e, :p] - 1).sum()],
            dims=dims[e, :p],
            n_free=n_free,
            n_nonneg=n_nonneg,
            lo=lo[e, :n_box],
            hi=hi[e, :n_box],
            R=R[e, :rows],
        )
        assert batch.impulse[e, :rows].tobytes() == one.impulse.tobytes()
        assert not batch.impulse[e, rows:].any()
        assert batch.rows_needed[e] == rows
        assert batch.iterations[e] == one.iterations


def test_padding_is_never_read():
    arguments = random_batch(4, num_envs=3)
    clean = stickslip.solve(**arguments, counts=[1, 2, 3])
    for e, rows in enumerate([3, 6]):
        arguments["W"][e, rows:] = arguments["W"][e, :, rows:] = np.nan
        arguments["b"][e, rows:] = np.inf
        arguments["mu"][e, rows // 3 :] = -1
    dirty = stickslip.solve(**arguments, counts=[1, 2, 3])
    assert clean.ok.all()
    assert clean.impulse.tobytes() == dirty.impulse.tobytes()


def test_views_are_read_in_place_and_give_the_same_bits():
    arguments = random_batch(5)
    W, b = arguments["W"], arguments["b"]
    expected = stickslip.solve(**arguments).impulse.tobytes()
    wide = np.zeros((16, 12, 20))
    wide[::2, :9, :9] = W
    backwards = np.ascontiguousarray(b[::-1])[::-1]
    for views in (
        {"W": wide[::2, :9, :9], "b": backwards},
        {"W": np.asfortranarray(W), "b": np.asfortranarray(b)},
        {"W": W[:, ::-1, ::-1].copy()[:, ::-1, ::-1]},
    ):
        assert stickslip.solve(**(arguments | views)).impulse.tobytes() == expected
    readonly = W.copy()
    readonly.setflags(write=False)
    assert stickslip.solve(**(arguments | {"W": readonly})).impulse.tobytes() == expected


def test_nothing_is_copied():
    num_envs = 1000
    W = np.broadcast_to(np.eye(3), (num_envs, 3, 3))
    b = np.zeros((num_envs, 4))[:, :3]
    problem = assemble(W, b, 0.5, R=np.zeros(3))
    assert np.shares_memory(problem.W, W)
    assert np.shares_memory(problem.b, b)
    for shared in (problem.mu, problem.R, problem.counts, problem.dims):
        assert shared.strides[0] == 0


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_bits_do_not_depend_on_threads_or_neighbours(threads):
    arguments = random_batch(6, num_envs=33)
    whole = stickslip.solve(**arguments)
    again = stickslip.solve(**arguments, threads=threads)
    part = {k: v[7:9] if isinstance(v, np.ndarray) else v for k, v in arguments.items()}
    assert whole.impulse.tobytes() == again.impulse.tobytes()
    assert whole.impulse[7:9].tobytes() == stickslip.solve(**part).impulse.tobytes()


def test_other_python_threads_run_meanwhile():
    batches = [random_batch(seed, num_envs=64) for seed in range(4)]
    alone = [stickslip.solve(**batch, threads=1).impulse.tobytes() for batch in batches]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda a: stickslip.solve(**a, threads=1), batches))
    assert [s.impulse.tobytes() for s in together] == alone


def test_precisions():
    arguments = random_batch(7, num_envs=40)
    single = {
        k: v.astype(np.float32) if isinstance(v, np.ndarray) else v for k, v in arguments.items()
    }
    in_float = stickslip.solve(**single, precision="float32")
    assert in_float.impulse.dtype == np.float32
    assert in_float.ok.all()
    on_doubles = stickslip.solve(**arguments, precision="float32")
    assert on_doubles.impulse.dtype == np.float64
    assert on_doubles.ok.all()
    measured = oracle(single, in_float.impulse, "coulomb")
    assert np.all(measured <= bound(single, 1e-5))
    mixed = stickslip.solve(**arguments, precision="mixed")
    assert np.all(oracle(arguments, mixed.impulse, "coulomb")[mixed.ok] <= 4e-9)
    assert mixed.ok.all()


def test_tolerance_and_budget():
    arguments = random_batch(8)
    loose = stickslip.solve(**arguments, solver="pgs", tol=1e-2)
    tight = stickslip.solve(**arguments, solver="pgs", tol=1e-8)
    assert loose.iterations.sum() < tight.iterations.sum()
    options = stickslip.SolveOptions(max_sweeps=3, fixed_sweeps=True, atol=1e-30, rtol=1e-30)
    three = stickslip.solve(**arguments, solver="pgs", options=options)
    assert np.all(three.iterations == 3)
    assert np.all(three.status == Status.not_converged)
    assert_bounds(arguments, three.impulse, "coulomb", three.residual)


def test_warm_start_from_the_solution_is_cheaper():
    arguments = random_batch(9)
    cold = stickslip.solve(**arguments)
    warm = stickslip.solve(**arguments, warm_start=cold.impulse)
    assert warm.ok.all()
    assert warm.iterations.sum() < cold.iterations.sum()


def test_measures():
    arguments = random_batch(10)
    solution = stickslip.solve(**arguments)
    good = stickslip.residual(**arguments, r=solution.impulse, details=True)
    np.testing.assert_array_equal(good.residual, solution.residual)
    for name in ("penetration", "cone_violation", "complementarity", "misalignment"):
        assert np.all(np.abs(getattr(good, name)) <= 1e-6), name
    nothing = stickslip.residual(**arguments, r=np.zeros_like(solution.impulse), details=True)
    deepest = np.maximum(0, -arguments["b"][:, ::3]).max(axis=1)
    np.testing.assert_allclose(nothing.penetration, deepest)
    assert np.all(
        np.isinf(stickslip.residual(**arguments, r=np.full_like(solution.impulse, np.nan)))
    )


@pytest.mark.parametrize("law", ["coulomb", "convex", "pyramid", "box", "frictionless"])
@pytest.mark.parametrize("size", [1e120, 1e154, 1e156, 1e160, 1e168, 1e200, 1e290])
def test_velocities_whose_squares_overflow_are_not_judged_too_small(law, size):
    """u = b: the first row approaches, so zero impulses are no solution. In the convex law sliding
    contacts separate."""
    b = size * np.array([-1.0, 0.2, 0.1])
    assert stickslip.residual(np.eye(3), b, 0.13, np.zeros(3), law=law) >= 0.9 * size
    solution = stickslip.solve(1e14 * np.eye(3), b, 0.13, law=law)
    assert np.isfinite(solution.impulse).all()
    if solution.ok:
        u = 1e14 * solution.impulse + b
        gap = u[0] - (0.13 * np.hypot(u[1], u[2]) if law == "convex" else 0.0)
        assert abs(gap) <= 1.1 * solution.residual <= 1.1e-9 * (1 + size)
