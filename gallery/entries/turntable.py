"""A ball rolls on a uniformly turning table: on a circle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from gallery import Record

TITLE = "Ball on a turntable"
DOCUMENT = "literature"

H = 2e-3  # s
SHOWN = 40  # balls that are drawn as lines


def draw(record: Record) -> Figure:
    kappa, Omega = record.series["kappa, Omega"]
    w = Omega * kappa / (1 + kappa)
    time = H * np.arange(len(record.series["x"]))[:, None]
    place = record.series["x"] + 1j * record.series["y"]
    velocity = np.diff(place, axis=0) / H
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    axes = figure.subplots(2, 3)
    _paths(axes[0, 0], np.where(w * time <= 2 * np.pi, place, np.nan), kappa)
    axes[0, 0].set(title="in the room, one circle of each", xlabel="x [m]", ylabel="y [m]")
    _paths(axes[1, 0], (place * np.exp(-1j * Omega * time))[:, :3], kappa)
    axes[1, 0].set(title="on the table, three of them", xlabel="x [m]", ylabel="y [m]")
    centre = place[0] + 1j * velocity[0] / w
    _paths(axes[0, 1], (place - centre) * w / abs(velocity[0]), kappa)
    axes[0, 1].set(title="from the centre, in radii |v₀| / w")
    _ratios(axes[1, 1], record, kappa)
    _errors(axes[0, 2], time, 1e3 * record.series["error"])
    _speeds(axes[1, 2], w * time[1:] / (2 * np.pi), abs(velocity) / abs(velocity[0]))
    return figure


def _paths(axes: Any, place: np.ndarray, kappa: np.ndarray) -> None:
    """Complex places, from blue (solid balls) to red (shells)."""
    shade = (kappa - 2 / 5) / (2 / 3 - 2 / 5)
    for i in range(min(SHOWN, place.shape[1])):
        colour = (shade[i], 0.2, 1 - shade[i])
        axes.plot(place[:, i].real, place[:, i].imag, color=colour, linewidth=0.6)
    axes.set_aspect("equal", adjustable="datalim")


def _ratios(axes: Any, record: Record, kappa: np.ndarray) -> None:
    axes.plot(kappa, record.series["w/Omega"][0], "k.", markersize=2)
    every = np.linspace(2 / 5, 2 / 3)
    axes.plot(every, every / (1 + every), "r", linewidth=0.6, label="κ / (1 + κ)")
    axes.plot([2 / 5, 2 / 3], [2 / 7, 2 / 5], "ro", fillstyle="none", label="2/7 solid, 2/5 shell")
    axes.set(xlabel="κ = I / (m r²)", ylabel="w / Ω", title="angular velocity over the table's")
    axes.legend()


def _errors(axes: Any, time: np.ndarray, errors: np.ndarray) -> None:
    axes.plot(time[:, 0], errors[:, :SHOWN], "C0", linewidth=0.6)
    axes.plot(time[:, 0], errors.max(axis=1), "k", label="largest of all")
    axes.set(xlabel="time [s]", ylabel="distance [mm]", title="from the circle: of order h")
    axes.legend()


def _speeds(axes: Any, circles: np.ndarray, speed: np.ndarray) -> None:
    axes.plot(circles[:, :SHOWN], speed[:, :SHOWN], "C0", linewidth=0.6)
    axes.set(xlabel="circles", ylabel="|v| / |v₀|", title="grows by √(1 + h²w²) a step")
