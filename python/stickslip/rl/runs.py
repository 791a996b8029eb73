"""A run of `stickslip train`: its settings, and what its folder holds.

The folder has `settings.json`, and from rsl_rl its checkpoints `model_<update>.pt` and its log for
TensorBoard.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import torch

_FILE = "settings.json"


def ppo() -> dict[str, Any]:
    """The configuration of rsl_rl's `OnPolicyRunner`; what is not named has rsl_rl's defaults."""
    network = {
        "class_name": "MLPModel",
        "hidden_dims": [64, 64],
        "activation": "tanh",
        "obs_normalization": True,
    }
    actions = {"class_name": "GaussianDistribution", "std_type": "log"}
    return {
        "num_steps_per_env": 64,
        "save_interval": 50,
        "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
        "actor": network | {"distribution_cfg": actions},
        "critic": network,
        "algorithm": {
            "class_name": "PPO",
            "num_learning_epochs": 10,
            "num_mini_batches": 8,
            "learning_rate": 3e-4,  # at first: then rsl_rl keeps the KL divergence near 0.01
            "entropy_coef": 0.0,
            "value_loss_coef": 0.5,
            "max_grad_norm": 0.5,
            # Rewards are not scaled, so values are hundreds: they could move by clip_param only.
            "use_clipped_value_loss": False,
            "normalize_advantage_per_mini_batch": True,
        },
    }


@dataclasses.dataclass
class Settings:
    """Settings of a run."""

    env: str  #: id of an environment
    steps: int = 5_000_000  #: environment steps of all processes, at least
    num_envs: int = 64  #: of each process
    seed: int = 0
    options: dict[str, Any] = dataclasses.field(default_factory=dict)  #: of the environment
    device: str = "cpu"  #: of the networks
    rsl_rl: dict[str, Any] = dataclasses.field(default_factory=ppo)  #: of `OnPolicyRunner`


def save(settings: Settings, run: Path) -> None:
    """Writes the settings into the folder of the run, which is made if absent."""
    run.mkdir(parents=True, exist_ok=True)
    (run / _FILE).write_text(json.dumps(dataclasses.asdict(settings), indent=1) + "\n")


def load(run: Path) -> Settings:
    """The settings of a run. Raises FileNotFoundError."""
    return Settings(**json.loads((run / _FILE).read_text()))


def weights(run: Path, device: str = "cpu") -> dict[str, Any]:
    """The newest checkpoint of a run. Raises FileNotFoundError, or what torch raises for a file
    that is none."""
    found = list(run.glob("model_*.pt"))
    if not found:
        raise FileNotFoundError(f"{run} has no checkpoint model_*.pt")
    newest = max(found, key=lambda file: int(file.stem.removeprefix("model_")))
    # rsl_rl's own `load` would run whatever code the file contains.
    return torch.load(newest, weights_only=True, map_location=device)
