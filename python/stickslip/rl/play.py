"""Running a trained policy: its returns under any law, and a video."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import imageio.v2 as imageio
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from rsl_rl.utils import resolve_class
from tensordict import TensorDict

from stickslip._core import Status
from stickslip.envs._pictures import Pictures
from stickslip.envs.base import BatchEnv
from stickslip.rl import runs

_FPS = {".mp4": 30, ".gif": 25}  # a GIF counts hundredths of a second


@dataclass
class Episodes:
    """One episode of each environment."""

    law: str  #: under which they were played
    returns: np.ndarray  #: (N,) sums of rewards
    lengths: np.ndarray  #: (N,) steps
    failed: np.ndarray  #: (N,) bool: ended because contacts were not solved or numbers diverged


def load(run: Path, envs: BatchEnv) -> Callable[[TensorDict], torch.Tensor]:
    """The policy of a run's folder, without noise: from observations of such environments, in the
    group "policy", to actions (N, size). Raises FileNotFoundError."""
    config = runs.load(run).rsl_rl
    seen = TensorDict({"policy": torch.zeros(envs.observation_space.shape)}, [envs.num_envs])
    network, numbers = resolve_class(config["actor"])
    actor = network(seen, config["obs_groups"], "actor", envs.action_space.shape[1], **numbers)
    actor.load_state_dict(runs.weights(run)["actor_state_dict"])
    return actor.eval()


class Player:
    """A trained policy in environments, without noise on the actions. Episodes begin again in the
    step after their end.

    Args:
        run: folder of a run.
        num_envs: number of environments.
        seed: of the first.
        options: of the environment, instead of the run's.
    """

    def __init__(self, run: Path, num_envs: int, seed: int, **options: Any) -> None:
        settings = runs.load(run)
        self.envs: BatchEnv = gymnasium.make_vec(
            settings.env,
            num_envs=num_envs,
            autoreset_mode=AutoresetMode.NEXT_STEP,
            **(settings.options | options),
        ).unwrapped
        self._policy, self._seed = load(run, self.envs), seed
        self.reset()

    def reset(self) -> None:
        """Begins the first episodes again."""
        self._observations, _ = self.envs.reset(seed=self._seed)

    @torch.no_grad()
    def step(self) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        """One step of all: rewards, which episodes ended, and infos."""
        envs, space = self.envs, self.envs.single_action_space
        seen = {"policy": torch.as_tensor(self._observations).float()}
        actions = self._policy(TensorDict(seen, [envs.num_envs])).numpy()
        results = envs.step(actions.clip(space.low, space.high))
        self._observations, rewards, terminated, truncated, infos = results
        return rewards, terminated | truncated, infos


def play(
    run: Path,
    num_envs: int = 32,
    seed: int = 1_000_000,
    watch: Callable[[BatchEnv, np.ndarray], None] | None = None,
    **options: Any,
) -> Episodes:
    """Plays one episode in each environment, without noise on the actions.

    Args:
        run: folder of a run.
        num_envs: number of environments.
        seed: of the first; the default was not used in training.
        watch: called after each step with the environments and a mask (N,) of those that are in
            their episode; a `Film`, for instance.
        options: of the environment, instead of the run's (`law="convex"`).
    """
    player = Player(run, num_envs, seed, **options)
    envs = player.envs
    returns, lengths = np.zeros(num_envs), np.zeros(num_envs, int)
    failed, running = np.zeros(num_envs, bool), np.ones(num_envs, bool)
    while running.any():
        rewards, ended, infos = player.step()
        returns += rewards * running
        lengths += running
        failed |= running & (infos["status"] != Status.solved)
        if watch is not None:
            watch(envs, running)
        running &= ~ended
    return Episodes(envs.sim.law, returns, lengths, failed)


class Film:
    """Makes a video of the first environment's episode: `with Film(file) as film`. Raises
    ValueError for other kinds of files; its calls raise NoOpenGLError.

    Args:
        file: .mp4 or .gif; its folder is made if absent.
    """

    def __init__(self, file: Path) -> None:
        if problem := self.refuses(file):
            raise ValueError(problem)
        self.file = file
        self._rate = _FPS[file.suffix.lower()]
        self._pictures = Pictures("rgb_array", 640, 480, None)
        self._writer: Any = None
        self._seconds, self._frames = 0.0, 0

    @staticmethod
    def refuses(file: Path) -> str | None:
        """Why a film cannot be written there; None: it can."""
        if file.suffix.lower() not in _FPS:
            return f"expected a file .mp4 or .gif, got {file}"
        return f"{file} is a folder" if file.is_dir() else None

    def __enter__(self) -> Film:
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()
        self._pictures.close()

    def __call__(self, envs: BatchEnv, running: np.ndarray) -> None:
        if not running[0]:
            return
        self._seconds += envs.dt
        while self._frames < self._seconds * self._rate:
            image = self._pictures.of(envs.sim, 0)
            if self._writer is None:  # now that there is something to write
                self.file.parent.mkdir(parents=True, exist_ok=True)
                loop: dict[str, Any] = {"loop": 0} if self.file.suffix.lower() == ".gif" else {}
                self._writer = imageio.get_writer(self.file, fps=self._rate, **loop)
            self._writer.append_data(image)
            self._frames += 1

    def __str__(self) -> str:
        return f"{self.file}: {self._frames} frames, {self._frames / self._rate:.1f} s"
