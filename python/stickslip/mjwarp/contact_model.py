"""How contacts of the rigid laws close, bounce and recover from penetration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stickslip._src import arrays as check

#: A number for all geoms, or (ngeom,), or (nworld, ngeom).
OfGeoms: TypeAlias = float | ArrayLike


@dataclass(frozen=True, eq=False)
class ContactModel:
    """Contacts of the rigid laws; the law "convex" has MuJoCo's own soft contacts.

    The names and defaults are those of `BatchSim`. Numbers of geoms may be arrays (ngeom,) or
    (nworld, ngeom): contacts mix those of their two geoms (docs/tuning.md).
    """

    restitution: OfGeoms = 0.0  #: e in [0, 1], Newton's law of impact
    v_rest: OfGeoms = 0.01  #: m/s; slower approaches do not bounce
    v_max: float = 1.0  #: m/s; fastest recovery from penetration
    compliance: float = 0.0  #: of the normals, 1/kg; 0: rigid
    #: m; contacts are found from this gap on. None: from the speeds of the geoms
    contact_margin: float | None = None
    stiffness: OfGeoms = np.inf  #: of geoms that are springs, N/m for each contact
    damping: OfGeoms = 0.0  #: of such geoms, N s/m
    static_friction: OfGeoms = 0.0  #: of what does not slip, where it is larger
    v_stribeck: OfGeoms = 0.01  #: m/s; what slips as fast has the coefficient of sliding
    #: (1 or nworld, 1 or ngeom, 6): the numbers in the order of _OF_GEOMS
    of_geoms: NDArray[np.float64] = field(init=False, repr=False)
    _key: tuple[Any, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("v_max", "compliance"):
            _not_negative(name, getattr(self, name))
        if self.contact_margin is not None:
            _not_negative("contact_margin", self.contact_margin)
        given = [_of_geoms(name, getattr(self, name), *of) for name, of in _OF_GEOMS.items()]
        if self.compliance > 0 and np.isfinite(given[2]).any():
            raise ValueError(
                f"contact.compliance: expected 0 with a stiffness, got {self.compliance}"
            )
        object.__setattr__(self, "of_geoms", np.stack(np.broadcast_arrays(*given), axis=-1))
        numbers = (self.v_max, self.compliance, self.contact_margin)
        key = (*numbers, self.of_geoms.shape, self.of_geoms.tobytes())
        object.__setattr__(self, "_key", key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ContactModel) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


#: What is allowed, and how a message says it.
_OF_GEOMS = {
    "restitution": (lambda x: (x >= 0) & (x <= 1), "numbers in [0, 1]"),
    "v_rest": (lambda x: (x >= 0) & (x < np.inf), "finite numbers >= 0, m/s"),
    "stiffness": (lambda x: x > 0, "numbers > 0, N/m"),
    "damping": (lambda x: (x >= 0) & (x < np.inf), "finite numbers >= 0, N s/m"),
    "static_friction": (lambda x: (x >= 0) & (x < np.inf), "finite numbers >= 0"),
    "v_stribeck": (lambda x: (x > 0) & (x < np.inf), "finite numbers > 0, m/s"),
}


def _of_geoms(
    name: str, value: OfGeoms, allowed: Callable[[Any], Any], expected: str
) -> NDArray[np.float64]:
    """As (1 or nworld, 1 or ngeom)."""
    values = np.asarray(check.float64(f"contact.{name}", value))
    if values.ndim > 2:
        raise ValueError(
            f"contact.{name}: expected a number, (ngeom,) or (nworld, ngeom), got {values.shape}"
        )
    bad = ~allowed(values)
    if bad.any():
        raise ValueError(f"contact.{name}: expected {expected}, got {values[bad].flat[0]}")
    return values.reshape((1,) * (2 - values.ndim) + values.shape)


def _not_negative(name: str, value: float) -> None:
    number = check.number(f"contact.{name}", value)
    if not 0 <= number < float("inf"):
        raise ValueError(f"contact.{name}: expected a finite number >= 0, got {value}")
