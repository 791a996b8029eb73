"""Judging stored solutions by the one residual."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

import stickslip
from stickslip._core import Status
from stickslip.files.problems import (
    DEFAULT_LAW,
    DEFAULT_TOL,
    ComplementarityProblem,
    ContactProblem,
    Problem,
    ProblemFile,
    StoredSolution,
)
from stickslip.lcp import LcpOptions, solve_lcp


@dataclass(frozen=True)
class Check:
    """One stored solution, judged again."""

    name: str
    where: str  #: "problem" or "solutions"
    law: str  #: of complementarity problems the kind
    stored_status: str | None
    stored_residual: float | None
    residual: float
    limit: float  #: residual up to which it is solved

    @property
    def solved(self) -> bool:
        return self.residual <= self.limit

    @property
    def wrong(self) -> bool:
        """Stored as solved, and it is not."""
        return self.stored_status == Status.solved.name and not self.solved


def check(file: ProblemFile, tol: float | None = None) -> list[Check]:
    """Judges all solutions of a file by the one residual. The limit is tol * (1 + max|b|); without
    `tol` the tolerance stored with the solution, else that of tol = 1e-9."""
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
    if isinstance(problem, ContactProblem):
        law = solution.law or problem.law or DEFAULT_LAW
        measured = stickslip.residual(**problem.arguments, r=solution.values, law=law)
    else:
        law, measured = problem.kind, complementarity_residual(problem, solution.values)
    limit = solution.tolerance if tol is None else None
    if limit is None:
        limit = (DEFAULT_TOL if tol is None else tol) * (1 + problem.scale)
    told = solution.status, solution.residual
    return Check(problem.name, where, law, *told, float(measured), limit)


def complementarity_residual(problem: ComplementarityProblem, z: np.ndarray) -> float:
    """As `solve_lcp` reports it of a start that is good enough, and from which it may not step."""
    stay = LcpOptions(atol=sys.float_info.max, max_newton=0, restarts=0)
    told = solve_lcp(**problem.arguments, start=z, method="newton", options=stay)
    return float(told.residual)
