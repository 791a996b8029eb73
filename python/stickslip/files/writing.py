"""Writes the layout of docs/files.md."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

import h5py
import numpy as np

from stickslip.files.hdf5 import FileError, guarded
from stickslip.files.problems import ContactProblem, Problem, StoredSolution


def write(
    path: str | os.PathLike[str],
    problems: Iterable[Problem] = (),
    solutions: Mapping[str, StoredSolution] | None = None,
    *,
    append: bool = False,
) -> None:
    """Writes a file, or with `append` into one; what has the same name there is replaced. Raises
    FileError if that is impossible."""
    where = str(os.fspath(path))
    problems, solutions = list(problems), dict(solutions or {})
    for name in (*(problem.name for problem in problems), *solutions):
        if not name or "/" in name or name == ".":
            raise FileError(f"{where}: name: expected a text without '/', got {name!r}")
    with guarded(where), h5py.File(path, "a" if append else "w") as file:
        for problem in problems:
            _write_problem(_fresh(file, "problems", problem.name), problem)
        for name, solution in solutions.items():
            group = _fresh(file, "solutions", name)
            key = "z" if _is_complementarity(file, name) else "r"
            group.create_dataset(key, data=solution.values)
            _write_verdict(group, solution)


def _fresh(file: h5py.File, parent: str, name: str) -> h5py.Group:
    """A new group, in place of what has its name."""
    group = file.require_group(parent)
    if name in group:
        del group[name]
    return group.create_group(name)


def _is_complementarity(file: h5py.File, name: str) -> bool:
    group = file.get(f"problems/{name}")
    return group is not None and "M" in group


def _write_problem(group: h5py.Group, problem: Problem) -> None:
    contact = isinstance(problem, ContactProblem)
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
        group.attrs["n_box"] = len(problem.lo)
        texts = {"law": problem.law, "level": problem.level, **problem.notes}
        group.attrs.update({key: value for key, value in texts.items() if value is not None})
    if problem.stored is not None:
        group.create_dataset("r" if contact else "z", data=problem.stored.values)
        _write_verdict(group, problem.stored)


def _write_verdict(group: h5py.Group, solution: StoredSolution) -> None:
    for key in ("status", "residual", "iterations", "solver", "law", "tolerance"):
        value = getattr(solution, key)
        if value is not None:
            group.attrs[key] = value
