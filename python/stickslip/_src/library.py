"""The library of kernels that the extensions share. A package such as stickslip-cuda13 brings the
same with kernels for GPUs."""

from __future__ import annotations

import ctypes
import warnings
from importlib.util import find_spec
from pathlib import Path

PLUGINS = ("stickslip_cuda13",)
_refusals: list[str] = []  # why an installed plugin does not serve


def load() -> None:
    """Loads the library of a plugin, or else that of the package, before the extensions are
    imported: they use what is loaded under the name that they look for. Warns of a plugin that
    does not serve."""
    core = find_spec("stickslip._core")
    folder = Path(core.origin).parent if core and core.origin else Path(__file__).parents[1]
    for own in folder.glob("libstickslip*.so"):
        if not any(_serves(plugin, own.name) for plugin in PLUGINS):
            ctypes.CDLL(str(own))


def why_not_cuda() -> str:
    """Why no GPU is used."""
    from stickslip import _core

    return "; ".join(_refusals) or _core.cuda_why_not()


def _serves(plugin: str, name: str) -> bool:
    try:
        spec = find_spec(plugin)
        folders = [Path(f) for f in (spec and spec.submodule_search_locations) or ()]
        if not folders:
            return False
        library = next((f / name for f in folders if (f / name).exists()), folders[0] / name)
        ctypes.CDLL(str(library))
    except (OSError, ImportError, ValueError) as error:  # the last two: of a finder
        message = f"{plugin} is not used, it is not of this version and build: {error}"
        _refusals.append(message)
        warnings.warn(message, RuntimeWarning, stacklevel=3)
        return False
    return True
