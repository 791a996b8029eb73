"""Writes the layout of docs/files.md."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

import h5py
import numpy as np

from stickslip._src import problem as batch
from stickslip.files.hdf5 import MAX_TEXT, NAMES, TEXT, FileError, Place, guarded, is_name
from stickslip.files.problems import ContactProblem, Problem, StoredSolution


def write(
    path: str | os.PathLike[str],
    problems: Iterable[Problem] | batch.Problem = (),
    solutions: Mapping[str, StoredSolution] | None = None,
    *,
    append: bool = False,
) -> None:
    """Writes a file, or with `append` adds to one; an entry with the same name is replaced. The
    environments of a `stickslip.Problem` are named env0, env1, ... Raises FileError if that is
    impossible."""
    where = str(os.fspath(path))
    problems = environments(problems) if isinstance(problems, batch.Problem) else list(problems)
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


def environments(problem: batch.Problem) -> list[Problem]:
    """The problem of each environment, without the rows that it does not use. Raises ValueError for
    one that has more rows than its slot."""
    found: list[Problem] = []
    for e, (n_free, n_nonneg, n_box, contacts) in enumerate(problem.counts.tolist()):
        dims = problem.dims[e, :contacts]
        rows = n_free + n_nonneg + n_box + int(dims.sum())
        if contacts > len(dims) or rows > problem.b.shape[1]:
            raise ValueError(f"counts: expected the rows of a slot, got more in environment {e}")
        bounds = [np.zeros(0) if each is None else each[e, :n_box]
                  for each in (problem.lo, problem.hi)]  # fmt: skip
        found.append(
            ContactProblem(
                name=f"env{e}",
                W=problem.W[e, :rows, :rows],
                b=problem.b[e, :rows],
                mu=problem.mu[e, : int((dims - 1).sum())],
                dims=dims,
                n_free=n_free,
                n_nonneg=n_nonneg,
                lo=bounds[0],
                hi=bounds[1],
                R=None if problem.R is None else problem.R[e, :rows],
                law=problem.law.name,
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
