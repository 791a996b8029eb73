"""A ball thrown with backspin and sidespin slides, rolls, and may come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from gallery import Record

TITLE = "Backspin ball"
DOCUMENT = "literature"

H, RETURNS = 2e-3, 2.5  # s; r ω / v from which a solid ball comes back
SHOWN = 150  # balls that are drawn as lines


def draw(record: Record) -> Figure:
    v, spin, _, t_r = record.series["v_x, r omega, mu, t_r"]
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    axes = figure.subplots(2, 3, width_ratios=(1.4, 1, 1))
    paths = axes[0, 0].get_gridspec()[:, 0]
    for unused in axes[:, 0]:
        unused.remove()
    slides = H * np.arange(len(record.series["x"]))[:, None] <= 1.5 * t_r
    x, y = (np.where(slides, record.series[which], np.nan) for which in "xy")
    _paths(figure.add_subplot(paths), x, y, spin / v)
    _lines(axes[0, 1], record.series["v"] / v, t_r, spin / v)
    axes[0, 1].set(ylabel="v / v₀", title="velocity along the throw")
    _lines(axes[1, 1], record.series["energy"], t_r, spin / v)
    axes[1, 1].set(ylabel="energy / energy at first", title="energy never grows")
    _final(axes[0, 2], record, v, spin)
    _rolling(axes[1, 2], record, t_r)
    return figure


def _colour(ratio: float) -> str:
    return "C3" if ratio > RETURNS else "C0"


def _paths(axes: Any, x: np.ndarray, y: np.ndarray, ratio: np.ndarray) -> None:
    for i in range(min(SHOWN, len(ratio))):
        axes.plot(x[:, i], y[:, i], _colour(ratio[i]), linewidth=0.6)
    for label, colour in (("r ω₀ < 5/2 v₀", "C0"), ("r ω₀ > 5/2 v₀: comes back", "C3")):
        axes.plot([], [], colour, label=label)
    axes.plot(0, 0, "ko")
    axes.set(xlabel="x [m]", ylabel="y [m]", title="from above, thrown to the right")
    axes.set_aspect("equal", adjustable="datalim")
    axes.legend(loc="upper left")


def _lines(axes: Any, values: np.ndarray, t_r: np.ndarray, ratio: np.ndarray) -> None:
    time = H * np.arange(len(values))[:, None] / t_r
    for i in range(min(SHOWN, len(ratio))):
        axes.plot(time[:, i], values[:, i], _colour(ratio[i]), linewidth=0.6)
    axes.set(xlabel="time / t_r", xlim=(0, 1.5))


def _final(axes: Any, record: Record, v: np.ndarray, spin: np.ndarray) -> None:
    axes.plot(spin / v, record.series["v"][-1] / v, "k.", markersize=2)
    axes.axline((0, 5 / 7), slope=-2 / 7, color="r", linewidth=0.6, label="(5 v₀ - 2 r ω₀) / 7 v₀")
    axes.axhline(0, color="0.7", linewidth=0.6)
    axes.set(xlabel="r ω₀ / v₀", ylabel="v_f / v₀", title="velocity when it rolls")
    axes.legend()


def _rolling(axes: Any, record: Record, t_r: np.ndarray) -> None:
    late = (record.series["rolls at"][0] - t_r) / H
    axes.plot(t_r, late, "k.", markersize=2)
    axes.set(xlabel="t_r = 2 |s₀| / 7 μ g [s]", ylabel="(rolls at - t_r) / h", ylim=(-0.1, 1.1))
    axes.set_title("rolls in the step that t_r lies in")
