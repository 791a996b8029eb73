"""Steps of scenes of many bodies and contacts, over those of law `mujoco` in the same process.

    python bench/run_many_bodies.py [OUT.json] [--only boxes20 ...]

One environment, one thread. Boxes one metre apart; dominoes that stand 3 cm apart, and the same
some seconds after a push; boxes packed in a tray; a compound body on 40 feet; arms whose links
overlap for ever; the piles of run_piles.py, and a wall of bricks that a ball hits, from the start.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from machine import describe_machine
from run_piles import PILES, bin_of

from stickslip import BatchSim, Status

PLANE = '<geom type="plane" size="9 9 1"/>'


def scene(bodies: str, timestep: float = 0.002) -> str:
    return f'<mujoco><option timestep="{timestep}"/><worldbody>{PLANE}{bodies}</worldbody></mujoco>'


def dominoes(count: int, apart: float) -> str:
    geom = '<geom type="box" size=".004 .02 .04" mass=".02" friction=".4 0 0"/>'
    bodies = "".join(
        f'<body pos="{i * apart} 0 .04"><freejoint/>{geom}</body>' for i in range(count)
    )
    return scene(bodies, 0.001)


def packed(gap: float) -> str:
    x, y, z = 0.035, 0.0355, 0.02
    text = ""
    for i in range(3):
        for j in range(3):
            place = f"{(i - 1) * (2 * x + gap)} {(j - 1) * (2 * y + gap)} {z}"
            geom = f'<geom type="box" size="{x} {y} {z}" mass=".2" friction=".4"/>'
            text += f'<body pos="{place}"><freejoint/>{geom}</body>'
    w, d = 3 * x + 2 * gap, 3 * y + 2 * gap
    for side in (-1, 1):
        text += f'<geom type="box" size=".01 {d} .03" pos="{side * (w + 0.01)} 0 .03"/>'
        text += f'<geom type="box" size="{w} .01 .03" pos="0 {side * (d + 0.01)} .03"/>'
    return scene(text)


def feet(count: int) -> str:
    geoms = "".join(
        f'<geom type="capsule" size=".01 .02" pos="{0.05 * (i % 8)} {0.05 * (i // 8)} .03"/>'
        for i in range(count)
    )
    return scene(f"<body><freejoint/>{geoms}</body>")


def overlapping(shape: str) -> str:
    size = ".11" if shape == "sphere" else ".11 .04 .04"
    text = ""
    for i in range(6):
        text += (
            f'<body pos="{0.1 if i else 0} 0 {0 if i else 0.3}">'
            f'<joint axis="{"0 1 0" if i % 2 else "0 0 1"}" damping=".5"/>'
            f'<geom type="{shape}" size="{size}" pos=".05 0 0" mass=".5"/>'
        )
    return f"<mujoco><option timestep='.002'/><worldbody>{text}{'</body>' * 6}</worldbody></mujoco>"


def wall(bricks: int) -> str:
    text = '<body pos="0 -.6 .25"><freejoint/><geom type="sphere" size=".06" mass="3"/></body>'
    random = np.random.default_rng(0)
    for i in range(bricks):
        layer, place = divmod(i, 6)
        x = (place - 2.5 + 0.5 * (layer % 2)) * 0.202 + random.uniform(-5e-4, 5e-4)
        geom = '<geom type="box" size=".1 .05 .05" mass="2"/>'
        text += f'<body pos="{x} 0 {0.0505 + 0.1003 * layer}"><freejoint/>{geom}</body>'
    return scene(text, 0.005)


def push(sim: BatchSim) -> None:
    sim.qvel[0, [0, 4]] = 0.3, 8.0


def throw(sim: BatchSim) -> None:
    sim.qvel[0, 1] = 6.0


# Name: model, steps before the measurement, what happens at the start.
SCENES = {
    **{f"boxes{n}": (dominoes(n, 1.0), 100, None) for n in (5, 20, 80)},
    **{f"standing{n}": (dominoes(n, 0.03), 100, None) for n in (20, 40)},
    **{f"falling{n}": (dominoes(n, 0.03), 150, push) for n in (5, 10, 20)},
    **{f"fallen{n}": (dominoes(n, 0.03), 1400, push) for n in (5, 10, 14, 20)},
    **{f"packed_{gap:g}": (packed(gap), 100, None) for gap in (0.0, 1e-5)},
    "feet40": (feet(40), 100, None),
    **{f"overlapping_{s}": (overlapping(s), 100, None) for s in ("box", "sphere", "capsule")},
    **{name: (bin_of(name.rstrip("0123456789"), n), 0, None) for name, n in PILES.items()},
    "wall30": (wall(30), 0, throw),
}
STEPS = {**dict.fromkeys(SCENES, 100), **dict.fromkeys(PILES, 300)}


def run(name: str, law: str) -> dict:
    xml, before, begin = SCENES[name]
    sim = BatchSim(xml, threads=1, law=law)
    if begin:
        begin(sim)
    for _ in range(before):
        sim.step()
    each, iterations, solved = [], [], 0
    for _ in range(STEPS[name]):
        start = time.perf_counter()
        status = sim.step()
        each.append(1e3 * (time.perf_counter() - start))
        iterations.append(int(sim.iterations[0]))
        solved += int(status[0] == Status.solved)
    return {
        "rows": int(sim.num_rows[0]),
        "solved": solved / STEPS[name],
        "iterations_mean": float(np.mean(iterations)),
        "ms_mean": float(np.mean(each)),
        "ms_50": float(np.median(each)),
        "ms_100": max(each),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", type=Path)
    parser.add_argument("--only", nargs="+", choices=list(SCENES), default=list(SCENES))
    given = parser.parse_args()
    results = []
    for name in given.only:
        mujoco, coulomb = run(name, "mujoco"), run(name, "coulomb")
        both = {f"ratio_{q}": coulomb[f"ms_{q}"] / mujoco[f"ms_{q}"] for q in ("mean", "50")}
        both |= {"mujoco_ms_mean": mujoco["ms_mean"], **coulomb}
        rounded = {k: round(v, 4) if isinstance(v, float) else v for k, v in both.items()}
        results.append({"scene": name, **rounded})
        print(json.dumps(results[-1]), flush=True)
    if given.out:
        given.out.write_text(
            json.dumps({"machine": describe_machine(), "scenes": results}, indent=1)
        )


if __name__ == "__main__":
    main()
