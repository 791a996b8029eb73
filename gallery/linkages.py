"""Common functions of the entries about linkages: angles, and plots of drift and energy over a
minute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from mujoco import rollout

from gallery.record import Check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gallery.record import Record

_ROD = """<mujoco>
  <compiler angle="radian"/>
  <option timestep="{dt}" integrator="{integrator}"><flag contact="disable"/></option>
  <worldbody>
    <body>
      <joint axis="0 1 0" {joint}/>
      <inertial pos="0 0 {r}" mass="{m}" diaginertia="{inertia}"/>
    </body>
  </worldbody>
</mujoco>"""

_ENOUGH = 50  # variations, for a median
LEVELS = {"acceleration": "C0", "velocity": "C1"}  # with their colours


def apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Size of the difference of angles, rad, at most pi."""
    return np.abs(np.angle(np.exp(1j * (a - b))))


def diaginertia(mass: float, length: float) -> str:
    """Principal moments of a slender bar, as the C++ examples have them, for MJCF."""
    inertia = mass * length**2 / 12
    return f"{inertia} {inertia} {1e-3 * inertia}"


def rod_in_mujoco(
    m: float, L: float, d: float, dt: float, integrator: str, joint: str = ""
) -> mujoco.MjModel:
    """A rod (kg, m) whose centre hangs d (m) below a hinge; further attributes of the joint."""
    given = {"m": m, "inertia": diaginertia(m, L), "r": -d, "joint": joint}
    text = _ROD.format(dt=dt, integrator=integrator, **given)
    return mujoco.MjModel.from_xml_string(text)


def roll(models: Sequence[mujoco.MjModel], start: np.ndarray, times: np.ndarray) -> np.ndarray:
    """MuJoCo's joint coordinates at these times, (times, variations, joints).

    Args:
        models: one of each variation, of the same shape.
        start: coordinates and velocities, (variations, 2 * joints).
        times: s, evenly spaced, the first one a multiple of the time step.
    """
    every = round(times[0] / models[0].opt.timestep)
    start = np.column_stack([np.zeros(len(models)), start])
    data = [mujoco.MjData(models[0])]
    found, _ = rollout.rollout(models, data, start, nstep=every * len(times))
    return found[:, every - 1 :: every, 1 : 1 + models[0].nq].swapaxes(0, 1)


def check_orders(truth: str, orders: dict[str, np.ndarray]) -> list[Check]:
    """Median orders of convergence of the two levels. Not meaningful for few variations."""
    return [
        Check(f"{truth}: {level} level, order off {p}", abs(np.median(orders[level]) - p), bound)
        for level, p, bound in (("acceleration", 4, 0.25), ("velocity", 1, 0.1))
        if len(orders[level]) >= _ENOUGH
    ]


def draw_drift(axes: Any, record: Record) -> None:
    """The violation of the joints within a minute."""
    for level, colour in LEVELS.items():
        C = record.series[f"60 s, {level}: C"]
        lines = axes.semilogy(_minute(C), C, colour, linewidth=0.5)
        lines[0].set_label(f"{level} level, {C.shape[1]} variations")
    axes.set(xlabel="time [s]", ylabel="largest |C| in 0.1 s [m]", title="drift of the joints")
    axes.legend()


def draw_energy(axes: Any, record: Record) -> None:
    """Energy gained within a minute, and the work of the correction."""
    correction = record.series["60 s, velocity: correction"]
    lines = axes.plot(_minute(correction), correction, "0.7", linewidth=0.5)
    lines[0].set_label("work of the correction, velocity level")
    for level, colour in LEVELS.items():
        energy = record.series[f"60 s, {level}: energy"]
        lines = axes.plot(_minute(energy), energy, colour, linewidth=0.5)
        lines[0].set_label(f"energy won, {level} level")
    axes.set_yscale("symlog", linthresh=1e-3)
    axes.set(xlabel="time [s]", ylabel="of Σ m g L", title="energy")
    axes.legend(fontsize="small", loc="center right")


def _minute(values: np.ndarray) -> np.ndarray:
    return 0.1 * np.arange(1, len(values) + 1)
