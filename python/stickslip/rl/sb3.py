"""Environments of stickslip for stable-baselines3 (PyPI `stable-baselines3`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import VecEnv

import stickslip.envs  # noqa: F401  (registers them)
from stickslip._core import Status
from stickslip.envs.base import BatchEnv

Indices = None | int | Sequence[int]


class Sb3VecEnv(VecEnv):
    """A vector environment for stable-baselines3: episodes restart in the step in which they end;
    time limits and failures are truncations ("TimeLimit.truncated"). `info["status"]` and
    `info["residual"]` are the verdict of the step. `VecMonitor` adds returns and lengths.

    Args:
        env: id of an environment.
        num_envs: number of environments.
        options: of the environment.
    """

    def __init__(self, env: str, num_envs: int, **options: Any) -> None:
        self.envs: BatchEnv = gymnasium.make_vec(
            env, num_envs=num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **options
        ).unwrapped
        self._actions = np.empty(0)
        super().__init__(
            num_envs, self.envs.single_observation_space, self.envs.single_action_space
        )

    def reset(self) -> np.ndarray:
        """Begins an episode everywhere; environment i draws from the seed of `seed`, plus i."""
        observations, _ = self.envs.reset(seed=self._seeds[0])
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Keeps the actions (N, size) for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Observations, rewards, whether episodes ended, and an info for each environment."""
        observations, rewards, terminated, truncated, infos = self.envs.step(self._actions)
        single: list[dict[str, Any]] = [
            {"status": Status(status), "residual": residual}
            for status, residual in zip(infos["status"], infos["residual"], strict=True)
        ]
        done = terminated | truncated
        for i in np.flatnonzero(done):
            single[i]["terminal_observation"] = infos["final_obs"][i]
            single[i]["TimeLimit.truncated"] = bool(truncated[i] and not terminated[i])
        return observations, rewards.astype(np.float32), done, single

    def close(self) -> None:
        """Releases what pictures need."""
        self.envs.close()

    def get_images(self) -> Sequence[np.ndarray | None]:
        """A picture of each environment (render_mode="rgb_array")."""
        return self.envs.render()

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """An attribute of the batch, once for each environment."""
        return [getattr(self.envs, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Sets an attribute of the batch: for all environments only."""
        self._require_all("set_attr", indices)
        setattr(self.envs, attr_name, value)

    def env_method(
        self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any
    ) -> list[Any]:
        """Calls a method of the batch: for all environments only."""
        self._require_all("env_method", indices)
        return [getattr(self.envs, method_name)(*args, **kwargs)] * self.num_envs

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper], indices: Indices = None
    ) -> list[bool]:
        """No environment of a batch has a wrapper of its own."""
        return [False] * len(list(self._get_indices(indices)))

    def _require_all(self, method: str, indices: Indices) -> None:
        if len(list(self._get_indices(indices))) != self.num_envs:
            raise ValueError(f"{method}: expected indices=None (the batch is one), got {indices!r}")
