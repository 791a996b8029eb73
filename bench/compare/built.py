"""The extension `_compare` of this folder, which `make setup` builds."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: where it and the adapters to peers are; STICKSLIP_BUILD names another build folder
FOLDER = Path(os.environ.get("STICKSLIP_BUILD", ROOT / "build" / "release")) / "bench" / "compare"

sys.path.append(str(FOLDER))
try:
    import _compare
except ImportError as error:
    raise ImportError(
        f"bench/compare: not in {FOLDER} ({error}); `make setup` builds it, STICKSLIP_BUILD names "
        "another build folder"
    ) from None

__all__ = ["FOLDER", "_compare"]
