"""Vector environments for Gymnasium: all environments of a batch step together, under a chosen
friction law, and each step of each environment has a verdict.

Importing this module registers them, for instance:

    gymnasium.make_vec("stickslip/Ant-v5", num_envs=1024)
    gymnasium.make("stickslip/Ant-v5", render_mode="rgb_array")
"""

from __future__ import annotations

import os
from importlib.util import find_spec

if find_spec("mujoco") is None or find_spec("gymnasium") is None:
    raise ImportError('stickslip.envs needs MuJoCo and Gymnasium: pip install "stickslip[mujoco]"')

import gymnasium

from stickslip._src.stage import choose_opengl

if not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
    choose_opengl()  # before mujoco is imported

from stickslip.envs.base import BatchEnv
from stickslip.envs.grasp import Grasp
from stickslip.envs.locomotion import G1, Go1, VelocityTracking
from stickslip.envs.manipulation import PandaCube, PandaMug, PickPlace
from stickslip.envs.planar import HalfCheetah, Hopper, Walker2d
from stickslip.envs.scripts import pick_and_place
from stickslip.envs.single import SingleEnv, single
from stickslip.envs.spatial import Ant, Humanoid

__all__ = [
    "G1",
    "Ant",
    "BatchEnv",
    "Go1",
    "Grasp",
    "HalfCheetah",
    "Hopper",
    "Humanoid",
    "PandaCube",
    "PandaMug",
    "PickPlace",
    "SingleEnv",
    "VelocityTracking",
    "Walker2d",
    "pick_and_place",
    "single",
]

#: Registered environments: the class of each, and the steps after which episodes are truncated.
REGISTERED: dict[str, tuple[type[BatchEnv], int]] = {
    "stickslip/Ant-v5": (Ant, 1000),
    "stickslip/HalfCheetah-v5": (HalfCheetah, 1000),
    "stickslip/Hopper-v5": (Hopper, 1000),
    "stickslip/Walker2d-v5": (Walker2d, 1000),
    "stickslip/Humanoid-v5": (Humanoid, 1000),
    "stickslip/Go1-v0": (Go1, 1000),
    "stickslip/G1-v0": (G1, 1000),
    "stickslip/Grasp-v0": (Grasp, 250),
    "stickslip/PandaCube-v0": (PandaCube, 300),
    "stickslip/PandaMug-v0": (PandaMug, 300),
}
for _name, (_family, _steps) in REGISTERED.items():
    gymnasium.register(
        _name,
        entry_point=single(_family),
        vector_entry_point=_family,
        max_episode_steps=_steps,
    )
