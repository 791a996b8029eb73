"""Whole steps of robot models under each law, by stage, on one thread and on all.

    python bench/run_models.py [OUT.json] [--envs 128] [--steps 50] [--rounds 3]

What `stickslip run` does, for several laws in turn: every round makes new simulations, steps them
under random controls for a second, so that the robots lie and thrash on the ground, and then times.
All laws use implicitfast here, so that one step is one solve. Overhead is what this library adds
around the solve: gather + delassus + apply + scatter.
"""

import argparse
import json
import statistics

import mujoco

from stickslip import BatchSim, Status, models
from stickslip.run import Controller, simulate

MODELS = ["ant", "humanoid", "g1"]
LAWS = ["mujoco", "convex", "coulomb"]
OVERHEAD = ["gather", "delassus", "apply", "scatter"]
SETTLE = 1.0  # s


def time_steps(path, law: str, threads: int | None, envs: int, steps: int) -> dict:
    """Microseconds per environment and step, by stage; contacts, rows, share solved."""
    model = mujoco.MjModel.from_xml_path(str(path))
    sim = BatchSim(path, envs, law=law, threads=threads, integrator="implicitfast")
    if model.nkey:
        sim.reset(key=0)
    controller = Controller(model, envs, "random", seed=0)
    simulate(sim, controller, round(SETTLE / sim.timestep))
    account = simulate(sim, controller, steps)
    count = envs * steps
    found = {stage: 1e6 * seconds / count for stage, seconds in account.stages.items()}
    found |= {"wall": 1e6 * account.seconds / count}
    found |= {"solved": account.status[Status.solved] / count}
    means = account.as_dict()
    return found | {what: means[f"{what}_per_environment"]["mean"] for what in ("rows", "contacts")}


def summarise(rounds: list[dict]) -> dict:
    """Medians over the rounds; the spread of the wall time beside them."""
    found = {key: round(float(statistics.median(r[key] for r in rounds)), 4) for key in rounds[0]}
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
                print(json.dumps(results[-1]), flush=True)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?")
    parser.add_argument("--envs", type=int, default=128)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    results = measure(given.envs, given.steps, given.rounds)
    if given.out:
        with open(given.out, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
