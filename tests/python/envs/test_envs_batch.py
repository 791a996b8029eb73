"""Vector environments: episodes, resets and seeds, threads, wrappers."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from envs_support import actions_of, assert_equal, make, run
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import vector as wrappers

SAME, NEXT, DISABLED = AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED


@pytest.mark.parametrize("mode", [None, "vector_entry_point"])
def test_make_vec_finds_them(mode: str | None) -> None:
    env = make("Ant-v5", 1024, vectorization_mode=mode)
    observations, _ = env.reset(seed=0)
    assert observations.shape == (1024, 105)
    assert env.observation_space.contains(observations)
    result = env.step(env.action_space.sample())
    assert [part.shape for part in result[:4]] == [(1024, 105), (1024,), (1024,), (1024,)]
    assert result[4]["status"].shape == (1024,)
    assert env.metadata["autoreset_mode"] is NEXT
    assert env.spec.id == "stickslip/Ant-v5"
    env.close()


@pytest.mark.parametrize("law", ["coulomb", "convex", "mujoco"])
def test_the_three_autoreset_modes_tell_the_same_story(law: str) -> None:
    """SAME_STEP and DISABLED with an immediate reset show the same episodes; NEXT_STEP does so with
    an additional step between them."""
    envs = {
        mode: make(law=law, max_episode_steps=40, autoreset_mode=mode) for mode in AutoresetMode
    }
    story = {mode: [[] for _ in range(6)] for mode in AutoresetMode}  # by environment
    for mode, env in envs.items():
        observations, _ = env.reset(seed=1)
        for i in range(6):
            story[mode][i].append(observations[i])
        waiting = np.zeros(6, bool)
        for step in range(100):
            action = np.full(env.action_space.shape, 0.3 * np.sin(0.1 * step))
            # Actions depend on the environment's own step count, so that the modes agree.
            clock = np.array([len(s) for s in story[mode]])
            action = 0.3 * np.sin(0.7 * clock)[:, None] * np.ones(3)
            observations, rewards, terminated, truncated, infos = env.step(action)
            done = terminated | truncated
            for i in range(6):
                if waiting[i]:
                    assert rewards[i] == 0
                    assert not done[i]
                    story[mode][i].append(observations[i])
                elif not done[i]:
                    story[mode][i].append(observations[i])
            if mode is SAME and done.any():
                assert (infos["_final_obs"] == done).all()
                assert (infos["_final_info"] == done).all()
                last = infos["final_info"]
                assert (last["_x_position"] == done).all()
                assert (last["_status"] == done).all()
                for i in np.flatnonzero(done):
                    story[mode][i].append(infos["final_obs"][i])
                    story[mode][i].append(observations[i])
                assert all(infos["final_obs"][i] is None for i in np.flatnonzero(~done))
                assert (infos["_reward_forward"] == ~done).all() if not done.all() else True
            elif done.any():
                for i in np.flatnonzero(done):
                    story[mode][i].append(observations[i])
                if mode is DISABLED:
                    again, _ = env.reset(options={"reset_mask": done})
                    np.testing.assert_array_equal(again[~done], observations[~done])
                    for i in np.flatnonzero(done):
                        story[mode][i].append(again[i])
            waiting = done if mode is NEXT else np.zeros(6, bool)
    for i in range(6):
        length = min(len(story[mode][i]) for mode in AutoresetMode)
        assert length > 60
        for mode in (NEXT, DISABLED):
            assert_equal(story[mode][i][:length], story[SAME][i][:length])


def test_disabled_asks_for_resets_and_others_do_not() -> None:
    env = make(autoreset_mode=DISABLED, max_episode_steps=1)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros((6, 3)))
    env.reset(seed=0)
    env.step(np.zeros((6, 3)))
    with pytest.raises(gymnasium.error.ResetNeeded, match="reset_mask"):
        env.step(np.zeros((6, 3)))
    env.reset(options={"reset_mask": np.arange(6) < 5})
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"\[5\]"):
        env.step(np.zeros((6, 3)))
    env.reset(options={"reset_mask": np.arange(6) == 5})
    env.step(np.zeros((6, 3)))


def test_seeds_are_each_environments_own() -> None:
    six, two = make(law="coulomb"), make(num_envs=2, law="coulomb")
    a = run(six, 60)
    assert six.np_random_seed == (3, 4, 5, 6, 7, 8)
    assert_equal(a, run(make(law="coulomb"), 60))
    np.testing.assert_array_equal(two.reset(seed=[8, 3])[0], a[0][[5, 0]])
    before = two.reset(seed=[8, 3])[0]
    after = two.reset()[0]  # generators continue
    assert (before != after).any(axis=1).all()
    np.testing.assert_array_equal(two.reset(seed=[None, 3])[0][1], before[1])
    only = two.reset(seed=[8, 9], options={"reset_mask": np.array([True, False])})[0]
    np.testing.assert_array_equal(only, before)
    assert two.np_random_seed == (8, 3)


@pytest.mark.parametrize("name", ["Ant-v5", "Humanoid-v5", "HalfCheetah-v5", "Grasp-v0"])
def test_threads_and_neighbours_change_no_bit(name: str) -> None:
    one, two = make(name, 5, threads=1), make(name, 5, threads=2)
    results = run(one, 60)
    assert_equal(results, run(two, 60))
    env = make(name, 3, threads=2)
    actions, first = actions_of(one), env.reset(seed=3)[0]
    np.testing.assert_array_equal(first, results[0][:3])
    for step in range(60):
        parts = env.step(next(actions)[:3])[:4]
        assert_equal(list(parts), [part[:3] for part in results[1 + 4 * step :][:4]])


def test_wrong_actions_are_refused() -> None:
    env = make()
    env.reset()
    with pytest.raises(ValueError, match=r"actions: expected shape \(6, 3\)"):
        env.step(np.zeros((5, 3)))
    with pytest.raises(TypeError, match="actions"):
        env.step(np.full((6, 3), "x"))
    with pytest.raises(TypeError, match="reset_mask"):
        env.reset(options={"reset_mask": [True] * 6})
    with pytest.raises(ValueError, match="seed: expected 6"):
        env.reset(seed=[1, 2])
    with pytest.raises(TypeError, match="colour"):
        make(colour="red")


def test_returned_arrays_are_the_callers() -> None:
    env, other = make(), make()
    results = [env.reset(seed=0)[0], other.reset(seed=0)[0]]
    for actions, _ in zip(actions_of(env), range(30), strict=False):
        ours, theirs = env.step(actions), other.step(actions)
        np.testing.assert_array_equal(ours[0], theirs[0])
        for part in ours[:4]:
            part[:] = 7
        for part in ours[4].values():
            if part.dtype != object:
                part[:] = 1
    assert results[0].shape == results[1].shape


def test_gymnasiums_wrappers() -> None:
    env = wrappers.RecordEpisodeStatistics(make(max_episode_steps=20))
    env = wrappers.NormalizeReward(wrappers.NormalizeObservation(env))
    env = wrappers.ClipAction(wrappers.RescaleAction(env, np.float32(-2), np.float32(2)))
    env.reset(seed=0)
    episodes = 0
    for actions, _ in zip(actions_of(env), range(100), strict=False):
        observations, _, terminated, truncated, infos = env.step(actions)
        done = terminated | truncated
        assert np.isfinite(observations).all()
        if done.any():
            assert (infos["_episode"] == done).all()
            assert (infos["episode"]["l"][done] <= 20).all()
            episodes += done.sum()
    assert episodes >= 6 * 4
    listed = wrappers.DictInfoToList(make(autoreset_mode=SAME, max_episode_steps=2))
    listed.reset(seed=0)
    for _ in range(2):
        infos = listed.step(np.zeros((6, 3)))[4]
    assert all("final_info" in info for info in infos)
