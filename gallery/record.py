"""The results of an example."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Check:
    """A number that must be at most `bound`."""

    name: str  # what it is, with its unit
    value: float
    bound: float

    @property
    def holds(self) -> bool:
        """False for NaN too, for which every comparison is false."""
        return bool(self.value <= self.bound)


@dataclass(frozen=True)
class Record:
    """Checks, further numbers by name, and the arrays that pictures are drawn from."""

    checks: list[Check]
    numbers: dict[str, float] = field(default_factory=dict)
    series: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether there are checks, and all hold."""
        return bool(self.checks) and all(check.holds for check in self.checks)
