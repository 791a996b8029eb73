"""rsl_rl and RLlib on our environments, and the examples for them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import NumpyToTorch

import stickslip.envs  # noqa: F401  (registers them)
from stickslip import models

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "rl"


def example(name: str, *arguments: str, timeout: float = 600) -> str:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_gymnasiums_wrapper_for_torch() -> None:
    env = NumpyToTorch(gymnasium.make_vec("stickslip/Hopper-v5", 6))
    observations, _ = env.reset(seed=0)
    assert isinstance(observations, torch.Tensor)
    assert isinstance(env.step(torch.zeros(6, 3))[1], torch.Tensor)


def test_rsl_rl_sees_the_environments_of_gymnasium() -> None:
    from stickslip.rl.vec_env import RslRlEnv

    envs = RslRlEnv("stickslip/Hopper-v5", 6, max_episode_steps=12)
    plain = gymnasium.make_vec(
        "stickslip/Hopper-v5", 6, autoreset_mode=AutoresetMode.SAME_STEP, max_episode_steps=12
    )
    envs.seed(3)
    expected, _ = plain.reset(seed=3)
    generator = torch.Generator().manual_seed(0)
    ended = cut_off = 0
    for _ in range(150):
        np.testing.assert_array_equal(
            envs.get_observations()["policy"], expected.astype(np.float32)
        )
        actions = 2.0 * torch.randn(6, envs.num_actions, generator=generator)
        observations, rewards, dones, extras = envs.step(actions)
        expected, reward, terminated, truncated, _ = plain.step(actions.clamp(-1, 1).numpy())
        np.testing.assert_array_equal(observations["policy"], expected.astype(np.float32))
        np.testing.assert_array_equal(rewards, reward.astype(np.float32))
        np.testing.assert_array_equal(dones, terminated | truncated)
        np.testing.assert_array_equal(extras["time_outs"], truncated & ~terminated)
        assert (envs.episode_length_buf[dones] == 0).all()
        assert extras["log"]["contacts/unsolved"] == 0
        ended, cut_off = ended + int(terminated.sum()), cut_off + int(truncated.sum())
    assert ended > 0
    assert cut_off > 0


def test_rsl_rl_may_begin_with_episodes_of_any_age() -> None:
    from stickslip.rl.vec_env import RslRlEnv

    envs = RslRlEnv("stickslip/HalfCheetah-v5", 3)
    envs.episode_length_buf = torch.tensor([999, 500, 998])
    *_, dones, extras = envs.step(torch.zeros(3, envs.num_actions))
    assert dones.tolist() == extras["time_outs"].tolist() == [True, False, False]
    assert envs.episode_length_buf.tolist() == [0, 501, 999]


def test_rsl_rl_example(tmp_path: Path) -> None:
    if "go1" not in models.available():
        pytest.skip("go1 is not installed")
    shown = example("rsl_rl_ppo.py", "--envs", "16", "--updates", "2", "--out", str(tmp_path))
    assert "contacts/unsolved" in shown
    assert (tmp_path / "model_1.pt").exists()
    assert list(tmp_path.glob("events.out.tfevents.*"))


def test_rllib_example_with_two_runners() -> None:
    shown = example("rllib_ppo.py", "--runners", "2", "--envs", "8", "--updates", "2")
    assert "update 1: 2048 steps" in shown


def test_stable_baselines3_sees_the_environments_of_gymnasium() -> None:
    from stickslip.rl.sb3 import Sb3VecEnv

    envs = Sb3VecEnv("stickslip/Hopper-v5", 6, max_episode_steps=12)
    plain = gymnasium.make_vec(
        "stickslip/Hopper-v5", 6, autoreset_mode=AutoresetMode.SAME_STEP, max_episode_steps=12
    )
    envs.seed(3)
    expected, _ = plain.reset(seed=3)
    np.testing.assert_array_equal(envs.reset(), expected)
    rng = np.random.default_rng(0)
    ended = cut_off = 0
    for _ in range(150):
        actions = rng.uniform(-1, 1, (6, 3)).astype(np.float32)
        observations, rewards, dones, infos = envs.step(actions)
        expected, reward, terminated, truncated, details = plain.step(actions)
        np.testing.assert_array_equal(observations, expected)
        np.testing.assert_array_equal(rewards, reward.astype(np.float32))
        np.testing.assert_array_equal(dones, terminated | truncated)
        assert [info["status"] for info in infos] == details["status"].tolist()
        for i in np.flatnonzero(dones):
            np.testing.assert_array_equal(infos[i]["terminal_observation"], details["final_obs"][i])
            assert infos[i]["TimeLimit.truncated"] == (truncated[i] and not terminated[i])
        ended, cut_off = ended + int(terminated.sum()), cut_off + int(truncated.sum())
    assert ended > 0
    assert cut_off > 0
    assert envs.get_attr("num_envs", [0, 2]) == [6, 6]
    with pytest.raises(ValueError, match="indices=None"):
        envs.env_method("reset", indices=[1])


def test_stable_baselines3_example() -> None:
    shown = example("sb3_ppo.py", "--env", "stickslip/Hopper-v5", "--envs", "8", "--steps", "4096")
    assert "ep_rew_mean" in shown
