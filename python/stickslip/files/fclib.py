"""FCLIB files (https://frictionalcontactlibrary.github.io): one sparse 3D Coulomb problem each.

    local    u = W r + V λ + q,    0 = Vᵀ r + R λ + s
    global   M v = H r + G λ + f,  u = Hᵀ v + w,  0 = Gᵀ v + b

λ belongs to bilateral constraints and may be missing. Here these are the free rows: with v
eliminated, global problems have W = Jᵀ M⁻¹ J and b = Jᵀ M⁻¹ f + (b, w), J = (G, H). Rows of a
contact are in our order, normal first.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from stickslip.files.hdf5 import MAX_ROWS, FileError, Place, guarded
from stickslip.files.problems import ContactProblem, StoredSolution

_MAX_SPARSE = 10_000_000  # rows, columns, entries of a sparse matrix
_DENSE = 2**25  # numbers of M⁻¹ J at once
_ROLLING = ("fclib_global_rolling", "fclib_local_rolling")


def is_fclib(root: Place) -> bool:
    for key in _ROLLING:
        if key in root:
            raise root.error("content", "fclib_local or fclib_global", f"{key} (rolling friction)")
    return "fclib_local" in root or "fclib_global" in root


def read(root: Place) -> ContactProblem:
    """The problem of an FCLIB file, named after the file."""
    is_local = "fclib_local" in root
    place = root.inside("fclib_local" if is_local else "fclib_global")
    place.name = f"{root.name}: {place.name.rsplit('/', 1)[-1]}"
    if place.scalar("spacedim", 0, 9) != 3:
        got = f"{place.scalar('spacedim', 0, 9)}: only 3D friction is read"
        raise place.error("spacedim", "3", got)
    W, b, mu, n_free = (_read_local if is_local else _read_global)(place)
    return ContactProblem(
        name=Path(root.name).stem,
        kind="fclib",
        W=W,
        b=b,
        mu=np.repeat(mu, 2),
        dims=np.full(len(mu), 3, np.int32),
        n_free=n_free,
        law="coulomb",
        stored=_stored(root, n_free, 3 * len(mu)),
    )


def _read_local(place: Place) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    vectors = place.inside("vectors")
    n, p = vectors.length("q"), _contacts(vectors, "q")
    W = _matrix(place.inside("W"), (n, n)).toarray()
    q, mu = vectors.floats("q", n), vectors.floats("mu", p)
    if "V" not in place:
        return W, q, mu, 0
    k = _bilateral(vectors, "s", n)
    V = _matrix(place.inside("V"), (n, k)).toarray()
    R = _matrix(place.inside("R"), (k, k)).toarray()
    return np.block([[R, V.T], [V, W]]), np.concatenate([vectors.floats("s", k), q]), mu, k


def _read_global(place: Place) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    from scipy import sparse  # only this module needs it
    from scipy.sparse.linalg import splu

    vectors = place.inside("vectors")
    ndof = vectors.length("f", _MAX_SPARSE)
    n, p = vectors.length("w"), _contacts(vectors, "w")
    M = _matrix(place.inside("M"), (ndof, ndof))
    J = _matrix(place.inside("H"), (ndof, n))
    f, b, mu = vectors.floats("f", ndof), vectors.floats("w", n), vectors.floats("mu", p)
    k = 0
    if "G" in place:
        k = _bilateral(vectors, "b", n)
        J = sparse.hstack([_matrix(place.inside("G"), (ndof, k)), J]).tocsc()
        b = np.concatenate([vectors.floats("b", k), b])
    with guarded(f"{place.name}/M"):
        factors = splu(M.tocsc())
        W, b = _delassus(factors, J), J.T @ factors.solve(f) + b
    if not np.isfinite(W).all() or not np.isfinite(b).all():
        raise place.error("M", "an invertible matrix", "infinite velocities")
    return W, b, mu, k


def _delassus(factors: Any, J: Any) -> np.ndarray:
    """Jᵀ M⁻¹ J, some columns at a time: M⁻¹ J is dense, and may be far larger than W."""
    rows, columns = J.shape
    W, step = np.zeros((columns, columns)), max(1, _DENSE // max(1, rows))
    for first in range(0, columns, step):
        some = J[:, first : first + step]
        W[:, first : first + step] = J.T @ factors.solve(some.toarray())
    return W


def _contacts(vectors: Place, key: str) -> int:
    rows = vectors.length(key)
    if rows % 3:
        raise vectors.error(key, "a multiple of 3 numbers", rows)
    return rows // 3


def _bilateral(vectors: Place, key: str, rows: int) -> int:
    k = vectors.length(key)
    if k + rows > MAX_ROWS:
        raise vectors.error(key, f"at most {MAX_ROWS} rows with those of contacts", k + rows)
    return k


def _matrix(place: Place, shape: tuple[int, int]) -> Any:
    """A scipy matrix in compressed columns. Entries with the same place add up."""
    try:
        from scipy import sparse
    except ImportError:
        raise FileError(f"{place.name}: reading FCLIB needs scipy: pip install scipy") from None

    m, n = (place.scalar(key, 0, _MAX_SPARSE) for key in ("m", "n"))
    if (m, n) != shape:
        raise place.error("m, n", str(shape), (m, n))
    nz = place.scalar("nz", -2, _MAX_SPARSE)
    if nz >= 0:  # triplets. Published files have rows in i, columns in p (fclib.h: the reverse)
        rows, columns = (_indices(place, key, nz, end) for key, end in (("i", m), ("p", n)))
        triplets = (_values(place, nz), (rows, columns))
        return sparse.coo_matrix(triplets, shape=shape).tocsc()
    across, along = (n, m) if nz == -1 else (m, n)
    starts = place.integers("p", across + 1)
    if starts[0] != 0 or (np.diff(starts) < 0).any():
        raise place.error("p", "numbers that begin with 0 and do not fall", starts[:5])
    count = int(starts[-1])
    entries = (_values(place, count), _indices(place, "i", count, along), starts)
    return (sparse.csc_matrix if nz == -1 else sparse.csr_matrix)(entries, shape=shape).tocsc()


def _indices(place: Place, key: str, count: int, end: int) -> np.ndarray:
    """The first `count` numbers: the dataset may be longer."""
    indices = place.integers(key, _room(place, key, count))[:count]
    odd = indices[(indices < 0) | (indices >= end)]
    if len(odd):
        raise place.error(key, f"0 ... {end - 1}", odd[0])
    return indices


def _values(place: Place, count: int) -> np.ndarray:
    return place.floats("x", _room(place, "x", count))[:count]


def _room(place: Place, key: str, count: int) -> int:
    length = place.length(key, _MAX_SPARSE)
    if length < count:
        raise place.error(key, f"at least {count} numbers", length)
    return length


def _stored(root: Place, n_free: int, rows: int) -> StoredSolution | None:
    """The group `solution`, which has no verdict."""
    if "solution" not in root:
        return None
    place = root.inside("solution")
    r = place.floats("r", rows)
    return StoredSolution(np.concatenate([place.floats("l", n_free), r]) if n_free else r)
