"""Types of arguments and results, for type checkers: the names that arguments accept, and arrays.

A test compares the names with those that the C++ library has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Required, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stickslip._core import Law, Precision, Solver

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # has `default`, so that results need no parameter

    from stickslip.contact import SolveOptions

    Proof = TypeVar("Proof", default=Any, covariant=True)  #: None, or an array
    Array = TypeVar("Array", default=Any, covariant=True)  #: of numpy, or of a GPU
else:
    from typing import TypeVar

    Proof, Array = TypeVar("Proof"), TypeVar("Array")

LawName = Literal["coulomb", "convex", "pyramid", "box", "frictionless"]
SimLawName = Literal["coulomb", "convex", "pyramid", "box", "frictionless", "mujoco"]
SolverName = Literal["auto", "pgs", "newton", "lemke"]
PrecisionName = Literal["double", "float", "mixed"]
LcpPrecisionName = Literal["double", "float"]
LcpMethodName = Literal["auto", "lemke", "newton"]
Backend = Literal["auto", "cpu", "cuda"]
Integrator = Literal["model", "euler", "rk4", "implicit", "implicitfast"]
Softness = Literal["rigid", "model"]
Control = Literal["random", "sine", "zero"]
Directions = Literal[4, 8, 16, 32, 64]  #: of law "pyramid" in the sliding plane

Float64 = NDArray[np.float64]
Int32 = NDArray[np.int32]
Flags = NDArray[np.bool_]
Numbers = NDArray[Any]  #: float64, or float32 where the arguments are


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
