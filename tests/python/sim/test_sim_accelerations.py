"""sim.qacc and accelerometers are those of the step that was made."""

import numpy as np
import pytest

pytest.importorskip("mujoco")
import mujoco
from sim_models import model_path

from stickslip import BatchSim, Status


@pytest.mark.parametrize("softness", ["rigid", "model"])
@pytest.mark.parametrize("integrator", ["euler", "implicitfast"])
@pytest.mark.parametrize("name", ["hopper", "ant", "dm_humanoid"])
def test_qacc_is_the_change_of_the_velocities(name, integrator, softness):
    sim = BatchSim(model_path(name), 8, integrator=integrator, softness=softness)
    rng = np.random.default_rng(0)
    low, high = sim.model.actuator_ctrlrange.T
    for _ in range(100):
        before = sim.qvel.copy()
        status = sim.step(rng.uniform(low, high, (8, sim.model.nu)))
        assert np.all(status == Status.solved)
        found, h = sim.qacc, sim.timestep
        rounding = 1e-12 * (1 + np.abs(sim.qvel).max()) / h
        np.testing.assert_allclose(found, (sim.qvel - before) / h, rtol=1e-9, atol=rounding)


def test_a_free_body_turns_by_its_own_matrix():
    """implicitfast solves the blocks of free bodies with the derivative of the gyroscopic force."""
    body = """<mujoco><option integrator="implicitfast"/><worldbody><body><freejoint/>
      <inertial pos="0 0 0" mass="1" diaginertia=".1 .2 .25"/><geom size=".1"/></body></worldbody>
      </mujoco>"""
    model = mujoco.MjModel.from_xml_string(body)
    data, sim = mujoco.MjData(model), BatchSim(body, 1)
    data.qvel[3:] = sim.qvel[0, 3:] = [5, 30, -10]
    for _ in range(200):
        before = sim.qvel.copy()
        sim.step()
        mujoco.mj_step(model, data)
        np.testing.assert_allclose(sim.qvel[0], data.qvel, atol=1e-12)
        np.testing.assert_allclose(sim.qacc, (sim.qvel - before) / sim.timestep, atol=1e-10)


@pytest.mark.parametrize("law", ["coulomb", "pyramid", "frictionless"])
def test_accelerometers_show_the_step_where_damping_is_stiff(law):
    """M⁻¹ f would be 500 times the acceleration that the step has."""
    arm = """<mujoco><option timestep=".005" gravity="0 0 0"/><worldbody><body>
      <joint axis="0 0 1" damping="100"/><site name="tip" pos="1 0 0"/>
      <geom type="capsule" fromto="0 0 0 1 0 0" size=".01" mass="1e-3"/></body></worldbody>
      <sensor><accelerometer site="tip"/></sensor></mujoco>"""
    sim = BatchSim(arm, 4, law=law)
    sim.qvel[:] = speed = np.array([[1.0], [-2.0], [0.5], [3.0]])
    sim.step()
    along = (sim.qvel - speed) / 0.005  # of 1 m
    np.testing.assert_allclose(sim.qacc, along, rtol=1e-9)
    np.testing.assert_allclose(sim.sensordata[:, 1:2], along, rtol=1e-9)
    np.testing.assert_allclose(sim.sensordata[:, :1], -(speed**2), rtol=1e-9)
