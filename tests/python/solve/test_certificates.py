"""Proofs that a problem has no solution, recomputed with fractions."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import stickslip
from stickslip import Status, files
from stickslip.files import judge


def vice(gap_speed=0.2, **more):
    """A body of mass 1 between two walls that both require it to leave at `gap_speed`."""
    W = np.diag([1.0, 3.5, 3.5, 1.0, 3.5, 3.5])
    W[0, 3] = W[3, 0] = -1.0
    b = np.array([-gap_speed, 0, 0, -gap_speed, 0, 0])
    return {"W": W, "b": b, "mu": 0.5} | more


def proves(W, b, y):
    """Farkas in exact arithmetic: y >= 0 on normals, 0 on tangents, W y = 0, y . b < 0."""
    rows = range(len(b))
    exact = [Fraction(float(v)) for v in y]
    product = [sum(Fraction(float(W[i, j])) * exact[j] for j in rows) for i in rows]
    power = sum(Fraction(float(b[i])) * exact[i] for i in rows)
    tangents = [exact[i] for i in rows if i % 3]
    return min(exact) >= 0 and not any(tangents) and not any(product) and power < 0


@pytest.mark.parametrize("law", ["coulomb", "convex", "pyramid", "frictionless"])
def test_a_vice_is_proved_to_have_no_solution(law):
    problem = vice()
    solution = stickslip.solve(**problem, law=law, certificates=True)
    assert solution.status == Status.infeasible
    assert proves(problem["W"], problem["b"], solution.certificate)
    assert stickslip.certificate_holds(**problem, certificate=solution.certificate, law=law)
    assert np.isfinite(solution.impulse).all()


def test_what_is_no_proof_does_not_hold():
    good = np.array([1.0, 0, 0, 1.0, 0, 0])
    assert stickslip.certificate_holds(**vice(), certificate=good)
    assert stickslip.certificate_holds(**vice(), certificate=1e-30 * good)
    wrong = {
        "zero": 0 * good,
        "negative": -good,
        "on a tangent": good + np.eye(6)[1],
        "outside the null space": good + 1e-9 * np.eye(6)[0],
        "not finite": np.nan * good,
    }
    for why, y in wrong.items():
        assert not stickslip.certificate_holds(**vice(), certificate=y), why
    for gap_speed in (0.0, -0.2, 1e-10):  # solvable, or within the tolerance
        assert not stickslip.certificate_holds(**vice(gap_speed), certificate=good)
    soft = vice(R=np.array([1e-4, 0, 0, 1e-4, 0, 0]))
    assert not stickslip.certificate_holds(**soft, certificate=good)
    assert stickslip.solve(**soft).status == Status.solved


def test_certificates_of_a_batch_are_zero_but_for_what_is_infeasible():
    one, other = vice(0.2), vice(-0.2)
    batch = {"W": np.stack([one["W"]] * 2), "b": np.stack([one["b"], other["b"]]), "mu": 0.5}
    plain = stickslip.solve(**batch)
    assert plain.certificate is None
    solution = stickslip.solve(**batch, certificates=True)
    assert solution.status.tolist() == [Status.infeasible, Status.solved]
    assert solution.certificate[0].any()
    assert not solution.certificate[1].any()
    np.testing.assert_array_equal(solution.impulse, plain.impulse)
    holds = stickslip.certificate_holds(**batch, certificate=solution.certificate)
    assert holds.tolist() == [True, False]


def test_a_bound_solver_writes_the_certificates_of_solve():
    W, b = np.stack([vice()["W"]] * 2), np.stack([vice(0.2)["b"], vice(-0.2)["b"]])
    expected = stickslip.solve(W, b, mu=0.5, certificates=True).certificate
    assert stickslip.BoundSolver(W=W, b=b, mu=0.5)().certificate is None
    np.testing.assert_array_equal(
        stickslip.BoundSolver(W=W, b=b, mu=0.5, certificates=True)().certificate, expected
    )
    proofs = np.full((2, 6), np.nan)
    stickslip.BoundSolver(W=W, b=b, mu=0.5, certificates=True, out={"certificate": proofs})()
    np.testing.assert_array_equal(proofs, expected)
    with pytest.raises(ValueError, match="out: expected names of"):
        stickslip.BoundSolver(W=W, b=b, mu=0.5, out={"certificate": proofs})


def test_free_rows_that_contradict_each_other():
    W = np.array([[1.0, -1.0], [-1.0, 1.0]])
    b = np.array([0.1, 0.1])  # u_0 + u_1 = 0.2 for all impulses
    problem = {"W": W, "b": b, "mu": np.zeros(0), "n_free": 2}
    solution = stickslip.solve(**problem, certificates=True)
    assert solution.status == Status.infeasible
    assert stickslip.certificate_holds(**problem, certificate=solution.certificate)
    assert stickslip.solve(W, np.array([0.1, -0.1]), np.zeros(0), n_free=2).ok


def test_box_rows_count_as_far_as_a_bound_is_missing():
    W = np.array([[1.0, -1.0], [-1.0, 1.0]])
    b = np.array([-0.1, -0.1])
    push = {"W": W, "b": b, "mu": np.zeros(0), "n_nonneg": 1}
    open_ended = push | {"lo": [0.0], "hi": [np.inf]}
    assert stickslip.solve(**open_ended).status == Status.infeasible
    bounded = push | {"lo": [0.0], "hi": [5.0]}
    assert stickslip.solve(**bounded).status == Status.solved


@pytest.mark.parametrize(
    ("certificate", "found"),
    [([1.0, 0, 0, 1.0, 0, 0], "proves"), ([1.0] + [0] * 5, "proves nothing"), (None, "missing")],
)
def test_check_says_what_a_stored_certificate_is_worth(certificate, found):
    dims, mu = np.array([3, 3], np.int32), np.full(4, 0.5)
    problem = files.ContactProblem("vice", **vice(mu=mu), dims=dims)
    proof = None if certificate is None else np.array(certificate)
    stored = files.StoredSolution(np.zeros(6), "infeasible", certificate=proof)
    (check,) = judge.check(files.ProblemFile("", [problem], {"vice": stored}))
    assert check.certificate == found
    assert check.wrong == (found != "proves")
    assert any(f"its certificate: {found}" in note for note in check.notes) == check.wrong


# The residual of a huge impulse is lost in rounding: r - rho u no longer contains u.
def test_an_impulse_too_large_to_judge_is_not_called_solved():
    W, b = np.diag([0, 0.606, 0]), np.array([1.953, 1.197, -0.818])
    solution = stickslip.solve(W, b, 13.339, law="convex")
    assert solution.status == Status.not_converged
    assert solution.residual > 1e-9


# A pile that needs the interior-point method: max_work ends it with the best impulse so far.
def test_bounded_work_ends_with_the_best_impulse():
    path = Path(__file__).parents[1] / "data" / "piles.h5"
    (pile,) = (p for p in files.read(path).problems if p.name == "sph40_1.0_eq_0296")

    def solve(**options):
        options = stickslip.SolveOptions(**options)
        return stickslip.solve(pile.W, pile.b, pile.mu, dims=pile.dims, options=options)

    first, full = solve(max_rung=0), solve()
    assert not first.ok
    assert full.ok
    # Half of the work is for rung 0. With less the search ends far from any solution, where the
    # answer is that of softened contacts.
    steps = 2.0 * first.iterations + 20.0
    few = solve(max_work=steps * len(pile.b) ** 3)
    assert not few.ok
    assert first.iterations < few.iterations < full.iterations
    assert few.residual <= first.residual
    assert np.isfinite(few.impulse).all()
    assert (solve(thorough=False).impulse == full.impulse).all()
    with pytest.raises(ValueError, match=r"options\.max_work: expected a finite number >= 0"):
        solve(max_work=np.nan)
    with pytest.raises(TypeError, match=r"options\.thorough: expected a bool, got int"):
        solve(thorough=1)


# Without R, y = (1, 0, 0, 1, 0, 0) would prove that there is none; r_n = 2^48 is one.
@pytest.mark.parametrize("law", ["coulomb", "convex", "pyramid", "box", "frictionless"])
def test_a_compliance_however_small_leaves_a_solution(law):
    W = np.diag([1.0, 3.0, 3.0, 1.0, 3.0, 3.0])
    W[0, 3] = W[3, 0] = -1.0
    b = np.array([-1.0, 0, 0, -1.0, 0, 0])
    R = np.array([2.0**-48, 0, 0, 2.0**-48, 0, 0])
    assert stickslip.solve(W, b, 0.5, law=law).status == Status.infeasible
    assert stickslip.solve(W, b, 0.5, R=R, law=law).status != Status.infeasible
    y = np.array([1.0, 0, 0, 1.0, 0, 0])
    assert stickslip.certificate_holds(W, b, 0.5, y, law=law)
    assert not stickslip.certificate_holds(W, b, 0.5, y, R=R, law=law)


# The scale of tangents that nothing can move must not hide the normal's velocity.
@pytest.mark.parametrize("w", [1.0, 1e-2, 1e-4, 1e-6])
def test_pyramid_sees_a_slow_normal_beside_tangents_that_nothing_moves(w):
    W, b = np.diag([w, 0, 0]), np.array([-1e-6 * w, 1.0, 0.0])
    solution = stickslip.solve(W, b, 0.5, law="pyramid")
    assert solution.ok
    pushed = stickslip.solve(W, np.array([-3e-6, 1.0, 0.0]), 0.5, law="pyramid")
    assert pushed.ok
    np.testing.assert_allclose(pushed.impulse, [3e-6 / w, -1.5e-6 / w, 0], rtol=2e-3, atol=0)


def test_work_is_bounded():
    rng = np.random.default_rng(1)
    J = rng.normal(size=(60, 24))
    problem = {"W": J @ J.T, "b": rng.normal(size=60), "mu": 0.6}
    full = stickslip.solve(**problem)
    assert full.iterations > 1
    for steps in (0.5, 1, 3):
        options = stickslip.SolveOptions(max_work=2 * steps * 60**3)
        few = stickslip.solve(**problem, options=options)
        assert few.iterations <= 2 * steps + 3 + 2 * 27 * steps  # sweeps and passes of the proof
        assert np.isfinite(few.impulse).all()
    assert stickslip.solve(**problem, options=stickslip.SolveOptions(max_work=1e12)).ok == full.ok
    with pytest.raises(ValueError, match=r"options\.max_work: expected a finite number >= 0"):
        stickslip.solve(**problem, options=stickslip.SolveOptions(max_work=-1.0))
