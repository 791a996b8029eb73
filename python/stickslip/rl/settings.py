"""Settings of a training run."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass
class Settings:
    """Settings of a run. Steps and batches count environment steps."""

    env: str  #: id of an environment
    steps: int = 5_000_000  #: of all processes
    num_envs: int = 64  #: of each process
    seed: int = 0
    options: dict[str, Any] = dataclasses.field(default_factory=dict)  #: of the environment
    rollout: int = 64  #: steps of each environment between updates
    epochs: int = 10  #: passes over the collected steps
    batch: int = 512  #: steps of each process in one step of the optimizer
    learning_rate: float = 3e-4  #: at first; decreases to zero
    discount: float = 0.99
    gae_lambda: float = 0.95  #: λ of generalized advantage estimation
    clip: float = 0.2  #: largest difference of the ratio of probabilities from 1
    target_kl: float = 0.03  #: KL at which an update ends early
    entropy_weight: float = 0.0
    value_weight: float = 0.5
    max_grad_norm: float = 0.5  #: norm to which gradients are cut
    hidden: tuple[int, ...] = (64, 64)
    checkpoint_every: int = 20  #: updates between two checkpoints
    device: str = "cpu"
