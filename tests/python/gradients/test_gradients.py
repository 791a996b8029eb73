"""Derivatives of a solve (docs/gradients.md): adjointness, central differences, the equations."""

from dataclasses import replace

import numpy as np
import pytest
from gradient_problems import (
    KINDS,
    LAWS,
    change,
    dense_jvp,
    difference,
    dot,
    pairing,
    problems,
    reach,
    solved,
    split,
)

import stickslip
from stickslip import GradientStatus, SolveOptions

CASES = [(law, 4) for law in LAWS] + [("pyramid", d) for d in (8, 16, 32, 64)]


def both(args, law, directions, direction, seed):
    """<g, J d> and <J^T g, d>, the statuses of both, and dr, du."""
    rng = np.random.default_rng(seed)
    first, others = split(args)
    solution = solved(args, law, directions)
    options = SolveOptions(directions=directions)
    g_r, g_u = rng.normal(size=(2, *args["b"].shape))
    back = stickslip.vjp(
        *first, solution, d_impulse=g_r, d_velocity=g_u, law=law, options=options, **others
    )
    ahead = stickslip.jvp(
        *first,
        solution,
        **{f"d{name}": step for name, step in direction.items()},
        law=law,
        options=options,
        **others,
    )
    return (
        dot(g_r, ahead.impulse) + dot(g_u, ahead.velocity),
        pairing(back, direction),
        back,
        ahead,
        solution,
    )


@pytest.mark.parametrize("compliance", [0.0, 0.01])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("law", "directions"), CASES)
def test_vjp_and_jvp_are_adjoint(law, directions, kind, compliance):
    args = problems(kind, 1, compliance=compliance)
    direction = change(args, 2)
    ahead, back, gradient, tangent, solution = both(args, law, directions, direction, 3)
    usable = solution.status == 0
    assert usable.mean() >= 0.9
    np.testing.assert_array_equal(gradient.status, tangent.status)
    np.testing.assert_array_equal(gradient.kink_distance, tangent.kink_distance)
    sizes = sum(np.abs(getattr(gradient, k) * v).reshape(len(back), -1).sum(axis=1)
                for k, v in direction.items())  # fmt: skip
    assert np.all(np.abs(ahead - back)[usable] <= 1e-11 * (1e-3 + sizes[usable]))
    assert np.all(ahead[~usable] == 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("law", "directions"), CASES)
def test_derivatives_are_those_of_central_differences(law, directions, kind):
    args = problems(kind, 4, envs=25, compliance=1e-3)
    solution = solved(args, law, directions)
    first, others = split(args)
    options = SolveOptions(directions=directions)
    for name, step in change(args, 5).items():
        found = stickslip.jvp(*first, solution, **{f"d{name}": step}, law=law, options=options,
                              **others)  # fmt: skip
        dr, du, good = difference(args, law, {name: step}, solution, directions=directions)
        use = good & found.ok & (found.kink_distance > reach(args, dr, du))
        assert use.mean() >= 0.8
        size = 1e-2 + np.abs(dr).max(axis=1)
        error = np.abs(found.impulse - dr).max(axis=1) / size
        error_u = np.abs(found.velocity - du).max(axis=1) / (1e-2 + np.abs(du).max(axis=1))
        for e in (error[use], error_u[use]):
            assert np.median(e) <= 1e-7, name
            assert e.max() <= 1e-4, name


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("law", ["coulomb", "convex", "frictionless"])
def test_the_equations_are_those_of_the_page(law, kind):
    args = problems(kind, 6, envs=12, compliance=0.01)
    if kind == "contacts":
        args["mu"] = np.repeat(args["mu"], 2, axis=1)
    step = change(args, 7)
    for name in ("lo", "hi"):
        step.pop(name, None)
    solution = solved(args, law)
    first, others = split(args)
    found = stickslip.jvp(
        *first, solution, **{f"d{k}": v for k, v in step.items()}, law=law, **others
    )
    assert found.ok.mean() >= 0.8
    for e in np.flatnonzero(found.ok):
        one = {k: v if k in ("dims", "n_free", "n_nonneg") else v[e] for k, v in args.items()}
        dr, du = dense_jvp(one, law, solution.impulse[e], {k: v[e] for k, v in step.items()})
        np.testing.assert_allclose(found.impulse[e], dr, atol=1e-9 * np.abs(dr).max())
        np.testing.assert_allclose(found.velocity[e], du, atol=1e-9 * np.abs(du).max())


def test_a_loss_of_velocities_alone_and_of_impulses_alone_add_up():
    args = problems("dims", 8, compliance=0.01)
    first, others = split(args)
    solution = solved(args, "coulomb")
    g_r, g_u = np.random.default_rng(0).normal(size=(2, *args["b"].shape))
    kinds = ({"d_impulse": g_r}, {"d_velocity": g_u}, {"d_impulse": g_r, "d_velocity": g_u})
    parts = [stickslip.vjp(*first, solution, **loss, **others) for loss in kinds]
    for name in ("b", "W", "mu", "R", "lo", "hi"):
        one, other, sum_of_both = (getattr(part, name) for part in parts)
        np.testing.assert_allclose(one + other, sum_of_both, atol=1e-10 * np.abs(sum_of_both).max())
    nothing = stickslip.vjp(*first, solution, **others)
    assert np.all(nothing.b == 0)
    assert np.all(nothing.inconsistency == 0)


def test_impulses_of_the_convex_law_have_a_symmetric_derivative():
    args = problems("rows", 9, envs=1, compliance=0.01)
    n = args["b"].shape[1]
    args = {k: v if k in ("dims", "n_free", "n_nonneg") else np.repeat(v, n, axis=0)
            for k, v in args.items()}  # fmt: skip
    solution = solved(args, "convex")
    first, others = split(args)
    ahead = stickslip.jvp(*first, solution, db=np.eye(n), law="convex", **others)
    back = stickslip.vjp(*first, solution, d_impulse=np.eye(n), law="convex", **others)
    assert ahead.ok.all()
    size = np.abs(ahead.impulse).max()
    assert size > 0.1
    np.testing.assert_allclose(ahead.impulse, ahead.impulse.T, atol=1e-12 * size)
    np.testing.assert_allclose(ahead.impulse.T, back.b, atol=1e-12 * size)


def test_environments_that_are_not_solved_get_zeros():
    args = problems("rows", 10, envs=6, compliance=0.01)
    first, others = split(args)
    solution = solved(args, "coulomb")
    wrong = replace(solution, status=np.array([0, 1, 2, 3, 4, 0], np.int32))
    ones = np.ones_like(args["b"])
    back = stickslip.vjp(*first, wrong, d_impulse=ones, d_velocity=ones, **others)
    ahead = stickslip.jvp(*first, wrong, db=ones, **others)
    for found in (back, ahead):
        assert np.all(found.status[1:5] == GradientStatus.unsolved)
        assert np.all(found.status[[0, 5]] != GradientStatus.unsolved)
        assert np.all(found.kink_distance[1:5] == 0)
    for name in ("b", "mu", "R", "lo", "hi"):
        assert np.all(getattr(back, name)[1:5] == 0)
        assert np.any(getattr(back, name)[[0, 5]] != 0)
    assert np.all(ahead.impulse[1:5] == 0)
    assert np.all(ahead.velocity[1:5] == 0)


@pytest.mark.parametrize("law", ["coulomb", "frictionless", "box", "pyramid"])
def test_matrices_need_not_be_symmetric_where_the_law_does_not_ask_it(law):
    args = problems("dims", 11, envs=25, compliance=0.01)
    rng = np.random.default_rng(12)
    skew = 0.03 * rng.normal(size=args["W"].shape)
    args["W"] = args["W"] + skew - skew.transpose(0, 2, 1)
    direction = change(args, 13)
    direction["W"] = 0.03 * rng.normal(size=args["W"].shape)
    ahead, back, gradient, tangent, solution = both(args, law, 4, direction, 14)
    sizes = sum(np.abs(getattr(gradient, k) * v).reshape(25, -1).sum(axis=1)
                for k, v in direction.items())  # fmt: skip
    assert np.all(np.abs(ahead - back) <= 1e-11 * (1e-3 + sizes))
    dr, du, good = difference(args, law, direction, solution)
    use = good & tangent.ok & (tangent.kink_distance > reach(args, dr, du))
    assert use.mean() >= 0.8
    error = np.abs(tangent.impulse - dr).max(axis=1) / (1e-2 + np.abs(dr).max(axis=1))
    assert np.median(error[use]) <= 1e-7
    assert error[use].max() <= 1e-4
