"""A hinge with dry friction and a stop, and a hinge that is driven."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from gallery.linkages import LEVELS, rod_in_mujoco, roll

if TYPE_CHECKING:
    from gallery import Check, Record

TITLE = "Hinge: friction, a stop, a trajectory"
DOCUMENT = "001"

FALLEN = "m, L, d, theta_0, kappa, stop, rest, closed form"
SHOWN = 60  # rods that are drawn as lines
G = 9.81  # m/s²
EVERY = 0.04  # s, between the times of the falling rods
STEP = {"acceleration": 0.02, "velocity": 0.01}  # s, of the driven rods
FEW = 50  # rods that MuJoCo simulates too
DT_MUJOCO = 1e-3  # s


def compare(record: Record) -> list[Check]:
    """MuJoCo's dry friction and limits, which are soft."""
    m, L, d, theta_0, kappa, stop, _, closed = record.series[FALLEN][:, :FEW]
    models = []
    for i in range(len(m)):
        friction = kappa[i] * m[i] * G * d[i]
        joint = f'range="{-stop[i]} 10" limited="true" frictionloss="{friction}"'
        models.append(rod_in_mujoco(m[i], L[i], d[i], DT_MUJOCO, "Euler", joint))
    start = np.column_stack([theta_0, np.zeros_like(theta_0)])
    theta = roll(models, start, EVERY * np.arange(1, len(record.series["theta"]) + 1))[:, :, 0]
    creep = np.abs(theta[-1] - theta[-1 - round(1 / EVERY)])
    record.numbers.update(
        {
            "MuJoCo: angle beyond the stop, rad": (-stop - theta).max(),
            "MuJoCo: movement in the last second, rad": creep.max(),
            "MuJoCo: angle in the end against the closed form, rad": np.abs(
                theta[-1] - closed
            ).max(),
        }
    )
    record.series["MuJoCo: theta"] = theta
    return []


def draw(record: Record) -> Figure:
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    axes = figure.subplots(2, 3)
    _falling(axes[0, 0], record)
    _rest(axes[0, 1], record)
    _off(axes[0, 2], record)
    _torque(axes[1, 0], record)
    _torque_off(axes[1, 1], record)
    _trajectory(axes[1, 2], record)
    return figure


def _falling(axes: Any, record: Record) -> None:
    theta = record.series["theta"][:, :SHOWN]
    axes.plot(EVERY * np.arange(1, len(theta) + 1), theta, linewidth=0.7)
    axes.set(xlabel="time [s]", ylabel="θ [rad]", title="rods fall against friction")
    axes.set_xlim(0, 4)


def _rest(axes: Any, record: Record) -> None:
    *_, kappa, stop, found, _ = record.series[FALLEN]
    at_stop = found < -stop + 1e-9
    axes.plot(kappa[~at_stop], found[~at_stop], ".C0", markersize=3, label="held by friction")
    axes.plot(kappa[at_stop], found[at_stop], ".C1", markersize=3, label="at the stop")
    edge = np.linspace(kappa.min(), 1, 200)
    for sign in (-1, 1):
        axes.plot(edge, sign * np.arcsin(edge), "k", linewidth=0.7)
    axes.plot(edge, np.pi - np.arcsin(edge), "k", linewidth=0.7, label="|sin θ| = κ")
    axes.set(xlabel="friction κ = τ / (m g d)", ylabel="θ at rest [rad]")
    axes.set_title("where they rest")
    axes.legend(markerscale=3)


def _off(axes: Any, record: Record) -> None:
    *_, kappa, _, found, closed = record.series[FALLEN]
    off = np.maximum(np.abs(found - closed), 1e-16)
    axes.semilogy(kappa, off, ".C0", markersize=3, label="at rest")
    theta = record.series["MuJoCo: theta"][-1]
    few = slice(len(theta))
    axes.semilogy(
        kappa[few], np.abs(theta - closed[few]), ".", color="0.5", markersize=4, label="MuJoCo, 8 s"
    )
    axes.legend(loc="center left", markerscale=3)
    axes.set(xlabel="friction κ", ylabel="rad", title="angle at rest, error")


def _torque(axes: Any, record: Record) -> None:
    for i in range(min(6, record.series["theta"].shape[1])):
        for level, mark in (("acceleration", "."), ("velocity", "x")):
            torque = record.series[f"driven, {level}: torque"][2:, i]
            time = STEP[level] * np.arange(3, len(torque) + 3)
            axes.plot(time[::6], torque[::6], f"{mark}C{i}", markersize=3)
        closed = record.series["driven, acceleration: torque in closed form"][2:, i]
        axes.plot(STEP["acceleration"] * np.arange(3, len(closed) + 3), closed, "k", linewidth=0.5)
    axes.set(xlabel="time [s]", ylabel="of m g d", title="torque of the drive (· acc., × vel.)")


def _torque_off(axes: Any, record: Record) -> None:
    for level, colour in LEVELS.items():
        closed = record.series[f"driven, {level}: torque in closed form"][2:]
        off = np.abs(record.series[f"driven, {level}: torque"][2:] - closed).max(axis=0)
        largest = np.abs(closed).max(axis=0)
        axes.loglog(largest, off, ".", color=colour, markersize=3, label=f"{level} level")
    axes.set(xlabel="largest torque, of m g d", ylabel="largest error, of m g d")
    axes.set_title("torque against the closed form")
    axes.legend(markerscale=3)


def _trajectory(axes: Any, record: Record) -> None:
    for level, colour in LEVELS.items():
        C = np.maximum(record.series[f"driven, {level}: C"][:, :SHOWN], 1e-16)
        time = STEP[level] * np.arange(1, len(C) + 1)
        lines = axes.semilogy(time, C, colour, linewidth=0.4)
        lines[0].set_label(f"{level} level, Δt = {1e3 * STEP[level]:.0f} ms")
    axes.set(xlabel="time [s]", ylabel="|θ - f(t)| [rad]", title="following C(q, t) = θ - f(t)")
    axes.set_ylim(1e-13)
    axes.legend()
