"""Domain randomization: the documented factors, seeded, different in each environment."""

from __future__ import annotations

import numpy as np
import pytest
from envs_support import assert_equal, make, run

import stickslip.envs


class Block(stickslip.envs.BatchEnv):
    """A block on a floor with friction 0.5, pushed by a motor."""

    MJCF = """<mujoco><option timestep=".01" cone="elliptic"/><worldbody>
      <geom type="plane" size="9 9 1" friction=".5 0 0"/>
      <body pos="0 0 .1"><joint type="slide" axis="1 0 0" name="x"/>
      <joint type="slide" axis="0 0 1"/>
      <geom type="sphere" size=".1" mass="2" friction=".5 0 0"/></body></worldbody>
      <actuator><motor joint="x" ctrlrange="-99 99" ctrllimited="true"/></actuator></mujoco>"""

    def __init__(self, **options):
        super().__init__(self.MJCF, frame_skip=1, **options)

    def initial_state(self, rng):
        return np.array([rng.uniform(), 0.0]), np.zeros(2)

    def observation(self, rows):
        return self.sim.qvel[rows, :1].copy()

    def outcome(self, actions, before):
        return self.sim.qvel[:, 0].copy(), np.zeros(self.num_envs, bool), {}


def test_different_objects_in_one_batch() -> None:
    """Blocks of 1 and 4 kg under the same force, in turn."""

    class Blocks(Block):
        def __init__(self, models, **options):
            stickslip.envs.BatchEnv.__init__(self, models, frame_skip=1, **options)

    light, heavy = (Block.MJCF.replace('mass="2"', f'mass="{mass}"') for mass in (1, 4))
    env = Blocks([light, heavy], num_envs=5)
    env.reset(seed=0)
    assert (env.initial_qpos == 0).all()
    speed = env.step(np.full((5, 1), 40.0))[0][:, 0]
    expected = 0.01 * (40 / np.array([1, 4, 1, 4, 1]) - 0.5 * 9.81)
    np.testing.assert_allclose(speed, expected, rtol=1e-6)
    for options in ({"randomize": {"mass": (0.5, 2)}}, {"render_mode": "rgb_array"}):
        with pytest.raises(ValueError, match="expected None with several models"):
            Blocks([light, heavy], num_envs=2, **options)
    larger = light.replace("</worldbody>", '<body name="more"><geom size="1"/></body></worldbody>')
    message = "model: expected models of equal sizes, got nbody 2 and 3"
    with pytest.raises(ValueError, match=message):
        Blocks([light, larger], num_envs=2)


def test_randomization_gives_the_factors_it_promises() -> None:
    """Block of mass m, friction mu, pushed by F: a = F / m - mu g."""
    ranges = {"mass": (0.5, 2.0), "friction": (0.5, 1.5), "gain": (0.9, 1.1)}
    found = {}
    for name in ranges:
        env = Block(num_envs=500, randomize={name: ranges[name]})
        env.reset(seed=0)
        speed = env.step(np.full((500, 1), 40.0))[0][:, 0]
        factor = {
            "mass": 40 / (speed / 0.01 + 0.5 * 9.81) / 2,
            "friction": (20 - speed / 0.01) / (0.5 * 9.81),
            "gain": (speed / 0.01 + 0.5 * 9.81) / 20,
        }[name]
        low, high = ranges[name]
        assert low - 1e-6 <= factor.min() < low + 0.05 * (high - low)
        assert high + 1e-6 >= factor.max() > high - 0.05 * (high - low)
        found[name] = factor
        env.reset(seed=0)
        np.testing.assert_array_equal(env.step(np.full((500, 1), 40.0))[0][:, 0], speed)
        env.reset()
        assert (env.step(np.full((500, 1), 40.0))[0][:, 0] != speed).all()
    alone = Block(num_envs=1, randomize={"mass": ranges["mass"]})
    alone.reset(seed=7)
    speed = alone.step(np.full((1, 1), 40.0))[0][0, 0]
    np.testing.assert_allclose(found["mass"][7], 40 / (speed / 0.01 + 0.5 * 9.81) / 2, rtol=1e-12)


def test_randomization_leaves_the_initial_states() -> None:
    env = make("Walker2d-v5", randomize={"gain": (1.0, 1.0), "mass": (1.0, 1.0)})
    assert_equal(run(env, 60), run(make("Walker2d-v5"), 60))


def test_wrong_randomization_is_refused() -> None:
    with pytest.raises(ValueError, match="randomize: expected mass, friction, gain, got 'colour'"):
        make(randomize={"colour": (0, 1)})
    with pytest.raises(ValueError, match="0 < low <= high"):
        make(randomize={"mass": (2, 1)})
    with pytest.raises(
        TypeError, match=r"randomize: expected ranges \(low, high\) by name, got int"
    ):
        make(randomize=3)
