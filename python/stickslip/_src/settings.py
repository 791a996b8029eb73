"""What a solve by stickslip.torch or stickslip.jax depends on, other than arrays."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from stickslip import _core
from stickslip._core import Law, Precision, Solver
from stickslip._src.layout import Layout, layout_of
from stickslip._src.options import SolveOptions, make_options

_ENUMS: dict[str, type[Any]] = {"law": Law, "solver": Solver, "precision": Precision}


@dataclass(frozen=True)
class Settings:
    """The rows of a slot, and the options. Hashable, and it can be written as text, so that it can
    be part of a compiled program."""

    layout: Layout
    options: tuple[tuple[str, int | float], ...]

    @functools.cached_property
    def text(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def of(text: str) -> Settings:
        fields = json.loads(text)
        layout: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in fields["layout"].items()
        }
        options = tuple((name, value) for name, value in fields["options"])
        return Settings(Layout(**layout), options)

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


def settings_of(layout: tuple[Any, ...], options: tuple[Any, ...]) -> Settings:
    """Checks the arguments of a `solve` that are no arrays.

    Args:
        layout: the arguments of `layout_of`.
        options: law, solver, precision, tol, options.
    """
    try:
        return _known(layout, options)
    except TypeError:  # perhaps of an argument that cannot be hashed: the check names it
        return _settings(layout, options)


def _settings(layout: tuple[Any, ...], options: tuple[Any, ...]) -> Settings:
    rows = layout_of(*layout)
    core = make_options(*options)
    numbers = tuple((name, _plain(getattr(core, name))) for name in _core.SolveOptions.names)
    return Settings(rows, numbers)


_known: Callable[..., Settings] = functools.lru_cache(maxsize=1024, typed=True)(_settings)


def _plain(value: Any) -> int | float:
    return value if isinstance(value, float | bool) else int(value)


def is_per_contact(
    mu: tuple[int, ...], lead: tuple[int, ...], contacts: int, tangential: int, more: bool
) -> bool:
    """Whether mu, of this shape, has one number per contact; else one per tangential row.

    Args:
        mu: shape.
        lead: the axes of the environments.
        contacts, tangential: as `Layout` has them.
        more: whether there may be more columns than tangential rows.
    """
    last = mu[-1] if mu else 0
    if (last not in (contacts, tangential) and not more) or mu[:-1] not in ((), lead):
        shapes = {(*at, size): None for at in (lead, ()) for size in (contacts, tangential)}
        expected = " or ".join(map(str, shapes))
        raise ValueError(f"mu: expected a number or shape {expected}, got {mu}")
    return last == contacts
