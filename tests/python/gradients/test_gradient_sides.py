"""Derivatives by parameters that can only grow, and of redundant contacts (docs/gradients.md)."""

import numpy as np
import pytest
from gradient_problems import box, problems, solved, split, tight

import stickslip


def along_friction(args, law, solution, dmu):
    first, others = split(args)
    return stickslip.jvp(*first, solution, dmu=dmu, law=law, **others)


@pytest.mark.parametrize("law", ["coulomb", "convex", "box", "pyramid"])
def test_a_change_of_friction_that_is_zero_has_no_effect(law):
    args = {"W": np.eye(3)[None], "b": np.array([[-1.0, 2.0, 0.0]]), "mu": np.zeros((1, 1))}
    solution = solved(args, law)
    first, _ = split(args)
    found = along_friction(args, law, solution, np.ones((1, 1)))
    assert np.all(found.impulse == 0)
    back = stickslip.vjp(*first, solution, d_velocity=np.ones((1, 3)), law=law)
    assert np.all(back.mu == 0)
    assert np.all(back.b[0, 1:] == 1)


@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_at_no_compliance_its_derivative_is_the_one_to_the_right(law):
    args = problems("contacts", 20, envs=20)
    solution = solved(args, law)
    first, _ = split(args)
    loss = np.random.default_rng(0).normal(size=args["b"].shape)
    found = stickslip.vjp(*first, solution, d_impulse=loss, law=law)
    R = np.random.default_rng(1).uniform(0, 1, args["b"].shape)
    h = 1e-7
    moved = tight(args | {"R": h * R}, law, solution.impulse)
    assert np.all(moved.residual < 1e-12)
    numeric = (loss * (moved.impulse - solution.impulse)).sum(axis=1) / h
    exact = (found.R * R).sum(axis=1)
    use = found.ok & (found.kink_distance > 1e-4)
    assert use.mean() >= 0.9
    error = np.abs(exact - numeric) / (1e-2 + np.abs(numeric))
    assert error[use].max() <= 1e-4


def test_convex_contacts_that_slide_together_have_a_derivative_by_common_friction():
    """Without compliance; u_n = mu |u_t| of all four corners, so that one alone cannot change."""
    args, J, inverse = box(mu=0.3, push=(0.7, 0.4))
    args["b"][:, ::3] -= 1.0
    solution = solved(args, "convex")
    assert solution.status[0] == 0
    found = along_friction(args, "convex", solution, np.ones((1, 4)))
    assert found.inconsistency[0] < 1e-6
    ends = []
    for sign in (1, -1):
        end = tight(args | {"mu": args["mu"] + 1e-6 * sign}, "convex", solution.impulse)
        assert end.residual[0] < 1e-11
        ends.append(inverse * (J.T @ end.impulse[0]))
    numeric = (ends[0] - ends[1]) / 2e-6
    assert np.abs(numeric).max() > 0.1
    exact = inverse * (J.T @ found.impulse[0])
    np.testing.assert_allclose(exact, numeric, atol=1e-5 * np.abs(numeric).max())


def test_compliance_in_all_rows_makes_every_state_of_a_box_valid():
    """At rest, sliding, turning: without it kinks and losses that are not determined; and the box
    at rest creeps with v = -R r."""
    statuses = {}
    for compliance in (0.0, 1e-3):
        for push, spin in (((0.0, 0.0), 0.0), ((0.02, 0.0), 0.0), ((0.7, 0.4), 4.0)):
            args, _, _ = box(push=push, spin=spin, compliance=compliance)
            first, others = split(args)
            solution = solved(args, "coulomb")
            g_r = np.random.default_rng(3).normal(size=(1, 12))
            found = stickslip.vjp(*first, solution, d_impulse=g_r, **others)
            statuses.setdefault(compliance, []).append(bool(found.ok[0]))
            if compliance and spin == 0.0:
                creep = np.einsum("ij,j->i", args["W"][0], solution.impulse[0]) + args["b"][0]
                expected = -args["R"][0] * solution.impulse[0]
                np.testing.assert_allclose(creep, expected, atol=1e-11)
                assert np.abs(creep).max() < 1e-3
    assert statuses == {0.0: [False, False, False], 1e-3: [True, True, True]}
