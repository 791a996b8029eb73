"""Names of the arguments that environments hand to their simulation."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from inspect import signature

from stickslip.sim import BatchSim


def check_arguments(kind: str, names: Iterable[str]) -> None:
    """Raises TypeError, with the environment's class `kind`, for a name that is no argument of
    BatchSim."""
    known = [name for name in signature(BatchSim).parameters if name != "model"]
    for name in names:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise TypeError(f"{kind}: unexpected argument {name!r}{hint}")
