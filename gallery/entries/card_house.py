"""Houses of cards: which stand, compared with statics."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gallery import Check, Record, vary
from stickslip import BatchSim, Status

TITLE = "House of cards"
DOCUMENT = "literature"

L, WIDTH, T = 0.1, 0.06, 0.002  # m, of a card; of thickness T
MASS, G, DT = 0.01, 9.81, 0.005  # kg, m/s², s
THETA = np.radians(20)  # of the houses' cards, from the vertical
MUS = (0.36, 0.38, 0.6)  # of the houses; tan 20° = 0.364
MOVED = 1e-6  # m; less is standing
NEAR = 1e-3  # relative distance from the threshold within which nothing is checked
TENT_TIME = 0.3  # s
FULL = 1000  # variations from which on houses stand for ten seconds, not TENT_TIME
EXACT: dict[str, Any] = {"tol": 1e-11, "contact_margin": 1e-5}
# Of the houses under each law: options of BatchSim and of MuJoCo, and the longest time, s.
LAWS: dict[str, tuple[dict[str, Any], str, float]] = {
    "coulomb": ({"law": "coulomb", **EXACT}, "", 10.0),
    "coulomb by pgs": ({"law": "coulomb", "solver": "pgs", **EXACT}, "", 2.0),
    "box": ({"law": "box", **EXACT}, "", 2.0),
    "MuJoCo": ({"law": "mujoco"}, "", 10.0),
    "MuJoCo, noslip": ({"law": "mujoco"}, 'noslip_iterations="10"', 10.0),
}


def run(variations: int) -> Record:
    seconds = 10.0 if variations >= FULL else TENT_TIME
    record = Record([])
    for edges in ("round", "sharp"):
        _tents(record, edges, variations)
    _two_storeys(record, seconds)
    _three_storeys(record, seconds)
    return record


def threshold(theta: Any, mass_a: Any, mass_b: Any, edges: str) -> Any:
    """The friction with which two leaning cards stand (docs/gallery/card_house.md)."""
    if edges == "sharp":
        return np.tan(theta)
    length, r = L - T, T / 2
    s, c = np.sin(theta), np.cos(theta)
    h = length * s * (mass_a + mass_b) / (4 * (length * c + r))
    v = length * s * (mass_b - mass_a) / (4 * (length * s + r))
    return np.maximum.reduce([h / (mass_a + v), h / (mass_b - v), abs(v) / h])


def _tent(edges: str) -> str:
    """MJCF of two cards: boxes, or boxes whose upper and lower edges are round."""
    if edges == "sharp":
        card = f'<geom type="box" size="{T / 2} {WIDTH / 2} {L / 2}" mass="{MASS}"/>'
    else:
        half = L / 2 - T / 2
        card = f"""<geom type="box" size="{T / 2} {WIDTH / 2} {half}" mass="{MASS}" contype="0"
          conaffinity="0"/>""" + "".join(
            f"""<geom type="capsule" size="{T / 2}" mass="0"
              fromto="0 {-WIDTH / 2} {z} 0 {WIDTH / 2} {z}"/>"""
            for z in (-half, half)
        )
    return _mjcf(f"<body><freejoint/>{card}</body>" * 2)


def _mjcf(bodies: str, options: str = "") -> str:
    return f"""<mujoco>
      <option timestep="{DT}" integrator="implicitfast" cone="elliptic" {options}/>
      <worldbody><geom type="plane" size="2 2 .1"/>{bodies}</worldbody></mujoco>"""


def _poses(theta: np.ndarray, edges: str) -> np.ndarray:
    """qpos of cards that touch the ground and each other."""
    s, c = np.sin(theta), np.cos(theta)
    x, z = (s * L + c * T) / 2, (c * L + s * T) / 2
    if edges == "round":
        x, z = (s * (L - T) + T) / 2, (c * (L - T) + T) / 2
    q = np.zeros((len(theta), 14))
    for at, side in ((0, -1), (7, 1)):
        q[:, at], q[:, at + 2] = side * x, z
        q[:, at + 3], q[:, at + 5] = np.cos(theta / 2), -side * np.sin(theta / 2)
    return q


def _tents(record: Record, edges: str, variations: int) -> None:
    """Tents of all angles, frictions and masses, and whether they stand."""
    # Sharp ones up to 22.5°: beyond, MuJoCo's collision of boxes loses such contacts.
    theta = np.radians(vary(variations, 0, 10, 35 if edges == "round" else 22))
    share = vary(variations, 1, 0.5, 1.5)  # mu / threshold
    mass_a = MASS * 10 ** vary(variations, 2, -1, 1)
    ratio = 2 ** vary(variations, 3, -1, 1) if edges == "round" else 1.0
    masses = np.stack([0 * mass_a, mass_a, ratio * mass_a], axis=1)
    mu = share * threshold(theta, masses[:, 1], masses[:, 2], edges)
    length = L - T if edges == "round" else L
    inertia = np.array([WIDTH**2 + length**2, T**2 + length**2, T**2 + WIDTH**2]) / 12
    for law in ("coulomb", "MuJoCo") if edges == "round" else ("coulomb",):
        sim = _simulation(_tent(edges), mu, law)
        sim.vary("body_mass", masses)
        sim.vary("body_inertia", masses[..., None] * inertia)
        sim.qpos[:] = _poses(theta, edges)
        moved, unsolved = _drift(sim, TENT_TIME)
        record.series[f"{edges}: {law}"] = np.array([theta, mu, share, moved.max(axis=0)])
        if law == "coulomb":
            _judge(record, edges, share, moved.max(axis=0), unsolved)


def _judge(record: Record, edges: str, share: Any, moved: Any, unsolved: Any) -> None:
    asked = abs(share - 1) > NEAR
    stands = asked & (share > 1)
    wrong = asked & ((moved <= MOVED) != (share > 1))
    record.checks.extend(
        [
            Check(f"{edges} edges: tents that contradict statics", float(wrong.sum()), 0),
            Check(
                f"{edges} edges: drift of those that stand in {TENT_TIME} s, m",
                float(moved[stands].max(initial=0)),
                1e-8,
            ),
            Check(
                f"{edges} edges: steps of those that stand not solved",
                float(unsolved[stands].sum()),
                0,
            ),
        ]
    )


def house(storeys: int, options: str = "") -> tuple[str, np.ndarray]:
    """MJCF of a house whose cards touch, and half the length of each card (m)."""
    s, c = np.sin(THETA), np.cos(THETA)
    x, z = (s * L + c * T) / 2, (c * L + s * T) / 2  # of a leaning card, from the apex's foot
    apart = 2 * (L * s + T * c) + 0.002  # of tents
    cards, floor = [], 0.0
    for tents in range(storeys, 0, -1):
        apexes = apart * (np.arange(tents) - (tents - 1) / 2)
        for apex in apexes:
            cards += [(apex - x, floor + z, THETA, L / 2), (apex + x, floor + z, -THETA, L / 2)]
        floor += c * L + s * T
        # Lying cards meet above apexes; the outer ones reach across both cards of their tent.
        over = np.full(tents, -0.0003)
        left, right = over.copy(), over.copy()
        left[0] = right[-1] = c * T + 0.003
        for lo, hi in zip(apexes[:-1] - left[:-1], apexes[1:] + right[1:], strict=True):
            cards.append(((lo + hi) / 2, floor + T / 2, np.pi / 2, (hi - lo) / 2))
        floor += T
    bodies = "".join(
        f"""<body pos="{x} 0 {z}" quat="{np.cos(angle / 2)} 0 {np.sin(angle / 2)} 0">
          <freejoint/>
          <geom type="box" size="{T / 2} {WIDTH / 2} {half}" mass="{2 * half / L * MASS}"/>
        </body>"""
        for x, z, angle, half in cards
    )
    return _mjcf(bodies, options), np.array([card[3] for card in cards])


def _two_storeys(record: Record, seconds: float) -> None:
    """The same house under each law, with several frictions."""
    stands = np.tan(THETA) < MUS
    for law, (_, options, longest) in LAWS.items():
        sim = _simulation(house(2, options)[0], MUS, law)
        moved, unsolved = _drift(sim, min(seconds, longest))
        record.series[f"two storeys: {law}"] = moved
        name = f"two storeys, {law}: "
        if law == "coulomb":
            wrong = (moved.max(axis=0) <= MOVED) != stands
            drift = float(moved[:, stands].max())
            record.checks.extend(
                [
                    Check(f"{name}houses that contradict statics", float(wrong.sum()), 0),
                    Check(f"{name}drift of those that stand in {seconds:g} s, m", drift, 1e-8),
                    Check(f"{name}their steps not solved", float(unsolved[stands].sum()), 0),
                ]
            )
        else:
            far = (moved.max(axis=0) > MOVED)[stands]
            record.numbers[f"{name}of {len(far)} that should stand, moved > 1 µm"] = far.sum()
        if law in ("box", "coulomb by pgs"):
            share = unsolved[stands].mean() / len(moved)
            record.numbers[f"{name}their steps not solved, tenths"] = round(10 * share)


def _three_storeys(record: Record, seconds: float) -> None:
    text, record.series["three storeys: half"] = house(3)
    for law in ("coulomb", "MuJoCo"):
        sim = _simulation(text, [MUS[-1]], law)
        record.series[f"three storeys: {law} before"] = sim.qpos.reshape(-1, 7).copy()
        moved, unsolved = _drift(sim, seconds)
        record.series[f"three storeys: {law} after"] = sim.qpos.reshape(-1, 7).copy()
        record.series[f"three storeys: {law}"] = moved
        if law == "coulomb":
            record.checks.extend(
                [
                    Check(f"three storeys: drift in {seconds:g} s, m", float(moved.max()), 1e-8),
                    Check("three storeys: steps not solved", float(unsolved.sum()), 0),
                ]
            )


def _simulation(text: str, mu: Any, law: str) -> BatchSim:
    """One environment for each coefficient of friction."""
    sim = BatchSim(text, len(mu), **LAWS[law][0])
    sliding = np.zeros((len(mu), text.count("<geom"), 3))
    sliding[..., 0] = np.reshape(mu, (-1, 1))
    sim.vary("geom_friction", sliding)
    return sim


def _drift(sim: BatchSim, seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """How far a card of each environment has moved, m, after each step; steps not solved."""
    places = sim.qpos.reshape(sim.num_envs, -1, 7)[..., :3]  # a view
    if sim.law == "mujoco":
        places *= 1 - 1e-8  # it finds contacts where geoms overlap
    start = places.copy()
    moved, unsolved = [], np.zeros(sim.num_envs)
    for _ in range(round(seconds / DT)):
        unsolved += sim.step() != Status.solved
        moved.append(np.linalg.norm(places - start, axis=-1).max(axis=1))
    return np.array(moved), unsolved


def draw(record: Record) -> Figure:
    figure = Figure(figsize=(13, 8), layout="constrained")
    axes = figure.subplots(2, 3)
    _shares(axes[0, 0], record)
    _creep(axes[0, 1], record)
    _angles(axes[0, 2], record)
    _drifts(axes[1, 0], record)
    for place, law in ((axes[1, 1], "coulomb"), (axes[1, 2], "MuJoCo")):
        _side_view(place, record, law)
    return figure


def _scatter(axes: Any, x: Any, y: Any, moved: Any) -> None:
    for stands, colour, label in ((True, "C0", "stand"), (False, "C3", "move")):
        of = (moved <= MOVED) == stands
        axes.plot(x[of], y[of], ".", color=colour, markersize=3, label=f"{of.sum()} {label}")


def _shares(axes: Any, record: Record) -> None:
    theta, _, share, moved = record.series["round: coulomb"]
    _scatter(axes, np.degrees(theta), share, moved)
    axes.axhline(1, color="k", linewidth=0.8)
    axes.set(xlabel="θ [°]", ylabel="μ / μ* of statics", title="round edges, exact Coulomb")
    axes.legend(loc="upper right")


def _creep(axes: Any, record: Record) -> None:
    for law, colour in (("MuJoCo", "C3"), ("coulomb", "C0")):
        _, _, share, moved = record.series[f"round: {law}"]
        axes.semilogy(share, 1e6 * moved, ".", color=colour, markersize=2, label=law)
    axes.axvline(1, color="k", linewidth=0.8)
    axes.set(xlabel="μ / μ* of statics", ylabel=f"moved in {TENT_TIME} s [µm]")
    axes.set_title("round edges")
    axes.legend()


def _angles(axes: Any, record: Record) -> None:
    theta, mu, _, moved = record.series["sharp: coulomb"]
    _scatter(axes, np.degrees(theta), mu, moved)
    every = np.linspace(theta.min(), theta.max())
    axes.plot(np.degrees(every), np.tan(every), "k", linewidth=0.8, label="tan θ")
    axes.plot(np.degrees(every), np.tan(every) / 2, "k:", linewidth=0.8, label="tan θ / 2")
    axes.set(xlabel="θ [°]", ylabel="μ", title="sharp edges (boxes), exact Coulomb")
    axes.legend()


def _drifts(axes: Any, record: Record) -> None:
    styles = (":", "-", "--")
    for law, colour in zip(LAWS, ("C0", "C9", "C2", "C3", "C1"), strict=True):
        moved = record.series[f"two storeys: {law}"]
        time = DT * np.arange(1, len(moved) + 1)
        for i, style in enumerate(styles):
            axes.loglog(time, 1e6 * moved[:, i], colour, linestyle=style, linewidth=1)
        axes.plot([], [], colour, label=law)
    for mu, style in zip(MUS, styles, strict=True):
        axes.plot([], [], "k", linestyle=style, linewidth=1, label=f"μ = {mu}")
    axes.set(xlabel="time [s]", ylabel="farthest card [µm]", title="two storeys, θ = 20°")
    axes.set_ylim(bottom=1e-17)
    axes.legend(fontsize=7, ncols=2, loc="lower right")


def _side_view(axes: Any, record: Record, law: str) -> None:
    half = record.series["three storeys: half"]
    for when, colour in (("before", "0.8"), ("after", "C0" if law == "coulomb" else "C3")):
        for (x, _, z, *quat), size in zip(
            record.series[f"three storeys: {law} {when}"], half, strict=True
        ):
            w, i, j, k = quat
            dx, dz = size * 2 * (i * k + w * j), size * (1 - 2 * (i * i + j * j))
            axes.plot([x - dx, x + dx], [z - dz, z + dz], colour, linewidth=2)
    seconds = DT * len(record.series[f"three storeys: {law}"])
    moved = 1e6 * record.series[f"three storeys: {law}"][-1, 0]
    axes.set(title=f"three storeys, μ = {MUS[-1]}, {law}\nafter {seconds:g} s: {moved:.2g} µm")
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_axis_off()
