"""A Grashof four-bar linkage, its reduced equation of motion, and MuJoCo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

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
    from gallery import Record

TITLE = "Four-bar linkage: a loop with redundant joints"
DOCUMENT = "001"

G = 9.81  # m/s²
TIMES = 0.02 * np.arange(1, 51)  # s
PARAMETERS = "a, b, c, d, theta, rate, m_a, m_b, m_c"
RUNS = {
    "acceleration, 5 ms": "C0",
    "acceleration, 2.5 ms": "C2",
    "velocity, 5 ms": "C1",
    "velocity, 2.5 ms": "C3",
}
MUJOCO: dict[str, tuple[Any, ...]] = {  # step in s, integrator and loop, colour
    "MuJoCo, default": (2e-3, "Euler", 'solref="0.02 1" solimp="0.9 0.95 0.001"', "0.7"),
    "MuJoCo, stiff": (5e-4, "RK4", 'solref="0.001 1" solimp="0.9999 0.9999 0.001"', "k"),
}
MODEL = """<mujoco>
  <option timestep="{dt}" integrator="{integrator}" tolerance="1e-14" iterations="100">
    <flag contact="disable"/>
  </option>
  <worldbody>
    <body>
      <joint axis="0 1 0"/>
      <inertial pos="0 0 {r_a}" mass="{m_a}" diaginertia="{I_a}"/>
      <body name="coupler" pos="0 0 {end_a}">
        <joint axis="0 1 0"/>
        <inertial pos="0 0 {r_b}" mass="{m_b}" diaginertia="{I_b}"/>
        <site name="coupler" pos="0 0 {end_b}"/>
      </body>
    </body>
    <body name="rocker" pos="{d} 0 0">
      <joint axis="0 1 0"/>
      <inertial pos="0 0 {r_c}" mass="{m_c}" diaginertia="{I_c}"/>
      <site name="rocker" pos="0 0 {end_c}"/>
    </body>
  </worldbody>
  <equality><connect site1="coupler" site2="rocker" {loop}/></equality>
</mujoco>"""


class Reduced:
    """The linkage with one degree of freedom: J(θ) θ'' + J'(θ) θ'²/2 + V'(θ) = 0.

    The plane as complex numbers, 1 down and i to the left; arrays are of variations.
    """

    def __init__(self, parameters: np.ndarray) -> None:
        self.a, self.b, self.c, self.d, self.theta, self.rate, *self.m = parameters

    def angles(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of coupler and rocker."""
        line = -1j * self.d - self.a * np.exp(1j * theta)
        length, b, c = np.abs(line), self.b, self.c
        beta = np.angle(line) - np.arccos((length**2 + b**2 - c**2) / (2 * length * b))
        return beta, np.angle(b * np.exp(1j * beta) - line)

    def rates(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """dβ/dθ and dψ/dθ."""
        beta, psi = self.angles(theta)
        a_s = -self.a / np.sin(beta - psi)
        return a_s / self.b * np.sin(theta - psi), a_s / self.c * np.sin(theta - beta)

    def acceleration(self, theta: np.ndarray, rate: np.ndarray) -> np.ndarray:
        a, b, c = self.a, self.b, self.c
        m_a, m_b, m_c = self.m
        beta, psi = self.angles(theta)
        beta_1, psi_1 = self.rates(theta)
        e_a, e_b, e_c = (np.exp(1j * angle) for angle in (theta, beta, psi))
        # The loop's second derivative, b β'' e_b - c ψ'' e_c = R, along each of the two bars.
        R = 1j * (c * psi_1**2 * e_c - a * e_a - b * beta_1**2 * e_b)
        beta_2 = (R / e_c).imag / (b * np.sin(beta - psi))
        psi_2 = (R / e_b).imag / (c * np.sin(beta - psi))
        # The coupler's centre.
        x_1 = 1j * (a * e_a + b / 2 * beta_1 * e_b)
        x_2 = -a * e_a + b / 2 * (1j * beta_2 - beta_1**2) * e_b
        I_a, I_b, I_c = m_a * a**2 / 3, m_b * b**2 / 12, m_c * c**2 / 3
        J = I_a + m_b * np.abs(x_1) ** 2 + I_b * beta_1**2 + I_c * psi_1**2
        half_J_1 = m_b * (x_1.conj() * x_2).real + I_b * beta_1 * beta_2 + I_c * psi_1 * psi_2
        down = m_a * a / 2 * 1j * e_a + m_b * x_1 + m_c * c / 2 * 1j * psi_1 * e_c
        return (G * down.real - half_J_1 * rate**2) / J

    def motion(self) -> np.ndarray:
        """Angles of the crank, (times, variations)."""
        n = len(self.theta)

        def rhs(_: float, y: np.ndarray) -> np.ndarray:
            return np.concatenate([y[n:], self.acceleration(y[:n], y[n:])])

        start = np.concatenate([self.theta, self.rate])
        span = (0, TIMES[-1])
        tight = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-11}
        return solve_ivp(rhs, span, start, t_eval=TIMES, **tight).y[:n].T


def mujoco_motion(
    linkages: Reduced, dt: float, integrator: str, loop: str
) -> tuple[np.ndarray, np.ndarray]:
    """Angles of the crank, and how far the loop is open (m), both (times, variations)."""
    beta, psi = linkages.angles(linkages.theta)
    beta_1, psi_1 = linkages.rates(linkages.theta)
    models = []
    for a, b, c, d, m_a, m_b, m_c in zip(
        linkages.a, linkages.b, linkages.c, linkages.d, *linkages.m, strict=True
    ):
        text = MODEL.format(
            **{"dt": dt, "integrator": integrator, "loop": loop, "d": d},
            **{"r_a": -a / 2, "end_a": -a, "m_a": m_a, "I_a": diaginertia(m_a, a)},
            **{"r_b": -b / 2, "end_b": -b, "m_b": m_b, "I_b": diaginertia(m_b, b)},
            **{"r_c": -c / 2, "end_c": -c, "m_c": m_c, "I_c": diaginertia(m_c, c)},
        )
        models.append(mujoco.MjModel.from_xml_string(text))
    theta, rate = linkages.theta, linkages.rate
    start = (theta, beta - theta, psi, rate, (beta_1 - 1) * rate, psi_1 * rate)
    theta, turn, psi = np.moveaxis(roll(models, np.column_stack(start), TIMES), -1, 0)
    meet = linkages.a * np.exp(1j * theta) + linkages.b * np.exp(1j * (theta + turn))
    return theta, np.abs(meet + 1j * linkages.d - linkages.c * np.exp(1j * psi))


def compare(record: Record) -> list[Check]:
    """The reduced equation and MuJoCo, of the variations that ran with both steps."""
    few = record.series["acceleration, 2.5 ms: theta"].shape[1]
    linkages = Reduced(record.series[PARAMETERS][:, :few])
    truth = linkages.motion()
    found = {run: record.series[f"{run}: theta"] for run in RUNS}
    for name, (*options, _) in MUJOCO.items():
        found[name], gap = mujoco_motion(linkages, *options)
        record.numbers[f"{name}: loop open by, m"] = gap.max()
    off = {run: apart(theta, truth) for run, theta in found.items()}
    worst = {run: each.max(axis=0) for run, each in off.items()}
    fine, coarse = found["acceleration, 2.5 ms"], found["acceleration, 5 ms"]
    estimate = apart(fine, coarse).max(axis=0)
    beside = apart(coarse, found["MuJoCo, stiff"]).max(axis=0)
    orders = {
        level: np.log2(worst[f"{level}, 5 ms"] / worst[f"{level}, 2.5 ms"])
        for level in ("acceleration", "velocity")
    }
    for run, each in off.items():
        record.numbers[f"{run}: off the reduced equation, rad"] = each.max()
        record.series[f"{run}: off"] = each
    ratio = worst["acceleration, 5 ms"] / estimate
    checks = [
        Check("reduced equation: 5 ms off, over 5 ms - 2.5 ms", ratio.max(), 1.5),
        Check("MuJoCo, stiff: 5 ms off, over 5 ms - 2.5 ms", (beside / estimate).max(), 1.5),
    ]
    return checks + check_orders("reduced equation", orders)


def draw(record: Record) -> Figure:
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    axes = figure.subplots(2, 3)
    _curves(axes[0, 0], record)
    _rocker(axes[0, 1], record)
    _cranks(axes[0, 2], record)
    _off(axes[1, 0], record)
    draw_drift(axes[1, 1], record)
    draw_energy(axes[1, 2], record)
    return figure


def _curves(axes: Any, record: Record) -> None:
    """The path of the middle of the coupler."""
    a, _, c, d, *_ = record.series[PARAMETERS]
    theta = record.series["driven, acceleration, 20 ms: theta"]
    psi = record.series["driven, acceleration, 20 ms: psi"]
    middle = (a * np.exp(1j * theta) - 1j * d + c * np.exp(1j * psi)) / 2 / d
    axes.plot(-middle[:, :40].imag, -middle[:, :40].real, linewidth=0.7)
    axes.plot([0, 1], [0, 0], "k^")
    axes.set(xlabel="x / d", ylabel="z / d", title="driven: the middle of 40 couplers")
    axes.set_aspect("equal")


def _rocker(axes: Any, record: Record) -> None:
    theta = record.series["driven, velocity, 10 ms: theta"]
    psi = record.series["driven, velocity, 10 ms: psi"] % (2 * np.pi)
    axes.plot(theta, psi, ".C1", markersize=0.5)
    axes.set(xlabel="crank θ [rad]", ylabel="rocker ψ [rad]", title="driven: all variations")


def _cranks(axes: Any, record: Record) -> None:
    theta = np.unwrap(record.series["acceleration, 10 ms: theta"], axis=0)
    start = record.series[PARAMETERS][4]
    turned = (theta - start)[:, :100]
    turned -= 2 * np.pi * np.round(turned[0] / (2 * np.pi))
    axes.plot(TIMES, turned / (2 * np.pi), linewidth=0.6)
    axes.set(xlabel="time [s]", ylabel="turns of the crank", title="free: 100 variations")


def _off(axes: Any, record: Record) -> None:
    colours = RUNS | {name: options[-1] for name, options in MUJOCO.items()}
    for run, colour in colours.items():
        off = np.maximum(record.series[f"{run}: off"], 1e-13)
        lines = axes.semilogy(TIMES, off, colour, linewidth=0.4)
        lines[0].set_label(run)
    axes.set(xlabel="time [s]", ylabel="rad", title="free: crank against the reduced equation")
    axes.legend(loc="lower right", fontsize="small")
