"""A batch of problems as one object."""

from __future__ import annotations

from typing import Any, Literal, overload

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
from stickslip._src.options import SolveOptions, make_options
from stickslip._src.residual import certificate_holds_in, residual_of
from stickslip._src.solution import Measures, Solution
from stickslip._src.solve import solve_batch


class Problem:
    """Problems u = (W + diag R) r + b under a friction law: what `solve`, `residual`,
    `certificate_holds`, `vjp` and `jvp` take as arguments each time, checked once.

    The arrays are those given where they can be read in place, so new values in them are a new
    problem. `files.write` writes it.

    Args:
        W, b, mu, law, dims, n_free, n_nonneg, lo, hi, R, counts: as in `solve`, like the errors.
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
    ) -> None:
        self._batch = assemble(W, b, mu, dims, n_free, n_nonneg, lo, hi, R, counts)
        self._law: Law = check.member("law", law, Law)
        self._per_contact = self._batch.has_one_per_contact(mu)

    def solve(
        self,
        *,
        solver: SolverName | Solver = "auto",
        precision: PrecisionName | Precision = "double",
        tol: float | None = None,
        warm_start: ArrayLike | None = None,
        options: SolveOptions | None = None,
        certificates: bool = False,
        backend: Backend = "auto",
        threads: int | None = None,
    ) -> Solution[Any]:
        """`stickslip.solve` of this problem."""
        given = make_options(self._law, solver, precision, tol, options)
        return solve_batch(self._batch, given, warm_start, certificates, backend, threads)

    @overload
    def residual(
        self,
        r: ArrayLike,
        *,
        directions: Directions = 4,
        details: Literal[False] = False,
        threads: int | None = None,
    ) -> Float64: ...
    @overload
    def residual(
        self,
        r: ArrayLike,
        *,
        directions: Directions = 4,
        details: Literal[True],
        threads: int | None = None,
    ) -> Measures: ...
    def residual(
        self,
        r: ArrayLike,
        *,
        directions: Directions = 4,
        details: bool = False,
        threads: int | None = None,
    ) -> Float64 | Measures:
        """`stickslip.residual` of impulses r (E, n)."""
        return residual_of(self._batch, r, self._law, directions, details, threads)

    def certificate_holds(
        self,
        certificate: ArrayLike,
        *,
        tol: float | None = None,
        precision: PrecisionName | Precision = "double",
        threads: int | None = None,
    ) -> Flags | bool:
        """`stickslip.certificate_holds` of certificates (E, n)."""
        options = make_options(self._law, "auto", precision, tol, None)
        return certificate_holds_in(self._batch, certificate, options, threads)

    def vjp(
        self,
        solution: Solution[Any],
        *,
        d_impulse: ArrayLike | None = None,
        d_velocity: ArrayLike | None = None,
        precision: PrecisionName | Precision = "double",
        tol: float | None = None,
        options: SolveOptions | None = None,
        threads: int | None = None,
    ) -> Gradient:
        """`stickslip.vjp` at a solution of this problem."""
        given = make_options(self._law, "auto", precision, tol, options)
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
        precision: PrecisionName | Precision = "double",
        tol: float | None = None,
        options: SolveOptions | None = None,
        threads: int | None = None,
    ) -> Change:
        """`stickslip.jvp` at a solution of this problem."""
        given = make_options(self._law, "auto", precision, tol, options)
        change = {"db": db, "dW": dW, "dmu": dmu, "dR": dR, "dlo": dlo, "dhi": dhi}
        return jvp_of(self._batch, solution, given, change, check.thread_count(threads))

    @property
    def law(self) -> Law:
        return self._law

    @property
    def W(self) -> Numbers:
        """(E, n, n), 1/kg."""
        return self._batch.W

    @property
    def b(self) -> Numbers:
        """(E, n), m/s."""
        return self._batch.b

    @property
    def mu(self) -> Numbers:
        """(E, k) per tangential row."""
        return self._batch.mu

    @property
    def R(self) -> Numbers | None:
        """(E, n), 1/kg; None: 0."""
        return self._batch.R

    @property
    def lo(self) -> Numbers | None:
        """(E, n_box), N s; None: no box rows."""
        return self._batch.lo

    @property
    def hi(self) -> Numbers | None:
        """(E, n_box), N s; None: no box rows."""
        return self._batch.hi

    @property
    def dims(self) -> Int32:
        """(E, p) dimensions of the contacts, 0 in slots that are not in use."""
        return self._batch.used_dims.astype("int32")

    @property
    def counts(self) -> Int32:
        """(E, 4) free, nonneg, box rows and contacts of each environment."""
        return self._batch.shape

    def __len__(self) -> int:
        """The number of environments."""
        return len(self._batch.b)

    def __repr__(self) -> str:
        rows = self._batch.b.shape[1]
        return f"Problem({len(self)} environments of up to {rows} rows, law {self._law.name})"
