"""Rods swing from a hinge, at acceleration level and at velocity level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from scipy.special import ellipk

from gallery.linkages import LEVELS, draw_drift, draw_energy, rod_in_mujoco, roll
from gallery.record import Check

if TYPE_CHECKING:
    from typing import Any

    from gallery import Record

TITLE = "Pendulum: two levels of a hinge"
DOCUMENT = "001"

PARAMETERS = "m, L, d, theta_0, T, omega_0"
SHOWN = 60  # rods that are drawn as lines
DT = 0.02  # s, of the swings that are drawn
FEW = 50  # rods that MuJoCo simulates too
DT_MUJOCO = 1e-3  # s


def compare(record: Record) -> list[Check]:
    """MuJoCo's rods, and those at acceleration level with the larger step."""
    m, L, d, theta_0, _, _ = record.series[PARAMETERS][:, :FEW]
    theta = record.series["acceleration level: theta"][1:, :FEW]
    models = [rod_in_mujoco(*rod, DT_MUJOCO, "RK4") for rod in zip(m, L, d, strict=True)]
    start = np.column_stack([theta_0, np.zeros_like(theta_0)])
    mujoco = roll(models, start, DT * np.arange(1, len(theta) + 1))[:, :, 0]
    off = np.abs(np.sin(theta / 2) - np.sin(mujoco / 2)).max(axis=0)
    error = record.series["acceleration level: omega_0 dt, errors"][3, :FEW]
    ratio = off / (2 * np.sin(theta_0 / 2) * error)
    return [Check("MuJoCo: sin(theta / 2) off, of what the error allows", ratio.max(), 1)]


def draw(record: Record) -> Figure:
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    axes = figure.subplots(2, 3)
    _swings(axes[0, 0], record)
    _periods(axes[0, 1], record)
    for at, what, title in (
        (axes[0, 2], 1, "error of the period"),
        (axes[1, 0], 3, "error of the motion"),
    ):
        _errors(at, record, what, title)
    draw_drift(axes[1, 1], record)
    draw_energy(axes[1, 2], record)
    return figure


def _swings(axes: Any, record: Record) -> None:
    theta = record.series["acceleration level: theta"][:, :SHOWN]
    axes.plot(DT * np.arange(len(theta)), theta, linewidth=0.7)
    axes.set(xlabel="time [s]", ylabel="θ [rad]", title="rods, acceleration level")


def _periods(axes: Any, record: Record) -> None:
    _, _, _, theta_0, T, omega_0 = record.series[PARAMETERS]
    for level, colour in LEVELS.items():
        error = record.series[f"{level} level: omega_0 dt, errors"][1]
        found = T * (1 + error) * omega_0 / (2 * np.pi)
        axes.plot(theta_0, found, ".", color=colour, markersize=3, label=f"{level} level")
    amplitude = np.linspace(0, theta_0.max(), 200)
    closed = 2 / np.pi * ellipk(np.sin(amplitude / 2) ** 2)
    axes.plot(amplitude, closed, "k", linewidth=0.7, label="2 K(sin(θ₀/2)) / π")
    axes.set(xlabel="amplitude θ₀ [rad]", ylabel="T ω₀ / 2π", title="period")
    axes.legend(markerscale=3)


def _errors(axes: Any, record: Record, row: int, title: str) -> None:
    """Both steps of every rod; lines have the slopes of the orders."""
    orders = {"acceleration": 4, "velocity": 2 if row == 1 else 1}
    for level, colour in LEVELS.items():
        step, *errors = record.series[f"{level} level: omega_0 dt, errors"]
        steps = np.concatenate([step, step / 2])
        found = np.abs(np.concatenate(errors[row - 1 : row + 1]))
        axes.loglog(steps, found, ".", color=colour, markersize=2, label=f"{level} level")
        ends = np.array([steps.min(), steps.max()])
        through = np.exp(np.median(np.log(found / steps ** orders[level])))
        axes.loglog(ends, through * ends ** orders[level], "k", linewidth=0.8)
        axes.text(ends[1], through * ends[1] ** orders[level], f" {orders[level]}")
    axes.set(xlabel="ω₀ Δt", ylabel="relative", title=title)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.legend(markerscale=4)
