"""How contacts of the rigid laws close, bounce and recover from penetration."""

from __future__ import annotations

from dataclasses import dataclass

from stickslip._src import arrays as check


@dataclass(frozen=True)
class ContactModel:
    """Contacts of the rigid laws; the law "convex" has MuJoCo's own soft contacts.

    The names and defaults are those of `BatchSim`.
    """

    restitution: float = 0.0  #: e in [0, 1], Newton's law of impact
    v_rest: float = 0.01  #: m/s; slower approaches do not bounce
    v_max: float = 1.0  #: m/s; fastest recovery from penetration
    compliance: float = 0.0  #: of the normals, 1/kg; 0: rigid
    #: m; contacts are found from this gap on. None: from the speeds of the geoms
    contact_margin: float | None = None

    def __post_init__(self) -> None:
        for name in ("restitution", "v_rest", "v_max", "compliance"):
            _not_negative(name, getattr(self, name))
        if self.restitution > 1:
            raise ValueError(
                f"contact.restitution: expected a number in [0, 1], got {self.restitution}"
            )
        if self.contact_margin is not None:
            _not_negative("contact_margin", self.contact_margin)


def _not_negative(name: str, value: float) -> None:
    number = check.number(f"contact.{name}", value)
    if not 0 <= number < float("inf"):
        raise ValueError(f"contact.{name}: expected a finite number >= 0, got {value}")
