"""2,800 contact problems of real robots, judged by the oracle."""

import numpy as np
import pytest
import robots
from problems import oracle

import stickslip
from stickslip import Status

TOL = 0.5e-9  # so that solved, residual <= tol (1 + max|b|), implies <= 1e-9 max(1, max|b|)


@pytest.fixture(params=robots.NAMES)
def robot(request):
    if not (robots.FOLDER / f"{request.param}.h5").exists():
        pytest.skip(f"{request.param}: no robots' problems in $STICKSLIP_DATA")
    return request.param


def judge(batch, solution, law):
    """No wrong status, and every status what it says; returns the oracle's residuals."""
    residual = oracle(batch.solve, solution.impulse, law)
    limit = TOL * (1 + np.abs(batch.solve["b"]).max(axis=1))
    np.testing.assert_allclose(residual, solution.residual, rtol=1e-3, atol=1e-11)
    assert np.all(residual[solution.ok] <= limit[solution.ok])
    assert np.all(residual[~solution.ok] > limit[~solution.ok])
    named = (Status.solved, Status.not_converged, Status.no_solution_found)
    assert np.isin(solution.status, named).all()
    return residual


def test_coulomb(robot):
    batch = robots.load(robot, "coulomb")
    solution = stickslip.solve(**batch.solve, law="coulomb", tol=TOL)
    residual = judge(batch, solution, "coulomb")
    good = residual <= 1e-9 * batch.scale
    assert good[batch.solvable].mean() >= (0.98 if robot == "aloha_pot" else 1.0)
    assert not good[~batch.solvable].any(), "a jam has no solution"
    found = solution.status == Status.no_solution_found
    assert not found[batch.solvable].any(), "it has one"


def test_coulomb_leaves_nothing_on_eleven_robots():
    present = [name for name in robots.NAMES if (robots.FOLDER / f"{name}.h5").exists()]
    if len(present) < 14:
        pytest.skip(f"{14 - len(present)} of 14 robots: no problems in $STICKSLIP_DATA")
    complete = 0
    for name in present:
        batch = robots.load(name, "coulomb")
        impulse = stickslip.solve(**batch.solve, law="coulomb", tol=TOL).impulse
        good = oracle(batch.solve, impulse, "coulomb") <= 1e-9 * batch.scale
        complete += good[batch.solvable].all()
    assert complete >= 13


def test_jams_are_found_to_have_no_solution():
    present = [name for name in robots.NAMES if (robots.FOLDER / f"{name}.h5").exists()]
    if len(present) < 14:
        pytest.skip(f"{14 - len(present)} of 14 robots: no problems in $STICKSLIP_DATA")
    jams = found = 0
    for name in present:
        batch = robots.load(name, "coulomb")
        solution = stickslip.solve(**batch.solve, law="coulomb", tol=TOL)
        assert np.isfinite(solution.impulse).all()
        jams += np.count_nonzero(~batch.solvable)
        found += np.count_nonzero(solution.status == Status.no_solution_found)
    assert found == jams == 21


def test_convex(robot):
    batch = robots.load(robot, "convex")
    solution = stickslip.solve(**batch.solve, law="convex", tol=TOL)
    residual = judge(batch, solution, "convex")
    assert solution.ok.all()
    assert np.all(residual <= 1e-9 * batch.scale)
    # Impulses may differ where W is singular; the velocities they cause are unique.
    W = batch.solve["W"]
    ours, stored = ((W @ r[..., None])[..., 0] for r in (solution.impulse, batch.impulse))
    difference = np.abs(ours - stored).max(axis=1)
    assert np.all(difference <= 1e-6 * np.maximum(batch.scale, np.abs(stored).max(axis=1)))


def test_float(robot):
    batch = robots.load(robot, "convex")
    solution = stickslip.solve(**batch.solve, law="convex", precision="float")
    residual = oracle(batch.solve, solution.impulse, "convex")
    limit = 1e-5 * (1 + np.abs(batch.solve["b"]).max(axis=1))
    assert np.all(residual[solution.ok] <= limit[solution.ok] * (1 + 1e-6))
    assert solution.ok.mean() >= 0.9
