"""A block is pushed forwards on a rough table, one LCP per time step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from gallery import Record

TITLE = "Forward sliding"
DOCUMENT = "003"

G, PUSH, END = 9.81, 4.0, 5.0  # m/s², s
BLOCKS = "m, mu, dt, xdot, peak"  # what the series of that name has
SHOWN = 60  # blocks that are drawn as lines


def draw(record: Record) -> Figure:
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    axes = figure.subplots(2, 3)
    _speeds(axes[0, 0], record)
    _friction(axes[0, 1], record)
    _corner(axes[0, 2], record)
    _stops(axes[1, 0], record)
    _starts(axes[1, 1], record)
    _energies(axes[1, 2], record)
    return figure


def _times(record: Record) -> np.ndarray:
    return np.arange(len(record.series["xdot"]))[:, None] * record.series[BLOCKS][2]


def _push(record: Record) -> np.ndarray:
    """u / (mu m g)."""
    peak = record.series[BLOCKS][4]
    return peak * np.sin(np.pi * np.minimum(_times(record) / PUSH, 1)) ** 2


def _speeds(axes: Any, record: Record) -> None:
    peak, time = record.series[BLOCKS][4], _times(record)
    for i in range(min(SHOWN, len(peak))):
        colour = f"C{int(peak[i] > 1)}"
        axes.plot(time[:, i], record.series["xdot"][:, i], colour, linewidth=0.6)
    for label, colour in (("u ≤ μ m g", "C0"), ("u > μ m g for a while", "C1")):
        axes.plot([], [], colour, label=label)
    axes.set(xlabel="time [s]", ylabel="ẋ [m/s]", title="speed", xlim=(0, END))
    axes.legend()


def _friction(axes: Any, record: Record) -> None:
    """Push and friction of the three blocks whose push is the largest, the smallest, one."""
    m, mu, _, _, peak = record.series[BLOCKS]
    time, push = _times(record), _push(record)
    chosen = dict.fromkeys(int(i) for i in (peak.argmin(), abs(peak - 1.2).argmin(), peak.argmax()))
    for number, i in enumerate(chosen):
        friction = record.series["lambda"][1:, i] / (mu[i] * m[i] * G)
        axes.plot(time[1:, i], friction, f"C{number}", linewidth=1.2, label="λ" * (number == 0))
        axes.plot(time[1:, i], push[1:, i], f"C{number}:", linewidth=1, label="u" * (number == 0))
    axes.axhline(1, color="k", linewidth=0.4)
    axes.set(
        xlabel="time [s]", ylabel="force / (μ m g)", title="friction λ and push u", xlim=(0, END)
    )
    axes.legend()


def _corner(axes: Any, record: Record) -> None:
    """Every step: the block slides or has friction to spare, never both."""
    m, mu = record.series[BLOCKS][:2]
    unused = 1 - record.series["lambda"][1:] / (mu * m * G)
    speed = record.series["xdot"][1:]
    thinned = slice(None, None, max(1, speed.size // 20_000))
    axes.plot(speed.ravel()[thinned], unused.ravel()[thinned], ".", markersize=2)
    axes.set(xlabel="ẋ [m/s]", ylabel="λ' / (μ m g)")
    axes.set_title(rf"$0 \leq \lambda' \perp \dot x \geq 0$ in {speed.size:,} steps")


def _stops(axes: Any, record: Record) -> None:
    """The times at which blocks stop whose push is less than friction."""
    _, mu, dt, speed, peak = record.series[BLOCKS]
    weak = peak <= 1
    stop = dt * (record.series["xdot"] == 0).argmax(axis=0)
    # without push: speed / (mu g); with it, where the curve reaches the speed
    rows = np.linspace(0, PUSH, 4001)
    push = peak[weak, None] * (rows / 2 - PUSH / (4 * np.pi) * np.sin(2 * np.pi * rows / PUSH))
    left = speed[weak, None] + mu[weak, None] * G * (push - rows)
    exact = rows[(left <= 0).argmax(axis=1)]
    shown = axes.scatter(exact, stop[weak], c=1e3 * dt[weak], s=4)
    axes.figure.colorbar(shown, ax=axes, label="Δt [ms]")
    axes.axline((0, 0), slope=1, color="r", linewidth=0.6)
    axes.set(xlabel="exact time [s]", ylabel="found [s]", title="a weak push: when the block stops")


def _starts(axes: Any, record: Record) -> None:
    """When blocks at rest are set in motion by the push: sin² = 1 / peak."""
    _, _, dt, _, peak = record.series[BLOCKS]
    speed = record.series["xdot"]
    starts = (speed[:-1] == 0) & (speed[1:] > 0)
    moved = starts.any(axis=0)
    found = dt * (starts.argmax(axis=0) + 1)
    exact = PUSH / np.pi * np.arcsin(np.sqrt(1 / peak[moved]))
    shown = axes.scatter(exact, found[moved], c=1e3 * dt[moved], s=4)
    axes.figure.colorbar(shown, ax=axes, label="Δt [ms]")
    axes.axline((1, 1), slope=1, color="r", linewidth=0.6)
    axes.set(xlabel="u = μ m g at [s]", ylabel="found [s]", title="when the push wins")


def _energies(axes: Any, record: Record) -> None:
    """Friction's work over initial energy and the push's work; the rest is implicit Euler's."""
    m, mu, dt, first, _ = record.series[BLOCKS]
    speed = record.series["xdot"]
    work = (_push(record) * mu * G * speed * dt).sum(axis=0) + first**2 / 2
    lost = (record.series["lambda"] / m * speed * dt).sum(axis=0)
    axes.semilogy(1e3 * dt, (work - lost) / work, ".", markersize=3)
    axes.set(xlabel="Δt [ms]", ylabel="share of first energy and work of u")
    axes.set_title("energy lost, but not to friction")
