"""Gymnasium's Ant, v5."""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.envs.base import ALL, BatchEnv, Rows
from stickslip.envs.gymnasium_v5 import control_cost, model_file, norm, uniform_noise


class Ant(BatchEnv):
    """`Ant-v5`, whose documentation has observations, rewards and the first arguments."""

    def __init__(
        self,
        num_envs: int = 1,
        *,
        xml_file: str = "ant.xml",
        frame_skip: int = 5,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.5,
        contact_cost_weight: float = 5e-4,
        healthy_reward: float = 1.0,
        main_body: int | str = 1,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: tuple[float, float] = (0.2, 1.0),
        contact_force_range: tuple[float, float] = (-1.0, 1.0),
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
        **batch: Any,
    ) -> None:
        self._forward_reward_weight = forward_reward_weight
        self._ctrl_cost_weight = ctrl_cost_weight
        self._contact_cost_weight = contact_cost_weight
        self._healthy_reward = healthy_reward
        self._terminate_when_unhealthy = terminate_when_unhealthy
        self._healthy_z_range = healthy_z_range
        self._contact_force_range = contact_force_range
        self._reset_noise_scale = reset_noise_scale
        self._skipped_qpos = 2 * int(exclude_current_positions_from_observation)
        self._observe_forces = include_cfrc_ext_in_observation
        batch["fields"] = ("xpos", "cfrc_ext")
        super().__init__(model_file(xml_file), num_envs, frame_skip=frame_skip, **batch)
        body = self.model.body(main_body).id
        self._main_body_xy = slice(3 * body, 3 * body + 2)

    def contact_forces(self, rows: Rows) -> np.ndarray:
        """(environments, 6 nbody) external forces on the bodies, clipped."""
        return np.clip(self.sim.field("cfrc_ext")[rows], *self._contact_force_range)

    def initial_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        scale, nv = self._reset_noise_scale, self.model.nv
        qpos = self.initial_qpos + uniform_noise(rng, scale, self.model.nq)
        return qpos, np.zeros(nv) + scale * rng.standard_normal(nv)

    def observation(self, rows: Rows) -> np.ndarray:
        parts = [self.sim.qpos[rows, self._skipped_qpos :], self.sim.qvel[rows]]
        if self._observe_forces:
            parts.append(self.contact_forces(rows)[:, 6:])  # without the world
        return np.concatenate(parts, axis=1)

    def before(self) -> np.ndarray:
        return self.sim.field("xpos")[:, self._main_body_xy].copy()

    def outcome(
        self, actions: np.ndarray, before: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        low, high = self._healthy_z_range
        z = self.sim.qpos[:, 2]
        healthy = (low <= z) & (z <= high)
        velocity = (self.sim.field("xpos")[:, self._main_body_xy] - before) / self.dt
        forward = velocity[:, 0] * self._forward_reward_weight
        survive = healthy * self._healthy_reward
        ctrl_cost = control_cost(self._ctrl_cost_weight, actions)
        contact_cost = control_cost(self._contact_cost_weight, self.contact_forces(ALL))
        infos = {
            **self.reset_info(),
            "x_velocity": velocity[:, 0],
            "y_velocity": velocity[:, 1],
            "reward_forward": forward,
            "reward_ctrl": -ctrl_cost,
            "reward_contact": -contact_cost,
            "reward_survive": survive,
        }
        rewards = forward + survive - (ctrl_cost + contact_cost)
        return rewards, ~healthy & self._terminate_when_unhealthy, infos

    def reset_info(self) -> dict[str, np.ndarray]:
        qpos = self.sim.qpos
        return {
            "x_position": qpos[:, 0],
            "y_position": qpos[:, 1],
            "distance_from_origin": norm(qpos[:, :2]),
        }
