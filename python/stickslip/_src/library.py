"""The library of kernels that the extensions share. A package such as stickslip-cuda13 brings the
same with kernels for GPUs."""

from __future__ import annotations

import ctypes
import warnings
from importlib.util import find_spec
from pathlib import Path

PLUGINS = ("stickslip_cuda13",)


def load() -> None:
    """Loads a plugin's library, before the extensions are imported. These then use it instead of
    the one beside them, because it has the same name. Warns where it is of another version."""
    for plugin in PLUGINS:
        spec = find_spec(plugin)
        for folder in map(Path, (spec and spec.submodule_search_locations) or ()):
            for library in folder.glob("libstickslip*.so"):
                _load(plugin, library)


def _load(plugin: str, library: Path) -> None:
    core = find_spec("stickslip._core")
    if core and core.origin and Path(core.origin).with_name(library.name).exists():
        ctypes.CDLL(str(library))
        return
    warnings.warn(
        f"{plugin} is not used: {library.name} is not for this build of stickslip; "
        f"wheels of one version are: pip install --upgrade stickslip {plugin}",
        RuntimeWarning,
        stacklevel=2,
    )
