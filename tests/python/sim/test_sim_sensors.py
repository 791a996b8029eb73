"""sensordata where no step has been made: after a reset, and after `forward`."""

import numpy as np
import pytest

pytest.importorskip("mujoco")
import mujoco
from gymnasium.vector import AutoresetMode

from stickslip import BatchSim, Status
from stickslip.envs import BatchEnv

PUCK = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/>
  <body name="puck" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/>
  <site name="imu"/></body>
  </worldbody><sensor><framepos objtype="body" objname="puck"/><velocimeter site="imu"/>
  <accelerometer site="imu"/><touch site="imu"/></sensor></mujoco>"""
POSE, ACCELERATION = slice(0, 6), slice(6, 10)


@pytest.mark.parametrize("law", ["coulomb", "convex", "mujoco"])
def test_forward_senses_the_present_state(law):
    sim = BatchSim(PUCK, 5, law=law, threads=1)
    sim.qpos[:, 0] = np.arange(5)
    sim.qvel[:, 0] = 1.0
    sim.step(substeps=10)
    sim.reset(mask=[1, 3])
    assert np.all(sim.sensordata[[1, 3]] == 0)
    kept = sim.sensordata.copy()
    sim.qpos[1, 1], sim.qvel[3, 1] = 0.25, 0.5
    sim.forward(mask=[1, 3])
    for env in (1, 3):
        data = mujoco.MjData(sim.model)
        data.qpos, data.qvel = sim.qpos[env], sim.qvel[env]
        mujoco.mj_forward(sim.model, data)
        np.testing.assert_array_equal(sim.sensordata[env, POSE], data.sensordata[POSE])
        expected = data.sensordata[ACCELERATION] if law == "mujoco" else 0
        np.testing.assert_array_equal(sim.sensordata[env, ACCELERATION], expected)
    np.testing.assert_array_equal(sim.sensordata[[0, 2, 4]], kept[[0, 2, 4]])


def test_nothing_is_sensed_of_what_was_reset_for_bad_input():
    sim = BatchSim(PUCK, 3, contact_sensors=[("puck", "world")])
    sim.qvel[:, 0] = 1.0
    sim.step(substeps=5)
    assert np.all(sim.contact_force[:, 0, 2] != 0)
    sim.qvel[1] = np.nan
    assert sim.step()[1] == Status.bad_input
    assert np.all(sim.sensordata[1] == 0)
    assert np.all(sim.contact_force[1] == 0)
    assert np.all(sim.sensordata[[0, 2], 0] > 0)
    sim.reset(mask=[2])
    assert np.all(sim.contact_force[2] == 0)


class Sliding(BatchEnv):
    """Observes where the sensor says that the puck is."""

    def __init__(self, **options):
        super().__init__(
            PUCK, options.pop("num_envs"), frame_skip=1, max_episode_steps=4, **options
        )

    def initial_state(self, rng):
        qpos = self.model.qpos0.copy()
        qpos[:2] = rng.uniform(-1, 1, 2)
        return qpos, np.array([1.0, 0, 0, 0, 0, 0])

    def observation(self, rows):
        return self.sim.sensordata[rows, :3].copy()

    def outcome(self, actions, before):
        return np.zeros(self.num_envs), np.zeros(self.num_envs, bool), {}


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_the_first_observation_of_an_episode_is_of_that_episode(mode):
    env = Sliding(num_envs=4, autoreset_mode=mode)
    first, _ = env.reset(seed=0)
    np.testing.assert_array_equal(first, env.sim.qpos[:, :3])
    began = 0
    for _ in range(12):
        found, *_ = env.step(np.zeros((4, 0)))
        new = env.elapsed == 0
        began += new.sum()
        np.testing.assert_array_equal(found[new], env.sim.qpos[new, :3])
    assert began >= 8
