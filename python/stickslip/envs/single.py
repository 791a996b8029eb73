"""One environment with the interface of `gymnasium.Env`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from stickslip.envs._pictures import RENDER_MODES
from stickslip.envs.base import BatchEnv


class SingleEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """A `BatchEnv` of one environment: the same observations, rewards and infos, without the axis
    of the batch, which is `batch`. An environment that failed (see `BatchEnv`) is truncated."""

    def __init__(self, batch: BatchEnv) -> None:
        self.batch = batch
        self.metadata = {**batch.metadata}
        self.render_mode = batch.render_mode
        self.observation_space = batch.single_observation_space
        self.action_space = batch.single_action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        observations, infos = self.batch.reset(seed=seed)
        return observations[0], _first(infos)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        observations, rewards, terminated, truncated, infos = self.batch.step(
            np.asarray(action)[None]
        )
        return (
            observations[0],
            float(rewards[0]),
            bool(terminated[0]),
            bool(truncated[0]),
            _first(infos),
        )

    def render(self) -> Any:
        frames = self.batch.render()
        return None if frames is None else frames[0]

    def close(self) -> None:
        self.batch.close()


def single(family: type[BatchEnv]) -> Callable[..., SingleEnv]:
    """The entry point of `gymnasium.make` for a class of environments: gymnasium.register(id,
    entry_point=single(Sledge), vector_entry_point=Sledge)."""

    def make(**arguments: Any) -> SingleEnv:
        for name in ("num_envs", "autoreset_mode"):
            if name in arguments:
                raise TypeError(
                    f"{family.__name__}: {name} is an argument of gymnasium.make_vec, not of make"
                )
        return SingleEnv(family(1, autoreset_mode=AutoresetMode.DISABLED, **arguments))

    make.__name__ = family.__name__
    make.metadata = {"render_modes": RENDER_MODES}  # Gymnasium builds its other modes from them
    return make


def _first(infos: dict[str, Any]) -> dict[str, Any]:
    """Infos of environment 0, without the masks of the batch."""
    return {
        key: value[0]
        for key, value in infos.items()
        if not key.startswith("_") and infos.get(f"_{key}", [True])[0]
    }
