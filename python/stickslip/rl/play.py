"""Running a trained policy: its returns under any law, and a video."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import imageio.v2 as imageio
import mujoco
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from rsl_rl.utils import resolve_class
from tensordict import TensorDict

from stickslip._core import Status
from stickslip.envs.base import BatchEnv
from stickslip.rl import runs


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


@torch.no_grad()
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
    settings = runs.load(run)
    envs: BatchEnv = gymnasium.make_vec(
        settings.env,
        num_envs=num_envs,
        autoreset_mode=AutoresetMode.NEXT_STEP,
        **(settings.options | options),
    ).unwrapped
    policy, space = load(run, envs), envs.single_action_space
    observations, _ = envs.reset(seed=seed)
    returns, lengths = np.zeros(num_envs), np.zeros(num_envs, int)
    failed, running = np.zeros(num_envs, bool), np.ones(num_envs, bool)
    while running.any():
        seen = TensorDict({"policy": torch.as_tensor(observations).float()}, [num_envs])
        actions = policy(seen).numpy().clip(space.low, space.high)
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        returns += rewards * running
        lengths += running
        failed |= running & (infos["status"] != Status.solved)
        if watch is not None:
            watch(envs, running)
        running &= ~(terminated | truncated)
    return Episodes(envs.sim.law, returns, lengths, failed)


class NoOpenGLError(RuntimeError):
    """No drawing library works."""


class Film:
    """Makes a video of the first environment's episode: `with Film(file) as film`.

    Args:
        file: .mp4 or .gif; its folder is made if absent.
    """

    _fps = 30

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._writer = imageio.get_writer(file, fps=self._fps)
        self._renderer: mujoco.Renderer | None = None
        self._seconds, self._frames = 0.0, 0

    def __enter__(self) -> Film:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()
        if self._renderer is not None:
            self._renderer.close()

    def __call__(self, envs: BatchEnv, running: np.ndarray) -> None:
        if not running[0]:
            return
        if self._renderer is None:
            self._set_up(envs.model)
        self._seconds += envs.dt
        while self._frames < self._seconds * self._fps:
            self._data.qpos[:] = envs.sim.qpos[0]
            mujoco.mj_forward(envs.model, self._data)
            self._camera.lookat[:] = self._data.subtree_com[0]
            self._renderer.update_scene(self._data, self._camera)
            self._writer.append_data(self._renderer.render())
            self._frames += 1

    def _set_up(self, model: mujoco.MjModel) -> None:
        self._data = mujoco.MjData(model)
        self._camera = mujoco.MjvCamera()
        mujoco.mjv_defaultFreeCamera(model, self._camera)
        try:
            self._renderer = mujoco.Renderer(model, 480, 640)
        except Exception as error:  # the exception depends on the driver
            raise NoOpenGLError(f"MuJoCo cannot draw here: {error}") from error
