"""Complete steps of learning environments, compared with Gymnasium's, EnvPool's and MuJoCo's.

    python bench/run_envs.py [OUT.json] [--env Ant ...] [--envs 64 1024 4096] [--threads 2]
                             [--seconds 0.4] [--rounds 7] [--envpool PYTHON] [--contestants ...]

Contestants take turns, each in a separate process that is idle while others step: random actions,
observations, rewards, autoreset. `sync` and `async` are Gymnasium's vector environments of its own
single ones (`async`: one process each, so 64 at most); `envpool` runs if --envpool, or the
environment variable STICKSLIP_ENVPOOL, names a Python that has it; `mjb_step` is MuJoCo's batch
stepping with the same frame skip and nothing else: no observations, no resets. Those without an
integrator in their name use that of the model; with `implicitfast` all laws do the same work except
for the solve. Ratios are medians over the rounds, of times in the same round.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from importlib.util import find_spec

import numpy as np

MOST_PROCESSES = 64
BASE = "stickslip mujoco"
CONTESTANTS = {
    BASE: {"law": "mujoco"},
    "stickslip mujoco implicitfast": {"law": "mujoco", "integrator": "implicitfast"},
    "stickslip convex implicitfast": {"law": "convex", "integrator": "implicitfast"},
    "stickslip coulomb implicitfast": {"law": "coulomb", "integrator": "implicitfast"},
    "sync": {},
    "async": {},
    "envpool": {},
    "mjb_step": {},
    "mjb_step implicitfast": {"integrator": "implicitfast"},
}


class BatchStep:
    """mjb_step with the frame skip of an environment."""

    def __init__(self, env: str, envs: int, threads: int, integrator: str = "") -> None:
        import gymnasium
        import mujoco.batch

        single = gymnasium.make(f"{env}-v5").unwrapped
        if integrator == "implicitfast":
            single.model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        self.batch = mujoco.batch.Batch(single.model, envs, nthread=threads)
        self.ctrl = self.batch.bind("ctrl")
        self.frame_skip = single.frame_skip
        self.action_shape = (envs, single.model.nu)

    def reset(self, seed: int) -> None:
        pass

    def step(self, actions: np.ndarray) -> None:
        self.ctrl[:] = actions
        self.batch.step(nstep=self.frame_skip)


def make(name: str, env: str, envs: int, threads: int):
    if name.startswith("mjb_step"):
        return BatchStep(env, envs, threads, **CONTESTANTS[name])
    if name == "envpool":
        import envpool

        return envpool.make_gymnasium(f"{env}-v5", num_envs=envs, num_threads=threads, seed=0)
    import gymnasium

    if name in ("sync", "async"):
        return gymnasium.make_vec(f"{env}-v5", num_envs=envs, vectorization_mode=name)
    import stickslip.envs  # noqa: F401

    options = CONTESTANTS[name] | {"threads": threads}
    return gymnasium.make_vec(f"stickslip/{env}-v5", num_envs=envs, **options)


def work(name: str, env: str, envs: int, threads: int) -> None:
    """For each input line, makes that many steps and prints the seconds."""
    stepper = make(name, env, envs, threads)
    stepper.reset(**({} if name == "envpool" else {"seed": 0}))
    if name.startswith("mjb_step"):
        shape, high = stepper.action_shape, 1.0
    else:
        high = np.asarray(stepper.action_space.high).ravel()[0]
        shape = (envs, np.asarray(stepper.action_space.high).shape[-1])
    rng = np.random.default_rng(0)
    actions = [rng.uniform(-high, high, shape).astype(np.float32) for _ in range(16)]
    if name == "envpool":
        actions = [a.astype(np.float64) for a in actions]
    print("ready", flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        for i in range(int(line)):
            stepper.step(actions[i % len(actions)])
        print(time.perf_counter() - start, flush=True)


class Worker:
    def __init__(self, name: str, given: argparse.Namespace, env: str, envs: int) -> None:
        python = given.envpool if name == "envpool" else sys.executable
        command = [python, __file__, "--work", name, "--env", env, "--envs", str(envs)]
        self.process = subprocess.Popen(
            [*command, "--threads", str(given.threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        while self.answer() != "ready":  # MuJoCo prints warnings
            pass
        once = self.seconds(2)
        self.steps = max(1, round(given.seconds / (once / 2)))
        self.seconds(min(self.steps, 30))  # away from the initial pose

    def answer(self) -> str:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"failed: {self.process.args}")
        return line.strip()

    def seconds(self, steps: int) -> float:
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        return float(self.answer())

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def race(given: argparse.Namespace, env: str, envs: int) -> list[dict]:
    names = [
        name
        for name in CONTESTANTS
        if (name != "async" or envs <= MOST_PROCESSES)
        and (name != "envpool" or given.envpool)
        and (name == BASE or name in given.contestants)
    ]
    workers = {name: Worker(name, given, env, envs) for name in names}
    micros = {name: [] for name in names}
    for _ in range(given.rounds):
        for name, worker in workers.items():
            micros[name].append(1e6 * worker.seconds(worker.steps) / (worker.steps * envs))
    for worker in workers.values():
        worker.close()
    results = []
    for name in names:
        ratio = statistics.median(a / b for a, b in zip(micros[name], micros[BASE], strict=True))
        median = statistics.median(micros[name])
        found = {"env": env, "envs": envs, "threads": given.threads, "contestant": name}
        found |= {"us": round(median, 3), "us_min": round(min(micros[name]), 3)}
        found |= {"us_max": round(max(micros[name]), 3), "per_second": round(1e6 / median)}
        results.append(found | {"ratio": round(ratio, 3)})
        print(json.dumps(results[-1]), flush=True)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?")
    parser.add_argument("--env", nargs="+", default=["Ant", "HalfCheetah", "Humanoid"])
    parser.add_argument("--envs", type=int, nargs="+", default=[64, 1024, 4096])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--contestants", nargs="+", choices=CONTESTANTS, default=[*CONTESTANTS])
    here = sys.executable if find_spec("envpool") else ""
    parser.add_argument("--envpool", default=os.getenv("STICKSLIP_ENVPOOL", here))
    parser.add_argument("--work", choices=CONTESTANTS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        return work(given.work, given.env[0], given.envs[0], given.threads)
    results = [r for env in given.env for envs in given.envs for r in race(given, env, envs)]
    if given.out:
        with open(given.out, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
