"""What it costs to select one solution among many, and how often that fails.

    python bench/run_selection.py [OUT.json] [--packages DIR] [--only NAME ...] [--problems FILE]

The problems are those of the models in bench/unknown_models.txt (see run_unknown_models.py): every
29th of 300 steps with random controls, in 4 environments. Each is solved again as a simulation does
it, from its warm start, but with W. Iterations do not depend on the machine. FILE: recorded
problems, which are made if it does not exist; they depend on the solver that made the steps.
"""

import argparse
import json
import pickle
from collections import Counter
from pathlib import Path

import mujoco
import numpy as np
from machine import describe_machine
from run_unknown_models import LIST, model_file

from stickslip import BatchSim, Selected, SolveOptions, solve
from stickslip._src.run import Controller

ENVS, STEPS, EVERY = 4, 300, 29
ARGUMENTS = ("W", "b", "mu", "dims", "n_free", "n_nonneg", "lo", "hi", "R")


def problems_of(path: Path) -> list[dict]:
    model = mujoco.MjModel.from_xml_path(str(path))
    sim = BatchSim(model, ENVS, threads=1)
    if model.nkey:
        sim.reset(key=0)
    controller, found = Controller(model, ENVS, "random", seed=0), []
    for step in range(STEPS):
        sim.step(controller(step, 0))
        if step % EVERY == 0:
            found += [sim.problem(env) for env in range(ENVS)]
    return [p for p in found if len(p["b"])]


def recorded(packages: Path) -> dict[str, list[dict]]:
    lines = (line.split() for line in LIST.read_text().splitlines())
    return {name: problems_of(model_file(*where, packages)) for name, *where in lines}


def measure(problems: list[dict]) -> dict:
    options, counts = SolveOptions(thorough=False), Counter()
    rows, iterations = [], []
    for p in problems:
        arguments = {name: p[name] for name in (*ARGUMENTS, "warm_start", "start_selected")}
        found = solve(**arguments, options=options, threads=1)
        counts["unsolved" if not found.ok else Selected(found.selected).name] += 1
        rows.append(len(p["b"]))
        iterations.append(int(found.iterations))
    return {
        "problems": len(problems),
        "rows_mean": round(float(np.mean(rows)), 1),
        "iterations": sum(iterations),
        "iterations_most": max(iterations),
        "unique": counts["unique"],
        "selected": counts["yes"],
        "not_selected": counts["no"],
        "unsolved": counts["unsolved"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", type=Path)
    parser.add_argument("--packages", type=Path, default=Path("out/packages"))
    parser.add_argument("--problems", type=Path)
    parser.add_argument("--only", nargs="+")
    given = parser.parse_args()
    given.packages.mkdir(parents=True, exist_ok=True)
    if given.problems and given.problems.exists():
        problems = pickle.loads(given.problems.read_bytes())
    else:
        problems = recorded(given.packages.resolve())
        if given.problems:
            given.problems.write_bytes(pickle.dumps(problems))
    results = []
    for name in given.only or problems:
        results.append({"name": name, **measure(problems[name])})
        print(json.dumps(results[-1]), flush=True)
    whole = {
        key: sum(r[key] for r in results) for key in results[0] if isinstance(results[0][key], int)
    }
    whole["iterations_most"] = max(r["iterations_most"] for r in results)
    results.append({"name": "all", **whole})
    print(json.dumps(results[-1]))
    if given.out:
        report = {"machine": describe_machine(), "models": results}
        given.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
