"""A semicircular arch of dry masonry, against limit analysis and in MuJoCo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import linprog

from gallery.record import Check
from stickslip import BatchSim, SolveOptions

if TYPE_CHECKING:
    from gallery import Record

TITLE = "Masonry arch"
DOCUMENT = "literature"

BLOCKS, R, DEPTH, DT = 7, 1.0, 0.4, 0.01  # of the C++ example; m, m, s
STANDS = 1e-6  # m
BORDER = 0.02  # relative: arches nearer than this to the threshold are not checked
MUJOCO = (0.2, 0.9)  # t / R and μ of the arch in MuJoCo
MUJOCO_DT, MUJOCO_TIME = 0.002, 10.0  # s


def compare(record: Record) -> list[Check]:
    """Limit analysis of every arch, and one of them in MuJoCo."""
    t, mu = record.series["t, mu"]
    stands = record.series["moved"][-1] < STANDS
    judged = [admits(t[i], mu[i]) for i in range(len(t))]
    near = [admits(t[i] * (1 - BORDER), mu[i] * (1 - BORDER)) for i in range(len(t))]
    far = [admits(t[i] * (1 + BORDER), mu[i] * (1 + BORDER)) for i in range(len(t))]
    clear = np.equal(near, far)
    record.numbers["arches that limit analysis lets stand"] = float(np.sum(judged))
    record.numbers["arches too near the border to be judged"] = float(np.sum(~clear))
    record.series["clear"] = clear.astype(float)
    for law in ("coulomb", "mujoco"):
        record.series[f"law {law}"] = mujoco_arch(law)
    record.numbers["motion in MuJoCo's soft contacts in 10 s, mm"] = float(
        1e3 * record.series["law mujoco"][-1]
    )
    wrong = float(np.sum(clear & (stands != judged)))
    moved = float(record.series["law coulomb"][-1])
    return [
        Check("arches that stand or fall against limit analysis", wrong, 0.0),
        Check("motion in BatchSim's law coulomb in 10 s, m", moved, 1e-6),
    ]


def admits(t: float, mu: float) -> bool:
    """Whether forces within the friction cones can balance the blocks' weights (linear program).

    Planar: each joint has a force (normal, tangential) at its inner and its outer edge.
    """
    inner, outer, angle = R - t / 2, R + t / 2, np.pi / BLOCKS
    centre = 2 / 3 * (outer**3 - inner**3) / (outer**2 - inner**2) * np.sinc(angle / 2 / np.pi)
    forces = 4 * (BLOCKS + 1)
    balance, weight = np.zeros((3 * BLOCKS, forces)), np.zeros(3 * BLOCKS)
    for i in range(BLOCKS):
        weight[3 * i + 1] = 1.0
        middle = centre * _radial((i + 0.5) * angle)
        for joint, sign in ((i, 1.0), (i + 1, -1.0)):
            along = _radial(joint * angle)
            for k, radius in enumerate((inner, outer)):
                arm = radius * along - middle
                for row, f in enumerate((sign * _radial(joint * angle + np.pi / 2), sign * along)):
                    column = 4 * joint + 2 * k + row
                    balance[3 * i : 3 * i + 2, column] = f
                    balance[3 * i + 2, column] = arm[0] * f[1] - arm[1] * f[0]
    cones = np.zeros((forces, forces))  # ±tangential - μ normal <= 0
    for c in range(forces):
        cones[c, c - c % 2] = -mu
        cones[c, c - c % 2 + 1] = 1.0 - 2.0 * (c % 2)
    bounds = [(0, None), (None, None)] * (forces // 2)
    return linprog(np.zeros(forces), cones, np.zeros(forces), balance, weight, bounds).status == 0


def _radial(phi: float) -> np.ndarray:
    return np.array([np.cos(phi), np.sin(phi)])


def mujoco_arch(law: Any) -> np.ndarray:
    """How far (m) the arch `MUJOCO` has moved after each step of `MUJOCO_DT`."""
    t, mu = MUJOCO
    angle, meshes, bodies = np.pi / BLOCKS, "", ""
    for i in range(BLOCKS):
        corners = [
            f"{r * np.cos(phi):.17g} {y} {r * np.sin(phi):.17g}"
            for phi in (i * angle, (i + 1) * angle)
            for r in (R - t / 2, R + t / 2)
            for y in (-DEPTH / 2, DEPTH / 2)
        ]
        meshes += f'<mesh name="{i}" vertex="{" ".join(corners)}"/>'
        bodies += f'<body><freejoint/><geom type="mesh" mesh="{i}" density="2000"/></body>'
    sim = BatchSim(
        f"""<mujoco>
          <option timestep="{MUJOCO_DT}" cone="elliptic"><flag multiccd="enable"/></option>
          <default><geom condim="3" friction="{mu}"/></default>
          <asset>{meshes}</asset>
          <worldbody><geom type="plane" size="3 3 0.1"/>{bodies}</worldbody>
        </mujoco>""",
        1,
        law=law,
        threads=1,
        options=SolveOptions(thorough=True),
    )
    first = sim.qpos[0].reshape(BLOCKS, 7)[:, :3].copy()
    moved = []
    for _ in range(round(MUJOCO_TIME / MUJOCO_DT)):
        sim.step()
        now = sim.qpos[0].reshape(BLOCKS, 7)[:, :3]
        moved.append(np.linalg.norm(now - first, axis=1).max())
    return np.array(moved)


def draw(record: Record) -> Figure:
    figure = Figure(figsize=(13, 4.5), layout="constrained")
    axes = figure.subplots(1, 3)
    _map(axes[0], record)
    _paths(axes[1], record)
    _laws(axes[2], record)
    return figure


def _map(axes: Any, record: Record) -> None:
    t, mu = record.series["t, mu"]
    stands = record.series["moved"][-1] < STANDS
    axes.plot(t[stands], mu[stands], "C0.", markersize=4, label="stands")
    axes.plot(t[~stands], mu[~stands], "C1.", markersize=4, label="falls")
    grid_t, grid_mu = np.linspace(0.06, 0.25, 60), np.linspace(0.15, 1.0, 60)
    admitted = [[admits(x, y) for x in grid_t] for y in grid_mu]
    axes.contour(grid_t, grid_mu, np.array(admitted, float), [0.5], colors="r", linewidths=1)
    axes.plot([], [], "r", label="limit analysis")
    axes.set(xlabel="t / R", ylabel="μ", title=f"{len(t):,} arches after 1 s")
    axes.legend(loc="upper left")


def _paths(axes: Any, record: Record) -> None:
    moved = record.series["moved"]
    time = DT * np.arange(1, len(moved) + 1)
    for i in range(min(100, moved.shape[1])):
        colour = "C0" if moved[-1, i] < STANDS else "C1"
        axes.plot(time, np.maximum(moved[:, i], 1e-12), colour, linewidth=0.6)
    axes.set(xlabel="time [s]", ylabel="a block has moved [m]", yscale="log")
    axes.set_title("they stand still or they fall")


def _laws(axes: Any, record: Record) -> None:
    for law, label in (
        ("mujoco", "mj_step, default contacts"),
        ("coulomb", "BatchSim, law coulomb"),
    ):
        moved = record.series[f"law {law}"]
        axes.plot(MUJOCO_DT * np.arange(1, len(moved) + 1), 1e3 * moved, label=label)
    axes.set(xlabel="time [s]", ylabel="a block has moved [mm]", yscale="log")
    axes.set_title("in MuJoCo, t / R = 0.2, μ = 0.9")
    axes.legend()
