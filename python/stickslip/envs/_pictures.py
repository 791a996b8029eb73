"""Pictures of environments, drawn by MuJoCo's renderer."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from stickslip._src import arrays as check
from stickslip._src.sim import BatchSim
from stickslip._src.stage import NoOpenGLError, Stage

RENDER_MODES = ["rgb_array"]


class Pictures:
    """Draws the environments of a simulation; the renderer is made at the first call.

    mode: of RENDER_MODES, or None: `draw` gives none. width, height: of a picture, pixels. camera:
    name or number of one of the model's; default "track", as Gymnasium's robots have it, else one
    that sees all that moves.
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
        self._stage: Stage | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Pictures, (self._mode, self._width, self._height, self._camera)

    def draw(self, sim: BatchSim) -> tuple[np.ndarray, ...] | None:
        """(height, width, 3) uint8 of each environment. Raises RuntimeError without OpenGL,
        ValueError for unknown cameras."""
        if self._mode is None:
            gymnasium.logger.warn("render: the environment was made without render_mode")
            return None
        return tuple(self.of(sim, env) for env in range(sim.num_envs))

    def of(self, sim: BatchSim, env: int) -> np.ndarray:
        """(height, width, 3) uint8 of one environment. Raises as `draw`."""
        if self._stage is None:
            self._stage = self._open(sim.model)
        data = self._stage.data
        data.qpos[:] = sim.qpos[env]
        data.mocap_pos[:] = sim.mocap_pos[env]
        data.mocap_quat[:] = sim.mocap_quat[env]
        return self._stage.image(self._camera)

    def close(self) -> None:
        if self._stage is not None:
            self._stage.close()
            self._stage = None

    def _open(self, model: Any) -> Stage:
        names = [model.camera(i).name for i in range(model.ncam)]
        if self._camera is None and "track" in names:
            self._camera = "track"
        known = self._camera is None or self._camera in (*names, *range(model.ncam))
        if not known:
            raise ValueError(f"camera: expected one of {names}, got {self._camera!r}")
        try:
            return Stage(model, self._width, self._height)
        except NoOpenGLError as error:
            raise NoOpenGLError(
                f"render: {error}. Without a display, install EGL and OpenGL (packages libegl1 and "
                "libopengl0), or set the environment variable MUJOCO_GL=osmesa before Python starts"
            ) from error
