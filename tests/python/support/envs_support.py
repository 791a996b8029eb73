"""Makes and runs our vector environments."""

from __future__ import annotations

from collections.abc import Iterator

import gymnasium
import numpy as np

import stickslip.envs  # noqa: F401


def make(name: str = "Hopper-v5", num_envs: int = 6, **kwargs) -> gymnasium.vector.VectorEnv:
    return gymnasium.make_vec(f"stickslip/{name}", num_envs=num_envs, **kwargs)


def actions_of(env: gymnasium.vector.VectorEnv, seed: int = 0) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(seed)
    while True:
        yield rng.uniform(-1, 1, env.action_space.shape).astype(np.float32)


def run(env: gymnasium.vector.VectorEnv, steps: int, seed: int = 3) -> list[np.ndarray]:
    """Observations, rewards and episode ends of a run."""
    actions, results = actions_of(env), [env.reset(seed=seed)[0]]
    for _ in range(steps):
        results.extend(env.step(next(actions))[:4])
    return results


def assert_equal(ours: list[np.ndarray], theirs: list[np.ndarray]) -> None:
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)
