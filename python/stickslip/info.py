"""Features of this build and this machine."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version

from stickslip import _core
from stickslip._core import Law, Solver
from stickslip._src.library import why_not_cuda
from stickslip._src.mujoco_part import mujoco_part

_BACKENDS = "CPU, CUDA"  # the same kernels are compiled for both
_NONE = "–"


def facts() -> dict[str, str]:
    """Versions and hardware."""
    return {
        "stickslip": _core.version(),
        "Python": platform.python_version(),
        "numpy": version("numpy"),
        "MuJoCo": _mujoco_version(),
        "CPU": f"{os.cpu_count()} threads, kernels for {_core.cpu_isa()}",
        "CUDA": _core.cuda_device_name() or f"not available: {why_not_cuda()}",
    }


def _mujoco_version() -> str:
    try:
        return str(mujoco_part().mujoco_version())
    except ImportError as error:
        return f"not available: {error}"


def support_table() -> tuple[list[str], list[list[str]]]:
    """Header and rows: which solver takes which law on which backend."""
    header = ["law", "a contact is", *(solver.name for solver in Solver)]
    rows = [
        [law.name, law.__doc__ or "", *(_cell(solver, law) for solver in Solver)] for law in Law
    ]
    mujoco = ["mujoco", "MuJoCo's own: BatchSim calls mj_step", "CPU", *[_NONE] * (len(Solver) - 1)]
    return header, [*rows, mujoco]


def support_markdown() -> str:
    """The table as Markdown; docs/laws.md shows it."""
    header, rows = support_table()
    lines = [header, ["---"] * len(header), *([f"`{row[0]}`", *row[1:]] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(solver: Solver, law: Law) -> str:
    return _BACKENDS if _core.supports(solver, law) else _NONE
