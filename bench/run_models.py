"""Whole steps of robot models under each law, by stage, on one thread and on all.

    python bench/run_models.py [OUT.json] [--envs 512] [--steps 50] [--rounds 3]

Every round makes new simulations, lets them fall and thrash under random controls, and then times.
All laws use implicitfast here, so that one step is one solve. Overhead is what this library adds
around the solve: gather + delassus + apply + scatter.
"""

import argparse
import json
import statistics
import time

import numpy as np
from stickslip import BatchSim, Status, models

import mujoco

MODELS = ["ant", "humanoid", "g1"]
LAWS = ["mujoco", "convex", "coulomb"]
OVERHEAD = ["gather", "delassus", "apply", "scatter"]
STAGES = ["mujoco", *OVERHEAD, "solve"]
HOLD = 10  # steps for which controls are held


def random_controls(path, num_envs: int, holds: int) -> np.ndarray:
    model = mujoco.MjModel.from_xml_path(str(path))
    low, high = np.where(model.actuator_ctrllimited[:, None], model.actuator_ctrlrange, [-1, 1]).T
    return np.random.default_rng(0).uniform(low, high, size=(holds, num_envs, model.nu))


def time_steps(path, law: str, threads: int | None, envs: int, steps: int) -> dict:
    """Microseconds per environment and step, by stage; contacts, rows, share solved."""
    sim = BatchSim(path, envs, law=law, threads=threads, integrator="implicitfast")
    controls = random_controls(path, envs, 2 * steps // HOLD + 1)
    for step in range(steps):
        sim.step(controls[step // HOLD])
    before, solved, rows, contacts = sim.timings(), 0, 0, 0
    start = time.perf_counter()
    for step in range(steps, 2 * steps):
        sim.step(controls[step // HOLD])
        solved += int((sim.status == Status.solved).sum())
        rows += int(sim.num_rows.sum())
        contacts += int(sim.num_contacts.sum())
    wall = time.perf_counter() - start
    after = sim.timings()
    count = envs * steps
    found = {stage: 1e6 * (after[stage] - before[stage]) / count for stage in STAGES}
    found |= {"wall": 1e6 * wall / count, "solved": solved / count}
    return found | {"rows": rows / count, "contacts": contacts / count}


def summarise(rounds: list[dict]) -> dict:
    """Medians over the rounds; the spread of the wall time beside them."""
    found = {key: round(statistics.median(r[key] for r in rounds), 4) for key in rounds[0]}
    walls = [r["wall"] for r in rounds]
    found["overhead"] = round(sum(found[stage] for stage in OVERHEAD), 4)
    return found | {"wall_min": round(min(walls), 4), "wall_max": round(max(walls), 4)}


def measure(envs: int, steps: int, rounds: int) -> list[dict]:
    results = []
    for name in MODELS:
        if name not in models.available():
            print(f"run_models: {name} is not installed, skipped")
            continue
        path = models.find(name)
        for threads in (1, None):
            timed = {law: [] for law in LAWS}
            for _ in range(rounds):  # the laws in turn: the machine's drift hits all of them
                for law in LAWS:
                    timed[law].append(time_steps(path, law, threads, envs, steps))
            for law in LAWS:
                where = {"model": name, "law": law, "threads": threads or "all", "envs": envs}
                results.append(where | summarise(timed[law]))
                print(json.dumps(results[-1]))
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?")
    parser.add_argument("--envs", type=int, default=512)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    results = measure(given.envs, given.steps, given.rounds)
    if given.out:
        with open(given.out, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
