"""Gymnasium's walkers in space, v5: Ant, Humanoid."""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip._src.sim import BatchSim
from stickslip.envs._arguments import check_types
from stickslip.envs.base import ALL, BatchEnv, Rows
from stickslip.envs.gymnasium_v5 import (
    control_cost,
    model_file,
    norm,
    normal_start,
    uniform_start,
)


def _flat(sim: BatchSim, name: str) -> np.ndarray:
    """(environments, size) a field without the shape of its rows."""
    return sim.field(name).reshape(sim.num_envs, -1)


class Walker(BatchEnv):
    """Common base of Ant and Humanoid: rewards for moving along x and for staying healthy, costs of
    controls and contacts, and the episode's end where the root leaves a range of heights."""

    def __init__(
        self,
        num_envs: int,
        *,
        xml_file: str,
        healthy_z_range: tuple[float, float],
        ctrl_cost_weight: float,
        contact_cost_weight: float,
        frame_skip: int = 5,
        forward_reward_weight: float = 1.0,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
        **batch: Any,
    ) -> None:
        check_types(Walker, locals())
        self._healthy_z_range = healthy_z_range
        self._ctrl_cost_weight = ctrl_cost_weight
        self._contact_cost_weight = contact_cost_weight
        self._forward_reward_weight = forward_reward_weight
        self._healthy_reward = healthy_reward
        self._terminate_when_unhealthy = terminate_when_unhealthy
        self._reset_noise_scale = reset_noise_scale
        self._skipped_qpos = 2 * int(exclude_current_positions_from_observation)
        super().__init__(model_file(xml_file), num_envs, frame_skip=frame_skip, **batch)

    def position(self) -> np.ndarray:
        """(N, 2) x and y whose progress is rewarded, m; a view or a copy."""
        raise NotImplementedError

    def healthy(self) -> np.ndarray:
        """(N,) whether the root's height is within its range."""
        raise NotImplementedError

    def costs(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(N,) each: of the controls, of the contacts."""
        raise NotImplementedError

    def before(self) -> np.ndarray:
        return self.position().copy()

    def outcome(
        self, actions: np.ndarray, before: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        healthy = self.healthy()
        velocity = (self.position() - before) / self.dt
        forward = self._forward_reward_weight * velocity[:, 0]
        survive = healthy * self._healthy_reward
        ctrl_cost, contact_cost = self.costs(actions)
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


class Ant(Walker):
    """`Ant-v5`, whose documentation has observations, rewards and the first arguments."""

    def __init__(
        self,
        num_envs: int = 1,
        *,
        xml_file: str = "ant.xml",
        healthy_z_range: tuple[float, float] = (0.2, 1.0),
        ctrl_cost_weight: float = 0.5,
        contact_cost_weight: float = 5e-4,
        contact_force_range: tuple[float, float] = (-1.0, 1.0),
        main_body: int | str = 1,
        include_cfrc_ext_in_observation: bool = True,
        **walker: Any,
    ) -> None:
        check_types(Ant, locals())
        self._contact_force_range = contact_force_range
        self._observe_forces = include_cfrc_ext_in_observation
        super().__init__(
            num_envs,
            xml_file=xml_file,
            healthy_z_range=healthy_z_range,
            ctrl_cost_weight=ctrl_cost_weight,
            contact_cost_weight=contact_cost_weight,
            fields=("xpos", "cfrc_ext"),
            **walker,
        )
        self._main_body = self.model.body(main_body).id

    def position(self) -> np.ndarray:
        return self.sim.field("xpos")[:, self._main_body, :2]

    def healthy(self) -> np.ndarray:
        low, high = self._healthy_z_range
        z = self.sim.qpos[:, 2]
        return (low <= z) & (z <= high)

    def contact_forces(self, rows: Rows) -> np.ndarray:
        """(environments, 6 nbody) external forces on the bodies, clipped."""
        return np.clip(_flat(self.sim, "cfrc_ext")[rows], *self._contact_force_range)

    def costs(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        contact_cost = control_cost(self._contact_cost_weight, self.contact_forces(ALL))
        return control_cost(self._ctrl_cost_weight, actions), contact_cost

    def initial_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return normal_start(rng, self.initial_qpos, self.model.nv, self._reset_noise_scale)

    def observation(self, rows: Rows) -> np.ndarray:
        parts = [self.sim.qpos[rows, self._skipped_qpos :], self.sim.qvel[rows]]
        if self._observe_forces:
            parts.append(self.contact_forces(rows)[:, 6:])  # without the world
        return np.concatenate(parts, axis=1)


class Humanoid(Walker):
    """`Humanoid-v5`, whose documentation has observations, rewards and the first arguments."""

    def __init__(
        self,
        num_envs: int = 1,
        *,
        xml_file: str = "humanoid.xml",
        healthy_z_range: tuple[float, float] = (1.0, 2.0),
        ctrl_cost_weight: float = 0.1,
        contact_cost_weight: float = 5e-7,
        contact_cost_range: tuple[float, float] = (-np.inf, 10.0),
        forward_reward_weight: float = 1.25,
        healthy_reward: float = 5.0,
        reset_noise_scale: float = 1e-2,
        include_cinert_in_observation: bool = True,
        include_cvel_in_observation: bool = True,
        include_qfrc_actuator_in_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
        **walker: Any,
    ) -> None:
        check_types(Humanoid, locals())
        self._contact_cost_range = contact_cost_range
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
        super().__init__(
            num_envs,
            xml_file=xml_file,
            healthy_z_range=healthy_z_range,
            ctrl_cost_weight=ctrl_cost_weight,
            contact_cost_weight=contact_cost_weight,
            forward_reward_weight=forward_reward_weight,
            healthy_reward=healthy_reward,
            reset_noise_scale=reset_noise_scale,
            fields={"xipos", "cfrc_ext", "ten_length", "ten_velocity"} | observed,
            **walker,
        )

    def position(self) -> np.ndarray:
        """Of the centre of mass."""
        mass = self.model.body_mass
        return (np.einsum("b,nbj->nj", mass, self.sim.field("xipos")) / mass.sum())[:, :2]

    def healthy(self) -> np.ndarray:
        low, high = self._healthy_z_range
        z = self.sim.qpos[:, 2]
        return (low < z) & (z < high)

    def costs(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        contact_cost = control_cost(self._contact_cost_weight, _flat(self.sim, "cfrc_ext"))
        contact_cost = np.clip(contact_cost, *self._contact_cost_range)
        return control_cost(self._ctrl_cost_weight, self.sim.ctrl), contact_cost

    def initial_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return uniform_start(rng, self.initial_qpos, self.model.nv, self._reset_noise_scale)

    def observation(self, rows: Rows) -> np.ndarray:
        parts = [self.sim.qpos[rows, self._skipped_qpos :], self.sim.qvel[rows]]
        parts += [_flat(self.sim, name)[rows, skipped:] for name, skipped in self._observed]
        return np.concatenate(parts, axis=1)

    def reset_info(self) -> dict[str, np.ndarray]:
        return super().reset_info() | {
            "tendon_length": self.sim.field("ten_length"),
            "tendon_velocity": self.sim.field("ten_velocity"),
        }
