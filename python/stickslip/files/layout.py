"""Reads the layout of docs/files.md: /problems/<name>, /solutions/<name>."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from stickslip._core import Law
from stickslip._src.options import DIRECTIONS
from stickslip.files import fclib
from stickslip.files.hdf5 import Place, open_to_read, shown
from stickslip.files.problems import (
    ComplementarityProblem,
    ContactProblem,
    Problem,
    ProblemFile,
    StoredSolution,
)

KINDS = ("lcp", "mlcp", "boxed_lcp", "contact", "fc3d")
LAWS = tuple(Law.__members__)
LEVELS = ("velocity", "acceleration")


def read(path: str | os.PathLike[str]) -> ProblemFile:
    """The contents of a file of this layout or FCLIB's. Raises FileError for any other file."""
    with open_to_read(path) as file:
        name = shown(path)
        root = Place(file, name)
        if fclib.is_fclib(root):
            return ProblemFile(name, [fclib.read(root)])
        if "problems" not in root:
            groups = ", ".join(root.names()[:5]) or "nothing"
            raise root.error("content", "the group problems, fclib_local or fclib_global", groups)
        problems = {key: _problem(place, key) for key, place in _members(root, "problems")}
        solutions = {}
        for key, place in _members(root, "solutions") if "solutions" in root else ():
            if key not in problems:
                raise place.error("name", "that of a problem", repr(key))
            solutions[key] = _solution(place, problems[key])
        return ProblemFile(name, list(problems.values()), solutions)


def _members(root: Place, key: str) -> list[tuple[str, Place]]:
    parent = root.inside(key)
    noun = key.removesuffix("s")
    members = []
    for name in parent.names():
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
    bounds: dict[str, Any] = {
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
        start_selected=place.count("start_selected", 0, high=2),
        law=place.text("law", *LAWS),
        directions=_directions(place),
        level=place.text("level", *LEVELS),
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


def _directions(place: Place) -> int:
    given = place.count("directions", 4)
    if given not in DIRECTIONS:
        raise place.error("directions", "4, 8, 16, 32 or 64", given)
    return given


def _friction(place: Place, dims: np.ndarray, kind: str) -> np.ndarray:
    """One coefficient per tangential row; fc3d has one per contact."""
    if kind == "fc3d":
        return np.repeat(place.floats("mu", len(dims)), 2)
    return place.floats("mu", int((dims - 1).sum()))


def _lcp(place: Place, name: str, kind: str) -> ComplementarityProblem:
    n = place.length("q")
    extra: dict[str, Any] = {}
    if kind == "mlcp":
        extra["n_free"] = place.count("n_free", high=n)
        if extra["n_free"] is None:
            raise place.error("n_free", f"an integer from 0 to {n}", "nothing")
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
    proof = place.floats("certificate", len(values)) if "certificate" in place else None
    return StoredSolution(
        values=values,
        status=place.text("status"),
        residual=place.number("residual"),
        iterations=place.count("iterations", high=2**31 - 1),
        solver=place.text("solver"),
        law=place.text("law", *LAWS),
        tolerance=place.number("tolerance"),
        certificate=proof,
    )
