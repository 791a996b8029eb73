"""A rod slides on rough ground: Painlevé's paradox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from gallery import Record

TITLE = "Painlevé's rod"
DOCUMENT = "literature"

DT, G = 1e-3, 9.81  # s, m/s²
SHOWN = 80  # rods that are drawn as lines


def draw(record: Record) -> Figure:
    theta, mu, v, _ = record.series["theta, mu, v, m"]
    normal = record.series["first impulse"][0] / v
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    axes = figure.subplots(2, 2)
    _map(axes[0, 0], theta, mu, normal)
    _impulse(axes[0, 1], theta, mu, normal)
    stops = normal > 0.05
    _lines(axes[1, 0], np.degrees(record.series["angle"]), stops, "angle [degrees]")
    _lines(axes[1, 1], record.series["energy"] / record.series["energy"][0], stops,
           "energy / energy at first")  # fmt: skip
    return figure


def slope(theta: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """m p(θ, μ) of the page."""
    return 1 + 3 * np.cos(theta) ** 2 - 3 * mu * np.sin(theta) * np.cos(theta)


def _map(axes: Any, theta: np.ndarray, mu: np.ndarray, normal: np.ndarray) -> None:
    shown = axes.scatter(np.degrees(theta), mu, c=normal, s=8, cmap="viridis", vmax=0.4)
    axes.figure.colorbar(shown, ax=axes, label="first impulse λ_N / m v")
    angle = np.linspace(0.1, np.pi / 2 - 0.05, 300)
    axes.plot(np.degrees(angle), (1 + 3 * np.cos(angle) ** 2) / (1.5 * np.sin(2 * angle)), "r",
              label="p = 0")  # fmt: skip
    axes.axhline(4 / 3, color="r", linewidth=0.6, linestyle="--", label="μ = 4/3")
    axes.set(xlabel="θ [degrees]", ylabel="μ", ylim=(0.1, 3), title="every rod's first step")
    axes.legend(loc="upper right")


def _impulse(axes: Any, theta: np.ndarray, mu: np.ndarray, normal: np.ndarray) -> None:
    p = slope(theta, mu)
    axes.plot(p, normal, ".", markersize=3)
    axes.axvline(0, color="r", linewidth=0.6)
    axes.set(xlabel="m p", ylabel="first impulse λ_N / m v", yscale="log")
    axes.set_title("right: the weight's impulse. Left: an impact without collision")


def _lines(axes: Any, values: np.ndarray, stops: np.ndarray, label: str) -> None:
    time = DT * np.arange(len(values))
    for i in range(min(SHOWN, values.shape[1])):
        axes.plot(time, values[:, i], "C1" if stops[i] else "C0", linewidth=0.6)
    axes.plot([], [], "C0", label="slides at first")
    axes.plot([], [], "C1", label="stops at once")
    axes.set(xlabel="time [s]", ylabel=label)
    axes.legend()
