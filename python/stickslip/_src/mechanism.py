"""From mass matrices and Jacobians to contact problems, and from impulses to velocities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stickslip import _core
from stickslip._src import arrays as check
from stickslip._src.aliases import Int32, Numbers


def delassus(
    M: ArrayLike, J: ArrayLike, *, counts: ArrayLike | None = None, threads: int | None = None
) -> Numbers:
    """W = J M^-1 J^T, (E, n, n), from mass matrices M (E, nv, nv) and Jacobians J (E, n, nv).

    `counts` (E,) is the number of rows each environment uses; the rest of J is padding, and the
    rest of W is zero. An environment whose M is not positive definite or not finite gets NaN, for
    which `solve` returns `bad_input`. M (nv, nv) is shared by all environments; if J has no
    environment axis either, the result has none.
    """
    M, J, rows, batched = mechanism_arrays(M, J, counts)
    num_envs, n = J.shape[:2]
    W = np.zeros((num_envs, n, n), M.dtype)
    pool = check.thread_count(threads)
    if num_envs:
        out = {"W": W, "ok": np.zeros(num_envs, np.int32)}
        _core.delassus({"M": M, "J": J, "rows": rows}, out, threads=pool)
    return W if batched else W[0]


def apply_impulse(
    M: ArrayLike,
    J: ArrayLike,
    impulse: ArrayLike,
    v_free: ArrayLike,
    *,
    counts: ArrayLike | None = None,
    threads: int | None = None,
) -> Numbers:
    """v+ = v_free + M^-1 J^T r, (E, nv), for impulses r (E, n) and velocities v_free (E, nv).

    The other arguments, and NaN, are as in `delassus`.
    """
    M, J, rows, batched = mechanism_arrays(M, J, counts)
    num_envs, n, nv = J.shape
    arrays: dict[str, Any] = {"M": M, "J": J, "rows": rows}
    for name, value, size in (("impulse", impulse, n), ("v_free", v_free, nv)):
        array = check.floats(name, value, M.dtype, "M")
        check.require_shape(name, array, (num_envs, size) if batched else (size,))
        arrays[name] = check.slots(array if batched else array[None])
    v_next = np.zeros((num_envs, nv), M.dtype)
    pool = check.thread_count(threads)
    if num_envs:
        out = {"v_next": v_next, "ok": np.zeros(num_envs, np.int32)}
        _core.apply_impulse(arrays, out, threads=pool)
    return v_next if batched else v_next[0]


def mechanism_arrays(M: Any, J: Any, counts: Any) -> tuple[Numbers, Numbers, Int32 | None, bool]:
    """M (E, nv, nv) and J (E, n, nv), the rows in use, and whether J has the environment axis."""
    M = check.floats("M", M)
    J = check.floats("J", J, M.dtype, "M")
    if M.ndim not in (2, 3) or M.shape[-1] != M.shape[-2]:
        raise ValueError(f"M: expected shape (E, nv, nv) or (nv, nv), got {M.shape}")
    if J.ndim not in (2, 3) or J.ndim < M.ndim or J.shape[-1] != M.shape[-1]:
        raise ValueError(f"J: expected shape (E, n, {M.shape[-1]}), got {J.shape}")
    batched = J.ndim == 3
    J = _blocks(J if batched else J[None])
    num_envs = J.shape[0]
    if M.ndim == 3:
        check.require_shape("M", M, (num_envs, *M.shape[1:]))
    M = np.broadcast_to(_blocks(M), (num_envs, *M.shape[-2:]))
    if counts is None:
        return M, J, None, batched
    if not batched:
        raise ValueError("counts: expected None because J is one Jacobian, got an array")
    rows = check.integers("counts", counts)
    check.require_shape("counts", rows, (num_envs,))
    bad = np.flatnonzero((rows < 0) | (rows > J.shape[1]))
    if bad.size:
        e = bad[0]
        got = f"got {rows[e]} in environment {e}"
        raise ValueError(f"counts: expected numbers from 0 to {J.shape[1]}, {got}")
    return M, J, rows.astype(np.int32), batched


def _blocks(array: Numbers) -> Numbers:
    """`array` where the matrix of each environment is one block of memory, else a copy."""
    slot = array if array.ndim == 2 else array[:1]
    aligned = array.flags.aligned and array.strides[0] % array.itemsize == 0
    return array if slot.flags.c_contiguous and aligned else check.aligned(array)
