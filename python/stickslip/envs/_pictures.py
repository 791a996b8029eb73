"""Pictures of environments, drawn by MuJoCo's renderer."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium
import mujoco
import numpy as np

from stickslip._src import arrays as check
from stickslip._src.picture import follow
from stickslip._src.sim import BatchSim

RENDER_MODES = ["rgb_array"]


class Pictures:
    """Draws the environments of a simulation; the renderer is made at the first call.

    mode: of RENDER_MODES, or None: `draw` gives none. width, height: of a picture, pixels. camera:
    name or number of one of the model's; default "track", as Gymnasium's robots have it, else one
    that follows the first body.
    """

    def __init__(self, mode: str | None, width: int, height: int, camera: str | int | None) -> None:
        if mode is not None and mode not in RENDER_MODES:
            raise ValueError(
                f"render_mode: expected rgb_array or None, got {mode!r} "
                "(Gymnasium's wrapper HumanRendering shows rgb_array in a window)"
            )
        self._mode, self._camera = mode, camera
        self._width = check.count("width", width, low=1)
        self._height = check.count("height", height, low=1)
        self._renderer: mujoco.Renderer | None = None
        self._data: mujoco.MjData | None = None
        self._free: mujoco.MjvCamera | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Pictures, (self._mode, self._width, self._height, self._camera)

    def draw(self, sim: BatchSim) -> tuple[np.ndarray, ...] | None:
        """(height, width, 3) uint8 of each environment. Raises RuntimeError without OpenGL,
        ValueError for unknown cameras."""
        if self._mode is None:
            gymnasium.logger.warn("render: the environment was made without render_mode")
            return None
        if self._renderer is None:
            self._open(sim.model)
        return tuple(self._draw(sim, env) for env in range(sim.num_envs))

    def close(self) -> None:
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def _open(self, model: Any) -> None:
        names = [model.camera(i).name for i in range(model.ncam)]
        if self._camera is None and "track" in names:
            self._camera = "track"
        known = self._camera is None or self._camera in (*names, *range(model.ncam))
        if not known:
            raise ValueError(f"camera: expected one of {names}, got {self._camera!r}")
        model = copy.copy(model)
        screen = model.vis.global_
        screen.offwidth = max(screen.offwidth, self._width)
        screen.offheight = max(screen.offheight, self._height)
        try:
            self._renderer = mujoco.Renderer(model, self._height, self._width)
        except Exception as error:  # the exception depends on the driver
            raise RuntimeError(
                "render: MuJoCo cannot draw here. Without a display, set the environment variable "
                f"MUJOCO_GL=egl (or osmesa) before Python starts. The reason: {error}"
            ) from error
        self._data, self._free = mujoco.MjData(model), mujoco.MjvCamera()
        mujoco.mjv_defaultFreeCamera(model, self._free)

    def _draw(self, sim: BatchSim, env: int) -> np.ndarray:
        data, renderer = self._data, self._renderer
        data.qpos[:] = sim.qpos[env]
        data.mocap_pos[:] = sim.mocap_pos[env]
        data.mocap_quat[:] = sim.mocap_quat[env]
        mujoco.mj_fwdPosition(data.model, data)
        if self._camera is None:
            follow(self._free, data)
        renderer.update_scene(data, self._free if self._camera is None else self._camera)
        return renderer.render()
