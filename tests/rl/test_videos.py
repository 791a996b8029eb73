"""Gymnasium's RecordVideo writes videos of our environments, of one or of several."""

import gymnasium
import imageio.v3
import numpy as np
import pytest
from gymnasium.wrappers import RecordVideo
from gymnasium.wrappers.vector import RecordVideo as RecordVectorVideo

import stickslip.envs  # noqa: F401 - registers the environments

pytest.importorskip("moviepy")
# moviepy and imageio leave the pipes of ffmpeg to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
STEPS = 20
FRAMES = STEPS + 1  # one after the reset


def record(env, folder):
    env.reset(seed=1)
    env.action_space.seed(1)
    for _ in range(STEPS):
        env.step(env.action_space.sample())
    env.close()
    (path,) = folder.glob("*.mp4")
    return imageio.v3.imread(path)


def test_of_one_environment(tmp_path):
    env = gymnasium.make("stickslip/Ant-v5", render_mode="rgb_array", width=160, height=128)
    frames = record(RecordVideo(env, str(tmp_path / "v"), video_length=STEPS), tmp_path / "v")
    assert frames.shape == (FRAMES, 128, 160, 3)
    assert np.ptp(frames[0]) > 50, "a picture of something"
    assert (frames[0] != frames[-1]).any(), "that moves"


def test_of_several(tmp_path):
    envs = gymnasium.make_vec(
        "stickslip/Ant-v5", num_envs=4, render_mode="rgb_array", width=160, height=128
    )
    frames = record(
        RecordVectorVideo(envs, str(tmp_path / "v"), video_length=STEPS), tmp_path / "v"
    )
    count, height, width, colours = frames.shape
    assert (count, colours) == (FRAMES, 3)
    assert min(height / 128, width / 160) >= 1
    assert (frames[0] != frames[-1]).any()
