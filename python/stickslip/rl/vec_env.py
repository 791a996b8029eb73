"""Environments of stickslip for rsl_rl (PyPI `rsl-rl-lib`)."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from rsl_rl.env import VecEnv
from tensordict import TensorDict
from torch import Tensor

import stickslip.envs  # noqa: F401  (registers them)
from stickslip._core import Status
from stickslip.envs.base import BatchEnv

LEAST_RESIDUAL = 1e-16  #: that is logged: rounding; without contacts, residuals are 0


class RslRlEnv(VecEnv):
    """A vector environment for rsl_rl: observations in the group "policy", episodes that restart
    in the step in which they end, time limits and failures reported as time outs.

    `extras["log"]` has the share of environments whose contacts were not solved in the step, and
    the decimal logarithm of the largest residual: rsl_rl prints four decimals, which residuals
    themselves do not reach.

    Args:
        env: id of an environment.
        num_envs: number of environments.
        device: where rsl_rl's tensors are.
        options: of the environment.
    """

    def __init__(
        self, env: str, num_envs: int, device: str | torch.device = "cpu", **options: Any
    ) -> None:
        self.envs: BatchEnv = gymnasium.make_vec(
            env, num_envs=num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **options
        ).unwrapped
        self.num_envs, self.device = num_envs, device
        self.num_actions = self.envs.single_action_space.shape[0]
        self.max_episode_length = self.envs.max_episode_steps or np.iinfo(np.int64).max
        self.cfg = {"env": env, "num_envs": num_envs, **options}
        space = self.envs.action_space
        self._range = torch.as_tensor(space.low), torch.as_tensor(space.high)
        self._observations, _ = self.envs.reset()

    @property
    def episode_length_buf(self) -> Tensor:
        """(N,) steps of the running episodes; may be set, to begin with episodes of any length."""
        return torch.as_tensor(self.envs.elapsed).to(self.device)

    @episode_length_buf.setter
    def episode_length_buf(self, steps: Tensor) -> None:
        self.envs.elapsed[:] = steps.cpu().numpy()

    def seed(self, seed: int) -> None:
        """Resets all; environment i draws from seed + i."""
        self._observations, _ = self.envs.reset(seed=seed)

    def get_observations(self) -> TensorDict:
        """(N, size) float32 in the group "policy"."""
        observations = torch.as_tensor(self._observations, dtype=torch.float32)
        return TensorDict({"policy": observations}, [self.num_envs]).to(self.device)

    def step(self, actions: Tensor) -> tuple[TensorDict, Tensor, Tensor, dict[str, Any]]:
        """actions (N, num_actions), cut to the range of the action space."""
        cut = actions.detach().cpu().clamp(*self._range).numpy()
        self._observations, rewards, terminated, truncated, infos = self.envs.step(cut)
        unsolved = infos["status"] != Status.solved
        largest = infos["residual"][~unsolved].max(initial=LEAST_RESIDUAL)
        extras = {
            "time_outs": torch.as_tensor(truncated & ~terminated).to(self.device),
            "log": {
                "contacts/unsolved": float(unsolved.mean()),
                "contacts/log10_residual": float(np.log10(largest)),
            },
        }
        dones = torch.as_tensor(terminated | truncated).to(self.device)
        rewards = torch.as_tensor(rewards, dtype=torch.float32).to(self.device)
        return self.get_observations(), rewards, dones, extras
