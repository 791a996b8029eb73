"""Contact problems from HDF5 files (kinds `contact` and `fc3d`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np


@dataclass(frozen=True)
class FileProblem:
    """One problem; `law` is None where the file leaves it open."""

    name: str
    kind: str
    law: str | None
    W: np.ndarray
    b: np.ndarray
    mu: np.ndarray
    R: np.ndarray | None = None
    lo: np.ndarray | None = None
    hi: np.ndarray | None = None
    dims: np.ndarray | None = None
    n_free: int = 0
    n_nonneg: int = 0
    n_box: int = 0


def read_problems(path: Path) -> Iterator[FileProblem]:
    """The contact problems of a file, in the order of their names; other kinds are left out."""
    with h5py.File(path) as file:
        for name, group in sorted(file.get("problems", {}).items()):
            kind = group.attrs["kind"]
            if kind not in ("contact", "fc3d"):
                continue
            arrays = {key: np.asarray(value[()], float) for key, value in group.items()}
            rows = {f"n_{k}": int(group.attrs.get(f"n_{k}", 0)) for k in ("free", "nonneg", "box")}
            box = {key: arrays[key] for key in ("lo", "hi") if rows["n_box"]}
            dims = arrays["dims"].astype(np.int32) if "dims" in arrays else None
            yield FileProblem(
                name=name,
                kind=kind,
                law=group.attrs.get("law"),
                W=arrays["W"],
                b=arrays["q" if kind == "fc3d" else "b"],
                mu=arrays["mu"],
                R=arrays.get("R"),
                dims=dims,
                **box,
                **rows,
            )
