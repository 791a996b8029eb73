"""Checking stored solutions by the residual."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

import stickslip
from stickslip._core import Status
from stickslip._src import arrays
from stickslip._src.lcp import LcpOptions, solve_lcp
from stickslip.files.problems import (
    DEFAULT_LAW,
    DEFAULT_TOL,
    ComplementarityProblem,
    ContactProblem,
    Problem,
    ProblemFile,
    StoredSolution,
)

# Largest limit that a file may set for solved: 1e-5 as in single precision, and a thousandth of
# max|b|, less than the residual of a guess such as r = 0.
LOOSEST_ATOL, LOOSEST_RTOL = 1e-5, 1e-3


@dataclass(frozen=True)
class Check:
    """One stored solution, checked again."""

    name: str
    where: str  #: "problem" or "solutions"
    law: str  #: of complementarity problems the kind
    stored_status: str | None
    stored_residual: float | None
    stored_tolerance: float | None
    residual: float
    limit: float  #: residual up to which it is solved
    limit_from: str  #: "--tol", "file", "cap" (the file has more) or "default"
    #: "proves" that there is no solution, "proves nothing" or "missing"; None for complementarity
    #: problems, which have no stored certificate
    certificate: str | None

    @property
    def solved(self) -> bool:
        return self.residual <= self.limit < math.inf

    @property
    def wrong(self) -> bool:
        """Stored as solved, but not solved; or stored as infeasible, without a proof."""
        if self._says == Status.infeasible.name:
            return self.certificate in ("proves nothing", "missing")
        return self._says == Status.solved.name and not self.solved

    @property
    def _says(self) -> str:
        return (self.stored_status or "").strip().lower()

    @property
    def notes(self) -> list[str]:
        """The parts of the author's verdict that are not accepted."""
        found = []
        if self.stored_tolerance is not None and self.limit_from in ("cap", "default"):
            found.append(f"its limit {self.stored_tolerance:g} is not believed, --tol may set one")
        if self.stored_residual is not None and self.stored_residual <= self.limit < self.residual:
            found.append(f"its residual {self.stored_residual:g} is not true")
        if self._says == Status.infeasible.name and self.wrong:
            found.append(f"infeasible is not proved, its certificate: {self.certificate}")
        return found


def check(file: ProblemFile, tol: float | None = None) -> list[Check]:
    """Checks all solutions of a file by the residual, and proofs that there is none. The limit is
    tol * (1 + max|b|); without `tol` the limit stored with the solution, but at most 1e-5 + 1e-3
    max|b|; if none is stored, that of tol = 1e-9."""
    if not isinstance(file, ProblemFile):
        raise TypeError(f"file: expected a ProblemFile, got {type(file).__name__}")
    if tol is not None and not 0 < arrays.number("tol", tol) < math.inf:
        raise ValueError(f"tol: expected a number > 0, got {tol}")
    checks = []
    for problem in file.problems:
        for where, solution in (
            ("problem", problem.stored),
            ("solutions", file.solutions.get(problem.name)),
        ):
            if solution is not None:
                checks.append(_judge(problem, solution, where, tol))
    return checks


def _judge(problem: Problem, solution: StoredSolution, where: str, tol: float | None) -> Check:
    law: Any
    measured: Any
    if isinstance(problem, ContactProblem):
        law = solution.law or problem.law or DEFAULT_LAW
        given = {**problem.arguments, "directions": problem.directions, "law": law}
        measured = stickslip.residual(**given, r=solution.values)
    else:
        law, measured = problem.kind, complementarity_residual(problem, solution.values)
    told = solution.status, solution.residual, solution.tolerance
    limit = _limit(solution.tolerance, tol, problem.scale)
    proof = _certificate(problem, solution.certificate, law, limit[0])
    return Check(problem.name, where, law, *told, float(measured), *limit, proof)


def _certificate(problem: Problem, y: np.ndarray | None, law: str, limit: float) -> str | None:
    """What a certificate says about impulses with a residual of `limit` or less."""
    if not isinstance(problem, ContactProblem):
        return None
    if y is None:
        return "missing"
    tol = limit / (1 + problem.scale)
    given = {**problem.arguments, "law": law}
    holds = stickslip.certificate_holds(**given, certificate=y, tol=tol)
    return "proves" if holds else "proves nothing"


def _limit(stored: float | None, tol: float | None, scale: float) -> tuple[float, str]:
    """The limit, and its source."""
    if tol is not None:
        return tol * (1 + scale), "--tol"
    if stored is None or not stored >= 0:
        return DEFAULT_TOL * (1 + scale), "default"
    cap = LOOSEST_ATOL + LOOSEST_RTOL * scale
    return (stored, "file") if stored <= cap else (cap, "cap")


def complementarity_residual(problem: ComplementarityProblem, z: np.ndarray) -> float:
    """As `solve_lcp` reports it for a start that is accepted without any step."""
    stay = LcpOptions(atol=sys.float_info.max, max_newton=0, restarts=0)
    told = solve_lcp(**problem.arguments, start=z, method="newton", options=stay)
    return float(told.residual)
