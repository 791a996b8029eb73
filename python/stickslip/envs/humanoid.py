"""Gymnasium's Humanoid, v5."""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.envs.base import BatchEnv, Rows
from stickslip.envs.gymnasium_v5 import control_cost, model_file, norm, uniform_noise


class Humanoid(BatchEnv):
    """`Humanoid-v5`, whose documentation has observations, rewards and the first arguments."""

    def __init__(
        self,
        num_envs: int = 1,
        *,
        xml_file: str = "humanoid.xml",
        frame_skip: int = 5,
        forward_reward_weight: float = 1.25,
        ctrl_cost_weight: float = 0.1,
        contact_cost_weight: float = 5e-7,
        contact_cost_range: tuple[float, float] = (-np.inf, 10.0),
        healthy_reward: float = 5.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: tuple[float, float] = (1.0, 2.0),
        reset_noise_scale: float = 1e-2,
        exclude_current_positions_from_observation: bool = True,
        include_cinert_in_observation: bool = True,
        include_cvel_in_observation: bool = True,
        include_qfrc_actuator_in_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
        **batch: Any,
    ) -> None:
        self._forward_reward_weight = forward_reward_weight
        self._ctrl_cost_weight = ctrl_cost_weight
        self._contact_cost_weight = contact_cost_weight
        self._contact_cost_range = contact_cost_range
        self._healthy_reward = healthy_reward
        self._terminate_when_unhealthy = terminate_when_unhealthy
        self._healthy_z_range = healthy_z_range
        self._reset_noise_scale = reset_noise_scale
        self._skipped_qpos = 2 * int(exclude_current_positions_from_observation)
        # Fields in the observation, and where they begin: after the world's, or the root's.
        self._observed = [
            (name, skipped)
            for name, skipped, observed in (
                ("cinert", 10, include_cinert_in_observation),
                ("cvel", 6, include_cvel_in_observation),
                ("qfrc_actuator", 6, include_qfrc_actuator_in_observation),
                ("cfrc_ext", 6, include_cfrc_ext_in_observation),
            )
            if observed
        ]
        observed = {name for name, _ in self._observed}
        batch["fields"] = {"xipos", "cfrc_ext", "ten_length", "ten_velocity"} | observed
        super().__init__(model_file(xml_file), num_envs, frame_skip=frame_skip, **batch)

    def centre_of_mass(self) -> np.ndarray:
        """(N, 2) its x and y, m."""
        mass = self.model.body_mass
        xipos = self.sim.field("xipos").reshape(self.num_envs, -1, 3)
        return (np.einsum("b,nbj->nj", mass, xipos) / mass.sum())[:, :2]

    def initial_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        scale = self._reset_noise_scale
        qpos = self.initial_qpos + uniform_noise(rng, scale, self.model.nq)
        return qpos, np.zeros(self.model.nv) + uniform_noise(rng, scale, self.model.nv)

    def observation(self, rows: Rows) -> np.ndarray:
        parts = [self.sim.qpos[rows, self._skipped_qpos :], self.sim.qvel[rows]]
        parts += [self.sim.field(name)[rows, skipped:] for name, skipped in self._observed]
        return np.concatenate(parts, axis=1)

    def before(self) -> np.ndarray:
        return self.centre_of_mass()

    def outcome(
        self, actions: np.ndarray, before: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        low, high = self._healthy_z_range
        z = self.sim.qpos[:, 2]
        healthy = (low < z) & (z < high)
        velocity = (self.centre_of_mass() - before) / self.dt
        forward = self._forward_reward_weight * velocity[:, 0]
        survive = healthy * self._healthy_reward
        ctrl_cost = control_cost(self._ctrl_cost_weight, self.sim.ctrl)
        contact_cost = control_cost(self._contact_cost_weight, self.sim.field("cfrc_ext"))
        contact_cost = np.clip(contact_cost, *self._contact_cost_range)
        infos = {
            **self.reset_info(),
            "x_velocity": velocity[:, 0],
            "y_velocity": velocity[:, 1],
            "reward_survive": survive,
            "reward_forward": forward,
            "reward_ctrl": -ctrl_cost,
            "reward_contact": -contact_cost,
        }
        rewards = forward + survive - (ctrl_cost + contact_cost)
        return rewards, ~healthy & self._terminate_when_unhealthy, infos

    def reset_info(self) -> dict[str, np.ndarray]:
        qpos = self.sim.qpos
        return {
            "x_position": qpos[:, 0],
            "y_position": qpos[:, 1],
            "tendon_length": self.sim.field("ten_length"),
            "tendon_velocity": self.sim.field("ten_velocity"),
            "distance_from_origin": norm(qpos[:, :2]),
        }
