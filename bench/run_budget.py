"""What BatchSim's default budget loses: its steps against those with SolveOptions(thorough=True).

    python bench/run_budget.py [OUT.json] [--models leap ...] [--envs 32] [--steps 400]

Both step from the same states with the same random controls; the thorough one continues from its
own. `work` is in multiplications, the largest of one environment: iterations times rows cubed.
"""

import argparse
import json
import time
from pathlib import Path

import mujoco

from stickslip import BatchSim, SolveOptions, Status, models
from stickslip._src.run import Controller

MODELS = ["leap", "aloha", "spot", "dm_humanoid", "g1", "dm_dog"]


def compare(name: str, envs: int, steps: int) -> dict:
    path = models.find(name)
    sims = {
        "default": BatchSim(path, envs, threads=1),
        "thorough": BatchSim(path, envs, threads=1, options=SolveOptions(thorough=True)),
    }
    model = mujoco.MjModel.from_xml_path(str(path))
    if model.nkey:
        sims["thorough"].reset(key=0)
    controller = Controller(model, envs, "random", seed=1)
    walls = {kind: [] for kind in sims}
    work = dict.fromkeys(sims, 0.0)
    unsolved = lost = 0
    for step in range(steps):
        ctrl = controller(step, 0)
        sims["default"].state[:] = sims["thorough"].state
        for kind, sim in sims.items():
            start = time.perf_counter()
            sim.step(ctrl)
            walls[kind].append(1e3 * (time.perf_counter() - start))
            work[kind] = max(work[kind], (sim.iterations * sim.num_rows.astype(float) ** 3).max())
        solved = {kind: sim.status == Status.solved for kind, sim in sims.items()}
        unsolved += int((~solved["thorough"]).sum())
        lost += int((solved["thorough"] & ~solved["default"]).sum())
    found = {"model": name, "steps": envs * steps, "unsolved_thorough": unsolved, "lost": lost}
    for kind in sims:
        found |= {f"work_{kind}": float(work[kind]), f"ms_max_{kind}": round(max(walls[kind]), 2)}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", type=Path)
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--envs", type=int, default=32)
    parser.add_argument("--steps", type=int, default=400)
    given = parser.parse_args()
    results = []
    for name in given.models:
        try:
            models.find(name)
        except models.ModelNotFoundError:
            print(f"{name}: model not found (make .venv/test-dependencies brings it), skipped")
            continue
        results.append(compare(name, given.envs, given.steps))
        print(json.dumps(results[-1]), flush=True)
    if given.out:
        given.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
