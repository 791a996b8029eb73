"""Comparison of our solvers with others on the same problems: `python bench/compare`.

Timing and checks are in C++ (contest.hpp): every problem is solved by all, one right after the
other on one core, and the oracle computes the residuals.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from profiles import Entry, ratios_per_round

from stickslip import _compare, _core
from stickslip._core import Law, Solver
from stickslip._src.aliases import Float64, LawName
from stickslip._src.batch import assemble
from stickslip._src.child import items_of
from stickslip._src.options import make_options
from stickslip.files import ContactProblem, read
from stickslip.files.problems import Problem

PEERS = ("mujoco", "pinocchio", "siconos")  #: for which there is an adapter
OURS = ("auto", "auto:mixed", *(s.name for s in Solver if s.name != "auto"))


def find_modules() -> tuple[list[Path], dict[str, str]]:
    """Peer modules in $STICKSLIP_COMPARE (folders or files), or where `make setup` puts them, and
    the reason for each known peer that is missing."""
    places = os.environ.get("STICKSLIP_COMPARE")
    folders = (
        [Path(p) for p in places.split(os.pathsep)]
        if places
        else [Path(_compare.__file__).parent / "peers"]
    )
    modules = [
        file
        for place in folders
        for file in ([place] if place.is_file() else sorted(place.glob("**/stickslip_peer_*.so")))
    ]
    present = {file.stem.removeprefix("stickslip_peer_") for file in modules}
    return modules, {peer: "no adapter was built" for peer in PEERS if peer not in present}


class Comparison:
    """Problems of one law and the solvers that take part."""

    def __init__(
        self,
        law: LawName = "coulomb",
        tol: float = 1e-9,
        peer_tol: float | None = None,
        solvers: Iterable[str] | None = None,
        modules: Iterable[Path] | None = None,
    ) -> None:
        """`solvers`: ours, as "newton" or "auto:mixed"; the first is what ratios refer to.
        `modules`: peers; default those of `find_modules`."""
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # peers use one core each
        self.law, self.tol, self.peer_tol = Law[law], tol, tol if peer_tol is None else peer_tol
        self.missing: dict[str, str] = {}
        self._contest = _compare.Contest(self.law, tol, self.peer_tol)
        chosen = [s for s in OURS if _supported(s, self.law)] if solvers is None else list(solvers)
        for name in chosen:
            solver, _, precision = name.partition(":")
            words: dict[str, Any] = {"solver": solver, "precision": precision or "float64"}
            self._contest.enter_ours(name, make_options(law, **words, tol=tol, options=None))
        self._ours = set(chosen)
        if modules is None:
            modules, self.missing = find_modules()
        for file in modules:
            try:
                self._contest.enter_module(str(Path(file).resolve()))
            except RuntimeError as error:
                self.missing[Path(file).stem.removeprefix("stickslip_peer_")] = str(error)
        self.names: list[str] = []
        self.left_out = 0  #: problems of files that are not contacts of this law

    def add_file(self, path: Path) -> None:
        """Adds a file's contact problems, apart from those that are stated for another law."""
        self.add_problems(path.stem, read(path).problems)

    def add_problems(self, prefix: str, problems: Iterable[Problem]) -> None:
        """The same for problems that were read; they are called prefix/name."""
        for problem in problems:
            if isinstance(problem, ContactProblem) and problem.law in (None, self.law.name):
                self.add_arrays(f"{prefix}/{problem.name}", **problem.arguments)
            else:
                self.left_out += 1

    def add_arrays(self, name: str, W: Any, b: Any, mu: Any, **others: Any) -> None:
        """Adds one problem, in the arguments of `stickslip.solve`."""
        self._contest.add(assemble(W, b, mu, **others).arrays)
        self.names.append(name)

    def add_family(self, family: str, contacts: int, count: int) -> None:
        """Adds random problems of a built-in family."""
        _core.require_memory(8.0 * count * (3 * contacts) ** 2, "contacts, count")
        _compare.add_family(self._contest, family, contacts, count)
        self.names += [f"{family}/{contacts}/{i}" for i in range(count)]

    def run(self, rounds: int = 11) -> list[Entry]:
        """One entry per solver, ours first."""
        return able(self._entries(self._contest.run(rounds), rounds))

    def run_each(self, rounds: int = 11) -> Generator[list[Entry], None, None]:
        """One problem after the other, in another process: solvers of others may take long, and
        Ctrl-C does not wait for them. `joined` makes one list of these."""
        numbers = range(len(self.names))
        return items_of(
            lambda: (self._entries(self._contest.run_one(i, rounds), rounds) for i in numbers)
        )

    def _entries(self, outcomes: Iterable[Any], rounds: int) -> list[Entry]:
        return [_entry(outcome, outcome.name in self._ours, rounds) for outcome in outcomes]


def able(entries: list[Entry]) -> list[Entry]:
    """Ours, and those that can take one of the problems."""
    return [e for e in entries if e.ours or e.able.any()]


def joined(parts: list[list[Entry]]) -> list[Entry]:
    """The entries of all problems, from those of each."""
    entries = []
    for of_one in zip(*parts, strict=True):
        arrays = [
            f.name for f in fields(Entry) if isinstance(getattr(of_one[0], f.name), np.ndarray)
        ]
        whole = {name: np.concatenate([getattr(e, name) for e in of_one]) for name in arrays}
        entries.append(replace(of_one[0], **whole))
    return able(entries)


def _supported(name: str, law: Law) -> bool:
    return _core.supports(Solver[name.partition(":")[0]], law)


def _entry(outcome: Any, ours: bool, rounds: int) -> Entry:
    scores = outcome.scores
    us = np.full((len(scores), rounds), np.nan)
    for row, score in zip(us, scores, strict=True):
        if score.able:  # slow solves were timed less often
            row[:] = 1e6 * np.resize(score.seconds, rounds)
    columns = {
        key: np.array([getattr(score, key) for score in scores])
        for key in ("able", "claimed", "solved", "finite", "residual")
    }
    return Entry(outcome.name, outcome.about, ours, us=us, **columns)


def summary(entry: Entry, first: Entry) -> dict[str, Any]:
    """A row of the table; shares and times over the problems that the solver takes."""
    able = entry.able
    us = entry.median_us[able]
    ratio = ratios_per_round(entry.us[able], first.us[able])
    lied = able & entry.claimed & ~entry.solved
    return {
        "solver": entry.name,
        "about": entry.about,
        "problems": int(able.sum()),
        "solved": float(entry.solved[able].mean()) if able.any() else None,
        **{f"us_{key}": _quantile(us, q) for key, q in _QUANTILES.items()},
        "ratio_min": float(ratio.min()) if ratio.size else None,
        "ratio_median": float(np.median(ratio)) if ratio.size else None,
        "claimed_not_solved": int(lied.sum()),
        "worst_claimed": float(entry.residual[lied].max()) if lied.any() else None,
        "solved_not_claimed": int((able & entry.solved & ~entry.claimed).sum()),
        "not_finite": int((able & ~entry.finite).sum()),
    }


_QUANTILES = {"median": 0.5, "p95": 0.95, "p99.9": 0.999, "max": 1.0}


def _quantile(values: Float64, q: float) -> float | None:
    """The value that a share q of the values does not exceed."""
    return float(np.quantile(values, q, method="inverted_cdf")) if values.size else None
