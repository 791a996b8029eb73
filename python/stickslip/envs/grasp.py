"""Two fingers squeeze a cube on the floor and lift it."""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip._src import arrays as check
from stickslip.envs._arguments import check_types
from stickslip.envs.base import BatchEnv, Rows
from stickslip.envs.locomotion import rotate_back

HALF, PAD = 0.03, 0.01  # of the cube, and half the thickness of a pad, m
OPEN = HALF + PAD + 0.01  # initial position of the fingers: 1 cm from the cube, m
TOUCH = 1e-4  # m; a finger with a smaller gap touches

MJCF = """<mujoco model="grasp">
  <option timestep="0.004" integrator="implicitfast" cone="elliptic" noslip_iterations="{noslip}"/>
  <default><geom friction="0.8"/></default>
  <worldbody>
    <light pos="0 0 2"/>
    <geom type="plane" size="1 1 .1"/>
    <body name="hand" pos="0 0 {half}" gravcomp="1">
      <joint name="lift" type="slide" axis="0 0 1"/>
      <geom type="box" size=".06 .01 .01" pos="0 0 .08" mass=".5" contype="0" conaffinity="0"/>
      <body name="left" pos="-{open} 0 0" gravcomp="1">
        <joint name="left" type="slide" axis="1 0 0" damping="2"/>
        <geom type="box" size="{pad} .015 .015" mass=".1"/>
      </body>
      <body name="right" pos="{open} 0 0" gravcomp="1">
        <joint name="right" type="slide" axis="-1 0 0" damping="2"/>
        <geom type="box" size="{pad} .015 .015" mass=".1"/>
      </body>
    </body>
    <body name="cube" pos="0 0 {half}">
      <freejoint/><geom type="box" size="{half} {half} {half}" mass=".5"/>
    </body>
  </worldbody>
  <actuator>
    <position joint="lift" kp="400" kv="60" timeconst=".1" ctrlrange="0 {highest}"/>
    <motor joint="left" ctrlrange="-{force} {force}"/>
    <motor joint="right" ctrlrange="-{force} {force}"/>
  </actuator>
</mujoco>"""


class Grasp(BatchEnv):
    """A hand with two flat pads of 3 cm squeezes a cube of 0.5 kg with friction 0.8, and lifts.

    Actions (N, 2) in [-1, 1]: the force of the fingers, `force` N at 1, inwards; and the height of
    the hand, 0 to `highest` m.

    Observations, in this order: height of the hand and strokes of the fingers, m, and their
    velocities (3, 3); the cube's position relative to the hand, its orientation (a quaternion, w
    first) and its velocities (3, 4, 6).

    Reward, per second: the cube's height / `highest`, minus `slip_cost_weight` times the slip in m,
    minus `ctrl_cost_weight` times the squared first action. An episode terminates when the cube has
    left the hand by more than 5 cm.

    info: "height" of the cube over the floor, m; "slip", the distance in m by which a touching
    finger has moved along the cube in this step (the larger of both).
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        frame_skip: int = 5,
        force: float = 20.0,
        highest: float = 0.2,
        slip_cost_weight: float = 10.0,
        ctrl_cost_weight: float = 0.05,
        reset_noise_scale: float = 0.005,
        noslip_iterations: int = 0,
        **batch: Any,
    ) -> None:
        check_types(Grasp, locals())
        check.count("noslip_iterations", noslip_iterations)
        self._force = force
        self._highest = highest
        self._slip_cost_weight = slip_cost_weight
        self._ctrl_cost_weight = ctrl_cost_weight
        self._reset_noise_scale = reset_noise_scale
        numbers = {"half": HALF, "pad": PAD, "open": OPEN, "force": force, "highest": highest}
        text = MJCF.format(noslip=noslip_iterations, **numbers)
        super().__init__(text, num_envs, frame_skip=frame_skip, **batch)

    def action_range(self) -> tuple[np.ndarray, np.ndarray]:
        return -np.ones(2), np.ones(2)

    def controls(self, actions: np.ndarray) -> np.ndarray:
        force = self._force * np.clip(actions[:, 0], -1, 1)
        height = self._highest * (np.clip(actions[:, 1], -1, 1) + 1) / 2
        return np.stack([height, force, force], axis=1)

    def initial_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        qpos = self.initial_qpos.copy()
        qpos[3:5] += rng.uniform(-self._reset_noise_scale, self._reset_noise_scale, 2)
        return qpos, np.zeros(self.model.nv)

    def cube_from_hand(self, rows: Rows) -> np.ndarray:
        """(environments, 3) from between the open fingers to the cube's centre, m."""
        qpos = self.sim.qpos[rows]
        return qpos[:, 3:6] - np.array([0.0, 0.0, HALF]) - qpos[:, :1] * np.array([0.0, 0.0, 1.0])

    def fingers_on_cube(self) -> np.ndarray:
        """(2, N, 3) the fingers' centres in the cube's frame, m."""
        qpos, cube = self.sim.qpos, self.cube_from_hand(slice(None))
        places = []
        for side, stroke in ((-1, qpos[:, 1]), (1, qpos[:, 2])):
            from_cube = -cube
            from_cube[:, 0] += side * (OPEN - stroke)
            places.append(rotate_back(qpos[:, 6:10], from_cube))
        return np.array(places)

    def observation(self, rows: Rows) -> np.ndarray:
        qpos, qvel = self.sim.qpos[rows], self.sim.qvel[rows]
        hand = (qpos[:, :3], qvel[:, :3])
        return np.concatenate((*hand, self.cube_from_hand(rows), qpos[:, 6:], qvel[:, 3:]), axis=1)

    def before(self) -> np.ndarray:
        return self.fingers_on_cube()

    def outcome(
        self, actions: np.ndarray, before: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        after = self.fingers_on_cube()
        touching = np.maximum(*np.abs([before, after])[..., 0]) < HALF + PAD + TOUCH
        moved = np.linalg.norm(after[..., 1:] - before[..., 1:], axis=2)
        slip = (touching * moved).max(axis=0)
        height = self.sim.qpos[:, 5] - HALF
        infos = {
            "height": height,
            "slip": slip,
            "reward_height": self.dt * height / self._highest,
            "reward_slip": -self._slip_cost_weight * slip,
            "reward_ctrl": -self.dt * self._ctrl_cost_weight * np.square(actions[:, 0]),
        }
        rewards = infos["reward_height"] + infos["reward_slip"] + infos["reward_ctrl"]
        lost = np.linalg.norm(self.cube_from_hand(slice(None)), axis=1) > 0.05
        return rewards, lost, infos
