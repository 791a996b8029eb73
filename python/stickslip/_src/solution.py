"""The results of a solve."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any, ClassVar, Generic, Self

import numpy as np

from stickslip._core import LcpMethod, Selected, Solver, Status
from stickslip._src.aliases import Flags, Float64, Int32, Numbers, Proof

#: What every solve returns, whatever the framework: the first fields of each class of solutions.
RESULTS = ("impulse", "residual", "status", "iterations", "solver", "rows_needed", "rung")
INTEGERS = RESULTS[2:]  #: those that are int32
#: Of fields of results.
_ENUMS = {"status": Status, "solver": Solver, "method": LcpMethod, "selected": Selected}


class Verdicts:
    """Common base of all results. Their fields have the environment axis first."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
    status: Int32

    @property
    def ok(self) -> Flags:
        """(E,) bool: solved."""
        return self.status == Status.solved

    @property
    def status_counts(self) -> dict[str, int]:
        """Number of environments by the name of their status, most severe last, zeros left out."""
        return count_names(self.status, Status)

    def one(self) -> Self:
        """The only environment's results without the environment axis."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        first: dict[str, Any] = {
            name: None if value is None else value[0] for name, value in values.items()
        }
        members = {name: enum(first[name]) for name, enum in _ENUMS.items() if name in first}
        return type(self)(**{**first, **members})


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Verdicts, Generic[Proof]):
    """Impulses of a batch, and a verdict on each environment.

    For one problem instead of a batch the environment axis is missing: `impulse` is (n,), the
    others are scalars.
    """

    impulse: Numbers  #: (E, n), N s; rows beyond an environment's own are 0
    residual: Float64  #: (E,), m/s, measured in double, in every precision
    status: Int32  #: (E,) int32; compare with members of `Status`
    iterations: Int32  #: (E,) int32, sweeps and Newton steps together
    solver: Int32  #: (E,) int32; the member of `Solver` that produced the impulse
    rows_needed: Int32  #: (E,) int32; more than n where the status is over_capacity
    rung: Int32  #: (E,) int32; of the ladder, from 0: which produced the impulse
    #: (E,) int32; a member of `Selected`: which of many solutions it is (mathematics, section 9)
    selected: Int32
    #: (E, n) proofs of what is `infeasible`, 0 elsewhere; None unless `certificates` asks for them
    certificate: Proof = None  # type: ignore[assignment]

    @property
    def worst(self) -> int:
        """Environment with the largest residual (0 in an empty batch)."""
        residual = np.atleast_1d(self.residual)
        return int(np.argmax(residual)) if residual.size else 0

    def __repr__(self) -> str:
        if np.ndim(self.status) == 0:
            status, solver = Status(int(self.status)).name, Solver(int(self.solver)).name
            return (
                f"Solution({status}, residual {self.residual:.1e} m/s, "
                f"{self.iterations} iterations of {solver})"
            )
        total = len(self.status)
        if total == 0:
            return "Solution(0 environments)"
        counts = ", ".join(f"{number} {name}" for name, number in self.status_counts.items())
        worst = f"worst residual {self.residual[self.worst]:.1e} m/s (environment {self.worst})"
        return f"Solution({total} environments: {counts}; {worst})"


def count_names(values: Int32, enum: type[IntEnum]) -> dict[str, int]:
    """How often each member of an integer enum occurs in `values`, by name, zeros left out."""
    numbers = np.bincount(np.ravel(values), minlength=len(enum.__members__))
    return {member.name: int(numbers[member]) for member in enum if numbers[member]}


@dataclass(frozen=True, eq=False)
class Measures:
    """Violation of each condition separately; arrays (E,), or scalars for one problem."""

    residual: Float64  #: m/s, the natural map, which determines the status
    penetration: Float64  #: m/s, max(0, -u_n) over contacts and nonneg rows
    cone_violation: Float64  #: N s, excess |r_t| - mu r_n, or of a bound
    complementarity: Float64  #: W, max |r_n u_n|
    misalignment: Float64  #: W, |r_t||u_t| + r_t . u_t; 0 where friction opposes sliding
