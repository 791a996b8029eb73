"""Solving the problems of a file in ragged batches."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

import stickslip
from stickslip import _core
from stickslip._core import Status
from stickslip._src.aliases import Backend, LawName, PrecisionName, SolverName
from stickslip._src.options import SolveOptions, make_options
from stickslip.files.batches import environment_of
from stickslip.files.problems import (
    DEFAULT_LAW,
    DEFAULT_TOL,
    ComplementarityProblem,
    ContactProblem,
    Problem,
    StoredSolution,
    checked,
)

_BATCH_NUMBERS = 2**20  # in the matrices of one batch: 8 MiB; from 512 rows on, one problem


class UnsolvableKindError(ValueError):
    """This version has no solver for a kind of problem."""


@dataclass(frozen=True, eq=False)
class Answer:
    """A problem, its solution and verdict."""

    problem: Problem
    solution: StoredSolution
    seconds: float  #: wall time of its batch over the problems in it


def solve(
    problems: Iterable[Problem],
    *,
    law: LawName | None = None,
    solver: SolverName = "auto",
    precision: PrecisionName = "float64",
    tol: float | None = None,
    backend: Backend = "auto",
    threads: int | None = None,
) -> list[Answer]:
    """Answers of all problems, in their order. `law` None: each problem's own, else coulomb.

    The options of contact problems are those of `stickslip.solve`; complementarity problems
    take `tol` alone. Problems of one law and of similar size are solved as one batch.
    """
    batches: dict[Any, list[tuple[int, ContactProblem]]] = defaultdict(list)
    answers: dict[int, Answer] = {}
    options = {"solver": solver, "precision": precision, "tol": tol}
    for place, problem in enumerate(checked(problems)):
        if isinstance(problem, ComplementarityProblem):
            answers[place] = _solve_complementarity(problem, tol)
        else:
            which: Any = law or problem.law or DEFAULT_LAW
            key = which, problem.directions, problem.rows.bit_length()
            batches[key].append((place, problem))
    for (which, directions, bits), members in batches.items():
        make_options(which, solver, precision, tol, None)  # raises errors before anything runs
        at_once = max(1, _BATCH_NUMBERS >> (2 * bits))
        for first in range(0, len(members), at_once):
            some = members[first : first + at_once]
            batch = [problem for _, problem in some]
            calls = {"law": which, **options, "backend": backend, "threads": threads}
            calls["options"] = SolveOptions(directions=directions)
            for (place, _), answer in zip(some, _solve_batch(batch, calls), strict=True):
                answers[place] = answer
    return [answers[place] for place in sorted(answers)]


def ragged(problems: list[ContactProblem]) -> dict[str, Any]:
    """The problems as arguments of `stickslip.solve`, rows packed at the front of each slot."""
    counts = np.array([p.counts for p in problems]).reshape(-1, 4)
    rows = max(p.rows for p in problems)
    dims = _packed([p.dims for p in problems]).astype(np.int32)
    W = np.zeros((len(problems), rows, rows))
    for slot, p in zip(W, problems, strict=True):
        slot[: p.rows, : p.rows] = p.W
    b = _packed([p.b for p in problems])
    arguments = {"W": W, "b": b, "mu": _packed([p.mu for p in problems]), "dims": dims}
    for key in ("lo", "hi"):
        arguments[key] = _packed([getattr(p, key) for p in problems])
    for key in ("R", "warm_start"):
        given = [getattr(p, key) for p in problems]
        if any(values is not None for values in given):
            empty = np.zeros(0)
            arguments[key] = _packed([empty if v is None else v for v in given], rows)
    return {**arguments, "counts": counts}


def _packed(vectors: list[np.ndarray], width: int | None = None) -> np.ndarray:
    width = max((len(v) for v in vectors), default=0) if width is None else width
    out = np.zeros((len(vectors), width))
    for slot, values in zip(out, vectors, strict=True):
        slot[: len(values)] = values
    return out


def _solve_batch(problems: list[ContactProblem], options: dict[str, Any]) -> list[Answer]:
    arguments = ragged(problems)
    arguments["start_selected"] = np.array([p.start_selected for p in problems])
    start = time.perf_counter()
    result = stickslip.solve(**arguments, **options, certificates=True)
    seconds = (time.perf_counter() - start) / len(problems)
    law = options["law"]
    core = make_options(law, options["solver"], options["precision"], options["tol"], None)
    return [
        Answer(
            problem,
            environment_of(
                result, e, problem.rows, law=law, tolerance=_core.tolerance(core, problem.scale)
            ),
            seconds,
        )
        for e, problem in enumerate(problems)
    ]


def _solve_complementarity(problem: ComplementarityProblem, tol: float | None) -> Answer:
    """By `stickslip.solve_lcp`."""
    solve_lcp: Callable[..., Any] | None = getattr(stickslip, "solve_lcp", None)
    if solve_lcp is None:
        raise UnsolvableKindError(
            f"problem {problem.name!r}: kind: expected contact or fc3d, for this version has no "
            f"solver of complementarity problems, got {problem.kind}"
        )
    start = time.perf_counter()
    result = solve_lcp(**problem.arguments, tol=tol)
    seconds = time.perf_counter() - start
    solution = StoredSolution(
        values=np.array(result.z, dtype=float),
        status=Status(int(result.status)).name,
        residual=float(result.residual),
        iterations=int(result.iterations),
        solver=str(getattr(result.method, "name", result.method)),
        tolerance=(tol or DEFAULT_TOL) * (1 + problem.scale),
    )
    return Answer(problem, solution, seconds)
