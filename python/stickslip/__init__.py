"""Batches of small frictional-contact problems, solved together, each with its own verdict."""

from stickslip import _interrupt

if _interrupt.in_command():
    _interrupt.print_no_traceback()

from stickslip._core import GradientStatus, Law, LcpMethod, Precision, Solver, Status
from stickslip._core import version as _version
from stickslip._sim_gradients import StateChange, StateGradient
from stickslip.bound import BoundGradient, BoundResult, BoundSolver
from stickslip.contact import SolveOptions, solve
from stickslip.derivative import Change, Gradient, StepGradient
from stickslip.engine import EngineMechanism
from stickslip.formulation import (
    ContactLcp,
    StandardForm,
    contact_columns,
    stack,
    standard_form,
    stewart_trinkle,
)
from stickslip.gradient import jvp, step_vjp, vjp
from stickslip.lcp import LcpOptions, LcpSolution, solve_lcp
from stickslip.measuring import certificate_holds, residual
from stickslip.mechanism import apply_impulse, delassus
from stickslip.mncp import MncpOptions, MncpSolution, solve_mncp
from stickslip.sim import BatchSim, IgnoredFieldWarning
from stickslip.solution import Measures, Solution

__version__ = _version()
__all__ = [
    "BatchSim",
    "BoundGradient",
    "BoundResult",
    "BoundSolver",
    "Change",
    "ContactLcp",
    "EngineMechanism",
    "Gradient",
    "GradientStatus",
    "IgnoredFieldWarning",
    "Law",
    "LcpMethod",
    "LcpOptions",
    "LcpSolution",
    "Measures",
    "MncpOptions",
    "MncpSolution",
    "Precision",
    "Solution",
    "SolveOptions",
    "Solver",
    "StandardForm",
    "StateChange",
    "StateGradient",
    "Status",
    "StepGradient",
    "apply_impulse",
    "certificate_holds",
    "contact_columns",
    "delassus",
    "jvp",
    "residual",
    "solve",
    "solve_lcp",
    "solve_mncp",
    "stack",
    "standard_form",
    "step_vjp",
    "stewart_trinkle",
    "vjp",
]
