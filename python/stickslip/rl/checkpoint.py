"""What a training run leaves on disk, and continues from."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, Protocol

import torch

from stickslip.rl.settings import Settings

_COUNTS = ("done_steps", "seconds", "returns", "lengths")


class Run(Protocol):
    """What a trainer (stickslip.rl.ppo) has of it; and the attributes of _COUNTS."""

    settings: Settings
    run: Path
    agent: torch.nn.Module
    optimizer: torch.optim.Optimizer
    discounted: torch.Tensor
    device: torch.device


def save(trainer: Run) -> None:
    """Writes `policy.pt`, for `play`, and `checkpoint.pt`, for `restore`."""
    policy = {"settings": dataclasses.asdict(trainer.settings), "agent": trainer.agent.state_dict()}
    rest = {name: getattr(trainer, name) for name in _COUNTS}
    rest |= {"optimizer": trainer.optimizer.state_dict(), "discounted": trainer.discounted}
    _write(policy, trainer.run / "policy.pt")
    _write(policy | rest, trainer.run / "checkpoint.pt")


def load(run: Path) -> dict[str, Any]:
    """What `save` wrote, with `settings`. Raises FileNotFoundError."""
    return torch.load(run / "checkpoint.pt", weights_only=True, map_location="cpu")


def restore(trainer: Run) -> None:
    """Gives a new trainer the agent, the optimizer and the counts of the checkpoint in its
    folder."""
    saved = load(trainer.run)
    trainer.agent.load_state_dict(saved["agent"])
    trainer.optimizer.load_state_dict(saved["optimizer"])
    for name in _COUNTS:
        setattr(trainer, name, saved[name])
    if len(saved["discounted"]) == len(trainer.discounted):
        trainer.discounted = saved["discounted"].to(trainer.device)


def _write(contents: dict[str, Any], file: Path) -> None:
    """Replaces the file at once, so that a crash leaves the old one."""
    new = file.with_suffix(".new")
    torch.save(contents, new)
    new.replace(file)
