"""Checks of arguments that only simulations have."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from stickslip._src import arrays as check
from stickslip._src.aliases import Flags


def margin(name: str, value: Any) -> float:
    """A distance, m; -1 without one."""
    if value is None:
        return -1.0
    number = check.number(name, value)
    if number < 0:
        raise ValueError(f"{name}: expected a number >= 0, got {number}")
    return number


def timestep(name: str, value: Any) -> float:
    """A duration, s; 0: the model's."""
    if value is None:
        return 0.0
    number = check.number(name, value)
    if not 0 < number < math.inf:
        raise ValueError(f"{name}: expected a finite number > 0, got {number}")
    return number


def word(name: str, value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a text, got {type(value).__name__}")
    return value


def words(name: str, value: Any) -> list[str]:
    """Texts."""
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise TypeError(f"{name}: expected a list of texts, got {value!r:.60}")
    return [word(f"{name}[{i}]", each) for i, each in enumerate(value)]


def mask(value: Any, num_envs: int) -> Flags:
    """(num_envs,) bool, also of indices; None: all."""
    chosen = np.ones(num_envs, bool) if value is None else check.as_array("mask", value)
    if chosen.ndim <= 1 and (chosen.dtype.kind in "iu" or chosen.size == 0):
        outside = chosen[(chosen < 0) | (chosen >= num_envs)]
        if outside.size:
            raise IndexError(f"mask: expected 0 ... {num_envs - 1}, got {outside[0]}")
        chosen = np.isin(np.arange(num_envs), chosen)
    if chosen.dtype != bool:
        raise TypeError(f"mask: expected an array of bool or indices, got {chosen.dtype}")
    check.require_shape("mask", chosen, (num_envs,))
    return np.ascontiguousarray(chosen)
