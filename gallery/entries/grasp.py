"""Two fingers squeeze a cube and hold it against gravity."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gallery import Check, Record, vary
from stickslip import BatchSim, Status

TITLE = "Squeezing grasp"
DOCUMENT = "literature"

SIZE, FINGER, G, DT = 0.06, 0.1, 9.81, 0.005  # m, kg, m/s², s
MU, MASS = 0.6, 0.5  # of those that are held for long: 1, kg
SHARES = (1.01, 1.5, 3.0)  # 2 mu F / m g of them
TOUCH = 1e-9  # m, initial overlap of fingers and cube, so that they certainly touch
SHORT, LONG = 0.3, 60.0  # s
EARLY = 12  # steps, after which no finger has slid off
FULL = 1000  # variations from which on LONG is not a second
PADS = 200  # variations of flat fingers, at most
HOLDS = 1e-6  # m; less is not slipping
NEAR = 1e-3  # relative distance from the threshold within which nothing is checked

EXACT = {"law": "coulomb", "tol": 1e-11}
SPHERE = '<geom type="sphere" size=".01" condim="4"/>'
PAD = '<geom type="box" size=".01 .02 .02"/>'
# Fingers, options of BatchSim, options of MuJoCo.
GRASPS: dict[str, tuple[str, dict[str, Any], str]] = {
    "fingertips, coulomb": (SPHERE, EXACT, ""),
    "pads, coulomb": (PAD, EXACT, ""),
    "fingertips, MuJoCo": (SPHERE, {"law": "mujoco"}, ""),
    "fingertips, MuJoCo, impratio": (SPHERE, {"law": "mujoco"}, 'impratio="100"'),
    "fingertips, MuJoCo, noslip": (SPHERE, {"law": "mujoco"}, 'noslip_iterations="10"'),
}

MJCF = """<mujoco>
  <option timestep="{dt}" integrator="implicitfast" cone="elliptic" {options}/>
  <worldbody>
    <body name="left" pos="-{reach} 0 0"><joint name="l" type="slide"/>{finger}</body>
    <body name="right" pos="{reach} 0 0"><joint name="r" type="slide"/>{finger}</body>
    <body name="cube"><freejoint/><geom type="box" size="{half} {half} {half}"/></body>
  </worldbody>
  <default><joint axis="1 0 0"/></default>
  <actuator><motor joint="l"/><motor joint="r" gear="-1"/></actuator>
  <sensor>
    <framepos objtype="body" objname="left" reftype="body" refname="cube"/>
    <framepos objtype="body" objname="right" reftype="body" refname="cube"/>
  </sensor>
</mujoco>"""


def run(variations: int) -> Record:
    record = Record([])
    for grasp in ("fingertips, coulomb", "pads, coulomb"):
        _family(record, grasp, variations if "fingertips" in grasp else min(variations, PADS))
    _hold(record, LONG if variations >= FULL else 1.0)
    return record


def simulation(grasp: str, mu: np.ndarray, mass: np.ndarray) -> BatchSim:
    """An environment for each friction and mass (kg) of the cube; it is controlled by the fingers'
    forces (N)."""
    finger, law, options = GRASPS[grasp]
    text = MJCF.format(
        dt=DT, options=options, reach=SIZE / 2 + 0.01 - TOUCH, half=SIZE / 2, finger=finger
    )
    sim = BatchSim(text, len(mu), **law)
    friction = np.stack([mu, 0 * mu + 0.005, 0 * mu], axis=1)  # sliding, torsion (m), rolling
    sim.vary("geom_friction", np.repeat(friction[:, None], 3, axis=1))
    masses = np.stack([0 * mass, 0 * mass + FINGER, 0 * mass + FINGER, mass], axis=1)
    sim.vary("body_mass", masses)
    sim.vary("body_inertia", np.repeat(masses[..., None] * SIZE**2 / 6, 3, axis=2))
    return sim


def squeeze(sim: BatchSim, force: np.ndarray, seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """How far the fingers have slid along the cube's faces, m: (steps, N), the larger of both. And
    the number of each environment's steps that were not solved."""
    slips, unsolved, start = [], np.zeros(sim.num_envs), None
    for _ in range(round(seconds / DT) + 1):  # sensors show where a step began
        unsolved += sim.step(np.stack([force, force], axis=1)) != Status.solved
        place = sim.sensordata.reshape(-1, 2, 3)[..., 1:].copy()  # on the face, cube's frame
        start = place if start is None else start
        slips.append(np.linalg.norm(place - start, axis=2).max(axis=1))
    return np.array(slips[1:]), unsolved


def _family(record: Record, grasp: str, variations: int) -> None:
    """All frictions, masses and forces."""
    mu, share = vary(variations, 0, 0.2, 1.0), vary(variations, 1, 0.5, 1.5)
    mass = MASS * 10 ** vary(variations, 2, -1, 1)
    force = share * mass * G / (2 * mu)
    slips, unsolved = squeeze(simulation(grasp, mu, mass), force, SHORT)
    record.series[grasp] = np.array([mu, share, slips[EARLY - 1], slips[-1]])
    asked = abs(share - 1) > NEAR
    holds = asked & (share > 1)
    wrong = asked & ((slips[-1] <= HOLDS) != (share > 1))
    step = np.arange(1, len(slips) + 1)[:, None]
    fallen = G * (1 - share) * DT**2 * step * (step + 1) / 2
    away = abs(slips - fallen)[:, asked & ~holds][fallen[:, asked & ~holds] < SIZE / 3]
    record.checks.extend(
        [
            Check(f"{grasp}: grasps that contradict 2 mu F >= m g", float(wrong.sum()), 0),
            Check(
                f"{grasp}: slip of those that hold in {SHORT} s, m",
                float(slips[:, holds].max(initial=0)),
                1e-8,
            ),
            Check(f"{grasp}: steps not solved", float(unsolved.sum()), 0),
        ]
    )
    if "fingertips" in grasp:
        record.checks.append(
            Check(
                f"{grasp}: slip of the others against the closed form, m",
                float(away.max(initial=0)),
                5e-9,
            )
        )


def _hold(record: Record, seconds: float) -> None:
    """A few variations, for a long time, under all laws."""
    share = np.array(SHARES)
    mu, mass = np.full(len(share), MU), np.full(len(share), MASS)
    for grasp in GRASPS:
        slips, unsolved = squeeze(simulation(grasp, mu, mass), share * mass * G / (2 * mu), seconds)
        record.series[f"long: {grasp}"] = slips
        if "coulomb" in grasp:
            record.checks.extend(
                [
                    Check(f"{grasp}: slip in {seconds:g} s, m", float(slips.max()), HOLDS),
                    Check(f"{grasp}: steps not solved in {seconds:g} s", float(unsolved.sum()), 0),
                ]
            )
            continue
        dropped = (slips > SIZE / 2).argmax(axis=0)
        for i, each in enumerate(share):
            name = f"{grasp}, 2 mu F = {each:g} m g: "
            if dropped[i]:
                record.numbers[f"{name}dropped after, s"] = DT * float(dropped[i])
            else:
                record.numbers[f"{name}slip in {seconds:g} s, µm"] = 1e6 * float(slips[-1, i])


def draw(record: Record) -> Figure:
    figure = Figure(figsize=(13, 8), layout="constrained")
    axes = figure.subplots(2, 3)
    _fall(axes[0, 0], record)
    _slips(axes[0, 1], record, {"fingertips, coulomb": "C0"})
    _slips(axes[0, 2], record, {"pads, coulomb": "C0"})
    for i, place in enumerate(axes[1]):
        _long(place, record, i)
    return figure


def _fall(axes: Any, record: Record) -> None:
    mu, share, slips, _ = record.series["fingertips, coulomb"]
    shown = axes.scatter(share, slips / (G * DT**2 * EARLY * (EARLY + 1) / 2), c=mu, s=3)
    axes.figure.colorbar(shown, ax=axes, label="μ")
    axes.plot([0.5, 1, 1.5], [0.5, 0, 0], "r", linewidth=0.8, label="1 - 2 μ F / (m g)")
    axes.set(xlabel="2 μ F / (m g)", ylabel=f"slip in {EARLY * DT:g} s / (½ g t²)")
    axes.set_title("fingertips, coulomb")
    axes.legend()


def _slips(axes: Any, record: Record, colours: dict[str, str]) -> None:
    for grasp, colour in colours.items():
        _, share, _, slips = record.series[grasp]
        axes.semilogy(
            share, np.maximum(1e6 * slips, 1e-12), ".", color=colour, markersize=3, label=grasp
        )
    axes.axvline(1, color="k", linewidth=0.8)
    axes.set(xlabel="2 μ F / (m g)", ylabel=f"slip in {SHORT} s [µm], or less")
    axes.set_title(next(iter(colours)).split(",")[0])
    axes.legend(loc="center right")


def _long(axes: Any, record: Record, i: int) -> None:
    for grasp, colour in zip(GRASPS, ("C0", "C2", "C3", "C1", "C4"), strict=True):
        slips = record.series[f"long: {grasp}"][:, i]
        time = DT * np.arange(1, len(slips) + 1)
        dropped = np.append(np.flatnonzero(slips > SIZE / 2), len(slips))[0]
        axes.loglog(time[:dropped], 1e6 * slips[:dropped], colour, linewidth=1.2, label=grasp)
        if dropped < len(slips):
            axes.plot(time[dropped - 1], 1e6 * slips[dropped - 1], "x", color=colour)
    axes.axhline(1, color="k", linewidth=0.6, linestyle=":")
    axes.set(xlabel="time [s]", ylabel="slip [µm]", title=f"2 μ F = {SHARES[i]:g} m g")
    if i == 0:
        axes.legend(fontsize=7)
