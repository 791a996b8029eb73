"""Problems of real robots: those of tests/data/robots, and in addition, where they are, those of
$STICKSLIP_DATA/robots, whose names begin with "extra_"."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stickslip import files
from stickslip.files import answer

_ROOT = Path(__file__).resolve().parents[3]
FOLDER = _ROOT / "tests" / "data" / "robots"
EXTRA = Path(os.environ.get("STICKSLIP_DATA", _ROOT.parent / "shared" / "data"))
FILES = {path.stem: path for path in sorted(FOLDER.glob("*.h5"))}
EXTRA_FILES = {f"extra_{path.stem}": path for path in sorted(EXTRA.glob("robots/*.h5"))}
NAMES = (*FILES, *EXTRA_FILES)
COLLECTIONS = {"ours": tuple(FILES), **({"extra": tuple(EXTRA_FILES)} if EXTRA_FILES else {})}


@dataclass
class Batch:
    """All problems of one robot and law as one padded ragged batch."""

    names: tuple[str, ...]  #: (E,)
    solve: dict[str, Any]  #: arguments of stickslip.solve
    solvable: np.ndarray  #: (E,) bool; the others are jammed
    impulse: np.ndarray  #: (E, n) as stored in the file; of jams zero
    scale: np.ndarray  #: (E,) max(1, max|b|)


def path_of(robot: str) -> Path:
    return (FILES | EXTRA_FILES)[robot]


@functools.cache
def load(robot: str, law: str) -> Batch:
    problems = [p for p in files.read(path_of(robot)).problems if p.law == law]
    solve = answer.ragged(problems)
    stored = [p.stored if p.stored and p.stored.status == "solved" else None for p in problems]
    impulse = np.zeros_like(solve["b"])
    for slot, p, solution in zip(impulse, problems, stored, strict=True):
        if solution:
            slot[: p.rows] = solution.values
    return Batch(
        names=tuple(p.name for p in problems),
        solve=solve,
        solvable=np.array([solution is not None for solution in stored]),
        impulse=impulse,
        scale=np.maximum(1.0, np.abs(solve["b"]).max(axis=1)),
    )
