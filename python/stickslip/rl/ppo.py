"""Proximal policy optimization (Schulman et al., arXiv:1707.06347) with generalized advantage
estimation (arXiv:1506.02438) on the vector environments of stickslip.

    stickslip train HalfCheetah-v5 --out runs/cheetah
    torchrun --nproc-per-node 2 -m stickslip.cli train HalfCheetah-v5 --out runs/cheetah

Under torchrun each process has its own batch of environments; gradients and scales are averaged
over the processes, so that all hold the same agent.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
import torch.distributed as dist
import torch.distributed.nn  # before there is a group: see Processes.close
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from torch import Tensor
from torch.utils.tensorboard import SummaryWriter

import stickslip.envs  # noqa: F401  (registers them)
from stickslip._src.interrupt import ctrl_c
from stickslip.rl import checkpoint
from stickslip.rl.agent import Agent
from stickslip.rl.settings import Settings


class Processes:
    """The processes of torchrun, or this single process."""

    def __init__(self, device: str) -> None:
        self.count, self.rank = int(os.getenv("WORLD_SIZE", "1")), int(os.getenv("RANK", "0"))
        self.device = torch.device(device)
        if self.device.type == "cuda":
            self.device = torch.device("cuda", int(os.getenv("LOCAL_RANK", "0")))
        if self.count > 1 and not dist.is_initialized():
            dist.init_process_group("nccl" if self.device.type == "cuda" else "gloo")

    def close(self) -> None:
        """Leaves the process group and ends its threads. Otherwise gloo's threads may abort the
        program at its end, if they still hold tensors (pytorch/pytorch#190489).

        The threads end when nothing refers to the group. Functions of torch.distributed.nn have it
        as a default argument if they are defined while there is one, as when an optimizer imports
        them: so this module imports them first."""
        if dist.is_initialized():
            dist.destroy_process_group()

    def average(self, tensors: list[Tensor]) -> None:
        """Averages in place over the processes."""
        if self.count == 1:
            return
        flat = torch.cat([t.reshape(-1) for t in tensors])
        dist.all_reduce(flat)
        flat /= self.count
        for tensor, values in zip(tensors, flat.split([t.numel() for t in tensors]), strict=True):
            tensor.copy_(values.view_as(tensor))

    def any(self, value: bool) -> bool:
        """Whether it is true in one of the processes: all have the same answer."""
        share = torch.tensor([float(value)], device=self.device)
        self.average([share])
        return bool(share > 0)

    def add(self, scale: Any, rows: Tensor) -> None:
        """Adds rows (N, size), the same number from each process, to a RunningScale."""
        rows = rows.double()
        moments = torch.stack([rows.mean(0), (rows**2).mean(0)])
        self.average([moments])
        count = torch.tensor(float(len(rows) * self.count), dtype=torch.float64)
        scale.add(count, moments[0], (moments[1] - moments[0] ** 2).clamp(min=0))


class Rollout:
    """The data that one process collects between two updates: arrays (steps, environments, ...)."""

    def __init__(self, s: Settings, observations: int, actions: int, device: torch.device) -> None:
        shape = (s.rollout, s.num_envs)
        self.observations = torch.zeros(*shape, observations, dtype=torch.float64, device=device)
        self.actions = torch.zeros(*shape, actions, device=device)
        self.log_probabilities = torch.zeros(shape, device=device)
        self.rewards = torch.zeros(shape, dtype=torch.float64, device=device)
        self.values = torch.zeros(shape, device=device)
        self.ended = torch.zeros(shape, dtype=torch.bool, device=device)
        self.after_end = torch.zeros(shape, device=device)  #: value where an episode was cut off

    def advantages(self, s: Settings, rewards: Tensor, last_values: Tensor) -> Tensor:
        """Generalized advantage estimation; an episode that was cut off continues with the
        value of its last observation, one that terminated with zero."""
        result, following, gained = torch.zeros_like(self.values), last_values, 0.0
        for t in reversed(range(len(rewards))):
            follow = torch.where(self.ended[t], self.after_end[t], following)
            error = rewards[t] + s.discount * follow - self.values[t]
            gained = error + s.discount * s.gae_lambda * gained * ~self.ended[t]
            result[t], following = gained, self.values[t]
        return result


class Trainer:
    """One process of a run.

    Args:
        settings: of the run.
        run: folder for TensorBoard's log, `progress.jsonl`, `policy.pt` and `checkpoint.pt`; made
            if absent.
        resume: continue from the checkpoint in `run`, with its agent, optimizer and counts. The
            environments begin new episodes.
    """

    def __init__(self, settings: Settings, run: Path, resume: bool = False) -> None:
        self.settings, self.run = settings, run
        self.processes = Processes(settings.device)
        self.device = self.processes.device
        torch.manual_seed(settings.seed)  # the same first agent everywhere
        self.envs = RecordEpisodeStatistics(
            gymnasium.make_vec(
                settings.env,
                num_envs=settings.num_envs,
                autoreset_mode=AutoresetMode.SAME_STEP,
                **settings.options,
            )
        )
        space = self.envs.single_action_space
        sizes = self.envs.single_observation_space.shape[0], space.shape[0]
        self.agent = Agent(*sizes, settings.hidden).to(self.device)
        self.optimizer = torch.optim.Adam(
            self.agent.parameters(), lr=settings.learning_rate, eps=1e-5
        )
        self.rollout = Rollout(settings, *sizes, self.device)
        self.low, self.high = (torch.as_tensor(b).to(self.device) for b in (space.low, space.high))
        self.discounted = torch.zeros(settings.num_envs, dtype=torch.float64, device=self.device)
        self.returns: list[float] = []
        self.lengths: list[float] = []
        self.done_steps, self.seconds, self.interrupted = 0, 0.0, False
        if resume:
            checkpoint.restore(self)
        # Different actions in each process; after `resume`, others than at the start.
        torch.manual_seed(settings.seed + 1 + self.processes.rank + self.done_steps)
        first = settings.seed + self.processes.rank * settings.num_envs + self.done_steps
        self.observations, _ = self.envs.reset(seed=first)

    def train(self, report: Callable[[dict[str, float]], None] = lambda _: None) -> Agent:
        """Runs to the end, and calls `report` after each update. Ctrl-C ends it after the update
        in progress (`interrupted`); it can be resumed."""
        s, start = self.settings, time.perf_counter() - self.seconds
        each = s.rollout * s.num_envs * self.processes.count
        writer = SummaryWriter(str(self.run)) if self.processes.rank == 0 else None
        self.run.mkdir(parents=True, exist_ok=True)
        with ctrl_c() as pressed:
            for update in range(self.done_steps // each, max(1, s.steps // each)):
                for group in self.optimizer.param_groups:
                    group["lr"] = s.learning_rate * (1.0 - update * each / s.steps)
                collected = self.collect()
                numbers = collected | self.update()
                self.done_steps += each
                self.seconds = time.perf_counter() - start
                numbers |= {"steps": self.done_steps, "seconds": self.seconds}
                if writer is not None:
                    self.log(writer, numbers)
                    report(numbers)
                    if (update + 1) % s.checkpoint_every == 0:
                        checkpoint.save(self)
                if self.processes.any(bool(pressed)):
                    self.interrupted = True
                    break
        if writer is not None:
            writer.close()
            checkpoint.save(self)
        self.envs.close()
        return self.agent

    @torch.no_grad()
    def collect(self) -> dict[str, float]:
        """Steps the environments through one rollout."""
        s, r, unsolved, residual = self.settings, self.rollout, 0, 0.0
        for t in range(s.rollout):
            r.observations[t] = torch.as_tensor(self.observations)
            seen = self.agent.scale(r.observations[t])
            distribution = self.agent.distribution(seen)
            r.actions[t] = distribution.sample()
            r.log_probabilities[t] = distribution.log_prob(r.actions[t])
            r.values[t] = self.agent.values(seen)
            actions = r.actions[t].clamp(self.low, self.high).cpu().numpy()
            self.observations, rewards, terminated, truncated, infos = self.envs.step(actions)
            r.rewards[t] = torch.as_tensor(rewards)
            r.ended[t] = torch.as_tensor(terminated | truncated)
            r.after_end[t] = 0.0
            cut_off = np.flatnonzero(truncated & ~terminated)
            if len(cut_off):
                last = torch.as_tensor(np.stack(infos["final_obs"][cut_off])).to(self.device)
                r.after_end[t, cut_off] = self.agent.values(self.agent.scale(last))
            self.note_episodes(infos)
            unsolved += int(np.count_nonzero(infos["status"]))
            residual = max(residual, float(np.max(infos["residual"])))
        return {"unsolved": unsolved / r.rewards.numel(), "largest_residual": residual}

    def note_episodes(self, infos: dict[str, Any]) -> None:
        if "episode" in infos:
            ended = infos["_episode"]
            self.returns = (self.returns + infos["episode"]["r"][ended].tolist())[-100:]
            self.lengths = (self.lengths + infos["episode"]["l"][ended].tolist())[-100:]

    def scaled_rewards(self) -> Tensor:
        """Rewards divided by the deviation of the discounted returns so far."""
        r, sums = self.rollout, []
        for t in range(len(r.rewards)):
            self.discounted = self.discounted * self.settings.discount + r.rewards[t]
            sums.append(self.discounted)
            self.discounted = self.discounted * ~r.ended[t]
        self.processes.add(self.agent.return_scale, torch.stack(sums).reshape(-1, 1))
        return (r.rewards / self.agent.return_scale.deviation).clamp(-10, 10).float()

    def update(self) -> dict[str, float]:
        """Improves the agent with the collected data."""
        s, r = self.settings, self.rollout
        with torch.no_grad():
            last = torch.as_tensor(self.observations).to(self.device)
            last_values = self.agent.values(self.agent.scale(last))
            advantages = r.advantages(s, self.scaled_rewards(), last_values).flatten()
            targets = advantages + r.values.flatten()
            seen = self.agent.scale(r.observations.flatten(0, 1))
        actions, old = r.actions.flatten(0, 1), r.log_probabilities.flatten()
        numbers: dict[str, float] = {}
        for _ in range(s.epochs):
            for part in torch.randperm(len(old), device=self.device).split(s.batch):
                numbers = self.improve(
                    seen[part], actions[part], old[part], advantages[part], targets[part]
                )
            if numbers["divergence"] > s.target_kl:
                break
        self.processes.add(self.agent.scale, r.observations.flatten(0, 1))
        return numbers

    def improve(
        self, seen: Tensor, actions: Tensor, old: Tensor, advantages: Tensor, targets: Tensor
    ) -> dict[str, float]:
        """One step of the optimizer."""
        s = self.settings
        distribution = self.agent.distribution(seen)
        change = distribution.log_prob(actions) - old
        ratio = change.exp()
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        clipped = ratio.clamp(1 - s.clip, 1 + s.clip)
        policy_loss = -torch.min(ratio * advantages, clipped * advantages).mean()
        value_loss = (self.agent.values(seen) - targets).square().mean()
        entropy = distribution.entropy().mean()
        loss = policy_loss + s.value_weight * value_loss - s.entropy_weight * entropy
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        divergence = (ratio - 1 - change).mean().detach()  # Schulman's estimate of KL
        self.processes.average([p.grad for p in self.agent.parameters()] + [divergence])
        torch.nn.utils.clip_grad_norm_(self.agent.parameters(), s.max_grad_norm)
        self.optimizer.step()
        return {
            "policy_loss": float(policy_loss.detach()),
            "value_loss": float(value_loss.detach()),
            "divergence": float(divergence),
            "deviation": float(self.agent.log_deviation.detach().exp().mean()),
        }

    def log(self, writer: SummaryWriter, numbers: dict[str, float]) -> None:
        if self.returns:
            numbers["return"] = float(np.mean(self.returns))
            numbers["length"] = float(np.mean(self.lengths))
        numbers["steps_per_second"] = numbers["steps"] / numbers["seconds"]
        for name, value in numbers.items():
            writer.add_scalar(f"train/{name}", value, int(numbers["steps"]))
        with open(self.run / "progress.jsonl", "a") as file:
            file.write(json.dumps(numbers) + "\n")
