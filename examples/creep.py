"""What does not move should stand still: a box on a slope, and stacks with the heavy box on top.

    python examples/creep.py    # prints the table of README.md, in about ten seconds

The box: friction holds it with 0.1 % to spare (mu = 1.001 tan 30 degrees). The stacks: each box is
ten times heavier than the one below it, and each is shifted by 1 cm from the one below it. MuJoCo
steps the same models with its default options, and with the options in `TUNED`.
"""

from __future__ import annotations

import math

import numpy as np

from stickslip import BatchSim, Status

SLOPE = math.radians(30)
HALF = 0.1  # m, half the edge of each box
COLOURS = ".2 .45 .75", ".25 .6 .4", ".95 .75 .2", ".9 .5 .2", ".75 .2 .2"
STACKS = (3, 4, 5)  # boxes: 1 kg, 10 kg, 100 kg, ...
TUNED = (  # MuJoCo's options, and the softness of its contacts
    ('cone="elliptic"', ""),
    ('cone="elliptic" impratio="100"', ""),
    ('cone="elliptic" impratio="100" noslip_iterations="10"', ""),
    ('cone="elliptic" impratio="100"', 'solref=".004 1" solimp=".99 .999 .001"'),
)


def slope_model(option: str = "", contact: str = "") -> str:
    x, z = HALF * math.sin(SLOPE), HALF * math.cos(SLOPE)
    tilt = f'euler="0 {math.degrees(SLOPE)} 0"'
    return f"""<mujoco><option {option}/>
      <default><geom friction="{1.001 * math.tan(SLOPE)} .005 .0001" {contact}/></default>
      <worldbody><light pos="0 -1 3" dir="0 .3 -1" directional="true" castshadow="false"/>
        <geom type="plane" size="1 .4 .1" {tilt} rgba=".75 .77 .8 1"/>
        <site type="box" size=".003 .3 .001" pos="{z} 0 {-x}" {tilt} rgba=".8 .1 .1 1"/>
        <body pos="{x} 0 {z}" {tilt}><freejoint/>
          <geom type="box" size="{HALF} {HALF} {HALF}" mass="1" rgba=".2 .45 .75 1"/></body>
      </worldbody></mujoco>"""


def stack_model(boxes: int, option: str = "", contact: str = "") -> str:
    bodies = "".join(
        f"""<body pos="{0.01 * (i % 2)} {0.01 * (i // 2 % 2)} {HALF * (2 * i + 1)}"><freejoint/>
          <geom type="box" size="{HALF} {HALF} {HALF}" mass="{10**i}"
            rgba="{COLOURS[i]} 1"/></body>"""
        for i in range(boxes)
    )
    return f"""<mujoco><option {option}/><default><geom {contact}/></default>
      <worldbody><light pos="0 -1 3" dir="0 .3 -1" directional="true" castshadow="false"/>
        <geom type="plane" size="2 2 .1" rgba=".75 .77 .8 1"/>{bodies}</worldbody></mujoco>"""


def creep(law: str, *options: str) -> tuple[float, int]:
    """How far the box slides in 5 s, m, and the number of steps that were not solved."""
    sim = BatchSim(slope_model(*options), law=law, threads=1)
    before = sim.qpos[0, :3].copy()
    sim.step(substeps=round(5.0 / sim.timestep))
    down = np.array([math.cos(SLOPE), 0.0, -math.sin(SLOPE)])
    return float(down @ (sim.qpos[0, :3] - before)), _unsolved(sim)


def stand(law: str, boxes: int, *options: str) -> tuple[float, float, int]:
    """The largest displacement of a box in 10 s, m; the time at which a box is tilted by more than
    5 degrees, s (infinite: it stands); the number of steps that were not solved."""
    sim = BatchSim(stack_model(boxes, *options), law=law, threads=1)
    before = sim.qpos[0].reshape(boxes, 7)[:, :3].copy()
    fell, farthest = math.inf, 0.0
    for step in range(1, round(10.0 / sim.timestep) + 1):
        sim.step()
        pose = sim.qpos[0].reshape(boxes, 7)
        farthest = max(farthest, float(np.abs(pose[:, :3] - before).max()))
        if np.hypot(pose[:, 4], pose[:, 5]).max() > math.sin(math.radians(2.5)):
            fell = min(fell, step * sim.timestep)
    return farthest, fell, _unsolved(sim)


def _unsolved(sim: BatchSim) -> int:
    return sum(sim.statistics[status.name] for status in Status if status != Status.solved)


def length(metres: float) -> str:
    for unit, name in ((1e-3, "mm"), (1e-6, "µm"), (1e-10, "nm")):
        if abs(metres) >= unit:
            number = metres / max(unit, 1e-9)
            return f"{number:.0f} {name}" if abs(number) >= 10 else f"{number:.2g} {name}"
    return "less than 0.1 nm"


def outcome(farthest: float, fell: float) -> str:
    return f"moves {length(farthest)}" if fell == math.inf else f"topples after {fell:.1f} s"


def main() -> None:
    distance, unsolved = creep("coulomb")
    rivals = [creep("mujoco", *options)[0] for options in ((), *TUNED)]
    best = min(rivals[1:])
    print('|  | `law="coulomb"` | MuJoCo, default options | MuJoCo, best of four settings |')
    print("| --- | --- | --- | --- |")
    cells = (f"slides {length(each)}" for each in (distance, rivals[0], best))
    print(f"| 30° slope, friction 0.1 % above what holds, 5 s | {' | '.join(cells)} |")
    for boxes in STACKS:
        *ours, failed = stand("coulomb", boxes)
        unsolved += failed
        theirs = [stand("mujoco", boxes, *options)[:2] for options in ((), *TUNED)]
        best = min(theirs[1:], key=lambda each: (-each[1], each[0]))
        cells = (outcome(*each) for each in (ours, theirs[0], best))
        print(
            f"| {boxes} boxes, each 10 × heavier than the one below, 10 s | {' | '.join(cells)} |"
        )
    print(f"\nSteps of coulomb that are not solved: {unsolved} of 17,500.")


if __name__ == "__main__":
    main()
