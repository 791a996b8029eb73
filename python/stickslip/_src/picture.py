"""One picture of a run: base trajectories and residuals, and frames where OpenGL works."""

from __future__ import annotations

import os
from ctypes.util import find_library
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickslip._core import Status
from stickslip._src.aliases import Float64
from stickslip._src.run import RunRecord

STATUS_COLOURS = {
    Status.solved: "#3ca050",
    Status.not_converged: "#f0b020",
    Status.infeasible: "#c04090",
    Status.bad_input: "#d02020",
    Status.over_capacity: "#4050c0",
}
_COLUMNS, _WIDTH, _HEIGHT = 4, 320, 240


def choose_opengl() -> None:
    """Makes MuJoCo draw without a display. Call it before mujoco is imported: the import
    fails if the environment selects an EGL, or OpenGL's functions, that are not installed."""
    complete = find_library("EGL") and (find_library("OpenGL") or find_library("GL"))
    os.environ.setdefault("MUJOCO_GL", "egl" if complete else "disable")


def draw(
    path: Path,
    model: Any,
    record: RunRecord,
    *,
    title: str,
    tolerance: float,
    unit: str,
    frames: int = 4,
) -> bool:
    """Writes the PNG; returns whether it shows rendered images, of which it has at most `frames`.
    `model` is a mujoco.MjModel, `unit` that of the residual."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    shots = _frames(model, record.filmed, frames)
    rows = 1 + -(-len(shots) // _COLUMNS)
    heights = [1.0] * (rows - 1) + [1.2]
    figure = plt.figure(figsize=(12, 2.4 * rows + 1.4), layout="constrained")
    grid = figure.add_gridspec(rows, _COLUMNS, height_ratios=heights)
    for i, (caption, image) in enumerate(shots):
        axes = figure.add_subplot(grid[i // _COLUMNS, i % _COLUMNS])
        axes.imshow(image)
        axes.set_title(caption, fontsize=9)
        axes.axis("off")
    _draw_bases(figure.add_subplot(grid[-1, :2]), model, record.filmed)
    _draw_residuals(figure.add_subplot(grid[-1, 2:]), record, tolerance, unit)
    figure.suptitle(title, parse_math=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return bool(shots)


def shots_of(film: list[Float64], most: int) -> dict[str, Float64]:
    """Captions and qpos: environment 0 at some instants, then others at the end."""
    if not film or most == 0:
        return {}
    last, envs = len(film) - 1, len(film[0])
    instants = np.linspace(0, last, most - most // 2).astype(int)
    others = np.linspace(0, envs - 1, most // 2 + 1).astype(int)[1:]
    shots = {f"environment 0, {100 * t // max(1, last)} %": film[t][0] for t in instants}
    return shots | {f"environment {e}, at the end": film[last][e] for e in others if e > 0}


def _frames(model: Any, film: list[Float64], most: int) -> list[tuple[str, NDArray[np.uint8]]]:
    """At most so many images and their captions; none without OpenGL."""
    import mujoco

    shots = shots_of(film, most)
    if not shots or model.nbody < 2:
        return []
    data = mujoco.MjData(model)
    camera = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(model, camera)
    try:
        with mujoco.Renderer(model, _HEIGHT, _WIDTH) as renderer:
            # Without a graphics card shadows take three quarters of the time.
            renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = False
            return [(c, _render(renderer, camera, model, data, q)) for c, q in shots.items()]
    except Exception:  # the exception depends on the driver; the plots remain
        return []


def follow(camera: Any, data: Any) -> None:
    """Points the free camera at the first body, far enough away to show all bodies."""
    if len(data.xpos) < 2:
        return
    camera.lookat[:] = data.xpos[1]
    reach = np.linalg.norm(data.xpos[1:] - data.xpos[1], axis=1).max()
    camera.distance = max(3 * reach, 0.5)


def _render(renderer: Any, camera: Any, model: Any, data: Any, qpos: Float64) -> NDArray[np.uint8]:
    import mujoco

    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    follow(camera, data)
    renderer.update_scene(data, camera)
    return renderer.render()


def _draw_bases(axes: Any, model: Any, film: list[Float64]) -> None:
    """Paths of the first body of each filmed environment, seen from above."""
    import mujoco

    data = mujoco.MjData(model)
    paths = np.zeros((len(film), len(film[0]) if film else 0, 3))
    for t, qpos in enumerate(film):
        for e, q in enumerate(qpos):
            data.qpos[:] = q
            mujoco.mj_kinematics(model, data)
            paths[t, e] = data.xpos[min(1, model.nbody - 1)]
    for path in paths.transpose(1, 0, 2):
        axes.plot(path[:, 0], path[:, 1], linewidth=0.8)
        axes.plot(*path[-1, :2], "k.", markersize=3)
    axes.set(xlabel="x [m]", ylabel="y [m]", title=f"base, {paths.shape[1]} environments")
    axes.set_aspect("equal", adjustable="datalim")


def _draw_residuals(axes: Any, record: RunRecord, tolerance: float, unit: str) -> None:
    histogram = record.residuals
    axes.stairs(histogram.counts[1:-1], histogram.edges, fill=True, alpha=0.6)
    axes.axvline(tolerance, color="k", linestyle="--", linewidth=1, label="absolute tolerance")
    below = int(histogram.counts[0])
    axes.set(
        xscale="log",
        xlabel=f"residual [{unit}]",
        ylabel="env-steps",
        title=f"residuals ({below} more below 1e-18, {histogram.infinite} infinite)",
    )
    filled = np.flatnonzero(histogram.counts[1:-1])
    low = histogram.edges[filled[0]] if filled.size else tolerance
    high = histogram.edges[filled[-1] + 1] if filled.size else tolerance
    axes.set_xlim(min(low, tolerance) / 10, max(high, tolerance) * 10)
    axes.legend(fontsize=8)
