"""Proximal policy optimization: its arithmetic, learning, and agreement of processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from stickslip.rl.agent import RunningScale
from stickslip.rl.play import load, play
from stickslip.rl.ppo import Processes, Rollout, Settings, Trainer

torch.set_num_threads(1)


def test_running_scale_is_that_of_all_rows() -> None:
    rng = np.random.default_rng(0)
    parts = [3.0 + rng.normal(size=(n, 4)) * [1.0, 10.0, 0.1, 1e3] for n in (7, 100, 31)]
    scale, processes = RunningScale(4), Processes("cpu")
    for part in parts:
        processes.add(scale, torch.as_tensor(part))
    rows = np.concatenate(parts)
    np.testing.assert_allclose(scale.mean.numpy(), rows.mean(0), rtol=1e-12)
    np.testing.assert_allclose(scale.variance.numpy(), rows.var(0), rtol=1e-9)
    scaled = scale(torch.as_tensor(rows)).numpy()
    np.testing.assert_allclose(scaled.std(0), 1.0, rtol=1e-5)


def test_advantages_are_the_discounted_errors() -> None:
    """Schulman et al. 2015, (11)-(16), as sums, with ends of both kinds."""
    steps, envs = 9, 5
    s = Settings("", num_envs=envs, rollout=steps, discount=0.9, gae_lambda=0.7)
    rng = np.random.default_rng(1)
    rewards, values, after = rng.normal(size=(3, steps, envs))
    last, ended = rng.normal(size=envs), rng.random((steps, envs)) < 0.3
    after *= ended & (rng.random((steps, envs)) < 0.5)  # zero: terminated
    r = Rollout(s, 1, 1, torch.device("cpu"))
    r.values[:], r.ended[:], r.after_end[:] = map(torch.as_tensor, (values, ended, after))
    found = r.advantages(s, torch.as_tensor(rewards), torch.as_tensor(last)).numpy()
    for e in range(envs):
        for t in range(steps):
            expected, weight = 0.0, 1.0
            for k in range(t, steps):
                following = values[k + 1, e] if k + 1 < steps else last[e]
                follow = after[k, e] if ended[k, e] else following
                expected += weight * (rewards[k, e] + 0.9 * follow - values[k, e])
                weight *= 0.9 * 0.7
                if ended[k, e]:
                    break
            assert found[t, e] == pytest.approx(expected, abs=1e-5)


def test_half_cheetah_learns_to_run(tmp_path: Path) -> None:
    settings = Settings("stickslip/HalfCheetah-v5", 300_000, options={"law": "coulomb"})
    Trainer(settings, tmp_path).train()
    lines = [json.loads(line) for line in (tmp_path / "progress.jsonl").read_text().splitlines()]
    returns = [line["return"] for line in lines if "return" in line]
    assert returns[0] < -100  # random actions
    assert all(line["unsolved"] == 0 for line in lines)
    assert list(tmp_path.glob("events.out.tfevents.*"))
    episodes = play(tmp_path, num_envs=8, law="coulomb")
    assert episodes.returns.mean() > 200
    assert (episodes.lengths == 1000).all()
    assert not episodes.failed.any()
    again = play(tmp_path, num_envs=8, law="coulomb")
    np.testing.assert_array_equal(again.returns, episodes.returns)
    assert (play(tmp_path, num_envs=8, law="mujoco").returns != episodes.returns).all()
    assert load(tmp_path)[0] == settings


RANKS = """
import sys, torch, torch.distributed as dist
from pathlib import Path
from stickslip.rl.ppo import Settings, Trainer


def main():
    torch.set_num_threads(1)
    settings = Settings("stickslip/Hopper-v5", 4096, 16, options={"threads": 1})
    trainer = Trainer(settings, Path(sys.argv[1]))
    starts = [torch.zeros_like(torch.as_tensor(trainer.observations)) for _ in range(2)]
    dist.all_gather(starts, torch.as_tensor(trainer.observations))
    assert not torch.equal(*starts)  # episodes of their own
    first = trainer.agent.value[0].weight.detach().clone()
    agent = trainer.train()
    assert not torch.equal(first, agent.value[0].weight)
    for tensor in agent.state_dict().values():
        both = [torch.zeros_like(tensor) for _ in range(2)]
        dist.all_gather(both, tensor)
        assert torch.equal(*both)
    assert trainer.done_steps == 4096
    trainer.processes.close()
    tasks = Path("/proc/self/task").glob("*/comm")
    assert not [task for task in tasks if "gloo" in task.read_text()]  # they may abort the exit


main()
"""


def test_two_processes_hold_the_same_agent(tmp_path: Path) -> None:
    script = tmp_path / "ranks.py"
    script.write_text(RANKS)
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    ran = subprocess.run(
        [*launch, script, tmp_path / "run"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "run" / "policy.pt").exists()
