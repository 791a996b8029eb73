"""Results of a step, as Warp arrays on the device of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class StepResult:
    """The latest solve of each world. The arrays are the same at every step."""

    impulse: Any  #: (nworld, njmax), N s (law "convex": N): in the order of `row`, 0 beyond
    row: Any  #: (nworld, njmax) int32: the row of `d.efc` that each belongs to, -1 beyond
    residual: Any  #: (nworld,) float64, m/s (law "convex": m/s²)
    status: Any  #: (nworld,) int32, members of `stickslip.Status`
    iterations: Any  #: (nworld,) int32: sweeps, Newton steps, pivots together
    rows_needed: Any  #: (nworld,) int32: more than `d.njmax` where that many rows did not fit
    overflow: Any  #: (nworld,) int32: bits of `mujoco_warp.OverflowType`, of this step alone
