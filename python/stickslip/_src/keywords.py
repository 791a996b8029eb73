"""Keyword arguments that several functions share, for type checkers."""

from __future__ import annotations

from typing import Any, Required, TypedDict

from numpy.typing import ArrayLike

from stickslip._core import Law, Precision, Solver
from stickslip._src.aliases import Backend, LawName, PrecisionName, SolverName
from stickslip._src.options import SolveOptions


class ProblemKeywords(TypedDict, total=False):
    """Keyword arguments that `solve` and `residual` share; `solve` explains them."""

    law: LawName | Law
    dims: ArrayLike | None
    n_free: int
    n_nonneg: int
    lo: ArrayLike | None
    hi: ArrayLike | None
    R: ArrayLike | None
    counts: ArrayLike | None
    threads: int | None


class DerivativeKeywords(ProblemKeywords, total=False):
    """Keyword arguments of `vjp`, `jvp` and `step_vjp`: those that were given to `solve`."""

    precision: PrecisionName | Precision
    tol: float | None
    options: SolveOptions | None


class SolverKeywords(TypedDict, total=False):
    """Keyword arguments that `solve` and `BoundSolver` share."""

    solver: SolverName | Solver
    precision: PrecisionName | Precision
    tol: float | None
    options: SolveOptions | None
    backend: Backend


class SolveKeywords(ProblemKeywords, SolverKeywords, total=False):
    """Keyword arguments of `solve`, without `certificates`."""

    warm_start: ArrayLike | None
    start_selected: ArrayLike | None


class BoundKeywords(SolverKeywords, total=False):
    """Keyword arguments of `BoundSolver`, without the matrices."""

    b: Required[Any]
    mu: Required[Any]
    law: LawName | Law
    dims: Any
    n_free: int
    n_nonneg: int
    lo: Any
    hi: Any
    R: Any
    warm_start: Any
    v_free: Any
    counts: Any
    certificates: bool
    out: dict[str, Any] | None
    stream: Any
    threads: int | None
