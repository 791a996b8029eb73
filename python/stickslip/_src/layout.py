"""How many rows of each kind the slot of an environment has: the same rules for all arrays."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stickslip._src import arrays as check
from stickslip._src.aliases import Int32

MOST_ROWS = 2**31 - 1  #: of a kind that 32 bits hold: the kernels add them up in 64 bits


@dataclass(frozen=True)
class Layout:
    """Hashable, so that it can be part of a compiled program."""

    n: int  #: rows
    kinds: tuple[int, int, int]  #: free, nonneg and box rows
    contacts: int  #: slots for contacts
    dims: tuple[int, ...] | None  #: of the contacts; None: an array has them
    ragged: bool  #: whether arrays say how many of the rows an environment uses

    @property
    def counts(self) -> Int32:
        """(4,) free, nonneg, box rows and contacts."""
        return np.array([*self.kinds, self.contacts], np.int32)

    @functools.cached_property
    def tangential(self) -> int:
        """Tangential rows, or, if an array has the dimensions, the most there can be."""
        if self.dims is None:
            return most_tangential(self.n, self.contacts)
        return sum(self.dims) - self.contacts

    @functools.cached_property
    def contact_of_row(self) -> tuple[int, ...]:
        """The contact of each tangential row; `dims` must be known."""
        return tuple(c for c, dim in enumerate(self.dims or ()) for _ in range(dim - 1))


def most_tangential(n: int, contacts: int) -> int:
    """Tangential rows that contacts of any dimensions may have in a slot of n rows. Always more
    than contacts: the columns of mu say whether they are those of contacts."""
    return min(5 * contacts, max(5 * n // 6, contacts + 1))


def layout_of(
    n: int,
    dims: Sequence[int] | None,
    contacts: int | None,
    n_free: int,
    n_nonneg: int,
    n_box: int,
    counts: int | None,
) -> Layout:
    """Checks the arguments of a `solve` that say which rows there are.

    Args:
        n: rows of a slot.
        dims: dimensions of the contacts; None: 3.
        contacts: slots for contacts, if an array has their dimensions, else None.
        n_free, n_nonneg: as in `stickslip.solve`.
        n_box: columns of `lo` and `hi`.
        counts: number of axes that the argument `counts` has; None without it.
    """
    kinds = (check.count("n_free", n_free), check.count("n_nonneg", n_nonneg), n_box)
    ragged = counts is not None or contacts is not None
    known = None if contacts is not None else _dimensions(n, n - sum(kinds), dims, counts)
    if counts == 2 and any(kinds[:2]):
        raise ValueError(
            "n_free, n_nonneg: expected 0 because counts has shape (E, 4), "
            f"got {kinds[0]} and {kinds[1]}"
        )
    rows = sum(kinds) + sum(known or ())
    if not ragged and rows != n:
        text = f"n_free {kinds[0]}, n_nonneg {kinds[1]}, n_box {n_box}"
        raise ValueError(f"W: expected {rows} rows ({text}, contacts {rows - sum(kinds)}), got {n}")
    return Layout(n, kinds, len(known or ()) if contacts is None else contacts, known, ragged)


def _dimensions(
    n: int, room: int, dims: Sequence[int] | None, counts: int | None
) -> tuple[int, ...]:
    """The dimensions of the contacts in a slot of n rows that has `room` for them."""
    if dims is not None:
        for contact, dim in enumerate(dims):
            if dim not in (3, 4, 6):
                raise ValueError(f"dims: expected 3, 4 or 6, got {dim!r} for contact {contact}")
        return tuple(map(int, dims))
    if counts == 2:
        raise ValueError(
            "dims: expected a list of numbers or an array because counts has shape (E, 4): the "
            "number of contact slots does not follow from W, got None"
        )
    if room < 0:
        raise ValueError(f"W: {-room} rows too few for its free, nonneg and box rows, got {n} rows")
    if room % 3 and counts is None:
        raise ValueError(
            "dims: expected a list of numbers or an array unless the contact rows are a multiple "
            f"of 3, got {room} contact rows and None"
        )
    return (3,) * (room // 3)


def bounds_given(lo: Any, hi: Any, kind: str = "an array") -> bool:
    """Whether there are bounds of box rows: both or neither."""
    if (lo is None) != (hi is None):
        missing, present = ("lo", "hi") if lo is None else ("hi", "lo")
        raise ValueError(f"{missing}: expected {kind} because {present} is given, got None")
    return lo is not None
