"""Checks of arguments that only simulations have."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from stickslip._src import arrays as check


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
