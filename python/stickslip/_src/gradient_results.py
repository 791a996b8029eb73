"""Derivatives, each with its validity (docs/gradients.md)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from stickslip._core import GradientStatus
from stickslip._src.aliases import Float64, Int32, Numbers
from stickslip._src.solution import count_names


@dataclass(frozen=True, eq=False, repr=False)
class Derivative:
    """Common base: whether the derivatives of each environment can be trusted. None is ever NaN."""

    status: Int32  #: (E,) int32; compare with members of `GradientStatus`
    #: (E,) m/s: how far the velocities are from the next change between open, sticking and sliding
    kink_distance: Float64
    inconsistency: Float64  #: (E,) share of the right side that does not fit the equations

    @property
    def ok(self) -> Any:
        """(E,) bool: valid."""
        return self.status == GradientStatus.valid

    @property
    def status_counts(self) -> dict[str, int]:
        """Number of environments by the name of their status, zeros left out."""
        return count_names(self.status, GradientStatus)

    def one(self) -> Self:
        """The only environment's results without the environment axis."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        first: dict[str, Any] = {k: None if v is None else v[0] for k, v in values.items()}
        return type(self)(**first)

    def __repr__(self) -> str:
        if np.ndim(self.status) == 0:
            name = GradientStatus(int(self.status)).name
            return f"{type(self).__name__}({name}, kink {self.kink_distance:.1e} m/s away)"
        counts = ", ".join(f"{number} {name}" for name, number in self.status_counts.items())
        return f"{type(self).__name__}({len(self.status)} environments: {counts})"


@dataclass(frozen=True, eq=False, repr=False)
class Gradient(Derivative):
    """dL/d(problem), per environment, also for arguments that environments share."""

    #: (E,) int32, 1 where active rows are linearly dependent: the derivative by b, row by row, is
    #: then right for changes that the mechanism can make, J dv
    redundant: Int32
    b: Numbers  #: (E, n)
    mu: Numbers  #: (E, p) if `mu` was one number or per contact, else per tangential row
    R: Numbers  #: (E, n)
    lo: Numbers | None  #: (E, n_box)
    hi: Numbers | None
    impulse: Numbers  #: (E, n) of the solution

    @property
    def W(self) -> Numbers:
        """(E, n, n), of rank one: b r^T; every entry counts as independent."""
        with np.errstate(over="ignore", invalid="ignore"):  # impulses in float32 may be infinite
            return np.nan_to_num(self.b[..., :, None] * self.impulse[..., None, :])


@dataclass(frozen=True, eq=False, repr=False)
class StepGradient(Gradient):
    """The same through a step, v_next = v_free + M^-1 J^T r, with b = J v_free + c."""

    v_free: Numbers  #: (E, nv)
    adjoint: Numbers  #: (E, nv) M^-1 of it: the derivative by the momentum M v_free
    M: Numbers  #: (E, nv, nv), symmetric
    J: Numbers  #: (E, n, nv)


@dataclass(frozen=True, eq=False, repr=False)
class Change(Derivative):
    """The change of the solution that follows from a change of the problem."""

    redundant: Int32  #: as in `Gradient`
    impulse: Numbers  #: (E, n), N s
    velocity: Numbers  #: (E, n), m/s, of the rows
