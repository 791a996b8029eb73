"""Whole steps of robot models under each law, and MuJoCo's own batch stepping, mjb_step.

    python bench/run_models.py [OUT.json] [--models ant ...] [--envs 256] [--steps 10] [--rounds 9]

All get the same random controls. After one second, in which the robots fall and move on the ground,
they take turns: in each round each makes a few steps, and is compared with mjb_step in that round.
All use implicitfast, so that one step is one solve. Overhead is what this library adds to the
solve: gather + delassus + apply + scatter.
"""

import argparse
import json
import statistics
import time

import mujoco
import mujoco.batch
import numpy as np

from stickslip import BatchSim, Status, models
from stickslip._src.run import STAGES, Controller

MODELS = ["ant", "humanoid", "dm_humanoid", "g1", "go1", "go2", "spot", "leap", "shadow_block"]
MODELS += ["aloha", "t1"]
LAWS = {  # name: options of BatchSim
    "mujoco": {"law": "mujoco"},
    "convex": {"law": "convex"},
    "coulomb": {"law": "coulomb"},
    "coulomb cold": {"law": "coulomb", "warm_start": False},
}
OVERHEAD = ["gather", "delassus", "apply", "scatter"]
SETTLE = 1.0  # s


class Peer:
    """mjb_step with mujoco.batch's defaults: states, and one mjData per thread."""

    def __init__(self, model: mujoco.MjModel, envs: int, threads: int | None) -> None:
        self.batch = mujoco.batch.Batch(model, envs, nthread=threads or 0)
        if model.nkey:
            self.batch.reset(keyframe=0)
        self.ctrl = self.batch.bind("ctrl")

    def step(self, ctrl: np.ndarray) -> None:
        self.ctrl[:] = ctrl
        self.batch.step()

    def look(self) -> None: ...


class Ours:
    """A law, with statistics of the timed steps."""

    def __init__(self, path, options: dict, keyframe: bool, envs: int, threads: int | None) -> None:
        self.sim = BatchSim(path, envs, threads=threads, integrator="implicitfast", **options)
        if keyframe:
            self.sim.reset(key=0)
        self.step = self.sim.step
        self.start = self.sim.timings()
        self.seen = []

    def settled(self) -> None:
        self.start = self.sim.timings()

    def look(self) -> None:
        sim = self.sim
        solved = (sim.status == Status.solved).mean()
        means = (counts.mean() for counts in (sim.num_rows, sim.num_contacts, sim.iterations))
        self.seen.append((*means, solved))

    def account(self) -> dict:
        now, envs = self.sim.timings(), self.sim.num_envs
        count = envs * (now["steps"] - self.start["steps"])
        found = {stage: 1e6 * (now[stage] - self.start[stage]) / count for stage in STAGES}
        what = ("rows", "contacts", "iterations", "solved")
        found |= dict(zip(what, np.mean(self.seen, axis=0), strict=True))
        return found | {"overhead": sum(found[stage] for stage in OVERHEAD)}


def timed(stepper: Peer | Ours, controls: list[np.ndarray]) -> float:
    """Microseconds per environment and step."""
    seconds = 0.0
    for ctrl in controls:
        start = time.perf_counter()
        stepper.step(ctrl)
        seconds += time.perf_counter() - start
        stepper.look()
    return 1e6 * seconds / sum(len(ctrl) for ctrl in controls)


def race(path, envs: int, threads: int | None, steps: int, rounds: int) -> list[dict]:
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    laws = {law: Ours(path, o, model.nkey > 0, envs, threads) for law, o in LAWS.items()}
    steppers = {"mjb_step": Peer(model, envs, threads), **laws}
    controller = Controller(model, envs, "random", seed=0)
    settle = round(SETTLE / model.opt.timestep)
    for step in range(settle):
        ctrl = controller(step, 0)
        for stepper in steppers.values():
            stepper.step(ctrl)
    for ours in laws.values():
        ours.settled()

    walls = {name: [] for name in steppers}
    for number in range(rounds):
        controls = [controller(settle + number * steps + k, 0) for k in range(steps)]
        for name, stepper in steppers.items():
            walls[name].append(timed(stepper, controls))
    return [summary(name, walls, laws.get(name)) for name in steppers]


def summary(name: str, walls: dict[str, list[float]], ours: Ours | None) -> dict:
    mine, peer = walls[name], walls["mjb_step"]
    found = {"wall": statistics.median(mine), "wall_min": min(mine), "wall_max": max(mine)}
    found["ratio_median"] = statistics.median(a / b for a, b in zip(mine, peer, strict=True))
    found["ratio_of_least"] = min(mine) / min(peer)
    found |= ours.account() if ours else {}
    return {"law": name} | {key: round(float(value), 4) for key, value in found.items()}


def measure(names: list[str], envs: int, steps: int, rounds: int) -> list[dict]:
    results = []
    for name in names:
        if name not in models.available():
            print(f"run_models: {name} is not installed, skipped")
            continue
        for threads in (1, None):
            where = {"model": name, "threads": threads or "all", "envs": envs}
            for found in race(models.find(name), envs, threads, steps, rounds):
                results.append(where | found)
                print(json.dumps(results[-1]), flush=True)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?")
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--envs", type=int, default=256)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    results = measure(given.models, given.envs, given.steps, given.rounds)
    if given.out:
        with open(given.out, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
