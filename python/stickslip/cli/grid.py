"""Environments side by side in the scene of `stickslip view`, each with its own copy of what is
fixed: tables, walls, bases of arms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickslip._src.aliases import Float64

_APART = 1.4  # spacing, in widths of the model


def places(number: int) -> Float64:
    """(N, 3) where environments stand, for a spacing of 1: on a square grid, the first in the
    middle, the last farthest from it."""
    side = int(np.ceil(np.sqrt(number)))
    x, y = np.divmod(np.arange(side * side), side) - np.array([[side // 2], [side // 2]])
    order = np.lexsort((x, y, x**2 + y**2))[:number]
    return np.column_stack([x[order], y[order], np.zeros(number)]).astype(float)


def spacing(model: Any, data: Any) -> float:
    """Between neighbours, m, to the cm; 0, all in one place, where they share a terrain."""
    import mujoco

    terrain = model.geom_type == mujoco.mjtGeom.mjGEOM_HFIELD
    if terrain.any():
        return 0.0
    solid = model.geom_type != mujoco.mjtGeom.mjGEOM_PLANE
    at, reach = data.geom_xpos[solid, :2], model.geom_rbound[solid, None]
    if not len(at):
        return 0.0
    width = ((at + reach).max(axis=0) - (at - reach).min(axis=0)).max()
    return round(float(_APART * width), 2)


class FixedCopies:
    """What is fixed, once for each environment but the selected one, of which mjviser draws it.

    Args:
        scene: of mjviser.
        model: a mujoco.MjModel, in whose planes nobody sees a copy.
        data: its mujoco.MjData, in any pose.
        fixed: by body.
    """

    def __init__(self, scene: Any, model: Any, data: Any, fixed: NDArray[np.bool_]) -> None:
        self._scene, self._handles = scene, []
        if scene.num_envs == 1:
            return
        import mujoco
        from mjviser.conversions import group_geoms_by_visual_compat, merge_geoms

        shared = mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD
        seen = ~np.isin(model.geom_type, [int(kind) for kind in shared])
        seen &= fixed[model.geom_bodyid] & (model.geom_rgba[:, 3] > 0)
        seen &= np.isin(model.geom_group, np.flatnonzero(scene.geom_groups_visible))
        others = scene.num_envs - 1
        for body in np.unique(model.geom_bodyid[seen]):
            geoms = np.flatnonzero(seen & (model.geom_bodyid == body)).tolist()
            for part, ids in enumerate(group_geoms_by_visual_compat(model, geoms)):
                handle = scene.server.scene.add_batched_meshes_trimesh(
                    f"{scene.fixed_bodies_frame.name}/copies/{body}_{part}",
                    merge_geoms(model, ids),
                    batched_wxyzs=np.tile(data.xquat[body], (others, 1)),
                    batched_positions=np.tile(data.xpos[body], (others, 1)),
                    lod="off",
                    visible=False,
                )
                self._handles.append((data.xpos[body].copy(), handle))

    def place(self, shifts: Float64, selected: int) -> None:
        """At shifts (N, 3) from the selected environment."""
        others = np.delete(shifts, selected, axis=0)
        shown = not self._scene.show_only_selected and bool(others.any())
        for at, handle in self._handles:
            handle.visible = shown
            if shown:
                handle.batched_positions = (at + others).astype(np.float32)
