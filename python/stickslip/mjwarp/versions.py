"""Which releases of mujoco_warp are supported. Their steps are recomposed from functions and fields
that are not all public, so other releases are refused."""

from __future__ import annotations

import mujoco_warp

#: Leading numbers of the versions whose code was read and tested.
SUPPORTED = ("3.17", "4.0")


def is_supported(version: str) -> bool:
    return any(version == each or version.startswith(each + ".") for each in SUPPORTED)


def require_supported(version: str) -> None:
    """Raises ImportError for another version, with the command that installs a supported one."""
    if not is_supported(version):
        expected = " or ".join(f"{each}.*" for each in SUPPORTED)
        raise ImportError(
            f"mujoco_warp: expected version {expected}, got {version}: "
            f'pip install "mujoco-warp=={SUPPORTED[-1]}.*"'
        )


VERSION = getattr(mujoco_warp, "__version__", "unknown")
require_supported(VERSION)
#: Rows of sparse Jacobians without storage are counted, and are what they were in an earlier step.
KEEPS_STALE_ROWS = VERSION.startswith("3.17")
