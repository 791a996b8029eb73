"""Writes FCLIB files as its library does: sparse matrices in one of three formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np


def matrix_group(parent: h5py.Group, name: str, dense: np.ndarray, form: str) -> h5py.Group:
    """form: "csr" (nz = -2), "csc" (nz = -1), "triplets" (nz = entries, rows in i, columns in p,
    with room to spare in nzmax)."""
    group = parent.create_group(name)
    m, n = dense.shape
    rows, columns = np.nonzero(dense)
    if form == "csc":
        order = np.lexsort((rows, columns))
        rows, columns = rows[order], columns[order]
    starts = {
        "csr": np.searchsorted(rows, np.arange(m + 1)),
        "csc": np.searchsorted(columns, np.arange(n + 1)),
        "triplets": columns,
    }
    count = len(rows)
    group["i"] = (columns if form == "csr" else rows).astype(np.int32)
    group["p"] = starts[form].astype(np.int32)
    group["x"] = dense[rows, columns]
    nz = {"csr": -2, "csc": -1, "triplets": count}[form]
    spare = count + 7 if form == "triplets" else count
    for key, value in (("m", m), ("n", n), ("nz", nz), ("nzmax", spare)):
        group[key] = np.array([value], np.int32)
    return group


def write_local(path: Path, W: Any, q: Any, mu: Any, form: str = "csr", **bilateral: Any) -> None:
    """bilateral: V, R, s."""
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"] = np.array([3], np.int32)
        matrix_group(group, "W", W, form)
        vectors = group.create_group("vectors")
        vectors.update({"q": q, "mu": mu})
        if bilateral:
            matrix_group(group, "V", bilateral["V"], form)
            matrix_group(group, "R", bilateral["R"], form)
            vectors["s"] = bilateral["s"]


def write_global(path: Path, form: str = "triplets", **given: Any) -> None:
    """given: M, H, f, w, mu, and for bilateral constraints G, b."""
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_global")
        group["spacedim"] = np.array([3], np.int32)
        for key in {"M", "H", "G"} & set(given):
            matrix_group(group, key, given[key], form)
        vectors = group.create_group("vectors")
        vectors.update({key: given[key] for key in {"f", "w", "mu", "b"} & set(given)})
