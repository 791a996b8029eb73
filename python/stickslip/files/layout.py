"""The layout of docs/files.md: /problems/<name>, /solutions/<name>."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import h5py
import numpy as np

from stickslip._core import Law
from stickslip.files import fclib
from stickslip.files.hdf5 import FileError, Place, guarded, open_to_read
from stickslip.files.problems import (
    ComplementarityProblem,
    ContactProblem,
    Problem,
    ProblemFile,
    StoredSolution,
)

KINDS = ("lcp", "mlcp", "boxed_lcp", "contact", "fc3d")
_LAWS = tuple(Law.__members__)
_LEVELS = ("velocity", "acceleration")


def read(path: str | os.PathLike[str]) -> ProblemFile:
    """All of a file, of this layout or FCLIB's. Raises FileError for anything else."""
    with open_to_read(path) as file:
        shown = os.fspath(path)
        root = Place(file, str(shown))
        if fclib.is_fclib(root):
            return ProblemFile(shown, [fclib.read(root)])
        if "problems" not in root:
            groups = ", ".join(map(str, list(file)[:5])) or "nothing"
            raise root.error("content", "the group problems, fclib_local or fclib_global", groups)
        problems = {name: _problem(place, name) for name, place in _members(root, "problems")}
        solutions = {}
        for name, place in _members(root, "solutions") if "solutions" in root else ():
            if name not in problems:
                raise place.error("name", "that of a problem", repr(name))
            solutions[name] = _solution(place, problems[name])
        return ProblemFile(shown, list(problems.values()), solutions)


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
    with guarded(where), h5py.File(path, "a" if append else "w") as file:
        for problem in problems:
            _write_problem(_fresh(file, "problems", problem.name), problem)
        for name, solution in (solutions or {}).items():
            group = _fresh(file, "solutions", name)
            key = "z" if _is_complementarity(file, name) else "r"
            group.create_dataset(key, data=solution.values)
            _write_verdict(group, solution)


def _members(root: Place, key: str) -> list[tuple[str, Place]]:
    parent = root.inside(key)
    with guarded(parent.name):
        names = list(parent.group)
    noun = key.removesuffix("s")
    members = []
    for name in names:
        if not isinstance(name, str):  # h5py has no text for it
            raise parent.error("name", "UTF-8", name)
        place = parent.inside(name)
        place.name = f"{root.name}: {noun} {name!r}"
        members.append((name, place))
    return members


def _problem(place: Place, name: str) -> Problem:
    kind = place.text("kind", *KINDS)
    if kind is None:
        raise place.error("kind", "one of " + ", ".join(KINDS), "nothing")
    return _contact(place, name, kind) if kind in ("contact", "fc3d") else _lcp(place, name, kind)


def _contact(place: Place, name: str, kind: str) -> ContactProblem:
    right = "q" if kind == "fc3d" else "b"
    n = place.length(right)
    keys = ("n_free", "n_nonneg", "n_box")
    fixed = [0, 0, 0] if kind == "fc3d" else [place.count(key, 0) for key in keys]
    dims = _dims(place, n, fixed)
    mu = _friction(place, dims, kind)
    empty = np.zeros(0)
    bounds = {
        key: place.floats(key, fixed[2], infinite=True) if fixed[2] else empty
        for key in ("lo", "hi")
    }
    return ContactProblem(
        name=name,
        kind=kind,
        W=place.floats("W", n, n),
        b=place.floats(right, n),
        mu=mu,
        dims=dims,
        n_free=fixed[0],
        n_nonneg=fixed[1],
        **bounds,
        R=place.optional("R", n),
        warm_start=place.optional("warm_start", n),
        law=place.text("law", *_LAWS),
        level=place.text("level", *_LEVELS),
        stored=_verdict(place, place.floats("r", n)) if "r" in place else None,
    )


def _dims(place: Place, n: int, fixed: list[int]) -> np.ndarray:
    room = n - sum(fixed)
    if "dims" not in place:
        if room < 0 or room % 3:
            before = " + ".join(map(str, fixed))
            raise place.error("rows", f"{before} and a multiple of 3 (dims is missing)", n)
        return np.full(room // 3, 3, np.int32)
    dims = place.integers("dims", place.length("dims"))
    odd = dims[~np.isin(dims, (3, 4, 6))]
    if len(odd):
        raise place.error("dims", "3, 4 or 6", odd[0])
    if dims.sum() != room:
        raise place.error("dims", f"a sum of {room}, the rows that contacts have", dims.sum())
    return dims.astype(np.int32)


def _friction(place: Place, dims: np.ndarray, kind: str) -> np.ndarray:
    """One coefficient per tangential row; fc3d has one per contact."""
    if kind == "fc3d":
        return np.repeat(place.floats("mu", len(dims)), 2)
    return place.floats("mu", int((dims - 1).sum()))


def _lcp(place: Place, name: str, kind: str) -> ComplementarityProblem:
    n = place.length("q")
    extra: dict[str, Any] = {}
    if kind == "mlcp":
        extra["n_free"] = place.count("n_free")
        if extra["n_free"] > n:
            raise place.error("n_free", f"at most {n}", extra["n_free"])
    if kind == "boxed_lcp":
        findex = place.integers("findex", n)
        odd = findex[(findex < -1) | (findex >= n) | (findex == np.arange(n))]
        if len(odd):
            raise place.error("findex", f"-1, or another row from 0 to {n - 1}", odd[0])
        bounds = {key: place.floats(key, n, infinite=True) for key in ("lo", "hi")}
        extra = {**bounds, "findex": findex.astype(np.int32)}
    stored = _verdict(place, place.floats("z", n)) if "z" in place else None
    M, q = place.floats("M", n, n), place.floats("q", n)
    return ComplementarityProblem(name=name, kind=kind, M=M, q=q, **extra, stored=stored)


def _solution(place: Place, problem: Problem) -> StoredSolution:
    key = "z" if isinstance(problem, ComplementarityProblem) else "r"
    return _verdict(place, place.floats(key, problem.rows))


def _verdict(place: Place, values: np.ndarray) -> StoredSolution:
    return StoredSolution(
        values=values,
        status=place.text("status"),
        residual=place.number("residual"),
        iterations=place.count("iterations", -1) if "iterations" in place.group.attrs else None,
        solver=place.text("solver"),
        law=place.text("law", *_LAWS),
        tolerance=place.number("tolerance"),
    )


def _fresh(file: h5py.File, parent: str, name: str) -> h5py.Group:
    """A new group, in place of what has its name."""
    if not name or "/" in name or name == ".":
        raise FileError(f"name: expected a text without '/', got {name!r}")
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
