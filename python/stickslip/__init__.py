"""Batches of small frictional-contact problems, solved together, each with its own verdict.

`solve` and `Problem` solve arrays, `BoundSolver` arrays that stay in place, `BatchSim` steps
MuJoCo's models. `files`, `models` and `info` are modules of the package, and so are `torch`, `jax`,
`newton`, `mjwarp`, `envs` and `rl`, which need other packages.
"""

import typing as _typing
from importlib import import_module as _import_module

import stickslip._src as _first  # noqa: F401  (it prepares the import of _core)
from stickslip._core import GradientStatus, Law, LcpMethod, Precision, Selected, Solver, Status
from stickslip._core import version as _version
from stickslip._src.bound import BoundGradient, BoundResult, BoundSolver
from stickslip._src.engine import EngineMechanism
from stickslip._src.formulation import (
    ContactLcp,
    StandardForm,
    contact_columns,
    stack,
    standard_form,
    stewart_trinkle,
)
from stickslip._src.gradient import jvp, step_vjp, vjp
from stickslip._src.gradient_results import Change, Gradient, StepGradient
from stickslip._src.lcp import LcpOptions, LcpSolution, solve_lcp
from stickslip._src.mechanism import apply_impulse, delassus
from stickslip._src.mixed_sim import MixedBatchSim
from stickslip._src.mncp import MncpOptions, MncpSolution, solve_mncp
from stickslip._src.options import SolveOptions
from stickslip._src.problem import Problem
from stickslip._src.residual import certificate_holds, residual
from stickslip._src.sim import BatchSim, IgnoredFieldWarning
from stickslip._src.sim_gradients import StateChange, StateGradient, StateTransition
from stickslip._src.solution import Measures, Solution
from stickslip._src.solve import solve

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
    "MixedBatchSim",
    "MncpOptions",
    "MncpSolution",
    "Precision",
    "Problem",
    "Selected",
    "Solution",
    "SolveOptions",
    "Solver",
    "StandardForm",
    "StateChange",
    "StateGradient",
    "StateTransition",
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

_MODULES = ("files", "info", "models")  # need nothing else

if not _typing.TYPE_CHECKING:

    def __getattr__(name):
        if name in _MODULES:
            return _import_module(f"stickslip.{name}")
        raise AttributeError(f"module 'stickslip' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES, "__version__"])
