"""Environments as Gymnasium's users make them: one at a time, with pictures and videos."""

import os
import subprocess
import sys
from ctypes.util import find_library

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import stickslip.envs
from stickslip import models
from stickslip.envs import REGISTERED, Ant, BatchEnv

QUIET = "ignore:.*(obs.*infinity|not within the observation space|precision lowered|spec).*"


def made(name: str, **arguments):
    try:
        return gymnasium.make(name, **arguments)
    except models.ModelNotFoundError as error:
        pytest.skip(str(error).splitlines()[0])


@pytest.mark.parametrize("name", REGISTERED)
@pytest.mark.filterwarnings(QUIET)
def test_check_env(name):
    check_env(made(name).unwrapped, skip_render_check=True)


def test_one_environment_is_the_batch_of_one():
    env = gymnasium.make("stickslip/Hopper-v5", reset_noise_scale=1e-3)
    batch = gymnasium.make_vec("stickslip/Hopper-v5", num_envs=1, reset_noise_scale=1e-3)
    one, info = env.reset(seed=3)
    many, infos = batch.reset(seed=3)
    np.testing.assert_array_equal(one, many[0])
    for _ in range(30):
        action = env.action_space.sample()
        *one, info = env.step(action)
        *many, infos = batch.step(action[None])
        for a, b in zip(one, many, strict=True):
            np.testing.assert_array_equal(a, b[0])
        assert info["status"] == infos["status"][0] == 0
        assert info["residual"] == infos["residual"][0]
        if one[2] or one[3]:
            break


WINDOW = """
import gymnasium
import pygame
import stickslip.envs
env = gymnasium.make("stickslip/Hopper-v5", render_mode="human")
assert env.render_mode == "human"
env.reset(seed=0)
for _ in range(2):
    env.step(env.action_space.sample())
pixels = pygame.surfarray.array3d(pygame.display.get_surface())
assert pixels.shape == (480, 480, 3), pixels.shape
assert pixels.std() > 10, "the window is empty"
env.close()
"""


def test_a_window_shows_the_robot():
    environment = os.environ | {"MUJOCO_GL": "egl", "SDL_VIDEODRIVER": "dummy"}
    command = [sys.executable, "-c", WINDOW]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_time_limit():
    env = gymnasium.make("stickslip/HalfCheetah-v5", max_episode_steps=5)
    env.reset(seed=0)
    truncated = [env.step(env.action_space.sample())[3] for _ in range(5)]
    assert truncated == [False] * 4 + [True]


# MuJoCo selects OpenGL when it is imported: another process.
PICTURES = """
import copy
import numpy as np
from stickslip.envs import Ant
env = Ant(2, render_mode="rgb_array", width=160, height=120, integrator="implicitfast")
env.reset(seed=0)
env.sim.qpos[1, 2] += 1.0
frames = copy.deepcopy(env).render()
for a, b in zip(frames, env.render(), strict=True):
    assert (a == b).all()
assert [frame.shape for frame in frames] == [(120, 160, 3)] * 2
assert all(frame.dtype == np.uint8 and frame.std() > 10 for frame in frames)
assert np.abs(frames[0].astype(float) - frames[1]).mean() > 1
env.close()
one = gymnasium.make("stickslip/Hopper-v5", render_mode="rgb_array", width=1280, height=720)
one.reset(seed=0)
assert one.render().shape == (720, 1280, 3)
one = gymnasium.make("stickslip/Hopper-v5", render_mode="rgb_array_list")
one.reset(seed=0)
one.step(one.action_space.sample())
assert len(one.render()) == 2
env = Ant(1, render_mode="rgb_array", camera="trak", integrator="implicitfast")
env.reset(seed=0)
try:
    env.render()
except ValueError as error:
    assert "camera: expected one of ['track'], got 'trak'" in str(error)
    print("done")
"""


@pytest.mark.skipif(find_library("EGL") is None, reason="no EGL: MuJoCo cannot draw")
def test_pictures_show_the_robot_and_differ_by_environment():
    surroundings = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "MUJOCO_GL")}
    script = "import gymnasium" + PICTURES
    result = subprocess.run(
        [sys.executable, "-c", script],
        env=surroundings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout == "done\n", result.stderr


@pytest.mark.parametrize(
    ("name", "option", "value", "message"),
    [
        ("Ant", "frameskip", 3, "Ant: unexpected argument 'frameskip'; did you mean frame_skip"),
        ("Ant", "max_episode_steps", "x", "max_episode_steps: expected an integer, got str"),
        ("Ant", "autoreset_mode", "x", "autoreset_mode: expected one of 'NextStep', .* got 'x'"),
        ("Ant", "randomize", {"mass": "ab"}, r"randomize\['mass'\]: expected .* got 'ab'"),
        ("Ant", "ctrl_cost_weight", "x", "ctrl_cost_weight: expected a number, got str"),
        ("Ant", "contact_force_range", 3, "contact_force_range: expected 2 numbers, got 3"),
        ("Humanoid", "healthy_z_range", (1, "x"), "healthy_z_range: expected a number, got str"),
        ("HalfCheetah", "reset_noise_scale", None, "reset_noise_scale: expected a number, got"),
        ("Walker2d", "terminate_when_unhealthy", 1, "terminate_when_unhealthy: expected a bool"),
        ("Hopper", "healthy_state_range", (1, 2, 3), "healthy_state_range: expected 2 numbers"),
        ("Grasp", "force", "x", "force: expected a number, got str"),
        ("Grasp", "noslip_iterations", -1, "noslip_iterations: expected an integer >= 0"),
        ("Go1", "command_range", (1, 2), r"command_range: expected 3 numbers, got \(1, 2\)"),
        ("Go1", "num_envs", "x", "num_envs: expected an integer, got str"),
    ],
)
def test_arguments_of_another_type(name, option, value, message):
    with pytest.raises((TypeError, ValueError), match=message):
        getattr(stickslip.envs, name)(**{option: value})


def test_wrong_resets_are_named():
    env = Ant(2)
    for wrong, message in (
        ({"seed": "ab"}, "seed: expected an integer or a list of them, got 'ab'"),
        ({"seed": 1.5}, "seed: expected an integer or a list of them, got 1.5"),
        ({"options": 3}, "options: expected a dict, got int"),
    ):
        with pytest.raises(TypeError, match=message):
            env.reset(**wrong)


def test_wrong_use_is_named():
    with pytest.raises(TypeError, match="Ant: unexpected argument 'solvr'; did you mean solver"):
        Ant(2, solvr="pgs")
    with pytest.raises(ValueError, match="render_mode: expected rgb_array or None, got 'movie'"):
        Ant(2, render_mode="movie")
    with pytest.raises(ValueError, match="width: expected an integer >= 1"):
        Ant(2, render_mode="rgb_array", width=-1)
    with pytest.raises(TypeError, match="Ant: num_envs is an argument of"):
        gymnasium.make("stickslip/Ant-v5", num_envs=3)
    assert issubclass(stickslip.envs.Ant, BatchEnv)
