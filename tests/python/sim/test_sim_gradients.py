"""Derivatives of time steps: against differences of the steps themselves and MuJoCo's own, closed
forms, adjointness, the same bits anywhere in a batch, refusals."""

import mujoco
import numpy as np
import pytest
from sim_models import (
    MACHINE,
    PLANE,
    STATE,
    TUMBLING,
    contact_rich_states,
    exact_mujoco,
    free,
    model_path,
    saved_model,
    scene,
    slope,
)

from stickslip import GradientStatus, SolveOptions
from stickslip._src.sim import BatchSim

TIGHT = SolveOptions(atol=1e-13, rtol=1e-13)
INTEGRATORS = ("euler", "implicitfast")
INPUTS = ("ctrl", "qvel", "qpos")


def shaken(model, num_envs, law, integrator, steps=120, **options):
    """A simulation after a while under random controls, and a state of it."""
    sim = BatchSim(model, num_envs, law=law, integrator=integrator, options=TIGHT, **options)
    rng = np.random.default_rng(0)
    sim.qvel[:] = 0.1 * rng.normal(size=sim.qvel.shape)
    for _ in range(steps):
        sim.step(rng.uniform(-1, 1, sim.ctrl.shape))
    return sim, sim.state.copy()


def loss_of(sim, seed=1):
    """Random derivatives of a loss by qpos and qvel."""
    return np.random.default_rng(seed).normal(size=(2, *sim.qvel.shape))


def moved(sim, state, name, i, by):
    """The state of every environment after a step from `state` with one input changed."""
    sim.state[:] = state
    if name == "qpos":
        direction = np.eye(sim.qvel.shape[1])[i]
        for q in sim.qpos:
            mujoco.mj_integratePos(sim.model, q, direction, by)
    else:
        getattr(sim, name)[:, i] += by
    sim.step()
    return sim.qpos.copy(), sim.qvel.copy()


def difference(sim, before, after):
    """The change between two states of every environment, (N, nv) in the tangent space and qvel."""
    dq = np.zeros_like(before[1])
    for e in range(len(dq)):
        mujoco.mj_differentiatePos(sim.model, dq[e], 1.0, before[0][e], after[0][e])
    return dq, after[1] - before[1]


def by_differences(sim, state, loss, name):
    """dL/d(input) by central differences of whole steps, with their error of second order removed
    (Richardson)."""
    columns = []
    for i in range(sim.ctrl.shape[1] if name == "ctrl" else sim.qvel.shape[1]):
        slopes = []
        for step in (2e-6, 4e-6):  # a larger step: the error of the solves over it is smaller
            sides = (moved(sim, state, name, i, by) for by in (-step, step))
            dq, dv = difference(sim, *sides)
            slopes.append(((loss[0] * dq).sum(1) + (loss[1] * dv).sum(1)) / (2 * step))
        columns.append((4 * slopes[0] - slopes[1]) / 3)
    return np.transpose(columns)


def relative_error(found, expected):
    return np.abs(found - expected).max(axis=1) / np.abs(expected).max(axis=1)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", ["ant", "humanoid"])
def test_convex_steps_agree_with_mujocos_own_differences(name, integrator, tmp_path):
    number = {"euler": mujoco.mjtIntegrator.mjINT_EULER}
    number["implicitfast"] = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    elliptic = mujoco.mjtCone.mjCONE_ELLIPTIC
    model = exact_mujoco(saved_model(name, tmp_path, integrator=number[integrator], cone=elliptic))
    states, _ = contact_rich_states(model, 6)
    sim = BatchSim(model, len(states), law="convex", options=TIGHT)
    sim.state[:] = states
    sim.step()
    nv, nu = model.nv, model.nu
    A, B = np.zeros((2, len(states), 2 * nv, 2 * nv))
    for i, row in enumerate(np.eye(2 * nv)):
        g = sim.step_vjp(*np.tile(row.reshape(2, 1, nv), (1, len(states), 1)))
        A[:, i, :nv], A[:, i, nv:], B[:, i, :nu] = g.qpos, g.qvel, g.ctrl
    assert g.qpos_ok.sum() >= 4
    data = mujoco.MjData(model)
    for e in np.flatnonzero(g.qpos_ok):
        mujoco.mj_setState(model, data, states[e], STATE.value)
        mujoco.mj_forward(model, data)
        of_state, of_ctrl = np.zeros((2 * nv, 2 * nv)), np.zeros((2 * nv, nu))
        mujoco.mjd_transitionFD(model, data, 1e-6, True, of_state, of_ctrl, None, None)
        scale = np.abs(of_state).max()
        assert np.abs(A[e] - of_state).max() < 1e-6 * scale
        assert np.abs(B[e, :, :nu] - of_ctrl).max() < 1e-6 * np.abs(of_ctrl).max()


def errors(name, law, integrator, num_envs=12):
    """Largest relative errors of dL/d(ctrl, qvel, qpos) against differences of steps; and of how
    many environments: the valid ones that no difference takes past a kink, 1 mm/s from the next
    change of a state, with gaps of more than 10 um."""
    sim, state = shaken(model_path(name), num_envs, law, integrator, 150)
    loss = loss_of(sim)
    sim.step()
    gaps = [min((abs(c["gap"]) for c in sim.contacts(e)), default=1.0) for e in range(num_envs)]
    g = sim.step_vjp(*loss)
    far = g.qpos_ok & (g.kink_distance > 1e-3) & (np.array(gaps) > 1e-5)
    expected = {k: by_differences(sim, state, loss, k) for k in INPUTS}
    largest = {k: relative_error(getattr(g, k), v)[far].max() for k, v in expected.items()}
    return largest, int(far.sum())


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("law", ["coulomb", "convex"])
@pytest.mark.parametrize("name", ["ant", "humanoid"])
def test_steps_agree_with_differences(name, law, integrator):
    largest, number = errors(name, law, integrator)
    assert number >= 8
    assert max(largest.values()) < 1e-6


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("law", ["coulomb", "convex", "pyramid", "box", "frictionless"])
@pytest.mark.parametrize("model", [MACHINE, TUMBLING])
def test_all_kinds_of_rows_and_free_bodies(model, law, integrator):
    """Equalities, limits, friction loss, contacts of 1 to 6 rows, servos, gyroscopic forces."""
    sim, state = shaken(model, 12, law, integrator, 60)
    loss = loss_of(sim)
    g = sim.step_vjp(*loss, state=state)
    far = g.ok & (g.kink_distance > 1e-3)
    assert far.any()
    for name in ("ctrl", "qvel") if sim.ctrl.shape[1] else ("qvel",):
        expected = by_differences(sim, state, loss, name)
        assert relative_error(getattr(g, name), expected)[far].max() < 1e-6


@pytest.mark.parametrize("law", ["coulomb", "convex"])
@pytest.mark.parametrize("name", ["ant", "humanoid", "machine"])
def test_both_directions_are_adjoint(name, law):
    model = MACHINE if name == "machine" else model_path(name)
    sim, state = shaken(model, 8, law, "implicitfast")
    loss, rng = loss_of(sim), np.random.default_rng(2)
    wrt = (*INPUTS, "geom_friction", "body_mass")
    g = sim.step_vjp(*loss, state=state, wrt=wrt)
    inputs = {k: rng.normal(size=getattr(g, k).shape) for k in INPUTS}
    varied = {k: rng.normal(size=v.shape) for k, v in g.varied.items()}
    moved = {f"d_{name}": value for name, value in inputs.items()}
    change = sim.step_jvp(**moved, varied=varied, state=state)
    after = (loss[0] * change.qpos + loss[1] * change.qvel).sum(1)
    before = sum((getattr(g, k) * d).sum(1) for k, d in inputs.items())
    before += sum((g.varied[k] * d).reshape(8, -1).sum(1) for k, d in varied.items())
    assert g.ok.sum() >= 6
    np.testing.assert_array_equal(g.status, change.status)
    np.testing.assert_array_equal(g.qpos_status, change.qpos_status)
    np.testing.assert_allclose(after[g.ok], before[g.ok], rtol=1e-10, atol=1e-10)


def test_a_step_that_recovers_penetration():
    """The velocities are those of one solve, the positions those of another one."""
    sim = BatchSim(slope(0.3, 0.1), 3, options=TIGHT)
    sim.qvel[:, :3] = [0.5, 0.1, 0]
    sim.qpos[:, 2] -= [2e-4, 1e-3, 4e-3]  # deeper than the fastest recovery, the last one
    state = sim.state.copy()
    loss = loss_of(sim)
    sim.step()
    assert sim.statistics["repositioned"] == 3
    g = sim.step_vjp(*loss)
    assert g.qpos_ok.all()
    for name in ("qvel", "qpos"):
        assert relative_error(getattr(g, name), by_differences(sim, state, loss, name)).max() < 1e-6


def test_a_resting_contact_is_at_a_kink_of_its_gap():
    """A ball at rest: what lifts it by dz is taken back within the step, v_z = -dz / h."""
    sim = BatchSim(scene(0.004, PLANE, free('<geom type="sphere" size=".05"/>', "0 0 .05")))
    sim.step()
    loss = np.zeros((2, 1, 6))
    loss[1, 0, 2] = 1.0
    g = sim.step_vjp(*loss)
    assert g.ok.all()
    assert (g.qpos_status == GradientStatus.kink).all()
    np.testing.assert_allclose(g.qpos[0, 2], -1 / 0.004, rtol=1e-8)
    np.testing.assert_allclose(g.qvel[0], 0, atol=1e-8)
    np.testing.assert_allclose(sim.step_vjp(d_qpos=loss[1]).qpos[0, 2], 0, atol=1e-8)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_friction_of_a_sliding_block(integrator):
    """dv/dmu = -h g cos(angle) along the slope."""
    sim = BatchSim(slope(0.5, 0.3), 2, options=TIGHT, integrator=integrator)
    sim.vary("geom_friction", np.tile([0.3, 0.0, 0.0], (2, 2, 1)))
    sim.qvel[:, 0] = 1.0
    sim.step()
    direction = np.zeros((2, 2, 3))
    direction[:, :, 0] = 1.0  # of both geoms: the contact has the larger one
    change = sim.step_jvp(varied={"geom_friction": direction})
    expected = -sim.timestep * 9.81 * np.cos(0.5)
    np.testing.assert_allclose(change.qvel[:, 0], expected, rtol=1e-6)
    along = np.zeros((2, 6))
    along[:, 0] = 1.0
    g = sim.step_vjp(d_qvel=along, wrt="geom_friction")
    assert g.ctrl is None
    assert g.varied["geom_friction"].shape == (2, 2, 3)
    np.testing.assert_allclose(
        (g.varied["geom_friction"] * direction).sum((1, 2)), expected, rtol=1e-6
    )


@pytest.mark.parametrize(("law", "integrator"), [("coulomb", "euler"), ("convex", "implicitfast")])
@pytest.mark.parametrize("field", ["body_mass", "body_inertia", "geom_friction"])
def test_parameters_agree_with_differences(field, law, integrator):
    sim, state = shaken(MACHINE.replace('condim="1"', 'friction=".3 0 0"'), 4, law, integrator, 70)
    base = np.tile(getattr(sim.model, field).reshape(1, -1), (4, 1))
    if field == "geom_friction":
        base[:, 3 * 4] = 0.2  # distinct: the floor's is the larger one
    sim.vary(field, base)
    loss = loss_of(sim)
    g = sim.step_vjp(*loss, state=state, wrt=field)
    assert g.ok.all()
    expected = np.zeros_like(base)
    for i in range(base.shape[1]):
        step, sides = 1e-6 * max(base[0, i], 1e-2), []
        if base[0, i] < step:
            continue  # the world has no mass
        for by in (-step, step):
            values = base.copy()
            values[:, i] += by
            sim.vary(field, values)
            sim.state[:] = state
            sim.step()
            sides.append((sim.qpos.copy(), sim.qvel.copy()))
        dq, dv = difference(sim, *sides)
        expected[:, i] = ((loss[0] * dq).sum(1) + (loss[1] * dv).sum(1)) / (2 * step)
    used = base[0] > 1e-7
    found = g.varied[field].reshape(4, -1)
    scale = np.abs(expected).max() + 1e-3
    assert np.abs(found - expected)[:, used].max() < 1e-5 * scale


def test_a_rollout_is_differentiated_step_by_step():
    sim, state = shaken(model_path("ant"), 4, "coulomb", "implicitfast", 100)
    steps, rng = 5, np.random.default_rng(3)
    ctrl = 0.3 * rng.normal(size=(steps, *sim.ctrl.shape))
    target = rng.normal(size=sim.qvel.shape)

    def rollout(ctrl):
        sim.state[:] = state
        states = []
        for u in ctrl:
            sim.ctrl[:] = u
            states.append(sim.state.copy())
            sim.step()
        return states, (target * sim.qvel).sum(1)

    states, _ = rollout(ctrl)
    gradient, ok = np.zeros_like(ctrl), np.ones(4, bool)
    by_qpos, by_qvel = np.zeros_like(target), target
    for k in reversed(range(steps)):
        g = sim.step_vjp(by_qpos, by_qvel, state=states[k])
        gradient[k], by_qpos, by_qvel = g.ctrl, g.qpos, g.qvel
        ok &= g.qpos_ok & (g.kink_distance > 1e-4)
    assert ok.any()
    for k in range(steps):
        direction = np.zeros_like(ctrl)
        direction[k] = rng.normal(size=sim.ctrl.shape)
        low, high = (rollout(ctrl + by * direction)[1] for by in (-1e-6, 1e-6))
        expected = (high - low) / 2e-6
        found = (gradient * direction).sum((0, 2))
        np.testing.assert_allclose(found[ok], expected[ok], rtol=1e-6, atol=1e-6)
