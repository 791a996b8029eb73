"""Running a trained policy: what it earns under any law, and a video."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np
import torch
from gymnasium.vector import AutoresetMode

from stickslip._core import Status
from stickslip.envs.base import BatchEnv
from stickslip.rl.agent import Agent
from stickslip.rl.ppo import Settings


@dataclass
class Episodes:
    """One episode of each environment."""

    returns: np.ndarray  #: (N,) sums of rewards
    lengths: np.ndarray  #: (N,) steps
    failed: np.ndarray  #: (N,) bool: ended because contacts were not solved or numbers exploded


def load(run: Path) -> tuple[Settings, Agent]:
    """The settings and the agent of a run's folder."""
    saved = torch.load(run / "policy.pt", weights_only=True, map_location="cpu")
    settings, weights = Settings(**saved["settings"]), saved["agent"]
    sizes = len(weights["scale.mean"]), len(weights["log_deviation"])
    agent = Agent(*sizes, settings.hidden)
    agent.load_state_dict(weights)
    return settings, agent


def play(
    run: Path, num_envs: int = 32, seed: int = 1_000_000, video: Path | None = None, **options: Any
) -> Episodes:
    """Plays one episode in each environment, without noise on the actions.

    Args:
        run: folder of a run.
        num_envs: number of environments.
        seed: of the first; the default is none that training used.
        video: file for a film of the first environment (.mp4, .gif).
        options: of the environment, instead of the run's (`law="convex"`).
    """
    settings, agent = load(run)
    options = settings.options | options
    envs: BatchEnv = gymnasium.make_vec(
        settings.env, num_envs=num_envs, autoreset_mode=AutoresetMode.NEXT_STEP, **options
    ).unwrapped
    space = envs.single_action_space
    observations, _ = envs.reset(seed=seed)
    result = Episodes(np.zeros(num_envs), np.zeros(num_envs, int), np.zeros(num_envs, bool))
    running, frames = np.ones(num_envs, bool), Film(envs, video)
    while running.any():
        actions = (
            agent.best_action(torch.as_tensor(observations)).numpy().clip(space.low, space.high)
        )
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        result.returns += rewards * running
        result.lengths += running
        result.failed |= running & (infos["status"] != Status.solved)
        if running[0]:
            frames.add()
        running &= ~(terminated | truncated)
    frames.close()
    return result


class NoOpenGLError(RuntimeError):
    """There is nothing to draw with."""


class Film:
    """Frames of the first environment in a file; nothing without one."""

    _fps = 30

    def __init__(self, envs: BatchEnv, file: Path | None) -> None:
        self.envs, self.file, self.seconds, self.frames = envs, file, 0.0, 0
        if file is None:
            return
        import imageio.v2 as imageio

        file.parent.mkdir(parents=True, exist_ok=True)
        self.writer = imageio.get_writer(file, fps=self._fps)
        self.data = mujoco.MjData(envs.model)
        try:
            self.renderer = mujoco.Renderer(envs.model, 480, 640)
        except Exception as error:  # what a missing OpenGL raises differs by driver
            raise NoOpenGLError(f"MuJoCo cannot draw here: {error}") from error
        self.camera = mujoco.MjvCamera()
        mujoco.mjv_defaultFreeCamera(envs.model, self.camera)

    def add(self) -> None:
        if self.file is None:
            return
        self.seconds += self.envs.dt
        while self.frames < self.seconds * self._fps:
            self.data.qpos[:] = self.envs.sim.qpos[0]
            mujoco.mj_forward(self.envs.model, self.data)
            self.camera.lookat[:] = self.data.subtree_com[0]
            self.renderer.update_scene(self.data, self.camera)
            self.writer.append_data(self.renderer.render())
            self.frames += 1

    def close(self) -> None:
        if self.file is not None:
            self.writer.close()
            self.renderer.close()
