"""Writes the layout of docs/files.md."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import h5py
import numpy as np

from stickslip._src.problem import Problem as BatchProblem
from stickslip.files.hdf5 import MAX_TEXT, NAMES, TEXT, FileError, Place, guarded, is_name
from stickslip.files.problems import (
    ComplementarityProblem,
    ContactProblem,
    Problem,
    StoredSolution,
)


def write(
    path: str | os.PathLike[str],
    problems: Iterable[Problem] | BatchProblem = (),
    solutions: Mapping[str, StoredSolution] | None = None,
    *,
    append: bool = False,
) -> None:
    """Writes a file, or with `append` adds to one; an entry with the same name is replaced. The
    environments of a `stickslip.Problem` are named env00, env01, ..., with as many digits as the
    last one has. Raises FileError if that is impossible."""
    where = str(os.fspath(path))
    problems = environments(problems) if isinstance(problems, BatchProblem) else list(problems)
    for problem in problems:
        if not isinstance(problem, ContactProblem | ComplementarityProblem):
            expected = "a stickslip.Problem, or ContactProblems and ComplementarityProblems"
            raise TypeError(f"problems: expected {expected}, got a {type(problem).__name__}")
    solutions = dict(solutions or {})
    _refuse_texts(where, problems, solutions)
    with guarded(where), h5py.File(path, "a" if append else "w") as file:
        root = Place(file, where)
        for problem in problems:
            _write_problem(_fresh(root, "problems", problem.name), problem)
        for name, solution in solutions.items():
            group = _fresh(root, "solutions", name)
            key = "z" if _is_complementarity(root, name) else "r"
            group.create_dataset(key, data=solution.values)
            _write_verdict(group, solution)


def environments(problem: BatchProblem) -> list[Problem]:
    """The problem of each environment, without the rows that it does not use. Raises ValueError,
    naming the environment, for one that a file cannot hold: with more rows than its slot, or
    numbers that are not finite."""
    arrays, found = problem._batch, list[Problem]()
    digits = len(str(len(problem) - 1))
    for e, (n_free, n_nonneg, n_box, contacts) in enumerate(arrays.shape.tolist()):
        dims = arrays.used_dims[e, :contacts].astype(np.int32)
        rows = n_free + n_nonneg + n_box + int(dims.sum())
        if contacts > len(dims) or rows > arrays.b.shape[1]:
            raise ValueError(
                f"counts: expected at most {arrays.b.shape[1]} rows, got {rows} in environment {e}"
            )
        bounds = [np.zeros(0) if each is None else each[e, :n_box]
                  for each in (arrays.lo, arrays.hi)]  # fmt: skip
        numbers: dict[str, Any] = {
            "W": arrays.W[e, :rows, :rows],
            "b": arrays.b[e, :rows],
            "mu": arrays.mu[e, : int((dims - 1).sum())],
            "R": None if arrays.R is None else arrays.R[e, :rows],
        }
        for name, values in numbers.items():
            if values is not None and not np.isfinite(values).all():
                raise ValueError(
                    f"{name}: expected finite numbers, as files have, in environment {e}"
                )
        found.append(
            ContactProblem(
                name=f"env{e:0{digits}}",
                **numbers,
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


def _refuse_texts(
    where: str, problems: list[Problem], solutions: dict[str, StoredSolution]
) -> None:
    """The ones that could not be read again."""
    for name in (*(problem.name for problem in problems), *solutions):
        if not is_name(name):
            raise FileError(f"{where}: name: expected {NAMES}, got {name!r:.60}")
    for solution in (*(problem.stored for problem in problems), *solutions.values()):
        for text in (solution.status, solution.solver) if solution else ():
            if text and len(text) > MAX_TEXT:
                raise FileError(f"{where}: expected {TEXT}, got {text:.60}")


def _fresh(root: Place, parent: str, name: str) -> h5py.Group:
    """A new group, which replaces one with the same name."""
    if parent not in root:
        root.group.create_group(parent)
    place = root.inside(parent)
    if name in place:
        del place.group[name]
    return place.group.create_group(name)


def _is_complementarity(root: Place, name: str) -> bool:
    if "problems" not in root or name not in (problems := root.inside("problems")):
        return False
    return "M" in problems.inside(name)


def _write_problem(group: h5py.Group, problem: Problem) -> None:
    contact = problem if isinstance(problem, ContactProblem) else None
    keys = ("W", "b", "mu", "dims", "lo", "hi", "R", "warm_start") if contact else ()
    for key in keys or ("M", "q", "lo", "hi", "findex"):
        value = getattr(problem, key)
        if value is not None:
            packed = {"compression": "gzip", "shuffle": True} if np.size(value) > 1000 else {}
            group.create_dataset(key, data=value, **packed)
    group.attrs["kind"] = "contact" if contact else problem.kind
    numbers = ("n_free", "n_nonneg") if contact else ("n_free",)
    for key in numbers:
        group.attrs[key] = getattr(problem, key)
    if contact:
        group.attrs["n_box"] = len(contact.lo)
        if contact.directions != 4:
            group.attrs["directions"] = contact.directions
        texts = {"law": contact.law, "level": contact.level, **contact.notes}
        group.attrs.update({key: value for key, value in texts.items() if value is not None})
    if problem.stored is not None:
        group.create_dataset("r" if contact else "z", data=problem.stored.values)
        _write_verdict(group, problem.stored)


def _write_verdict(group: h5py.Group, solution: StoredSolution) -> None:
    if solution.certificate is not None:
        group.create_dataset("certificate", data=solution.certificate)
    for key in ("status", "residual", "iterations", "solver", "law", "tolerance"):
        value = getattr(solution, key)
        if value is not None:
            group.attrs[key] = value
