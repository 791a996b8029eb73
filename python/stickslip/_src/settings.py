"""What a solve by stickslip.torch or stickslip.jax depends on, other than arrays."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from stickslip import _core
from stickslip._core import Law, Precision, Solver
from stickslip._src import arrays as check
from stickslip._src.aliases import Int32
from stickslip._src.options import SolveOptions, make_options

MOST_ROWS = 2**31 - 1  #: of a kind that 32 bits hold: the kernels add them up in 64 bits
_ENUMS: dict[str, type[Any]] = {"law": Law, "solver": Solver, "precision": Precision}


@dataclass(frozen=True)
class Settings:
    """The kinds of rows in a slot, and the options. Hashable, and it can be written as text, so
    that it can be part of a compiled program."""

    n: int
    kinds: tuple[int, int, int]  #: free, nonneg and box rows
    contacts: int
    dims: tuple[int, ...] | None  #: of the contacts; None: an array has them
    ragged: bool  #: whether arrays say how many of the rows an environment uses
    options: tuple[tuple[str, int | float], ...]

    @functools.cached_property
    def text(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def of(text: str) -> Settings:
        fields = json.loads(text)
        dims = fields["dims"]
        return Settings(
            n=fields["n"],
            kinds=tuple(fields["kinds"]),
            contacts=fields["contacts"],
            dims=None if dims is None else tuple(dims),
            ragged=fields["ragged"],
            options=tuple((name, value) for name, value in fields["options"]),
        )

    @property
    def shape(self) -> Int32:
        """(4,) free, nonneg, box rows and contacts."""
        return np.array([*self.kinds, self.contacts], np.int32)

    @functools.cached_property
    def tangential(self) -> int:
        """Tangential rows, or, if an array has the dimensions, the most there can be."""
        if self.dims is None:
            return min(5 * self.contacts, 5 * self.n // 6)
        return sum(self.dims) - self.contacts

    @functools.cached_property
    def contact_of_row(self) -> tuple[int, ...]:
        """The contact of each tangential row; `dims` must be known."""
        return tuple(c for c, dim in enumerate(self.dims or ()) for _ in range(dim - 1))

    def arguments(self) -> dict[str, Any]:
        """The options as arguments of `stickslip.solve`."""
        values = dict(self.options)
        named = {name: enum(values.pop(name)) for name, enum in _ENUMS.items()}
        tolerances = {name: None if values[name] < 0 else values[name] for name in ("atol", "rtol")}
        return {**named, "options": SolveOptions(**{**values, **tolerances})}  # type: ignore[arg-type]

    def core_options(self) -> _core.SolveOptions:
        """For the C++ library."""
        values: dict[str, Any] = dict(self.options)
        named = {name: enum(values.pop(name)) for name, enum in _ENUMS.items()}
        return _core.SolveOptions(**named, **values)


def settings_of(
    n: int,
    dims: tuple[int, ...] | None,
    contacts: int | None,
    n_free: int,
    n_nonneg: int,
    n_box: int,
    counts: int | None,
    *options: Any,
) -> Settings:
    """Checks the arguments of a `solve` that are no arrays.

    Args:
        n: rows of a slot.
        dims: dimensions of the contacts; None: 3.
        contacts: slots for contacts, if an array has their dimensions, else None.
        n_free, n_nonneg: as in `stickslip.solve`.
        n_box: columns of `lo` and `hi`.
        counts: number of axes that the argument `counts` has; None without it.
        options: law, solver, precision, tol, options.
    """
    arguments = (n, dims, contacts, n_free, n_nonneg, n_box, counts, *options)
    try:
        return _known(*arguments)
    except TypeError:  # perhaps of an argument that cannot be hashed: the check names it
        return _settings(*arguments)


def _settings(
    n: int,
    dims: tuple[int, ...] | None,
    contacts: int | None,
    n_free: int,
    n_nonneg: int,
    n_box: int,
    counts: int | None,
    *options: Any,
) -> Settings:
    fixed = (check.count("n_free", n_free), check.count("n_nonneg", n_nonneg), n_box)
    if counts == 2 and any(fixed[:2]):
        raise ValueError("n_free, n_nonneg: expected 0 because counts has shape (E, 4)")
    ragged = counts is not None or contacts is not None
    known = None if contacts is not None else _dimensions(n - sum(fixed), dims, counts)
    rows = sum(fixed) + sum(known or ())
    if not ragged and rows != n:
        kinds = f"n_free {fixed[0]}, n_nonneg {fixed[1]}, n_box {n_box}"
        raise ValueError(
            f"W: expected {rows} rows ({kinds}, contacts {rows - sum(fixed)}), got {n}"
        )
    core = make_options(*options)
    numbers = tuple((name, _plain(getattr(core, name))) for name in _core.SolveOptions.names)
    return Settings(n, fixed, contacts or len(known or ()), known, ragged, numbers)


_known: Callable[..., Settings] = functools.lru_cache(maxsize=1024, typed=True)(_settings)


def _plain(value: Any) -> int | float:
    return value if isinstance(value, float | bool) else int(value)


def _dimensions(room: int, dims: Any, counts: int | None) -> tuple[int, ...]:
    """The dimensions of the contacts in a slot that has `room` rows for them."""
    if dims is not None:
        for dim in dims:
            if dim not in (3, 4, 6):
                raise ValueError(f"dims: expected 3, 4 or 6, got {dim!r}")
        return tuple(map(int, dims))
    if counts == 2:
        raise ValueError(
            "dims: expected a list of numbers or an array because counts has shape (E, 4): the "
            "number of contact slots does not follow from W, got None"
        )
    if room < 0:
        raise ValueError(f"W: {-room} rows too few for its free, nonneg and box rows")
    if room % 3 and counts is None:
        raise ValueError(
            "dims: expected a list of numbers or an array unless the contact rows are a multiple "
            f"of 3, got {room} contact rows and None"
        )
    return (3,) * (room // 3)


def is_per_contact(
    mu: tuple[int, ...], lead: tuple[int, ...], contacts: int, tangential: int, more: bool
) -> bool:
    """Whether mu, of this shape, has one number per contact; else one per tangential row.

    Args:
        mu: shape.
        lead: the axes of the environments.
        contacts, tangential: as `Settings` has them.
        more: whether there may be more columns than tangential rows.
    """
    last = mu[-1] if mu else 0
    if (last not in (contacts, tangential) and not more) or mu[:-1] not in ((), lead):
        shapes = {(*at, size): None for at in (lead, ()) for size in (contacts, tangential)}
        expected = " or ".join(map(str, shapes))
        raise ValueError(f"mu: expected a number or shape {expected}, got {mu}")
    return last == contacts
