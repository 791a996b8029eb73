"""A block falls onto the ground, one LCP per time step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from gallery import Record

TITLE = "Falling block"
DOCUMENT = "003"

G = 9.81  # m/s²
SHOWN = 60  # blocks that are drawn as lines


def draw(record: Record) -> Figure:
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    axes = figure.subplots(2, 3)
    _heights(axes[0, 0], record)
    _corner(axes[0, 1], record)
    _forces(axes[0, 2], record)
    _speeds(axes[1, 0], record)
    _errors(axes[1, 1], record)
    _energies(axes[1, 2], record)
    return figure


def _heights(axes: Any, record: Record) -> None:
    _, _, xdot, dt = record.series["m, x, xdot, dt"]
    time = np.arange(len(record.series["x"]))
    for i in range(min(SHOWN, len(dt))):
        colour = f"C{int(xdot[i] > 0)}"
        axes.plot(dt[i] * time, record.series["x"][:, i], colour, linewidth=0.6)
    for label, colour in (("thrown down", "C0"), ("thrown up", "C1")):
        axes.plot([], [], colour, label=label)
    axes.set(xlabel="time [s]", ylabel="height x [m]", title="fall", xlim=(0, 1))
    axes.legend()


def _corner(axes: Any, record: Record) -> None:
    """Every step: a height or a force, never both."""
    m = record.series["m, x, xdot, dt"][0]
    x, force = record.series["x"][1:], record.series["lambda"][1:] / (m * G)
    thinned = slice(None, None, max(1, x.size // 20_000))
    axes.plot(x.ravel()[thinned], force.ravel()[thinned], ".", markersize=2)
    axes.set_yscale("symlog", linthresh=1)
    axes.set_xscale("symlog", linthresh=1e-3)
    axes.set(
        xlabel="x [m]",
        ylabel="λ / (m g)",
        title=rf"$0 \leq \lambda \perp x \geq 0$ in {x.size:,} steps",
    )


def _forces(axes: Any, record: Record) -> None:
    """Two steps stop the block, then its weight remains."""
    m, _, _, dt = record.series["m, x, xdot, dt"]
    force = record.series["lambda"] / (m * G)
    touch = (force > 1e-6).argmax(axis=0)
    for i in range(min(SHOWN, len(m))):
        rows = np.arange(touch[i] - 2, min(touch[i] + 6, len(force)))
        speed = record.series["xdot"][touch[i] - 1, i]
        scaled = force[rows, i] * G * dt[i] / -speed
        axes.plot(rows - touch[i], scaled, "C0.-", linewidth=0.6, markersize=4)
    axes.set(xlabel="steps since it touches", ylabel="λ Δt / (m |ẋ|), ẋ before")
    axes.set_title("two steps share the blow")


def _speeds(axes: Any, record: Record) -> None:
    _, height, speed, dt = record.series["m, x, xdot, dt"]
    fastest = -record.series["xdot"].min(axis=0)
    galilei = np.sqrt(speed**2 + 2 * G * height)
    shown = axes.scatter(galilei, fastest - galilei, c=1e3 * dt, s=4)
    axes.figure.colorbar(shown, ax=axes, label="Δt [ms]")
    axes.axhline(0, color="r", linewidth=0.6)
    axes.set(xlabel="√(ẋ₀² + 2 g x₀) [m/s]", ylabel="fastest fall - that [m/s]")
    axes.set_title("speed of the fall")


def _errors(axes: Any, record: Record) -> None:
    """Height below Galilei's parabola while the block flies."""
    _, height, speed, dt = record.series["m, x, xdot, dt"]
    x, force = record.series["x"], record.series["lambda"]
    time = np.arange(len(x))[:, None] * dt
    flies = (np.cumsum(force > 1e-6, axis=0) == 0) & (time > 0)
    error = height + speed * time - G * time**2 / 2 - x
    thinned = slice(None, None, max(1, flies.sum() // 20_000))
    axes.plot((G * dt * time / 2)[flies][thinned], error[flies][thinned], ".", markersize=1)
    axes.axline((1e-3, 1e-3), (1e-2, 1e-2), color="r", linewidth=0.6, label="g Δt t / 2")
    axes.set(xscale="log", yscale="log", xlabel="g Δt t / 2 [m]", ylabel="parabola - x [m]")
    axes.set_title("implicit Euler falls too low by g Δt t / 2")
    axes.legend()


def _energies(axes: Any, record: Record) -> None:
    dt = record.series["m, x, xdot, dt"][3]
    energy = record.series["xdot"] ** 2 / 2 + G * record.series["x"]
    time = np.arange(len(energy))[:, None] * dt
    for i in range(min(SHOWN, len(dt))):
        axes.plot(time[:, i], energy[:, i] / energy[0, i], "C0", linewidth=0.6)
    axes.set(xlabel="time [s]", ylabel="energy / energy at first", title="energy never grows")
    axes.set_xlim(0, 1)
