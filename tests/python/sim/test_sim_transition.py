"""The matrices of a step, against its derivatives one by one, and against steps nearby."""

import runpy
from pathlib import Path

import mujoco
import numpy as np
import pytest

from stickslip import BatchSim, GradientStatus, Status, models

MACHINE = """<mujoco><option timestep=".004" integrator="implicitfast" cone="elliptic"/>
  <worldbody><geom name="floor" type="plane" size="5 5 .1" friction=".6"/>
  <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" friction=".6"/>
    <body pos=".25 0 0"><joint name="arm" axis="0 1 0" damping=".1" limited="true" range="-60 60"/>
      <geom type="capsule" fromto="-.1 0 0 .2 0 0" size=".03"/></body></body>
  <body pos="0 1 .099"><freejoint/><geom size=".1" friction=".6"/></body></worldbody>
  <actuator><motor joint="arm" gear="2"/></actuator></mujoco>"""


def moving(model, num_envs=4, steps=30, **options):
    sim = BatchSim(model, num_envs, **options)
    rng = np.random.default_rng(3)
    sim.qvel[...] = rng.normal(0, 0.3, sim.qvel.shape)
    for _ in range(steps):
        sim.step(rng.uniform(-1, 1, sim.ctrl.shape))
    return sim


def column_by_column(sim):
    n, nv, nu = sim.num_envs, sim.qvel.shape[1], sim.ctrl.shape[1]
    A, B = np.zeros((n, 2 * nv, 2 * nv)), np.zeros((n, 2 * nv, nu))
    for name, size, to, first in (
        ("d_qpos", nv, A, 0),
        ("d_qvel", nv, A, nv),
        ("d_ctrl", nu, B, 0),
    ):
        for i in range(size):
            change = sim.step_jvp(**{name: np.eye(size)[[i] * n]})
            to[:, :, first + i] = np.concatenate([change.qpos, change.qvel], axis=1)
    return A, B


@pytest.mark.parametrize("law", ["coulomb", "convex", "pyramid", "box", "frictionless"])
@pytest.mark.parametrize("model", [MACHINE, "ant"])
def test_columns_are_those_of_step_jvp(model, law):
    sim = moving(model, law=law, options=None, integrator="implicitfast")
    t = sim.step_transition()
    A, B = column_by_column(sim)
    assert (t.status != GradientStatus.unsolved).all()
    np.testing.assert_allclose(t.A, A, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(t.B, B, rtol=1e-9, atol=1e-9)


def test_it_predicts_steps_nearby():
    sim = moving(MACHINE, 12, compliance=1e-3)
    state = sim.state.copy()
    sim.step()
    t = sim.step_transition()
    good = t.ok  # not where friction that differs gives the same motion
    assert good.sum() >= 2
    nv = sim.qvel.shape[1]
    after = sim.qvel.copy()
    for i in range(nv):
        sim.state[...] = state
        sim.qvel[:, i] += 1e-6
        sim.step()
        change = (sim.qvel - after) / 1e-6
        np.testing.assert_allclose(change[good], t.A[good, nv:, nv + i], atol=2e-3)
    sim.state[...] = state
    sim.ctrl[...] += 1e-5
    sim.step()
    change = (sim.qvel - after) / 1e-5
    np.testing.assert_allclose(change[good], t.B[good, nv:, 0], atol=1e-4)


def test_without_contacts_it_is_mujocos():
    text = """<mujoco><option timestep=".01" integrator="implicitfast"/><worldbody>
      <body pos="0 0 1"><joint name="a" axis="0 1 0" damping=".2"/><geom size=".1" pos=".3 0 0"/>
        <body pos=".5 0 0"><joint name="b" axis="0 1 0"/><geom size=".05" pos=".2 0 .1"/></body>
      </body></worldbody>
      <actuator><motor joint="a"/><motor joint="b" gear="3"/></actuator></mujoco>"""
    sim = BatchSim(text)
    sim.qpos[0], sim.qvel[0], sim.ctrl[0] = [0.3, -0.5], [1.0, 2.0], [0.1, -0.2]
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = sim.qpos[0], sim.qvel[0], sim.ctrl[0]
    A, B = np.zeros((4, 4)), np.zeros((4, 2))
    mujoco.mjd_transitionFD(model, data, 1e-6, True, A, B, None, None)
    sim.step()
    t = sim.step_transition()
    np.testing.assert_allclose(t.A[0], A, atol=1e-6)
    np.testing.assert_allclose(t.B[0], B, atol=1e-6)


def test_environments_are_alone():
    """One that fails has zeros, and the others the bits that they have alone."""
    sim = moving(MACHINE, 3)
    state = sim.state.copy()
    alone = sim.step_transition(state=state)
    bad = state.copy()
    bad[1] = np.nan
    t = sim.step_transition(state=bad)
    assert t.status[1] == GradientStatus.unsolved
    assert not t.A[1].any()
    assert not t.B[1].any()
    np.testing.assert_array_equal(t.A[[0, 2]], alone.A[[0, 2]])


def test_lqr_holds_a_pole():
    """A pole on a cart that slides on the floor: balanced by the gains of the matrices."""
    text = """<mujoco><option timestep=".01" integrator="implicitfast" cone="elliptic"/><worldbody>
      <geom type="plane" size="9 9 .1" friction=".2"/>
      <body pos="0 0 .1"><joint name="x" type="slide" axis="1 0 0"/>
        <geom type="box" size=".2 .1 .1" mass="1" contype="0" conaffinity="0"/>
        <body><joint name="pole" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 1" size=".02"
          mass=".1" contype="0" conaffinity="0"/></body></body></worldbody>
      <actuator><motor joint="x" gear="10"/></actuator></mujoco>"""
    sim = BatchSim(text)
    sim.step()
    t = sim.step_transition(state=BatchSim(text).state.copy())
    P, Q, R = np.eye(4), np.diag([1.0, 10, 0.1, 0.1]), 0.1
    A, B = t.A[0], t.B[0]
    for _ in range(2000):  # Riccati
        K = (B.T @ P @ A) / (R + B.T @ P @ B)
        P = Q + A.T @ P @ (A - B @ K)
    sim.reset()
    sim.qpos[0, 1] = 0.2
    for _ in range(600):
        sim.step(-K @ np.concatenate([sim.qpos, sim.qvel], axis=1)[0])
        assert sim.status[0] == Status.solved
    np.testing.assert_allclose(np.concatenate([sim.qpos, sim.qvel]), 0, atol=1e-3)


def test_models_with_activations_are_refused():
    text = MACHINE.replace("<motor joint", '<general dyntype="filter" dynprm=".1" joint')
    sim = BatchSim(text)
    sim.step()
    with pytest.raises(ValueError, match="model: transitions are of models without activations"):
        sim.step_transition()


def test_a_humanoid_has_them():
    sim = moving(models.find("humanoid"), 2, steps=20, integrator="implicitfast")
    t = sim.step_transition()
    assert t.A.shape == (2, 46, 46)
    assert np.isfinite(t.A).all()


def test_the_example_reaches_its_goal():
    example = runpy.run_path(str(Path(__file__).resolve().parents[3] / "examples" / "ilqr.py"))
    controls, costs = example["solve"](iterations=4)
    assert costs[-1] < 1e-2 * costs[0]
    sim = BatchSim(example["MODEL"])
    for u in controls:
        sim.step(u)
    assert sim.qpos[0, 0] == pytest.approx(example["GOAL"], abs=1e-3)
    assert abs(sim.qvel).max() < 1e-2
