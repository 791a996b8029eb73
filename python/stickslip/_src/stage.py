"""Where MuJoCo draws: OpenGL without a display, a camera that sees all that moves, and light, sky
and floor for models that have none."""

from __future__ import annotations

import copy
import importlib
import os
import sys
from ctypes.util import find_library
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickslip._src.aliases import Float64

_SKY, _GROUND = (0.45, 0.6, 0.75, 1.0), (0.62, 0.64, 0.66, 1.0)
_UNPAINTED = (0.5, 0.5, 0.5, 1.0)  # what MuJoCo gives geoms without a colour
_DRAWN_ONLY = 0.6  # opacity of a floor that is not in the model: what falls goes through it
_DARKER = 0.86  # of every second tile
_TILES = 12  # from the middle to each side
_MUJOCOS_VIEW, _VIEW = (90.0, -45.0), (120.0, -20.0)  # azimuth, elevation, degrees
_UPRIGHT = np.eye(3)
_MARGIN = 1.15  # around what moves
_SUN = np.array([-0.3, 0.4, -0.87])  # direction of the light that models without one get


class NoOpenGLError(RuntimeError):
    """MuJoCo cannot draw here."""


def choose_opengl() -> None:
    """Makes MuJoCo draw without a display, unless the environment variable MUJOCO_GL has chosen
    already. Best before mujoco is imported, which otherwise has chosen a window."""
    if "MUJOCO_GL" in os.environ:
        return
    # The import fails if it selects an EGL, or OpenGL's functions, that are not installed.
    complete = find_library("EGL") and (find_library("OpenGL") or find_library("GL"))
    os.environ["MUJOCO_GL"] = "egl" if complete else "disable"
    chosen = sys.modules.get("mujoco.rendering.classic.gl_context")
    if chosen is not None:
        importlib.reload(chosen)


class Stage:
    """Draws a model in the pose of `data`, a mujoco.MjData that the caller changes.

    Args:
        model: a mujoco.MjModel.
        width: of images, pixels.
        height: of images, pixels.
        shadows: draw them; without a graphics card they take three quarters of the time.

    Raises NoOpenGLError.
    """

    def __init__(self, model: Any, width: int, height: int, shadows: bool = True) -> None:
        import mujoco

        self._model = model = copy.copy(model)
        self._dark = model.nlight == 0
        if self._dark:
            ambient = model.vis.headlight.ambient
            ambient[:] = np.maximum(ambient, 0.3)
            model.vis.map.shadowclip = max(model.vis.map.shadowclip, 2.0)
        screen = model.vis.global_
        screen.offwidth = max(screen.offwidth, width)
        screen.offheight = max(screen.offheight, height)
        try:
            self._renderer = mujoco.Renderer(model, height, width)
        except Exception as error:  # the exception depends on the driver
            raise NoOpenGLError(f"MuJoCo cannot draw here: {error}") from error
        flags = self._renderer.scene.flags
        flags[mujoco.mjtRndFlag.mjRND_SHADOW] &= shadows
        self._open_sky = not (model.tex_type == mujoco.mjtTexture.mjTEXTURE_SKYBOX).any()
        if self._open_sky:  # which is a sphere seen from inside
            flags[mujoco.mjtRndFlag.mjRND_CULL_FACE] = False
        self._bare = _bare_planes(model)
        self.data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, self.data)
        self._ground = None if _has_floor(model) else min(0.0, _lowest(model, self.data))
        self._camera = mujoco.MjvCamera()
        mujoco.mjv_defaultFreeCamera(model, self._camera)
        if (self._camera.azimuth, self._camera.elevation) == _MUJOCOS_VIEW:
            self._camera.azimuth, self._camera.elevation = _VIEW
        self._least = sphere(model, self.data)[1]

    def close(self) -> None:
        """Releases OpenGL."""
        self._renderer.close()

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def image(self, camera: str | int | None = None) -> NDArray[np.uint8]:
        """(height, width, 3). camera: name or number of one of the model's; None: one that sees
        all that moves."""
        import mujoco

        mujoco.mj_fwdPosition(self._model, self.data)
        centre, radius = sphere(self._model, self.data)
        radius = max(radius, self._least)  # does not change with every motion
        half_field = np.deg2rad(self._model.vis.global_.fovy) / 2
        self._camera.lookat[:] = centre
        self._camera.distance = _MARGIN * radius / np.sin(half_field)
        self._renderer.update_scene(self.data, self._camera if camera is None else camera)
        self._furnish(centre, radius)
        return self._renderer.render()

    def _furnish(self, centre: Float64, radius: float) -> None:
        """Adds what the model lacks to the scene."""
        import mujoco

        scene, model = self._renderer.scene, self._model
        if self._dark:
            _add_sun(scene, centre, radius)
        if self._open_sky:
            far = 0.9 * model.stat.extent * model.vis.map.zfar
            sky = self._add(mujoco.mjtGeom.mjGEOM_SPHERE, 3 * [far], scene.camera[0].pos, _SKY)
            sky.emission, sky.castshadow = 0.5, False
        step = 10 ** np.floor(np.log10(max(radius, 1e-6)))
        tile = step * max(s for s in (0.2, 0.5, 1.0, 2.0) if s == 0.2 or s * step <= radius / 2)
        drawn = _drawn_geoms(scene)
        for plane in self._bare:
            if plane not in drawn:  # its group is hidden
                continue
            if tuple(model.geom_rgba[plane]) == _UNPAINTED:
                drawn[plane].rgba[:] = _GROUND
            at, turn = self.data.geom_xpos[plane], self.data.geom_xmat[plane].reshape(3, 3)
            rgba = np.array([_DARKER] * 3 + [1.0]) * drawn[plane].rgba
            self._tile(at, turn, model.geom_size[plane, :2], centre, tile, rgba)
        if self._ground is not None:
            at, rgba = np.array([0, 0, self._ground]), np.array([*_GROUND[:3], _DRAWN_ONLY])
            self._tile(at, _UPRIGHT, np.zeros(2), centre, tile, rgba)

    def _tile(
        self, at: Float64, turn: Float64, size: Float64, centre: Float64, tile: float, rgba: Any
    ) -> None:
        """Every second tile of a plane, around the point that the camera looks at. A size of 0 is
        infinite."""
        import mujoco

        first = np.round((turn.T @ (centre - at))[:2] / tile).astype(int) - _TILES
        limit = np.where(size > 0, size, np.inf)
        for i in range(first[0], first[0] + 2 * _TILES):
            for j in range(first[1], first[1] + 2 * _TILES):
                low = np.clip(tile * np.array([i, j]), -limit, limit)
                high = np.clip(tile * np.array([i + 1, j + 1]), -limit, limit)
                if (i + j) % 2 == 0 and (high > low).all():
                    middle = at + turn @ [*(low + high) / 2, 1e-3 * tile]
                    half = [*(high - low) / 2, tile]
                    self._add(mujoco.mjtGeom.mjGEOM_PLANE, half, middle, rgba, turn)

    def _add(self, kind: Any, size: Any, at: Any, rgba: Any, turn: Any = _UPRIGHT) -> Any:
        """A new geom of the scene, without gloss."""
        import mujoco

        scene = self._renderer.scene
        if scene.ngeom == scene.maxgeom:
            raise ValueError(f"expected fewer than {scene.maxgeom} geoms to draw")
        geom = scene.geoms[scene.ngeom]
        scene.ngeom += 1
        values = (np.array(size, float), np.array(at, float), turn.ravel())
        mujoco.mjv_initGeom(geom, kind, *values, np.array(rgba, np.float32))
        geom.specular = geom.shininess = 0.0
        return geom


def sphere(model: Any, data: Any) -> tuple[Float64, float]:
    """Centre and radius of a sphere around all that moves, or around all bodies if none does; m."""
    moves = moving(model)
    bodies = moves if moves.any() else np.ones(model.nbody, bool)
    geoms = bodies[model.geom_bodyid] & (model.geom_type > 1)  # no planes and height fields
    bodies[0] &= model.nbody == 1
    at = np.concatenate([data.xpos[bodies], data.geom_xpos[geoms]])
    reach = np.concatenate([np.zeros(bodies.sum()), model.geom_rbound[geoms]])
    finite = np.isfinite(at).all(axis=1)
    if not finite.any():
        return np.array(model.stat.center), float(model.stat.extent)
    at, reach = at[finite], reach[finite, None]
    centre = ((at - reach).min(axis=0) + (at + reach).max(axis=0)) / 2
    radius = (np.linalg.norm(at - centre, axis=1) + reach[:, 0]).max()
    return centre, float(max(radius, 1e-3))


def moving(model: Any) -> NDArray[np.bool_]:
    """Which bodies move, by joints or as mocap bodies: (nbody,)."""
    return (model.body_weldid != 0) | (model.body_mocapid[model.body_rootid] >= 0)


def _bare_planes(model: Any) -> list[int]:
    """The planes without a texture, on which motion would not be seen."""
    import mujoco

    textured = np.append((model.mat_texid >= 0).any(axis=1), False)  # the last: no material
    planes = model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE
    return np.flatnonzero(planes & ~textured[model.geom_matid]).tolist()


def _drawn_geoms(scene: Any) -> dict[int, Any]:
    """The geoms of the model in a scene."""
    import mujoco

    geoms = (scene.geoms[i] for i in range(scene.ngeom))
    return {g.objid: g for g in geoms if g.objtype == mujoco.mjtObj.mjOBJ_GEOM}


def _add_sun(scene: Any, centre: Float64, radius: float) -> None:
    """A light from above and behind the usual camera."""
    import mujoco

    if scene.nlight == len(scene.lights):
        return
    light = scene.lights[scene.nlight]
    scene.nlight += 1
    light.type, light.texid = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, -1
    light.pos[:], light.dir[:] = centre - 3 * radius * _SUN, _SUN
    light.attenuation[:], light.cutoff, light.exponent = (1, 0, 0), 45, 10
    light.ambient[:], light.diffuse[:], light.specular[:] = 0.0, 0.5, 0.1
    light.headlight, light.castshadow = 0, 1


def _has_floor(model: Any) -> bool:
    """Whether something lies still below, or something may fall for ever."""
    import mujoco

    kinds = mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD
    falls = (model.jnt_type == mujoco.mjtJoint.mjJNT_FREE).any()
    return bool(falls or np.isin(model.geom_type, [int(k) for k in kinds]).any())


def _lowest(model: Any, data: Any) -> float:
    """Height of the lowest point of all geoms, m."""
    middle, half = model.geom_aabb[:, :3], model.geom_aabb[:, 3:]
    up = data.geom_xmat[:, 6:]
    lows = data.geom_xpos[:, 2] + (up * middle).sum(axis=1) - (np.abs(up) * half).sum(axis=1)
    return float(lows.min(initial=0.0))
