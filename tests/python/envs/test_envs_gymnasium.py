"""With MuJoCo's law, the five environments of Gymnasium, equal to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium_peer import assert_same, ours, theirs

NAMES = ("Ant", "HalfCheetah", "Hopper", "Walker2d", "Humanoid")
STEPS = 1000
LIMIT = 150  # steps of an episode, so that all environments are truncated several times


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("name", NAMES)
def test_same_bits_as_gymnasium(name: str, mode: AutoresetMode) -> None:
    envs = [make(name, 2, mode, max_episode_steps=LIMIT) for make in (ours, theirs)]
    assert envs[0].single_action_space == envs[1].single_action_space
    assert envs[0].single_observation_space == envs[1].single_observation_space
    assert_same(*(env.reset(seed=7)[0] for env in envs), "reset")
    assert_same(*(env.reset(seed=7)[1] for env in envs), "reset")
    rng = np.random.default_rng(0)
    ended = np.zeros(2)
    for step in range(STEPS):
        actions = rng.uniform(-1, 1, envs[0].action_space.shape).astype(np.float32)
        actions *= envs[0].single_action_space.high
        results = [env.step(actions) for env in envs]
        for part, our_part, their_part in zip(
            ("observations", "rewards", "terminations", "truncations", "infos"),
            *results,
            strict=True,
        ):
            assert_same(our_part, their_part, f"{name} step {step} {part}")
        done = results[0][2] | results[0][3]
        ended += done
        if mode is AutoresetMode.DISABLED and done.any():
            again = [env.reset(options={"reset_mask": done.copy()}) for env in envs]
            for part in (0, 1):
                assert_same(again[0][part], again[1][part], f"{name} step {step} reset")
    assert (ended >= STEPS // LIMIT - 1).all()
    for env in envs:
        env.close()
