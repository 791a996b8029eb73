"""Policies trained by PPO: returns over time for several seeds, and what they earn under each law.

    python bench/run_training.py [OUT.json] [--env HalfCheetah-v5 Ant-v5] [--seeds 0 1 2]
                                 [--steps 8000000] [--processes 2] [--runs out/training]

Each run is `torchrun ... stickslip train`, one process per core, law coulomb, one after the other.
A run that is there already, in the folder --runs, is not trained again. Evaluation: one episode
without noise in each of 32 environments that training has not seen.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

LAWS = ("coulomb", "convex", "mujoco")
POINTS = 60  # of a curve


def train(env: str, seed: int, steps: int, processes: int, run: Path) -> None:
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command = ["-m", "stickslip.cli", "train", env, "--out", run, "--seed", seed, "--threads", 1]
    call = [*launch, "--nproc-per-node", processes, *command, "--steps", steps]
    subprocess.run([*map(str, call)], check=True, env=os.environ | {"OMP_NUM_THREADS": "1"})


def curve(run: Path) -> list[dict[str, float]]:
    """Steps, seconds and mean return of the last 100 episodes, some points of the whole run."""
    lines = [json.loads(line) for line in (run / "progress.jsonl").read_text().splitlines()]
    lines = [line for line in lines if "return" in line]
    chosen = np.unique(np.linspace(0, len(lines) - 1, POINTS).astype(int))
    keys = ("steps", "seconds", "return", "unsolved", "largest_residual")
    return [{key: lines[i][key] for key in keys} for i in chosen]


def evaluate(run: Path) -> dict[str, dict[str, float]]:
    from stickslip.rl.play import play

    results = {}
    for law in LAWS:
        episodes = play(run, law=law, threads=None)
        results[law] = {
            "return": float(episodes.returns.mean()),
            "deviation": float(episodes.returns.std()),
            "length": float(episodes.lengths.mean()),
            "failed": int(episodes.failed.sum()),
        }
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, nargs="?", default=Path("out/training.json"))
    parser.add_argument("--env", nargs="+", default=["HalfCheetah-v5", "Ant-v5"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=8_000_000)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--runs", type=Path, default=Path("out/training"))
    given = parser.parse_args()
    results = []
    for env in given.env:
        for seed in given.seeds:
            run = given.runs / f"{env}-{seed}"
            if not (run / "policy.pt").exists():
                train(env, seed, given.steps, given.processes, run)
            points = curve(run)
            result = {"env": env, "seed": seed, "processes": given.processes}
            result |= {"curve": points, "laws": evaluate(run)}
            results.append(result)
            earned = {law: round(e["return"]) for law, e in result["laws"].items()}
            print(env, seed, f"{points[-1]['seconds'] / 60:.1f} min", earned, flush=True)
    given.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
