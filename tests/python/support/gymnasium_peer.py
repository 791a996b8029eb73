"""Compares Gymnasium's own environments with ours: same seeds and actions, bit for bit."""

from __future__ import annotations

import functools
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

import stickslip.envs  # noqa: F401

VERDICTS = ("status", "residual")  # what ours have in addition


def ours(name: str, num_envs: int, mode: AutoresetMode, **kwargs: Any) -> VectorEnv:
    kwargs = {"law": "mujoco"} | kwargs
    return gymnasium.make_vec(
        f"stickslip/{name}-v5", num_envs=num_envs, autoreset_mode=mode, **kwargs
    )


def theirs(name: str, num_envs: int, mode: AutoresetMode, **kwargs: Any) -> SyncVectorEnv:
    single = functools.partial(gymnasium.make, f"{name}-v5", **kwargs)
    return SyncVectorEnv([single] * num_envs, autoreset_mode=mode)


def assert_same(ours: Any, theirs: Any, path: str = "") -> None:
    """Requires the same bits, types and masks, recursively."""
    if isinstance(theirs, dict):
        known = {k: v for k, v in ours.items() if k.removeprefix("_") not in VERDICTS}
        assert known.keys() == theirs.keys(), path
        for key in theirs:
            assert_same(known[key], theirs[key], f"{path}/{key}")
    elif theirs is None:
        assert ours is None, path
    elif theirs.dtype == object:
        for i in range(len(theirs)):
            assert_same(ours[i], theirs[i], f"{path}[{i}]")
    else:
        assert ours.dtype == theirs.dtype, path
        assert ours.shape == theirs.shape, path
        if ours.tobytes() != theirs.tobytes():
            np.testing.assert_array_equal(ours, theirs, err_msg=path, strict=True)
            raise AssertionError(f"{path}: zeros of different sign")
