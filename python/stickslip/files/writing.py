"""Writes the layout of docs/files.md."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

import h5py
import numpy as np

from stickslip._src.problem import Problem as BatchProblem
from stickslip._src.solution import Solution
from stickslip.files.batches import environments, solutions_of
from stickslip.files.hdf5 import (
    FINITE,
    MAX_TEXT,
    NAMES,
    TEXT,
    FileError,
    Place,
    guarded,
    is_name,
    shown,
    unfit,
)
from stickslip.files.layout import LAWS, LEVELS
from stickslip.files.problems import ContactProblem, Problem, StoredSolution, checked

_INFINITE = ("lo", "hi", "residual", "tolerance")  # numbers that may be infinite
_NUMBERS = ("W", "b", "mu", "R", "warm_start", "M", "q", "values", "certificate", *_INFINITE)


def write(
    path: str | os.PathLike[str],
    problems: Iterable[Problem] | BatchProblem = (),
    solutions: Mapping[str, StoredSolution] | Solution[Any] | None = None,
    *,
    append: bool = False,
    name: str = "env",
) -> None:
    """Writes a file, or with `append` adds to one. An entry with the same name is replaced, a
    problem together with its solution.

    The environments of a `stickslip.Problem` are called env0, env1, ..., with as many digits as
    the last one has, or by another `name` than env; `solutions` may be its `stickslip.Solution`.
    With `append`, a name whose environments are in the file already is refused.

    Raises FileError for what cannot be written or could not be read again, NaN for instance.
    """
    where = shown(path)
    batch = problems if isinstance(problems, BatchProblem) else None
    entries = _entries(problems, name)
    answers = _answers(batch, entries, solutions)
    _refuse_texts(where, entries, answers)
    _refuse_numbers(where, entries, answers)
    with guarded(where), h5py.File(path, "a" if append else "w") as file:
        root = Place(file, where)
        stored, solved = (_names(root, key) for key in ("problems", "solutions"))
        if batch is not None:
            _refuse_second(root, name, stored)
        _refuse_unknown(root, answers, {*stored, *(entry.name for entry in entries)})
        for entry in entries:
            if entry.name in solved:
                del root.inside("solutions").group[entry.name]
            _write_problem(_fresh(root, "problems", entry.name), entry)
        for key, solution in answers.items():
            group = _fresh(root, "solutions", key)
            values = "z" if _is_complementarity(root, key) else "r"
            group.create_dataset(values, data=solution.values)
            _write_verdict(group, solution)


def _entries(problems: Any, name: str) -> list[Any]:
    """The problems, each with a name of its own."""
    if isinstance(problems, BatchProblem):
        return environments(problems, name)
    return checked(problems, also="a stickslip.Problem, or ")


def _answers(
    batch: BatchProblem | None, entries: list[Any], solutions: Any
) -> dict[str, StoredSolution]:
    """The solutions by name."""
    if batch is not None and isinstance(solutions, Solution):
        return solutions_of(batch, entries, solutions)
    answers = {} if solutions is None else solutions
    expected = "StoredSolutions by name, or the Solution of a stickslip.Problem"
    if not isinstance(answers, Mapping):
        raise TypeError(f"solutions: expected {expected}, got a {type(solutions).__name__}")
    for name, solution in answers.items():
        if not isinstance(solution, StoredSolution):
            got = type(solution).__name__
            raise TypeError(f"solutions[{name!r}]: expected a StoredSolution, got a {got}")
    return dict(answers)


def _parts(entries: list[Any], solutions: dict[str, StoredSolution]) -> list[tuple[str, Any]]:
    """Problems and solutions, each with how messages name it."""
    parts = [(f"problem {each.name!r}", part) for each in entries for part in (each, each.stored)]
    parts += [(f"solution {name!r}", solution) for name, solution in solutions.items()]
    return [(what, part) for what, part in parts if part is not None]


def _refuse_texts(where: str, entries: list[Any], solutions: dict[str, StoredSolution]) -> None:
    """The ones that could not be read again."""
    for name in (*(entry.name for entry in entries), *solutions):
        if not isinstance(name, str) or not is_name(name):
            raise FileError(f"{where}: name: expected {NAMES}, got {name!r:.60}")
    for what, part in _parts(entries, solutions):
        for key in ("status", "solver"):
            text = getattr(part, key, None)
            if text and len(text) > MAX_TEXT:
                raise FileError(f"{where}: {what}: {key}: expected {TEXT}, got {text:.60}")
        for key, allowed in (("law", LAWS), ("level", LEVELS)):
            word = getattr(part, key, None)
            if word is not None and word not in allowed:
                expected = f"expected one of {', '.join(allowed)}"
                raise FileError(f"{where}: {what}: {key}: {expected}, got {word!r:.60}")


def _refuse_numbers(where: str, entries: list[Any], solutions: dict[str, StoredSolution]) -> None:
    """The ones that could not be read again: NaN, and infinity in most places."""
    for what, part in _parts(entries, solutions):
        for key in _NUMBERS:
            value = getattr(part, key, None)
            array = np.zeros(0) if value is None else np.asarray(value)
            if array.dtype.kind not in "biuf":
                raise FileError(f"{where}: {what}: {key}: expected numbers, got {array.dtype}")
            if (index := unfit(array, key in _INFINITE)) is not None:
                place = f"{key}{list(index)}" if index else key
                raise FileError(f"{where}: {what}: {place}: expected {FINITE}, got {array[index]}")


def _refuse_second(root: Place, name: str, stored: list[str]) -> None:
    """A batch that is called like one in the file: which of them an environment is of could not be
    told."""
    taken = [each for each in stored if re.fullmatch(re.escape(name) + "[0-9]+", each)]
    if taken:
        raise root.error("name", f"another than that of {taken[0]} in the file", repr(name))


def _refuse_unknown(root: Place, solutions: Iterable[str], known: set[str]) -> None:
    for name in solutions:
        if name not in known:
            raise root.error("solutions", "names of problems", repr(name))


def _names(root: Place, key: str) -> list[str]:
    """Of what is inside a group of the file, if it is there."""
    return root.inside(key).names() if key in root else []


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
        if contact.start_selected:
            group.attrs["start_selected"] = contact.start_selected
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
