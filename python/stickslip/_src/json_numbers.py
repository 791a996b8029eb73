"""Numbers that JSON cannot represent."""

from __future__ import annotations

import math
from typing import Any


def number(value: Any) -> Any:
    """`value`, but infinite numbers as text ("inf", "-inf") and NaN as None."""
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else str(float(value))
