"""Two rods, one hanging from the other, compared with MuJoCo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from matplotlib.figure import Figure

from gallery.linkages import (
    apart,
    check_orders,
    diaginertia,
    draw_drift,
    draw_energy,
    roll,
)
from gallery.record import Check

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gallery import Record

TITLE = "Double pendulum: maximal coordinates beside MuJoCo"
DOCUMENT = "001"

PARAMETERS = "m_1, m_2, L_1, L_2, theta_1, theta_2"
TIMES = 0.02 * np.arange(1, 76)  # s
DT = 1e-3  # s, of MuJoCo
RUNS = {
    "acceleration, 5 ms": "C0",
    "acceleration, 2.5 ms": "C2",
    "velocity, 5 ms": "C1",
    "velocity, 2.5 ms": "C3",
}
MODEL = """<mujoco>
  <option timestep="{dt}" integrator="RK4"><flag contact="disable"/></option>
  <worldbody>
    <body>
      <joint axis="0 1 0"/>
      <inertial pos="0 0 {r_1}" mass="{m_1}" diaginertia="{I_1}"/>
      <body pos="0 0 {end}">
        <joint axis="0 1 0"/>
        <inertial pos="0 0 {r_2}" mass="{m_2}" diaginertia="{I_2}"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""


def compare(record: Record) -> list[Check]:
    """MuJoCo's motion, in generalised coordinates, of the variations that ran with both steps."""
    few = record.series["acceleration, 2.5 ms: theta_1"].shape[1]
    parameters = record.series[PARAMETERS].T[:few]
    truth = mujoco_angles(parameters)
    off, orders, estimate = {}, {}, {}
    for run in RUNS:
        off[run] = apart(_angles(record, run, few), truth).max(axis=-1)
    for level in ("acceleration", "velocity"):
        coarse, fine = f"{level}, 5 ms", f"{level}, 2.5 ms"
        estimate[level] = apart(_angles(record, coarse, few), _angles(record, fine, few)).max(-1)
        orders[level] = np.log2(off[coarse].max(0) / off[fine].max(0))
    ratio = off["acceleration, 5 ms"].max(0) / estimate["acceleration"].max(0)
    record.numbers.update({f"MuJoCo: {run} off, rad": off[run].max() for run in RUNS})
    record.series.update({f"{run}: off MuJoCo": off[run] for run in RUNS})
    record.series.update({f"{level}: estimate": estimate[level] for level in estimate})
    checks = [Check("MuJoCo: 5 ms off, over 5 ms - 2.5 ms", ratio.max(), 1.25)]
    return checks + check_orders("MuJoCo", orders)


def mujoco_angles(parameters: Iterable[np.ndarray]) -> np.ndarray:
    """Angles of both hinges, (times, variations, 2), by Runge-Kutta in small steps."""
    models, states = [], []
    for m_1, m_2, L_1, L_2, theta_1, theta_2 in parameters:
        text = MODEL.format(
            dt=DT,
            **{"m_1": m_1, "r_1": -L_1 / 2, "I_1": diaginertia(m_1, L_1), "end": -L_1},
            **{"m_2": m_2, "r_2": -L_2 / 2, "I_2": diaginertia(m_2, L_2)},
        )
        models.append(mujoco.MjModel.from_xml_string(text))
        states.append([theta_1, theta_2 - theta_1, 0, 0])
    return roll(models, np.array(states), TIMES)


def _angles(record: Record, run: str, few: int) -> np.ndarray:
    both = [record.series[f"{run}: {name}"] for name in ("theta_1", "theta_2 - theta_1")]
    return np.stack(both, axis=-1)[:, :few]


def draw(record: Record) -> Figure:
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    axes = figure.subplots(2, 3)
    _paths(axes[0, 0], record)
    _off(axes[0, 1], record)
    _estimates(axes[0, 2], record)
    _levels(axes[1, 0], record)
    draw_drift(axes[1, 1], record)
    draw_energy(axes[1, 2], record)
    return figure


def _paths(axes: Any, record: Record) -> None:
    _, _, L_1, L_2, _, _ = record.series[PARAMETERS]
    theta_1 = record.series["acceleration, 10 ms: theta_1"]
    theta_2 = theta_1 + record.series["acceleration, 10 ms: theta_2 - theta_1"]
    x = -L_1 * np.sin(theta_1) - L_2 * np.sin(theta_2)
    z = -L_1 * np.cos(theta_1) - L_2 * np.cos(theta_2)
    axes.plot(x[:, :40], z[:, :40], linewidth=0.7)
    axes.set(xlabel="x [m]", ylabel="z [m]", title="ends of 40 pendulums in 1.5 s", aspect="equal")


def _off(axes: Any, record: Record) -> None:
    for run, colour in RUNS.items():
        off = record.series[f"{run}: off MuJoCo"]
        lines = axes.semilogy(TIMES, off, colour, linewidth=0.5)
        lines[0].set_label(run)
    axes.set(xlabel="time [s]", ylabel="rad", title="angles against MuJoCo's")
    axes.legend(loc="lower right")


def _estimates(axes: Any, record: Record) -> None:
    """Difference from MuJoCo, over the difference between two step sizes."""
    ends = []
    for level, p, colours in (("acceleration", 4, ("C0", "C2")), ("velocity", 1, ("C1", "C3"))):
        estimate = record.series[f"{level}: estimate"].max(axis=0)
        ends += [estimate.min(), estimate.max()]
        for step, colour, factor in zip((5, 2.5), colours, (2**p, 1), strict=True):
            run = f"{level}, {step} ms"
            off = record.series[f"{run}: off MuJoCo"].max(axis=0)
            axes.loglog(estimate, off, ".", color=colour, markersize=4, label=run)
            x = np.array([estimate.min(), estimate.max()])
            axes.loglog(x, x * factor / (2**p - 1), "k", linewidth=0.6)
    axes.set(xlabel="|5 ms - 2.5 ms| [rad]", ylabel="off MuJoCo [rad]")
    axes.set_title("the error, as halving the step predicts it")
    axes.legend(markerscale=2)


def _levels(axes: Any, record: Record) -> None:
    """Difference between the two levels within 1.5 s: large where motion is sensitive."""
    *_, theta_1, theta_2 = record.series[PARAMETERS]
    many = theta_1.size
    both = [_angles(record, f"{level}, 10 ms", many) for level in ("acceleration", "velocity")]
    off = apart(*both).max(axis=(0, 2))
    shown = axes.scatter(theta_1, theta_2, c=np.log10(off), s=6)
    axes.figure.colorbar(shown, ax=axes, label="log₁₀ of |velocity - acceleration| [rad]")
    axes.set(xlabel="θ₁ at first [rad]", ylabel="θ₂ at first [rad]", title="all variations, 10 ms")
