"""The scenes, and how a program's derivatives are judged: by central differences of its own steps.

A program gives `run(scene, x)`, outputs OUT of its own steps from inputs IN, and `derive(scene, x,
output)`, the derivative of one output by all inputs, and what it says of their validity. This file
needs numpy only, because each program has a Python of its own.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

G, MASS, H = 9.81, 1.0, 0.005  # m/s^2, kg, s
HALF, FOOT, SIDE = 0.1, 0.02, 0.08  # m: half a box; radius of its feet, and where they are
RADIUS = 0.1  # m, of the sphere
MU = 0.5
IN = ("vx", "vz", "wz", "F", "mu")  # velocities at first, m/s, rad/s; force along x, N; friction
OUT = ("x", "z", "vx", "wz", "vz")
STATIC = MU * MASS * G  # N, the largest friction
SETTLE = 400  # steps at rest before, so that soft contacts carry the weight


@dataclass(frozen=True, eq=False)
class Scene:
    """A box on four feet, at rest on the floor at first, or a sphere `above` it."""

    start: dict[str, float]
    asked: tuple[tuple[str, str], ...]  # (output, input)
    steps: int = 1
    above: float = 0.0  # m, of a sphere; 0: the box

    def inputs(self) -> np.ndarray:
        return np.array([({"mu": MU} | self.start).get(name, 0.0) for name in IN])


SCENES = {
    "slides": Scene({"vx": 1.0}, (("vx", "vx"), ("vx", "mu"))),
    "turns": Scene({"vx": 1.0, "wz": 3.0}, (("vx", "wz"), ("wz", "wz"), ("wz", "mu"))),
    "sticks": Scene({"F": STATIC / 2}, (("vx", "vx"), ("vx", "F"), ("vx", "mu"))),
    "falls": Scene({}, (("vz", "vz"),), above=1.0),
    "lands": Scene({"vz": -1.0}, (("z", "vz"), ("vz", "vz")), steps=30, above=0.05),
    "lands aside": Scene({"vz": -1.0, "vx": 1e-3}, (("z", "vz"),), steps=30, above=0.05),
    "pushed": Scene({"F": STATIC / 2}, (("x", "F"),), steps=30),
}
Run = Callable[[Scene, np.ndarray], np.ndarray]
Derive = Callable[[Scene, np.ndarray, str], tuple[np.ndarray, str]]


def slope(run: Run, scene: Scene, i: int, by: float) -> np.ndarray:
    """Central differences of all outputs by an input."""
    step = by * np.eye(len(IN))[i]
    x = scene.inputs()
    return (run(scene, x + step) - run(scene, x - step)) / (2 * by)


def seconds(call: Callable[[], object], least: float = 0.5) -> float:
    """The least time of a call, after a first one."""
    call()
    times, start = [], time.perf_counter()
    while time.perf_counter() - start < least or len(times) < 3:
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return min(times)


def study(name: str, about: str, run: Run, derive: Derive, by: float = 1e-5,
          lacks: tuple[str, ...] = ()) -> None:  # fmt: skip
    """Prints one line of JSON for each derivative asked for: the program's (null if not finite),
    and differences with steps `by` (ten times this of F) and a quarter of it. `lacks`: inputs by
    which the program has no derivatives."""
    for which, scene in SCENES.items():
        x = scene.inputs()
        for output, given in scene.asked:
            i, o = IN.index(given), OUT.index(output)
            row = {"program": name, "about": about, "scene": which, "of": output, "by": given}
            try:
                if given in lacks:
                    raise NotImplementedError("no derivative by this input")
                value, says = derive(scene, x, output)
                found = float(value[i]) if np.isfinite(value[i]) else None
                row |= {"value": found, "says": says}
                row["us"] = 1e6 * seconds(partial(derive, scene, x, output)) / scene.steps
            except Exception as error:
                row["refused"] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            step = 10 * by if given == "F" else by
            row["numeric"] = [float(slope(run, scene, i, s)[o]) for s in (step, step / 4)]
            print(json.dumps(row), flush=True)
