"""A cube slides on the ground under Coulomb's law (NCP) and under the relaxed law (CCP)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from stickslip import BatchSim

if TYPE_CHECKING:
    from gallery import Record

TITLE = "Sliding cube: NCP against CCP"
DOCUMENT = "002"

G = 9.81  # m/s²
SHOWN = 60  # cubes that are drawn as lines
DT, MU = 0.002, 0.5  # s, 1; of MuJoCo's box

DEFAULT = 'solref="0.02 1" solimp="0.9 0.95 0.001"'
# reference acceleration -c/dt - phi/dt^2: that of a step of the CCP
STIFF = f'solref="{-1 / DT**2} {-1 / DT}" solimp="0.9999 0.9999 0.001"'
BOX = """<mujoco>
  <option timestep="{dt}" cone="elliptic" integrator="Euler" tolerance="1e-12" iterations="200"/>
  <default><geom condim="3" friction="{mu}" {contact}/></default>
  <worldbody>
    <geom type="plane" size="5 5 0.1"/>
    <body pos="0 0 {z}"><freejoint/><geom type="box" size="0.1 0.1 0.02" mass="1"/></body>
  </worldbody>
</mujoco>"""


def draw(record: Record) -> Figure:
    m, mu, dt = record.series["m, mu, dt"]
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    axes = figure.subplots(2, 3)
    _heights(axes[0, 0], record, mu, dt)
    _law(axes[0, 1], record, mu, dt)
    _hops(axes[0, 2], record, mu, dt)
    _speeds(axes[1, 0], record, mu, dt)
    _energies(axes[1, 1], record, m, dt)
    _mujoco(axes[1, 2])
    return figure


def _heights(axes: Any, record: Record, mu: np.ndarray, dt: np.ndarray) -> None:
    time = np.arange(len(record.series["CCP phi"]))
    for i in range(min(SHOWN, len(mu))):
        colour = f"C{int(mu[i] > 0.5)}"
        axes.plot(dt[i] * time, 1e3 * record.series["CCP phi"][:, i], colour, linewidth=0.6)
        axes.plot(dt[i] * time, 1e3 * record.series["NCP phi"][:, i], "k", linewidth=1.5)
    for label, colour in (("CCP, μ < 0.5", "C0"), ("CCP, μ > 0.5", "C1"), ("NCP, all", "k")):
        axes.plot([], [], colour, label=label)
    axes.set(xlabel="time [s]", ylabel="height φ [mm]", title="thrown along the ground")
    axes.set_xlim(0, 1)
    axes.legend()


def _law(axes: Any, record: Record, mu: np.ndarray, dt: np.ndarray) -> None:
    """Every step of every cube in which a contact force acts."""
    for name, colour in (("CCP", "C0"), ("NCP", "k")):
        acts = record.series[f"{name} lambda_N"] > 0
        speed = record.series[f"{name} c_T"][acts]
        height = (record.series[f"{name} phi"] / (mu * dt))[acts]
        thinned = slice(None, None, max(1, speed.size // 20_000))
        label = f"{name}, {speed.size:,} steps"
        axes.plot(speed[thinned], height[thinned], ".", color=colour, markersize=1, label=label)
    axes.axline((0, 0), slope=1, color="r", linewidth=0.6, label="φ = Δt μ ‖c_T‖")
    axes.set(xlabel="‖c_T‖ [m/s]", ylabel="φ / (Δt μ) [m/s]", title="steps with a contact force")
    axes.legend(markerscale=8)


def _hops(axes: Any, record: Record, mu: np.ndarray, dt: np.ndarray) -> None:
    speed = record.series["CCP c_T"][1]
    apex = record.series["CCP phi"].max(axis=0)
    flies = mu * speed > G * dt
    shown = axes.scatter(
        1e3 * ((mu * speed) ** 2 / (2 * G))[flies], 1e3 * apex[flies], c=1e3 * dt[flies], s=4
    )
    axes.figure.colorbar(shown, ax=axes, label="Δt [ms]")
    axes.axline((0, 0), slope=1, color="r", linewidth=0.6)
    axes.set(xlabel="(μ ‖c_T‖)² / 2g after step 1 [mm]", ylabel="highest φ [mm]")
    axes.set_title("CCP: the hop does not vanish with Δt")


def _speeds(axes: Any, record: Record, mu: np.ndarray, dt: np.ndarray) -> None:
    """Speed over the time that Coulomb's law needs to stop: one line for all cubes."""
    for name, colour in (("CCP", "C0"), ("NCP", "k")):
        speed = record.series[f"{name} c_T"]
        time = np.arange(len(speed))[:, None] * mu * G * dt / speed[0]
        for i in range(min(SHOWN, len(mu))):
            label = name if i == 0 else None
            axes.plot(time[:, i], speed[:, i] / speed[0, i], colour, linewidth=0.6, label=label)
    axes.set(xlabel="time × μ g / ‖c_T‖₀", ylabel="‖c_T‖ / ‖c_T‖₀", title="speed")
    axes.set_xlim(0, 1.5)
    axes.legend()


def _energies(axes: Any, record: Record, m: np.ndarray, dt: np.ndarray) -> None:
    for name, colour in (("CCP", "C0"), ("NCP", "k")):
        c_T, c_N, phi = (record.series[f"{name} {which}"] for which in ("c_T", "c_N", "phi"))
        energy = m * ((c_T**2 + c_N**2) / 2 + G * phi)
        time = np.arange(len(phi))[:, None] * dt
        for i in range(min(SHOWN, len(m))):
            label = name if i == 0 else None
            axes.plot(time[:, i], energy[:, i] / energy[0, i], colour, linewidth=0.6, label=label)
    axes.set(xlabel="time [s]", ylabel="energy / energy at first", title="energy never grows")
    axes.set_xlim(0, 1)
    axes.legend()


def mujoco_box(law: Any, contact: str, speeds: list[float], steps: int) -> tuple[Any, Any]:
    """Heights (m) and speeds (m/s), (steps + 1, len(speeds)), of a box in MuJoCo."""
    model = BOX.format(dt=DT, mu=MU, contact=contact, z=0.02 - 1e-9)  # touches already
    sim = BatchSim(model, len(speeds), law=law, threads=1)
    sim.qvel[:, 0] = speeds
    states = [(sim.qpos[:, 2] - 0.02, sim.qvel[:, 0].copy())]
    for _ in range(steps):
        sim.step()
        states.append((sim.qpos[:, 2] - 0.02, sim.qvel[:, 0].copy()))
    heights, velocities = zip(*states, strict=True)
    return np.array(heights), np.array(velocities)


def _mujoco(axes: Any) -> None:
    time = DT * np.arange(301)
    for law, contact, colour, label in (
        ("mujoco", STIFF, "C0", "mj_step, solref (-1/Δt², -1/Δt)"),
        ("mujoco", DEFAULT, "C1", "mj_step, default contacts"),
        ("coulomb", DEFAULT, "k", "BatchSim, law coulomb"),
    ):
        heights, _ = mujoco_box(law, contact, [1.0, 2.0], 300)
        lines = axes.plot(time, 1e3 * heights, colour, linewidth=1)
        lines[0].set_label(label)
    axes.set_yscale("symlog", linthresh=0.1)
    axes.set(xlabel="time [s]", ylabel="height [mm]", title="a box in MuJoCo, 1 and 2 m/s")
    axes.set_ylim(-3, 3000)
    axes.legend()
