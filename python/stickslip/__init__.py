"""Batches of small frictional-contact problems, solved together, judged one by one."""

from stickslip._core import Law, Precision, Solver, Status
from stickslip._core import version as _version
from stickslip.contact import SolveOptions, residual, solve
from stickslip.mechanism import apply_impulse, delassus
from stickslip.sim import BatchSim
from stickslip.solution import Measures, Solution

__version__ = _version()
__all__ = [
    "BatchSim",
    "Law",
    "Measures",
    "Precision",
    "Solution",
    "SolveOptions",
    "Solver",
    "Status",
    "apply_impulse",
    "delassus",
    "residual",
    "solve",
]
