"""Judging stored solutions by the one residual."""

from __future__ import annotations

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
    """max |z - clamp(z - w, lo, hi)|, which is max |min(z, w)| without bounds; free rows |w|."""
    with np.errstate(all="ignore"):
        w = problem.M @ z + problem.q
        lo, hi = np.zeros(problem.rows), np.full(problem.rows, np.inf)
        if problem.findex is not None:
            size = np.where(problem.findex >= 0, np.maximum(z[problem.findex], 0.0), 1.0)
            lo, hi = (np.where(size == 0, 0.0, x * size) for x in (problem.lo, problem.hi))
        lo[: problem.n_free], hi[: problem.n_free] = -np.inf, np.inf
        errors = np.abs(z - np.clip(z - w, lo, hi))
        errors[: problem.n_free] = np.abs(w[: problem.n_free])
    worst = float(errors.max(initial=0.0))
    return worst if worst == worst else np.inf
