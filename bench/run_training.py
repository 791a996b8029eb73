"""Policies trained by the PPO of rsl_rl: returns over time for several seeds, and their returns and
gaits under each law.

    python bench/run_training.py [OUT.json] [--processes 2] [--runs out/training]

Each run is `torchrun ... stickslip train`, one process per core, one run after another. A run that
the folder --runs has to its end is not trained again. Evaluation: one episode without noise in each
of 32 environments that were not used in training.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

ENVS, LAW, STEPS, SEEDS = ("HalfCheetah-v5", "Ant-v5"), "coulomb", 5_000_000, (0, 1, 2)
PLAYED = {
    "coulomb": {"law": "coulomb"},
    "coulomb, gaps kept": {"law": "coulomb", "position_iterations": 3},
    "convex": {"law": "convex"},
    "mujoco": {"law": "mujoco"},
}
STEPS_OF_UPDATE = 64 * 64  # in each process: 64 environments
POINTS = 60  # of a curve


def train(env: str, seed: int, processes: int, run: Path) -> None:
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command = ["-m", "stickslip.cli", "train", env, "--out", run, "--law", LAW, "--seed", seed]
    call = [*launch, "--nproc-per-node", processes, *command, "--steps", STEPS, "--threads", 1]
    subprocess.run([*map(str, call)], check=True, env=os.environ | {"OMP_NUM_THREADS": "1"})


def points(run: Path, processes: int) -> list[dict[str, float]]:
    """Steps, seconds and mean return of the last 100 episodes, at some points of the whole run."""
    from stickslip.rl.log import curve

    rows = [row for row in curve(run) if "return" in row]
    chosen = np.unique(np.linspace(0, len(rows) - 1, POINTS).astype(int))
    each = STEPS_OF_UPDATE * processes
    return [rows[i] | {"steps": (rows[i]["update"] + 1) * each} for i in chosen]


class Gait:
    """Measures how fast robots run (m/s), how high their root is at the end of the episode (m; for
    planar robots relative to the start), and the gaps of the contacts that carry them (m)."""

    def __init__(self) -> None:
        self.speeds: list[float] = []
        self.heights: dict[int, float] = {}
        self.gaps: list[float] = []

    def __call__(self, envs: Any, running: np.ndarray) -> None:
        height = 2 if envs.model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE else 1
        self.speeds += envs.sim.qvel[running, 0].tolist()
        for env in np.flatnonzero(running):
            self.heights[env] = envs.sim.qpos[env, height]
            self.gaps += [c["gap"] for c in envs.sim.contacts(env) if c["force"][0] > 0]

    def numbers(self) -> dict[str, float]:
        return {
            "speed": float(np.mean(self.speeds)),
            "height": float(np.mean(list(self.heights.values()))),
            "gap_mean": float(np.mean(self.gaps)),
            "gap_least": float(np.min(self.gaps)),
        }


def evaluate(run: Path) -> dict[str, dict[str, float]]:
    import torch

    from stickslip.rl.play import play

    torch.set_num_threads(1)  # more threads do not help small networks
    results = {}
    for name, options in PLAYED.items():
        gait = Gait()
        episodes = play(run, watch=gait, **options)
        results[name] = {
            "return": float(episodes.returns.mean()),
            "deviation": float(episodes.returns.std()),
            "length": float(episodes.lengths.mean()),
            "failed": int(episodes.failed.sum()),
            **gait.numbers(),
        }
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, nargs="?", default=Path("out/training.json"))
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--runs", type=Path, default=Path("out/training"))
    given = parser.parse_args()
    results = []
    for env in ENVS:
        for seed in SEEDS:
            run = given.runs / f"{env}-{LAW}-{seed}"
            last = STEPS // (STEPS_OF_UPDATE * given.processes) - 1
            if not (run / f"model_{last}.pt").exists():
                train(env, seed, given.processes, run)
            reached = points(run, given.processes)
            result = {"env": env, "law": LAW, "seed": seed, "processes": given.processes}
            result |= {"curve": reached, "played": evaluate(run)}
            results.append(result)
            earned = {name: round(e["return"]) for name, e in result["played"].items()}
            print(env, seed, f"{reached[-1]['seconds'] / 60:.1f} min", earned, flush=True)
    given.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
