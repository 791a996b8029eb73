"""The contents of problem files. Rows, units and signs: docs/mathematics.md §1."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

DEFAULT_LAW = "coulomb"
DEFAULT_TOL = 1e-9


@dataclass(frozen=True, eq=False)
class StoredSolution:
    """Impulses (or z), and their author's verdict."""

    values: np.ndarray  #: (n,) r, N s; or z
    status: str | None = None  #: None: no verdict
    residual: float | None = None  #: m/s (acceleration level: m/s²)
    iterations: int | None = None
    solver: str | None = None  #: that produced the values
    law: str | None = None  #: the law that they satisfy; None: the problem's
    tolerance: float | None = None  #: residual up to which `status` says solved, same unit
    certificate: np.ndarray | None = None  #: (n,) of contact problems: proof of `infeasible`


@dataclass(frozen=True, eq=False)
class ContactProblem:
    """u = (W + diag R) r + b under a friction law."""

    name: str
    W: np.ndarray  #: (n, n), 1/kg
    b: np.ndarray  #: (n,), m/s (acceleration level: m/s²)
    mu: np.ndarray  #: (sum(dims - 1),) one coefficient per tangential row
    dims: np.ndarray  #: (p,) int32: 3, 4 or 6
    n_free: int = 0
    n_nonneg: int = 0
    lo: np.ndarray = field(default_factory=lambda: np.zeros(0))  #: (n_box,), N s
    hi: np.ndarray = field(default_factory=lambda: np.zeros(0))
    R: np.ndarray | None = None  #: (n,), 1/kg
    warm_start: np.ndarray | None = None  #: (n,), N s; where a solver started
    start_selected: int = 0  #: as in `stickslip.solve`
    law: str | None = None  #: None: coulomb
    directions: int = 4  #: of law "pyramid"
    level: str | None = None  #: "velocity" or "acceleration"
    kind: str = "contact"  #: "contact", "fc3d" or "fclib"
    stored: StoredSolution | None = None
    notes: dict[str, Any] = field(default_factory=dict)  #: written as attributes

    @property
    def rows(self) -> int:
        return len(self.b)

    @property
    def scale(self) -> float:
        """max |b|"""
        return float(np.abs(self.b).max(initial=0.0))

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Free, nonneg, box rows and contacts."""
        return self.n_free, self.n_nonneg, len(self.lo), len(self.dims)

    @property
    def arguments(self) -> dict[str, Any]:
        """Of `stickslip.solve` and `stickslip.residual`, for this problem alone."""
        shared = {"n_free": self.n_free, "n_nonneg": self.n_nonneg, "dims": self.dims}
        bounds = {"lo": self.lo, "hi": self.hi} if len(self.lo) else {}
        return {"W": self.W, "b": self.b, "mu": self.mu, "R": self.R, **shared, **bounds}


@dataclass(frozen=True, eq=False)
class ComplementarityProblem:
    """w = M z + q: rows < n_free w = 0; others 0 <= z ⟂ w >= 0, or, with bounds, lo <= z <= hi."""

    name: str
    M: np.ndarray  #: (n, n)
    q: np.ndarray  #: (n,)
    kind: str = "lcp"  #: "lcp", "mlcp" or "boxed_lcp"
    n_free: int = 0
    lo: np.ndarray | None = None  #: (n,) boxed_lcp only
    hi: np.ndarray | None = None
    findex: np.ndarray | None = None  #: (n,) int32; row j >= 0 scales the bounds by max(0, z_j)
    stored: StoredSolution | None = None

    @property
    def rows(self) -> int:
        return len(self.q)

    @property
    def scale(self) -> float:
        """max |q|"""
        return float(np.abs(self.q).max(initial=0.0))

    @property
    def arguments(self) -> dict[str, Any]:
        """Of `stickslip.solve_lcp`."""
        bounds = {"lo": self.lo, "hi": self.hi, "findex": self.findex}
        return {"M": self.M, "q": self.q, "n_free": self.n_free, **bounds}


Problem = ContactProblem | ComplementarityProblem


def checked(problems: Any, also: str = "") -> list[Problem]:
    """As a list. Raises TypeError, which names what is accepted `also`, for anything else."""
    expected = f"problems: expected {also}ContactProblems and ComplementarityProblems, got a "
    if not isinstance(problems, Iterable):
        raise TypeError(expected + type(problems).__name__)
    found = list(problems)
    for problem in found:
        if not isinstance(problem, ContactProblem | ComplementarityProblem):
            raise TypeError(expected + type(problem).__name__)
    return found


def stored_residual(problem: Problem) -> float:
    """The residual that is stored with a problem; NaN without one."""
    stored = problem.stored
    return math.nan if stored is None or stored.residual is None else stored.residual


@dataclass(frozen=True, eq=False)
class ProblemFile:
    """The problems of a file, and solutions that were added to them, by name of the problem."""

    path: str
    problems: list[Problem]
    solutions: dict[str, StoredSolution] = field(default_factory=dict)
