"""The environments of a `stickslip.Problem` and its `stickslip.Solution` as entries of a file."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from stickslip._core import Solver, Status
from stickslip._src import arrays as check
from stickslip._src.problem import Problem as BatchProblem
from stickslip._src.solution import Solution
from stickslip.files.problems import DEFAULT_TOL, ContactProblem, StoredSolution


def environments(problem: BatchProblem, name: str) -> list[ContactProblem]:
    """The problem of each environment, without the rows that it does not use; they are called
    `name` and a number. Raises ValueError, naming the environment, for one with more rows than its
    slot, which a file cannot hold."""
    arrays, found = problem._batch, list[ContactProblem]()
    digits = len(str(len(problem) - 1))
    for e, (n_free, n_nonneg, n_box, contacts) in enumerate(arrays.counts.tolist()):
        dims = arrays.used_dims[e, :contacts].astype(np.int32)
        rows = n_free + n_nonneg + n_box + int(dims.sum())
        if contacts > len(dims) or rows > arrays.b.shape[1]:
            raise ValueError(
                f"counts: expected at most {arrays.b.shape[1]} rows, got {rows} in environment {e}"
            )
        bounds = [np.zeros(0) if each is None else each[e, :n_box]
                  for each in (arrays.lo, arrays.hi)]  # fmt: skip
        found.append(
            ContactProblem(
                name=f"{name}{e:0{digits}}",
                W=arrays.W[e, :rows, :rows],
                b=arrays.b[e, :rows],
                mu=arrays.mu[e, : int((dims - 1).sum())],
                R=None if arrays.R is None else arrays.R[e, :rows],
                dims=dims,
                n_free=n_free,
                n_nonneg=n_nonneg,
                lo=bounds[0],
                hi=bounds[1],
                law=problem.law.name,
                directions=problem.directions,
            )
        )
    return found


def solutions_of(
    problem: BatchProblem, parts: list[ContactProblem], solution: Solution[Any]
) -> dict[str, StoredSolution]:
    """The solution of each of the problem's environments, by name. A Solution does not know the
    tolerance of its solve: where it is solved, its residual takes the place of a larger one than
    the default. That of an impulse in float32 is measured again, after its rounding."""
    impulse = np.asarray(solution.impulse)
    check.require_shape("solutions.impulse", impulse, problem.b.shape)
    if impulse.dtype == np.float32:
        solution = replace(solution, residual=problem.residual(impulse))
    if not problem._batch.batched:
        values = {field.name: getattr(solution, field.name) for field in fields(solution)}
        one: dict[str, Any] = {
            name: None if value is None else np.asarray(value)[None]
            for name, value in values.items()
        }
        solution = replace(solution, **one)
    found = {}
    for e, part in enumerate(parts):
        stored = environment_of(solution, e, part.rows)
        if stored.status == Status.solved.name:
            limit = max(float(solution.residual[e]), DEFAULT_TOL * (1 + part.scale))
            stored = replace(stored, tolerance=limit)
        found[part.name] = stored
    return found


def environment_of(solution: Solution[Any], e: int, rows: int, **others: Any) -> StoredSolution:
    """The solution of environment `e`, which has these rows, of a batch; `others`: fields that a
    Solution does not have."""
    status, proofs = Status(int(solution.status[e])), solution.certificate
    proved = proofs is not None and status == Status.infeasible
    return StoredSolution(
        values=solution.impulse[e, :rows].copy(),
        status=status.name,
        residual=float(solution.residual[e]),
        iterations=int(solution.iterations[e]),
        solver=Solver(int(solution.solver[e])).name,
        certificate=proofs[e, :rows].copy() if proved else None,
        **others,
    )
