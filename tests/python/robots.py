"""Problems of real robots, from $STICKSLIP_DATA or the default place of test data."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

_DEFAULT = Path(__file__).resolve().parents[3] / "shared" / "data"
FOLDER = Path(os.environ.get("STICKSLIP_DATA", _DEFAULT)) / "robots"
NAMES = (
    *("adroit_pen", "aloha_pot", "ant", "dm_humanoid", "dm_quadruped", "dog", "g1", "go1", "go2"),
    *("gym_humanoid", "leap", "shadow_block", "spot", "t1"),
)


@dataclass
class Batch:
    """All problems of one robot and law as one padded ragged batch."""

    solve: dict[str, Any]  #: arguments of stickslip.solve
    solvable: np.ndarray  #: (E,) bool; the others are jammed
    impulse: np.ndarray  #: (E, n) as stored in the file
    scale: np.ndarray  #: (E,) max(1, max|b|)


def load(robot: str, law: str) -> Batch:
    with h5py.File(FOLDER / f"{robot}.h5") as file:
        groups = [g for g in file["problems"].values() if g.attrs["law"] == law]
        problems = [({k: v[()] for k, v in g.items()}, dict(g.attrs)) for g in groups]
    counts = np.array([_counts(data, attrs) for data, attrs in problems])
    width = {
        "b": max(len(data["b"]) for data, _ in problems),
        "mu": max(len(data["mu"]) for data, _ in problems),
        "dims": counts[:, 3].max(),
        "lo": counts[:, 2].max(),
    }

    def padded(key: str, size: int) -> np.ndarray:
        out = np.zeros((len(problems), size))
        for slot, (data, _) in zip(out, problems, strict=True):
            values = data.get(key, np.empty(0))
            slot[: len(values)] = values
        return out

    n = width["b"]
    W = np.zeros((len(problems), n, n))
    dims = padded("dims", width["dims"]).astype(np.int32)
    for e, (data, _) in enumerate(problems):
        rows = len(data["b"])
        W[e, :rows, :rows] = data["W"]
        if "dims" not in data:
            dims[e, : counts[e, 3]] = 3
    b = padded("b", n)
    return Batch(
        solve={
            "W": W,
            "b": b,
            "mu": padded("mu", int(np.maximum(dims - 1, 0).sum(axis=1).max())),
            "dims": dims,
            "lo": padded("lo", width["lo"]),
            "hi": padded("hi", width["lo"]),
            "R": padded("R", n),
            "counts": counts,
        },
        solvable=np.array([attrs["status"] == "solved" for _, attrs in problems]),
        impulse=padded("r", n),
        scale=np.maximum(1.0, np.abs(b).max(axis=1)),
    )


def _counts(data: dict[str, np.ndarray], attrs: dict[str, Any]) -> list[int]:
    fixed = [int(attrs[key]) for key in ("n_free", "n_nonneg", "n_box")]
    contacts = len(data["dims"]) if "dims" in data else (len(data["b"]) - sum(fixed)) // 3
    return [*fixed, contacts]
