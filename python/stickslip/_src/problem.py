"""A batch of problems as one object."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from stickslip._core import Law, Precision, Solver
from stickslip._src import arrays as check
from stickslip._src.aliases import (
    Backend,
    Directions,
    Flags,
    Float64,
    Int32,
    LawName,
    Numbers,
    PrecisionName,
    SolverName,
)
from stickslip._src.batch import assemble
from stickslip._src.gradient import jvp_of, vjp_of
from stickslip._src.gradient_results import Change, Gradient
from stickslip._src.options import (
    SolveOptions,
    derivative_options,
    directions_of,
    make_options,
)
from stickslip._src.residual import certificate_holds_in, residual_of
from stickslip._src.solution import Measures, Solution
from stickslip._src.solve import solve_batch


class Problem:
    """Problems u = (W + diag R) r + b under a friction law: what `solve`, `residual`,
    `certificate_holds`, `vjp` and `jvp` take as arguments each time, checked once.

    Arrays that can be read in place are not copied, the others are: make a new `Problem` after a
    change of any. `files.write` writes it.

    Args:
        W, b, mu, law, dims, n_free, n_nonneg, lo, hi, R, counts: as in `solve`, like the errors.
        directions: of law "pyramid", in place of those in `options` of its methods.
    """

    def __init__(
        self,
        W: ArrayLike,
        b: ArrayLike,
        mu: ArrayLike,
        *,
        law: LawName | Law = "coulomb",
        dims: ArrayLike | None = None,
        n_free: int = 0,
        n_nonneg: int = 0,
        lo: ArrayLike | None = None,
        hi: ArrayLike | None = None,
        R: ArrayLike | None = None,
        counts: ArrayLike | None = None,
        directions: Directions = 4,
    ) -> None:
        self._batch = assemble(W, b, mu, dims, n_free, n_nonneg, lo, hi, R, counts)
        self._law: Law = check.member("law", law, Law)
        self._directions = directions_of("directions", directions)
        self._per_contact = self._batch.has_one_per_contact(mu)

    def solve(
        self,
        *,
        solver: SolverName | Solver = "auto",
        precision: PrecisionName | Precision = "float64",
        tol: float | None = None,
        warm_start: ArrayLike | None = None,
        options: SolveOptions | None = None,
        certificates: bool = False,
        backend: Backend = "auto",
        threads: int | None = None,
    ) -> Solution[Any]:
        """`stickslip.solve` of this problem."""
        given = make_options(self._law, solver, precision, tol, self._of_this(options))
        return solve_batch(self._batch, given, warm_start, certificates, backend, threads)

    @overload
    def residual(
        self,
        r: ArrayLike,
        *,
        details: Literal[False] = False,
        threads: int | None = None,
    ) -> Float64: ...
    @overload
    def residual(
        self,
        r: ArrayLike,
        *,
        details: Literal[True],
        threads: int | None = None,
    ) -> Measures: ...
    def residual(
        self,
        r: ArrayLike,
        *,
        details: bool = False,
        threads: int | None = None,
    ) -> Float64 | Measures:
        """`stickslip.residual` of impulses r (E, n)."""
        return residual_of(self._batch, r, self._law, self._directions, details, threads)

    def certificate_holds(
        self,
        certificate: ArrayLike,
        *,
        tol: float | None = None,
        precision: PrecisionName | Precision = "float64",
        threads: int | None = None,
    ) -> Flags | bool:
        """`stickslip.certificate_holds` of certificates (E, n)."""
        options = make_options(self._law, "auto", precision, tol, self._of_this(None))
        return certificate_holds_in(self._batch, certificate, options, threads)

    def vjp(
        self,
        solution: Solution[Any],
        *,
        d_impulse: ArrayLike | None = None,
        d_velocity: ArrayLike | None = None,
        precision: PrecisionName | Precision = "float64",
        tol: float | None = None,
        options: SolveOptions | None = None,
        threads: int | None = None,
    ) -> Gradient:
        """`stickslip.vjp` at a solution of this problem."""
        given = derivative_options(self._law, precision, tol, self._of_this(options))
        pool = check.thread_count(threads)
        loss = (d_impulse, d_velocity)
        return vjp_of(self._batch, solution, given, *loss, self._per_contact, pool)

    def jvp(
        self,
        solution: Solution[Any],
        *,
        db: ArrayLike | None = None,
        dW: ArrayLike | None = None,
        dmu: ArrayLike | None = None,
        dR: ArrayLike | None = None,
        dlo: ArrayLike | None = None,
        dhi: ArrayLike | None = None,
        precision: PrecisionName | Precision = "float64",
        tol: float | None = None,
        options: SolveOptions | None = None,
        threads: int | None = None,
    ) -> Change:
        """`stickslip.jvp` at a solution of this problem."""
        given = derivative_options(self._law, precision, tol, self._of_this(options))
        change = {"db": db, "dW": dW, "dmu": dmu, "dR": dR, "dlo": dlo, "dhi": dhi}
        return jvp_of(self._batch, solution, given, change, check.thread_count(threads))

    def _of_this(self, options: Any) -> Any:
        """`options` with the directions of this problem."""
        if not (options is None or isinstance(options, SolveOptions)):
            return options
        given = SolveOptions() if options is None else options
        if given.directions not in (4, self._directions):
            raise ValueError(
                f"options.directions: expected {self._directions}, as the problem has, "
                f"got {given.directions}"
            )
        return replace(given, directions=self._directions)

    def _own(self, values: Any) -> Any:
        """Without the environment axis, if the problem was given without one."""
        return values if values is None or self._batch.batched else values[0]

    def __deepcopy__(self, memo: dict[int, Any]) -> Problem:
        copy = object.__new__(Problem)
        copy.__dict__.update(self.__dict__)
        # numpy's own copies of arrays that environments share have another layout.
        arrays: Any = {name: np.array(value, order="C") for name, value in vars(self._batch).items()
                  if isinstance(value, np.ndarray)}  # fmt: skip
        copy._batch = replace(self._batch, **arrays)
        return copy

    @property
    def law(self) -> Law:
        return self._law

    @property
    def directions(self) -> int:
        """Of law "pyramid"."""
        return self._directions

    @property
    def W(self) -> Numbers:
        """(E, n, n), 1/kg."""
        return self._own(self._batch.W)

    @property
    def b(self) -> Numbers:
        """(E, n), m/s."""
        return self._own(self._batch.b)

    @property
    def mu(self) -> Numbers:
        """(E, k) per tangential row."""
        return self._own(self._batch.mu)

    @property
    def R(self) -> Numbers | None:
        """(E, n), 1/kg; None: 0."""
        return self._own(self._batch.R)

    @property
    def lo(self) -> Numbers | None:
        """(E, n_box), N s; None: no box rows."""
        return self._own(self._batch.lo)

    @property
    def hi(self) -> Numbers | None:
        """(E, n_box), N s; None: no box rows."""
        return self._own(self._batch.hi)

    @property
    def dims(self) -> Int32:
        """(E, p) dimensions of the contacts, 0 in slots that are not in use."""
        return self._own(self._batch.used_dims.astype("int32"))

    @property
    def counts(self) -> Int32:
        """(E, 4) free, nonneg, box rows and contacts of each environment."""
        return self._own(self._batch.counts)

    def __len__(self) -> int:
        """The number of environments; 1 for one problem without an environment axis."""
        return len(self._batch.b)

    def __repr__(self) -> str:
        rows = f"{self._batch.b.shape[1]} rows"
        size = f"{len(self)} environments of up to {rows}" if self._batch.batched else rows
        return f"Problem({size}, law {self._law.name})"
