"""Contacts in the scene of `stickslip view`: each force as an arrow in its friction cone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickslip._src.aliases import Float64

STICKS, SLIDES = (30, 130, 220), (235, 95, 0)  # colours of cones
_OPACITY = 0.5
_SLIDES_FROM = 1e-3  # m/s: soft contacts creep, and the velocities of sticking ones are rounded
_SECTIONS = 32  # of a cone; a multiple of 8, so that pyramids and boxes have their corners


@dataclass(frozen=True)
class Cones:
    """The C contacts of an environment that press."""

    tip: Float64  #: (C, 3) m: the contact
    axes: Float64  #: (C, 3, 3): columns tangent, tangent, normal
    size: Float64  #: (C, 3) m along these axes: half widths at the rim, height
    force: Float64  #: (C, 3) m: the arrow from the tip
    slides: NDArray[np.bool_]  #: (C,)


def slip(model: Any, data: Any, contacts: list[dict[str, Any]]) -> Float64:
    """(C,) m/s: how fast the geoms of each contact move along one another; its force alone does not
    tell that it slides. `data` has positions and velocities."""
    import mujoco

    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_comVel(model, data)

    def velocity(geom: int, at: Float64) -> Float64:
        body, moves = model.geom_bodyid[geom], np.zeros(6)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, moves, 0)
        return moves[3:] + np.cross(moves[:3], at - data.xpos[body])

    speeds = np.zeros(len(contacts))
    for i, contact in enumerate(contacts):
        first, second = (velocity(geom, contact["position"]) for geom in contact["geoms"])
        speeds[i] = np.linalg.norm(contact["frame"][1:] @ (second - first))
    return speeds


def cones(
    contacts: list[dict[str, Any]],
    slips: Float64,
    scale: float,
    highest: float = np.inf,
    order: float = 2,
    fixed: NDArray[np.bool_] | None = None,
) -> Cones:
    """Cones as high as the normal force, so that the force of a sliding contact ends on the rim.

    Args:
        contacts: those of `BatchSim.contacts`.
        slips: (C,) m/s, of `slip`.
        scale: m per N.
        highest: m; higher cones are drawn smaller, and their forces with them.
        order: of the norm that friction limits; 0 if there is no friction.
        fixed: by geom; forces are drawn on the second geom, or on the first if only it can move.
    """
    presses = np.array([c["force"][0] > 0 for c in contacts], bool)
    contacts = [c for c, p in zip(contacts, presses, strict=True) if p]
    force = np.array([c["force"][:3] for c in contacts]).reshape(-1, 3)
    frame = np.array([c["frame"] for c in contacts]).reshape(-1, 3, 3)
    side = np.array([_side(c["geoms"], fixed) for c in contacts]).reshape(-1, 1, 1)
    mu = (order > 0) * np.array([_friction(c) for c in contacts]).reshape(-1, 2)
    height = np.minimum(scale * force[:, :1], highest)
    return Cones(
        tip=np.array([c["position"] for c in contacts]).reshape(-1, 3),
        axes=np.swapaxes(frame[:, [1, 2, 0]] * np.concatenate([side**2, side, side], axis=1), 1, 2),
        size=np.concatenate([mu * height, height], axis=1),
        force=(side * height[:, None] / force[:, None, :1] * force[:, None] @ frame)[:, 0],
        slides=slips[presses] > _SLIDES_FROM,
    )


def _side(geoms: tuple[int, int], fixed: NDArray[np.bool_] | None) -> float:
    """-1 if the force is drawn on the first geom."""
    return -1.0 if fixed is not None and fixed[geoms[1]] and not fixed[geoms[0]] else 1.0


def _friction(contact: dict[str, Any]) -> Float64:
    """(2,): both tangents' coefficients; zeros of a contact without friction."""
    return np.resize(contact["friction"], 2) if contact["dim"] > 1 else np.zeros(2)


def limited(law: str, pyramidal: bool) -> float:
    """Order of the norm that a law's friction limits; 0 if it has none. `pyramidal`: what MuJoCo's
    own law does."""
    if law in ("box", "frictionless"):
        return np.inf if law == "box" else 0
    return 1 if law == "pyramid" or (law == "mujoco" and pyramidal) else 2


class Drawing:
    """Forces and cones in a scene of viser: two batches, whatever the number of contacts.

    Args:
        scene: that of viser.
        parent: name of the node in whose coordinates the contacts are.
        size: m, that of the model.
        order: as for `cones`.
    """

    def __init__(self, scene: Any, parent: str, size: float, order: float) -> None:
        import trimesh

        self._scene, self._parent = scene, f"{parent}/contacts"
        self._cones: Any = None
        self._cones_are_shown, self._pressing = True, False
        unit = trimesh.creation.revolve([[0, 0], [1, 1]], sections=_SECTIONS)
        around = unit.vertices[:, :2]
        norm = np.linalg.norm(around, order, axis=1, keepdims=True)
        rim = np.divide(around, norm, where=norm > 0, out=np.zeros_like(around))
        self._unit_cone = np.column_stack([rim, unit.vertices[:, 2]]), unit.faces
        self._forces = scene.add_arrows(
            f"{self._parent}/forces",
            np.zeros((1, 2, 3)),
            (0, 0, 0),
            shaft_radius=0.012 * size,
            head_radius=0.03 * size,
            head_length=0.06 * size,
            visible=False,
        )

    def show_cones(self, shown: bool) -> None:
        """Shows or hides the cones, now and in later frames."""
        self._cones_are_shown = shown
        if self._cones is not None:
            self._cones.visible = shown and self._pressing

    def update(self, at: Cones, colour: tuple[int, ...]) -> None:
        """These contacts, with forces of this colour."""
        self._pressing = bool(len(at.tip))
        self._forces.visible = self._pressing
        if self._pressing:
            self._forces.points = np.stack([at.tip, at.tip + at.force], axis=1).astype(np.float32)
            self._forces.colors = _linear(np.array(colour))
            self._place_cones(at)
        self.show_cones(self._cones_are_shown)

    def _place_cones(self, at: Cones) -> None:
        from viser.transforms import SO3

        placed = {
            "batched_positions": at.tip.astype(np.float32),
            "batched_wxyzs": SO3.from_matrix(at.axes).wxyz.astype(np.float32),
            "batched_scales": np.maximum(at.size, 1e-9).astype(np.float32),
            "batched_colors": _linear(np.where(at.slides[:, None], SLIDES, STICKS)),
        }
        if self._cones is not None and len(self._cones.batched_positions) == len(at.tip):
            for name, value in placed.items():
                setattr(self._cones, name, value)
            return
        # One message: a page may draw between two, and has errors if their lengths differ.
        self._cones = self._scene.add_batched_meshes_simple(
            f"{self._parent}/cones",
            *self._unit_cone,
            **placed,
            lod="off",
            opacity=_OPACITY,
            side="double",
            cast_shadow=False,
            receive_shadow=False,
            visible=self._cones_are_shown,
        )


def _linear(colour: NDArray[np.int_]) -> NDArray[np.uint8]:
    """viser takes the colours of batches as linear light."""
    return np.round(255 * (colour / 255) ** 2.2).astype(np.uint8)
