"""Every registered environment satisfies Gymnasium's API; walking robots and the grasp."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from envs_support import actions_of, make

from stickslip import Status, models
from stickslip.envs import REGISTERED


def skip_if_absent(name: str) -> None:
    robot = getattr(REGISTERED[name][0], "robot", "ant")
    if robot not in models.available():
        pytest.skip(f"{robot}: its model is not installed")


@pytest.mark.parametrize("law", ["coulomb", "mujoco"])
@pytest.mark.parametrize("name", REGISTERED)
def test_gymnasiums_contract(name: str, law: str) -> None:
    """The checks of gymnasium.utils.env_checker for single environments, on all of a batch."""
    skip_if_absent(name)
    assert gymnasium.spec(name).max_episode_steps == REGISTERED[name][1]
    env = gymnasium.make_vec(name, num_envs=3, law=law, autoreset_mode="SameStep")
    first, infos = env.reset(seed=123)
    assert first.dtype == env.observation_space.dtype == np.float64
    assert first in env.observation_space
    assert first[0] in env.single_observation_space
    again, _ = env.reset(seed=123)
    np.testing.assert_array_equal(first, again)
    assert (env.reset(seed=124)[0] != first).any(axis=1).all()
    np.testing.assert_array_equal(env.reset(seed=124)[0][:2], first[1:])
    env.action_space.seed(0)
    for _ in range(30):
        observations, rewards, terminated, truncated, infos = env.step(env.action_space.sample())
        assert observations in env.observation_space
        assert np.isfinite(observations).all()
        assert rewards.dtype == np.float64
        assert np.isfinite(rewards).all()
        assert terminated.dtype == truncated.dtype == bool
        for key, value in infos.items():
            assert len(value if not isinstance(value, dict) else infos[f"_{key}"]) == 3
            assert key.startswith("_") or infos[f"_{key}"].dtype == bool
        assert (infos["status"] == Status.solved).all()
    assert not env.failures.any()
    env.close()
    assert env.closed


@pytest.mark.parametrize("law", ["coulomb", "convex", "mujoco"])
@pytest.mark.parametrize("name", ["Go1-v0", "G1-v0"])
def test_robots_stand_and_follow(name: str, law: str) -> None:
    skip_if_absent(f"stickslip/{name}")
    env = make(name, 4, law=law, command_range=(0.0, 0.0, 0.0), max_episode_steps=None)
    observations, _ = env.reset(seed=0)
    for _ in range(50):  # a second
        observations, rewards, terminated, _, infos = env.step(np.zeros(env.action_space.shape))
        assert not terminated.any()
    assert not env.failures.any()
    np.testing.assert_allclose(observations[:, 6:9], [[0, 0, -1]] * 4, atol=0.05)  # upright
    assert (infos["velocity_error"] < 0.1).all()  # m/s: the humanoid sways
    # At rest, upright and on command, one second gives a reward of 1.5 + 0.75 + 0.5.
    np.testing.assert_allclose(rewards / env.unwrapped.dt, 2.75, atol=0.05)


def test_commands_and_velocities_are_in_the_robots_frame() -> None:
    skip_if_absent("stickslip/Go1-v0")
    env = make("Go1-v0", 3, command_range=(1.0, 0.0, 0.0), max_episode_steps=None)
    env.reset(seed=0)
    assert (np.abs(env.unwrapped.commands) <= [1.0, 0.0, 0.0]).all()
    assert len(np.unique(env.unwrapped.commands[:, 0])) == 3
    sim = env.unwrapped.sim
    turn = np.array([0.0, np.pi / 2, np.pi])  # about the vertical
    sim.qpos[:, 3], sim.qpos[:, 6] = np.cos(turn / 2), np.sin(turn / 2)
    sim.qvel[:] = 0
    sim.qvel[:, :2] = np.stack([np.cos(turn), np.sin(turn)], axis=1)  # forward, different headings
    linear, angular, gravity = env.unwrapped.root_motion()
    np.testing.assert_allclose(linear, [[1, 0, 0]] * 3, atol=1e-15)
    np.testing.assert_allclose(angular, 0)
    np.testing.assert_allclose(gravity, [[0, 0, -1]] * 3, atol=1e-15)
    sim.qpos[:, 3:7] = [np.cos(1.0), 0, np.sin(1.0), 0]  # inclined by 2 rad
    assert env.step(np.zeros(env.action_space.shape))[2].all()


def hold(seconds: float, **options) -> tuple[float, np.ndarray]:
    """Lifts the cube and holds it; returns how far it moves relative to the hand in that time, m,
    and its height."""
    env = make("Grasp-v0", 4, max_episode_steps=None, **options)
    observations, _ = env.reset(seed=0)
    steps, summed = round(seconds / env.unwrapped.dt), np.zeros(4)
    for step in range(150 + steps):  # three seconds to squeeze, lift and settle
        action = np.array([0.8, -1.0 if step < 25 else 1.0])
        observations, _, terminated, truncated, infos = env.step(np.tile(action, (4, 1)))
        if terminated.any() or truncated.any():
            return np.inf, infos["height"]
        if step == 149:
            start = observations[:, 6:9].copy()
        elif step > 149:
            summed += infos["slip"]
    moved = np.linalg.norm(observations[:, 6:9] - start, axis=1)
    return max(summed.max(), moved.max()), infos["height"]


def test_a_held_cube_does_not_slip() -> None:
    slip, height = hold(60.0, law="coulomb")
    assert slip < 1e-9  # m, in a minute: 1/60 of what the tolerance of 1e-9 m/s allows
    assert (height > 0.18).all()


def test_mujocos_soft_friction_lets_it_slip() -> None:
    slip, _ = hold(10.0, law="mujoco")
    assert slip > 1e-2
    with_noslip, height = hold(10.0, law="mujoco", noslip_iterations=10)
    assert 1e-7 < with_noslip < 1e-4
    assert (height > 0.18).all()


def test_grasp_tells_slip_and_drops() -> None:
    env = make("Grasp-v0", 2, max_episode_steps=None)
    env.reset(seed=0)
    slips = np.zeros(2)
    for step in range(200):
        # The second hand squeezes with 0.8 N: 2 mu F = 1.3 N do not hold 4.9 N.
        action = np.array([[0.8, 1.0], [0.04, 1.0]]) if step > 25 else [[0.8, -1.0], [0.04, -1.0]]
        _, _, terminated, _, infos = env.step(action)
        slips += infos["slip"]
        if terminated.any():
            break
    assert list(terminated) == [False, True]
    assert slips[0] < 1e-3 < 1e-2 < slips[1]
    assert infos["height"][1] < 1e-6


def test_actions_reach_the_actuators() -> None:
    env = make("Grasp-v0", 5, max_episode_steps=None)
    env.reset(seed=0)
    next(actions_of(env))
    env.step([[1, 1], [-1, -1], [0, 0], [5, 5], [-5, -5]])
    expected = [[0.2, 20, 20], [0, -20, -20], [0.1, 0, 0], [0.2, 20, 20], [0, -20, -20]]
    np.testing.assert_allclose(env.unwrapped.sim.ctrl, expected)
