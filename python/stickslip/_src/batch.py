"""The arrays of a batch of problems, as the C++ library takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stickslip._src import arrays as check
from stickslip._src.aliases import Int32, Numbers
from stickslip._src.layout import MOST_ROWS, Layout, bounds_given, layout_of


@dataclass(frozen=True)
class Batch:
    """Arrays with a leading environment axis; `counts` is (n_free, n_nonneg, n_box, n_contacts)."""

    counts: Int32
    dims: Int32
    W: Numbers
    b: Numbers
    mu: Numbers
    R: Numbers | None
    lo: Numbers | None
    hi: Numbers | None
    batched: bool
    ragged: bool

    @property
    def arrays(self) -> dict[str, Any]:
        """By name, for the C++ library."""
        return vars(self)

    def rows(self, name: str, value: Any) -> Numbers:
        """`value` (E, n) of this batch."""
        array = check.floats(name, value, self.W.dtype)
        return check.per_environment(name, array, self.W.shape[0], self.W.shape[1], self.batched)

    @property
    def used_dims(self) -> Numbers:
        """(E, p) dimensions of the contacts, 0 in slots that an environment does not use."""
        return np.where(np.arange(self.dims.shape[1]) < self.counts[:, 3:], self.dims, 0)

    def friction(self, name: str, value: Any) -> Numbers:
        """`value`, in any form that `mu` may have, per tangential row: as wide as `mu`."""
        packed = _friction(value, self.W, self.used_dims, self.ragged, self.batched, name)
        width = self.mu.shape[1]
        if packed.shape[1] > width:
            raise ValueError(f"{name}: expected at most {width} columns, got {packed.shape[1]}")
        return np.pad(packed, ((0, 0), (0, width - packed.shape[1])))

    def has_one_per_contact(self, mu: Any) -> bool:
        """Whether the caller's mu has a number per contact, or one for all."""
        p = self.dims.shape[1]
        return np.ndim(mu) == 0 or np.shape(mu)[-1] == p

    def per_contact(self, rows: Numbers) -> Numbers:
        """(E, p) sums over the tangential rows of each contact."""
        tangential = np.maximum(self.used_dims - 1, 0)
        num_envs, p = tangential.shape
        filled = np.arange(rows.shape[1]) < tangential.sum(axis=1)[:, None]
        contact = np.repeat(np.tile(np.arange(p), num_envs), tangential.ravel())
        sums = np.zeros((num_envs, p), rows.dtype)
        np.add.at(sums, (np.nonzero(filled)[0], contact), rows[filled])
        return sums


def assemble(
    W: Any,
    b: Any,
    mu: Any,
    dims: Any = None,
    n_free: Any = 0,
    n_nonneg: Any = 0,
    lo: Any = None,
    hi: Any = None,
    R: Any = None,
    counts: Any = None,
) -> Batch:
    """Checks and arranges the arguments of `solve` (see there); copies nothing large."""
    W, batched = check.matrices("W", W)
    num_envs, n = W.shape[:2]

    lo, hi = (_bounds(name, v, W, batched) for name, v in (("lo", lo), ("hi", hi)))
    if bounds_given(lo, hi):
        check.require_shape("hi", hi, lo.shape)
    n_box = 0 if lo is None else lo.shape[1]
    counts = _counts(counts, num_envs, batched)
    dims = None if dims is None else _dims(dims, num_envs, batched)
    in_array = dims is not None and (counts is not None or dims.ndim == 2)
    layout = layout_of(
        n, None if dims is None or in_array else dims.tolist(),
        dims.shape[-1] if in_array else None, n_free, n_nonneg, n_box,
        None if counts is None else counts.ndim,
    )  # fmt: skip
    dims = np.atleast_2d(dims if in_array else np.array(layout.dims, np.int64))
    rows_of_kinds = _row_counts(counts, num_envs, layout)
    used = _used_dims(rows_of_kinds, dims)
    if counts is not None and counts.ndim == 2:
        _require_bounds(rows_of_kinds, used, n, n_box)
    # Slots that are not in use may have anything.
    dims = np.clip(dims, -1, 7).astype(np.int32, order="C")

    b = check.floats("b", b, W.dtype)
    check.require_shape("b", b, (num_envs, n) if batched else (n,))
    if R is not None:
        R = check.per_environment("R", check.floats("R", R, W.dtype), num_envs, n, batched)
    return Batch(
        counts=rows_of_kinds,
        dims=np.broadcast_to(dims, (num_envs, dims.shape[1])),
        W=W,
        b=check.slots(b if batched else b[None]),
        mu=_friction(mu, W, used, layout.ragged, batched),
        R=R,
        lo=lo,
        hi=hi,
        batched=batched,
        ragged=layout.ragged,
    )


def _bounds(name: str, value: Any, W: Numbers, batched: bool) -> Numbers | None:
    if value is None:
        return None
    array = check.floats(name, value, W.dtype)
    if array.ndim not in (1, 2):
        raise ValueError(f"{name}: expected shape (E, n_box) or (n_box,), got {array.shape}")
    return check.per_environment(name, array, W.shape[0], array.shape[-1], batched)


def _counts(counts: Any, num_envs: int, batched: bool) -> Numbers | None:
    """`counts` (E,) or (E, 4), all >= 0."""
    if counts is None:
        return None
    if not batched:
        raise ValueError("counts: expected None because W is one problem, got an array")
    counts = check.integers("counts", counts)
    check.require_shape("counts", counts, (num_envs,), (num_envs, 4))
    bad = np.flatnonzero(counts.min(axis=tuple(range(1, counts.ndim))) < 0)
    if bad.size:
        e = bad[0]
        raise ValueError(f"counts: expected numbers >= 0, got {counts[e]} in environment {e}")
    return counts


def _dims(dims: Any, num_envs: int, batched: bool) -> Numbers:
    """Dimensions of the contact slots, (E, p) or (p,)."""
    dims = check.integers("dims", dims)
    if dims.ndim != 1 and (dims.ndim != 2 or not batched or dims.shape[0] != num_envs):
        expected = f"(p,) or ({num_envs}, p)" if batched else "(p,)"
        raise ValueError(f"dims: expected shape {expected}, got {dims.shape}")
    return dims


def _row_counts(counts: Numbers | None, num_envs: int, layout: Layout) -> Numbers:
    """Rows of each kind, (E, 4) int32."""
    if counts is None:
        return np.broadcast_to(layout.counts, (num_envs, 4))
    all_kinds = np.empty((num_envs, 4), np.int64)
    all_kinds[:, :3] = layout.kinds
    all_kinds[:, 3 if counts.ndim == 1 else slice(None)] = counts
    return np.minimum(all_kinds, MOST_ROWS).astype(np.int32)


def _require_bounds(counts: Numbers, used: Numbers, n: int, n_box: int) -> None:
    """Environments that fit their slot have a bound for each box row; others are over_capacity."""
    rows = counts[:, :3].sum(axis=1, dtype=np.int64) + used.sum(axis=1)
    fits = (rows <= n) & (counts[:, 3] <= used.shape[1])
    over = np.flatnonzero(fits & (counts[:, 2] > n_box))
    if over.size:
        e = over[0]
        raise ValueError(
            f"counts: expected at most {n_box} box rows, as lo and hi have, "
            f"got {counts[e, 2]} in environment {e}"
        )


def _used_dims(counts: Numbers, dims: Numbers) -> Numbers:
    """`dims` with 0 in the slots that an environment does not use; refuses other than 3, 4, 6."""
    slot = np.arange(dims.shape[1])
    in_use = slot < counts[:, 3:]
    known = (dims == 3) | (dims == 4) | (dims == 6)
    if not known.all():
        bad = np.argwhere(in_use & ~known)
        if bad.size:
            e, c = bad[0]
            got = np.broadcast_to(dims, in_use.shape)[e, c]
            where = f"contact {c} of environment {e}"
            raise ValueError(f"dims: expected 3, 4 or 6, got {got} for {where}")
    return np.where(in_use, dims, 0)


def _friction(
    mu: Any, W: Numbers, used: Numbers, ragged: bool, batched: bool, name: str = "mu"
) -> Numbers:
    """Coefficients (E, rows), one per tangential row. Ragged slots may be wider than needed."""
    num_envs, p = used.shape
    mu = check.floats(name, mu, W.dtype)
    if mu.ndim == 0:
        mu = np.full(p, mu, W.dtype)
    tangential = np.maximum(used - 1, 0)
    width = int(tangential.sum(axis=1).max(initial=0))
    if (ragged or not num_envs) and mu.ndim and mu.shape[-1] not in (p, width):
        width = max(width, mu.shape[-1])
    allowed: list[tuple[int, ...]] = [(p,), (width,)]
    if batched:
        allowed = [(num_envs, p), (num_envs, width), *allowed]
    check.require_shape(name, mu, *dict.fromkeys(allowed))
    if mu.shape[-1] == width and width != p:
        return np.broadcast_to(check.slots(mu), (num_envs, width))
    if not ragged and num_envs:  # the same contacts everywhere
        return np.broadcast_to(np.repeat(mu, tangential[0], axis=-1), (num_envs, width))
    packed = np.zeros((num_envs, width), W.dtype)
    filled = np.arange(width) < tangential.sum(axis=1)[:, None]
    packed[filled] = np.repeat(np.broadcast_to(mu, (num_envs, p)).ravel(), tangential.ravel())
    return packed
