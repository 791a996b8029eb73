"""Gymnasium's planar runners, v5: HalfCheetah, Hopper, Walker2d."""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.envs._arguments import check_types
from stickslip.envs.base import BatchEnv, Rows
from stickslip.envs.gymnasium_v5 import control_cost, model_file, normal_start, uniform_start


class Runner(BatchEnv):
    """A robot in a plane that is rewarded for its speed: what the environments below share."""

    def __init__(
        self,
        num_envs: int,
        *,
        xml_file: str,
        frame_skip: int,
        ctrl_cost_weight: float,
        reset_noise_scale: float,
        forward_reward_weight: float = 1.0,
        exclude_current_positions_from_observation: bool = True,
        **batch: Any,
    ) -> None:
        check_types(Runner, locals())
        self._forward_reward_weight = forward_reward_weight
        self._ctrl_cost_weight = ctrl_cost_weight
        self._reset_noise_scale = reset_noise_scale
        self._skipped_qpos = int(exclude_current_positions_from_observation)
        super().__init__(model_file(xml_file), num_envs, frame_skip=frame_skip, **batch)

    def before(self) -> np.ndarray:
        return self.sim.qpos[:, 0].copy()

    def progress(self, actions: np.ndarray, before: np.ndarray) -> dict[str, np.ndarray]:
        """Speed, its reward, and the cost of the actions."""
        x = self.sim.qpos[:, 0]
        velocity = (x - before) / self.dt
        return {
            "x_position": x,
            "x_velocity": velocity,
            "reward_forward": self._forward_reward_weight * velocity,
            "reward_ctrl": -control_cost(self._ctrl_cost_weight, actions),
        }


class HalfCheetah(Runner):
    """`HalfCheetah-v5`, whose documentation has observations, rewards and the first arguments."""

    def __init__(
        self,
        num_envs: int = 1,
        *,
        xml_file: str = "half_cheetah.xml",
        frame_skip: int = 5,
        ctrl_cost_weight: float = 0.1,
        reset_noise_scale: float = 0.1,
        **runner: Any,
    ) -> None:
        super().__init__(
            num_envs,
            xml_file=xml_file,
            frame_skip=frame_skip,
            ctrl_cost_weight=ctrl_cost_weight,
            reset_noise_scale=reset_noise_scale,
            **runner,
        )

    def initial_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return normal_start(rng, self.initial_qpos, self.model.nv, self._reset_noise_scale)

    def observation(self, rows: Rows) -> np.ndarray:
        parts = (self.sim.qpos[rows, self._skipped_qpos :], self.sim.qvel[rows])
        return np.concatenate(parts, axis=1)

    def outcome(
        self, actions: np.ndarray, before: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        infos = self.progress(actions, before)
        rewards = infos["reward_forward"] + infos["reward_ctrl"]
        return rewards, np.zeros(self.num_envs, bool), infos

    def reset_info(self) -> dict[str, np.ndarray]:
        return {"x_position": self.sim.qpos[:, 0]}


class Walker2d(Runner):
    """`Walker2d-v5`, whose documentation has observations, rewards and the first arguments."""

    def __init__(
        self,
        num_envs: int = 1,
        *,
        xml_file: str = "walker2d_v5.xml",
        frame_skip: int = 4,
        ctrl_cost_weight: float = 1e-3,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: tuple[float, float] = (0.8, 2.0),
        healthy_angle_range: tuple[float, float] = (-1.0, 1.0),
        reset_noise_scale: float = 5e-3,
        **runner: Any,
    ) -> None:
        check_types(Walker2d, locals())
        self._healthy_reward = healthy_reward
        self._terminate_when_unhealthy = terminate_when_unhealthy
        self._healthy_z_range = healthy_z_range
        self._healthy_angle_range = healthy_angle_range
        super().__init__(
            num_envs,
            xml_file=xml_file,
            frame_skip=frame_skip,
            ctrl_cost_weight=ctrl_cost_weight,
            reset_noise_scale=reset_noise_scale,
            **runner,
        )

    def healthy(self) -> np.ndarray:
        """(N,) whether height and pitch are within their ranges."""
        low, high = np.transpose([self._healthy_z_range, self._healthy_angle_range])
        pose = self.sim.qpos[:, 1:3]
        return ((low < pose) & (pose < high)).all(axis=1)

    def initial_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return uniform_start(rng, self.initial_qpos, self.model.nv, self._reset_noise_scale)

    def observation(self, rows: Rows) -> np.ndarray:
        velocity = np.clip(self.sim.qvel[rows], -10, 10)
        return np.concatenate((self.sim.qpos[rows, self._skipped_qpos :], velocity), axis=1)

    def outcome(
        self, actions: np.ndarray, before: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        infos = self.progress(actions, before)
        healthy = self.healthy()
        infos |= {**self.reset_info(), "reward_survive": healthy * self._healthy_reward}
        # The order of additions is Gymnasium's.
        rewards = infos["reward_forward"] + infos["reward_survive"] + infos["reward_ctrl"]
        return rewards, ~healthy & self._terminate_when_unhealthy, infos

    def reset_info(self) -> dict[str, np.ndarray]:
        qpos = self.sim.qpos
        return {
            "x_position": qpos[:, 0],
            "z_distance_from_origin": qpos[:, 1] - self.initial_qpos[1],
        }


class Hopper(Walker2d):
    """`Hopper-v5`, whose documentation has observations, rewards and the first arguments."""

    def __init__(
        self,
        num_envs: int = 1,
        *,
        xml_file: str = "hopper.xml",
        healthy_state_range: tuple[float, float] = (-100.0, 100.0),
        healthy_z_range: tuple[float, float] = (0.7, float("inf")),
        healthy_angle_range: tuple[float, float] = (-0.2, 0.2),
        **walker2d: Any,
    ) -> None:
        check_types(Hopper, locals())
        self._healthy_state_range = healthy_state_range
        super().__init__(
            num_envs,
            xml_file=xml_file,
            healthy_z_range=healthy_z_range,
            healthy_angle_range=healthy_angle_range,
            **walker2d,
        )

    def healthy(self) -> np.ndarray:
        low, high = self._healthy_state_range
        state = np.concatenate((self.sim.qpos[:, 2:], self.sim.qvel), axis=1)
        return super().healthy() & ((low < state) & (state < high)).all(axis=1)
