"""One picture of a run: frames where OpenGL works, motion, and residuals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickslip._core import Status
from stickslip._src.aliases import Float64
from stickslip._src.run import RunRecord
from stickslip._src.stage import NoOpenGLError, Stage
from stickslip._src.text import printable

STATUS_COLOURS = {
    Status.solved: "#3ca050",
    Status.not_converged: "#f0b020",
    Status.infeasible: "#c04090",
    Status.bad_input: "#d02020",
    Status.over_capacity: "#4050c0",
}
_COLUMNS, _WIDTH, _HEIGHT = 4, 320, 240
_STANDS = 1e-4  # m: a base that moves by less seen from above
_MOST_JOINTS = 8  # whose motion is drawn


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
    _draw_motion(figure.add_subplot(grid[-1, :2]), model, record)
    _draw_verdicts(figure.add_subplot(grid[-1, 2:]), model, record, tolerance, unit)
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
    shots = shots_of(film, most)
    if not shots or model.nbody < 2:
        return []
    images = []
    try:
        with Stage(model, _WIDTH, _HEIGHT, shadows=False) as stage:
            for caption, qpos in shots.items():
                stage.data.qpos[:] = qpos
                images.append((caption, stage.image()))
    except NoOpenGLError:  # the plots remain
        return []
    return images


def base_paths(model: Any, film: list[Float64]) -> Float64:
    """(T, E, 3) m: where the first body that moves is, in each filmed environment."""
    import mujoco

    data = mujoco.MjData(model)
    base = int(np.argmax(model.body_weldid != 0)) if model.nbody > 1 else 0
    paths = np.zeros((len(film), len(film[0]) if film else 0, 3))
    for t, qpos in enumerate(film):
        for e, q in enumerate(qpos):
            data.qpos[:] = q
            mujoco.mj_kinematics(model, data)
            paths[t, e] = data.xpos[base]
    return paths


def travels(paths: Float64) -> bool:
    """Whether paths of `base_paths` show something from above."""
    return bool(paths.size and np.ptp(paths[..., :2], axis=0).max() > _STANDS)


def moved(model: Any, film: list[Float64]) -> Float64:
    """(T, nv) m and rad: how far each degree of freedom of environment 0 is from its start."""
    import mujoco

    away = np.zeros((len(film), model.nv))
    for t, qpos in enumerate(film):
        mujoco.mj_differentiatePos(model, away[t], 1.0, film[0][0], qpos[0])
    return away


def _names(model: Any) -> list[str]:
    """Of the degrees of freedom."""
    parts = {6: ("x", "y", "z", "rx", "ry", "rz"), 3: ("rx", "ry", "rz"), 1: ("",)}
    ends = np.append(model.jnt_dofadr[1:], model.nv)
    names = []
    for j, size in enumerate(ends - model.jnt_dofadr):
        joint = printable(
            model.joint(j).name or model.body(model.jnt_bodyid[j]).name or f"joint {j}"
        )
        names += [f"{joint} {part}".strip() for part in parts[int(size)]]
    return names


def _draw_motion(axes: Any, model: Any, record: RunRecord) -> None:
    """Paths of the base seen from above; the joints of environment 0 if it only stands."""
    paths = base_paths(model, record.filmed)
    if not travels(paths):
        away = moved(model, record.filmed)
        _draw_joints(axes, model, record, away)
        axes.set(ylabel="moved [m, rad]", title="joints of environment 0")
        return
    for path in paths.transpose(1, 0, 2):
        axes.plot(path[:, 0], path[:, 1], linewidth=0.8)
        axes.plot(*path[-1, :2], "k.", markersize=3)
    axes.set(xlabel="x [m]", ylabel="y [m]", title=f"base, {paths.shape[1]} environments")
    axes.set_aspect("equal", adjustable="datalim")


def _draw_joints(axes: Any, model: Any, record: RunRecord, values: Float64) -> None:
    """Values (T, nv) of the degrees of freedom that change most."""
    reach = np.ptp(values, axis=0) if len(values) else np.zeros(0)
    most = np.argsort(-reach, kind="stable")[:_MOST_JOINTS]
    seconds = model.opt.timestep * (1 + np.array(record.filmed_steps))
    names = _names(model)
    for dof in sorted(most):
        axes.plot(seconds, values[:, dof], linewidth=1, label=names[dof])
    axes.set(xlabel="time [s]")
    if len(most):
        legend = axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
        for text in legend.get_texts():
            text.set_parse_math(False)


def _draw_verdicts(axes: Any, model: Any, record: RunRecord, tolerance: float, unit: str) -> None:
    """The residuals; velocities of environment 0 if there are none to be seen."""
    if record.residuals.counts[1:].any() or record.residuals.infinite:
        _draw_residuals(axes, record, tolerance, unit)
        return
    away = moved(model, record.filmed)
    instants = model.opt.timestep * np.array(record.filmed_steps, float)
    speeds = np.gradient(away, instants, axis=0) if len(away) > 1 else np.zeros_like(away)
    _draw_joints(axes, model, record, speeds)
    touched = any(most for _, most in record.contacts)
    why = "all residuals below 1e-18" if touched else "no contacts"
    axes.set(ylabel="velocity [m/s, rad/s]", title=f"{why}: velocities of environment 0")


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
