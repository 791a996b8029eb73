"""A failure in one environment is reported, ends its episode, and affects no other."""

from __future__ import annotations

import numpy as np
import pytest
from envs_support import actions_of, make
from gymnasium.vector import AutoresetMode

import stickslip
from stickslip import Status

SAME, DISABLED = AutoresetMode.SAME_STEP, AutoresetMode.DISABLED


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("law", ["coulomb", "mujoco"])
def test_a_poisoned_environment_harms_no_other_and_is_told(law: str, mode: AutoresetMode) -> None:
    good, bad = (make("HalfCheetah-v5", 64, law=law, autoreset_mode=mode) for _ in range(2))
    actions = actions_of(good)
    good.reset(seed=0)
    last = bad.reset(seed=0)[0]
    poison = {5: ("action", np.nan), 12: ("state", np.nan), 20: ("action", np.inf)}
    poison |= {30: ("state", 1e200), 40: ("velocity", 1e9)}
    others, counted = np.arange(64) != 17, 0
    for step in range(60):
        action = next(actions)
        expected = good.step(action)
        kind, value = poison.get(step, (None, 0.0))
        if kind == "action":
            action = action.copy()
            action[17, 2] = value
        elif kind == "state":
            bad.sim.qpos[17, 3] = value
        elif kind == "velocity":
            bad.sim.qvel[17, 3:] = value
        observations, rewards, terminated, truncated, infos = bad.step(action)
        for ours, theirs in zip((observations, rewards), expected, strict=False):
            np.testing.assert_array_equal(ours[others], theirs[others])
        assert np.isfinite(observations).all()
        assert np.isfinite(rewards).all()
        assert not terminated.any()
        assert not truncated[others].any()
        if kind:
            counted += 1
            assert infos["status"][17] == Status.bad_input
            assert infos["residual"][17] == np.inf
            assert truncated[17]
            assert rewards[17] == 0
            kept = infos["final_obs"][17] if mode is SAME else observations[17]
            np.testing.assert_array_equal(kept, last[17])  # the last good observation
            assert not infos["_reward_ctrl"][17]
            if mode is SAME:
                assert np.abs(observations[17]).max() < 1
            if mode is DISABLED:
                observations, _ = bad.reset(options={"reset_mask": ~others})
        else:
            assert infos["status"][17] == Status.solved
            assert not truncated[17]
        assert bad.failures[17] == counted
        last = observations
    assert counted == 5
    assert not bad.failures[others].any()
    assert not good.failures.any()


@pytest.mark.filterwarnings("ignore:.*not solved:UserWarning")
def test_contacts_that_are_not_solved_end_the_episode() -> None:
    options = stickslip.SolveOptions(max_sweeps=1)
    env = make("Ant-v5", 8, solver="pgs", options=options, max_episode_steps=None)
    env.reset(seed=0)
    told = np.zeros(8, int)
    for actions, _ in zip(actions_of(env), range(40), strict=False):
        *_, truncated, infos = env.step(actions)
        failed = infos["_status"] & (infos["status"] != Status.solved)
        np.testing.assert_array_equal(truncated, failed)
        told += failed
    np.testing.assert_array_equal(env.failures, told)
    assert told.sum() > 0
