"""Training with rsl_rl: learning, playing, and agreement of processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import torch

from stickslip.rl import runs
from stickslip.rl.log import curve
from stickslip.rl.play import play
from stickslip.rl.train import Trainer

torch.set_num_threads(1)


def test_half_cheetah_learns_to_run(tmp_path: Path) -> None:
    options = {"law": "coulomb"}
    settings = runs.Settings("stickslip/HalfCheetah-v5", 300_000, options=options)
    Trainer(settings, tmp_path).train()
    rows = curve(tmp_path)
    assert [row["update"] for row in rows] == list(range(-(-300_000 // 4096)))
    returns = [row["return"] for row in rows if "return" in row]
    assert returns[0] < -100  # random actions
    assert all(row["unsolved"] == 0 for row in rows)
    assert list(tmp_path.glob("events.out.tfevents.*"))
    episodes = play(tmp_path, num_envs=8, law="coulomb")
    assert episodes.returns.mean() > 200
    assert (episodes.lengths == 1000).all()
    assert not episodes.failed.any()
    again = play(tmp_path, num_envs=8, law="coulomb")
    np.testing.assert_array_equal(again.returns, episodes.returns)
    assert (play(tmp_path, num_envs=8, law="mujoco").returns != episodes.returns).all()
    assert runs.load(tmp_path) == settings


def test_a_hand_learns_to_lift(tmp_path: Path) -> None:
    """Without learning to squeeze first, it leaves the cube and the episode ends."""
    options = {"law": "coulomb", "threads": 1}
    Trainer(runs.Settings("stickslip/Grasp-v0", 65_536, options=options), tmp_path).train()
    returns = [row["return"] for row in curve(tmp_path) if "return" in row]
    assert max(returns[:3]) < 0.05
    assert returns[-1] > 0.5
    assert all(row["unsolved"] == 0 for row in curve(tmp_path))


RANKS = """
import sys, torch, torch.distributed as dist
from pathlib import Path
from stickslip.rl.runs import Settings
from stickslip.rl.train import Trainer


def same(tensor):
    both = [torch.zeros_like(tensor) for _ in range(2)]
    dist.all_gather(both, tensor)
    return torch.equal(*both)


class Checked(Trainer):
    def close(self):  # there still is a process group
        assert not torch.equal(self.first, self.alg.critic.mlp[0].weight)
        for network in (self.alg.actor, self.alg.critic):
            assert all(same(tensor) for tensor in network.state_dict().values())
        super().close()


def main():
    torch.set_num_threads(1)
    settings = Settings("stickslip/Hopper-v5", 4096, 16, options={"threads": 1})
    trainer = Checked(settings, Path(sys.argv[1]))
    assert not same(trainer.env.get_observations()["policy"])  # episodes of their own
    trainer.first = trainer.alg.critic.mlp[0].weight.detach().clone()
    trainer.train()
    assert trainer.done_steps == (4096 if trainer.rank == 0 else 0)
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
    assert runs.weights(tmp_path / "run")["infos"]["steps"] == 4096
