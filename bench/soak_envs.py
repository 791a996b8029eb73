"""Many steps of a learning environment, some of them poisoned: memory must not grow.

    python bench/soak_envs.py [--env HalfCheetah] [--law coulomb] [--envs 1024] [--million 10]

Random actions; in every hundredth step one environment gets an action that is not a number, and
another an invalid state. Prints the resident memory after each tenth of the run, and ends with an
error if it has grown by more than 2 % since the second, or if environments other than those
poisoned had bad input. Contacts that the solver leaves unsolved are counted separately.
"""

import argparse
import sys
from pathlib import Path

import gymnasium
import numpy as np

import stickslip.envs


def resident_mib() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--env", default="HalfCheetah")
    parser.add_argument("--law", default="coulomb")
    parser.add_argument("--envs", type=int, default=1024)
    parser.add_argument("--million", type=float, default=10)
    given = parser.parse_args()
    env = gymnasium.make_vec(f"stickslip/{given.env}-v5", num_envs=given.envs, law=given.law)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    steps = round(given.million * 1e6 / given.envs)
    poisoned = episodes = bad = unsolved = 0
    memory, ended = [], np.zeros(given.envs, bool)
    for step in range(1, steps + 1):
        actions = rng.uniform(-1, 1, env.action_space.shape).astype(np.float32)
        if step % 100 == 0:
            alive = np.flatnonzero(~ended)  # the others are being reset
            one, other = rng.choice(alive, 2, replace=False)
            actions[one] = np.nan
            env.unwrapped.sim.qvel[other] = np.nan
            poisoned += 2
        observations, rewards, terminated, truncated, infos = env.step(actions)
        assert np.isfinite(observations).all()
        assert np.isfinite(rewards).all()
        ended = terminated | truncated
        episodes += int(ended.sum())
        now_bad = infos["status"] == stickslip.Status.bad_input
        bad += int(now_bad.sum())
        unsolved += int((infos["status"] != stickslip.Status.solved).sum() - now_bad.sum())
        if step % max(1, steps // 10) == 0:
            memory.append(resident_mib())
            done = step * given.envs / 1e6
            print(f"{done:5.1f} M steps  {memory[-1]:7.1f} MiB  {episodes} episodes  "
                  f"{bad} bad input, {poisoned} poisoned, {unsolved} unsolved",
                  flush=True)  # fmt: skip
    grown = memory[-1] / memory[1] - 1
    print(f"memory since the second tenth: {100 * grown:+.2f} %")
    assert bad + unsolved == env.unwrapped.failures.sum()
    return int(grown > 0.02 or bad != poisoned)


if __name__ == "__main__":
    sys.exit(main())
