"""Bins of spheres, capsules and boxes: problems of 60 to 400 rows, step after step.

    python bench/run_piles.py [OUT.json] [--only spheres27 ...] [--seconds 2] [--seed 0]
        [--friction 1] [--record FILE.h5]

The bodies fall into the bin in layers of nine. One environment, one thread, law `coulomb`, warm
starts, h = 5 ms. --record keeps problems that rung 0 leaves unsolved, as in tests/python/data.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

import stickslip
from stickslip import BatchSim, SolveOptions, Status

STEP = 0.005  # s
SHAPES = {
    "spheres": 'type="sphere" size=".05"',
    "capsules": 'type="capsule" size=".03 .03"',
    "boxes": 'type="box" size=".05 .04 .03"',
}
PILES = {"spheres27": 27, "spheres50": 50, "capsules27": 27, "boxes18": 18}
RECORDED = 4  # problems of each pile, spread over the time


def bin_of(shape: str, bodies: int, seed: int = 0, friction: float = 1.0) -> str:
    """MJCF of `bodies` of one shape above a bin of 0.4 m, each up to 5 mm away from a grid."""
    half = 0.22
    walls = (
        (0.02, half, -half, 0),
        (0.02, half, half, 0),
        (half, 0.02, 0, -half),
        (half, 0.02, 0, half),
    )
    text = "".join(f'<geom type="box" size="{w} {d} .5" pos="{x} {y} .5"/>' for w, d, x, y in walls)
    random = np.random.default_rng(seed)
    for i in range(bodies):
        layer, place = divmod(i, 9)
        x, y = (0.12 * (k - 1) + random.uniform(-0.005, 0.005) for k in (place % 3, place // 3))
        text += f'<body pos="{x} {y} {0.06 + 0.12 * layer}"><freejoint/>'
        text += f'<geom {SHAPES[shape]} mass=".5"/></body>'
    return (
        f'<mujoco><option timestep="{STEP}" cone="elliptic"/>'
        f'<default><geom friction="{friction} .005 .0001"/></default><worldbody>'
        f'<geom type="plane" size="5 5 .1"/>{text}</worldbody></mujoco>'
    )


def solved_by_rung0(sim: BatchSim) -> bool:
    """Whether the latest problem needs no more than 3 sweeps and Newton."""
    data = sim.problem(0)
    problem = {key: data[key] for key in ("W", "b", "mu", "R", "dims", "warm_start")}
    return stickslip.solve(**problem, options=SolveOptions(max_rung=0), threads=1).ok


def measure(name: str, seconds: float, seed: int, friction: float, record: Path | None) -> dict:
    shape = name.rstrip("0123456789")
    sim = BatchSim(bin_of(shape, PILES[name], seed, friction), threads=1)
    steps = round(seconds / STEP)
    walls, rows, solved, residuals, first, recorded = [], [], [], [], [], 0
    each, second_solves = [], 0
    for step in range(steps):
        start = time.perf_counter()
        sim.step()
        walls.append(1e3 * (time.perf_counter() - start))
        before, second_solves = second_solves, sim.statistics["second_solves"]
        each.append(walls[-1] / (1 + second_solves - before))
        rows.append(int(sim.num_rows[0]))
        solved.append(sim.status[0] == Status.solved)
        residuals.append(float(sim.residual[0]))
        if rows[-1] == 0:
            continue
        first.append(solved_by_rung0(sim))
        if record and not first[-1] and recorded <= RECORDED * step // steps:
            sim.dump(0, record, f"{name}_{step:04d}")
            recorded += 1
    return {
        "pile": name,
        "seed": seed,
        "friction": friction,
        "steps": steps,
        "rows_median": float(np.median(rows)),
        "rows_max": max(rows),
        "solved": float(np.mean(solved)),
        "solved_by_rung0": round(float(np.mean(first)), 4),
        "residual_max": max(residuals),
        "solves_per_step": round(1 + second_solves / steps, 2),
        "ms_per_solve_50": round(float(np.median(each)), 3),
        **{f"ms_{q}": round(float(np.percentile(walls, q)), 3) for q in (50, 90, 99, 100)},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", type=Path)
    parser.add_argument("--only", nargs="+", choices=list(PILES), default=list(PILES))
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=0, help="of the bodies' places")
    parser.add_argument("--friction", type=float, default=1.0)
    parser.add_argument("--record", type=Path)
    given = parser.parse_args()
    results = []
    for name in given.only:
        results.append(measure(name, given.seconds, given.seed, given.friction, given.record))
        print(json.dumps(results[-1]), flush=True)
    if given.out:
        given.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
