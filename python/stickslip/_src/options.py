"""Options of a solve, and what the names of arguments mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast, get_args

from stickslip import _core
from stickslip._core import Law, Precision, Solver
from stickslip._src import arrays as check
from stickslip._src.aliases import Directions, LawName, PrecisionName, SolverName
from stickslip._src.library import why_not_cuda

DIRECTIONS: tuple[int, ...] = get_args(Directions)
_BUDGETS = ("max_sweeps", "max_newton", "max_rung", "max_pivots")
_FLAGS = ("fixed_sweeps", "fixed_pivots", "thorough")


@dataclass(frozen=True)
class SolveOptions:
    """Tolerances and budgets of a solve (docs/tuning.md: when to change which).

    An environment is solved if residual <= atol + rtol * max|b|, the largest entry of its b.

    Args:
        atol: absolute tolerance, m/s. None: 1e-9, or 1e-5 with precision "float32". 0 is 0.
        rtol: relative tolerance, of max|b|. None: the same numbers. 0 is 0.
        max_sweeps: budget of solver "pgs", in sweeps; also of the first stage of law "box".
        max_newton: Newton steps of a stage of the ladder, and of solver "newton"; a stage ends
            earlier if the merit is not halved within 10 steps.
        max_rung: last rung of the ladder of solver "auto" that may run: 0 to 3, or more for all.
        fixed_sweeps: run exactly `max_sweeps` sweeps of solver "pgs", without an early exit.
        max_pivots: budget of Lemke's method (solver "lemke", law "pyramid"), in pivots.
        fixed_pivots: run exactly `max_pivots` pivots of solver "lemke", without an early exit; with
            contacts of dimension 3 alone and 4 directions.
        directions: corners of law "pyramid"'s polygon in the sliding plane: 4, 8, 16, 32 or 64.
        max_work: multiplications for one environment in one solve (a Newton step of n rows counts
            n**3), half of them for rung 0. Then the best impulse is the answer, and it may be far
            from a solution. 0: all of rung 0, then as `thorough` says.
        thorough: whether to spend much work on problems that the first stages did not solve: after
            rung 0 max(1e9, 2400 n**3) multiplications, unless `max_work` is set. If False:
            1000 n**3 up to 64 rows, but from 1e7 to 4e7, and 1300 n**3 beyond, and rungs 2 and
            later are left out where an impulse solves but for the bound of its rounding errors
            (docs/mathematics.md, section 11). `BatchSim`'s default is False.
    """

    atol: float | None = None
    rtol: float | None = None
    max_sweeps: int = 1000
    max_newton: int = 100
    max_rung: int = 99
    fixed_sweeps: bool = False
    max_pivots: int = 20_000
    fixed_pivots: bool = False
    directions: Directions = 4
    max_work: float = 0.0
    thorough: bool = True


def make_options(
    law: LawName | Law,
    solver: SolverName | Solver,
    precision: PrecisionName | Precision,
    tol: float | None,
    options: SolveOptions | None,
) -> _core.SolveOptions:
    """The options of the C++ library; refuses combinations without a solver."""
    options = SolveOptions() if options is None else options
    if not isinstance(options, SolveOptions):
        raise TypeError(f"options: expected SolveOptions, got {type(options).__name__}")
    tolerances = check.tolerances(tol, options)
    which_law, which_solver = check.member("law", law, Law), check.member("solver", solver, Solver)
    if not _core.supports(which_solver, which_law):
        laws = ", ".join(each.name for each in Law if _core.supports(which_solver, each))
        raise ValueError(
            f"law: expected one of {laws} with solver {which_solver.name!r}, got {which_law.name!r}"
        )
    if options.fixed_pivots is True and options.directions != 4:
        raise ValueError(
            f"options.directions: expected 4 because fixed_pivots is True, got {options.directions}"
        )
    return _core.SolveOptions(
        law=which_law,
        solver=which_solver,
        precision=check.member("precision", precision, Precision),
        directions=directions_of("options.directions", options.directions),
        max_work=check.number("options.max_work", options.max_work),
        **tolerances,
        **{name: check.count(f"options.{name}", getattr(options, name)) for name in _BUDGETS},
        **{name: check.flag(f"options.{name}", getattr(options, name)) for name in _FLAGS},
    )


def derivative_options(
    law: LawName | Law,
    precision: PrecisionName | Precision,
    tol: float | None,
    options: SolveOptions | None,
) -> _core.SolveOptions:
    """The options of a derivative: those of its solve, except for what belongs to its solver."""
    return make_options(law, "auto", precision, tol, without_solver(options))


def without_solver(options: Any) -> Any:
    """`options` without the fields that some solvers refuse."""
    if not isinstance(options, SolveOptions):
        return options
    return replace(options, fixed_sweeps=False, fixed_pivots=False)


def directions_of(name: str, value: Any) -> Directions:
    number = check.count(name, value)
    if number not in DIRECTIONS:
        raise ValueError(f"{name}: expected 4, 8, 16, 32 or 64, got {number}")
    return cast(Directions, number)


def use_cuda(backend: str) -> bool:
    """Whether `backend` selects the GPU; refuses where there is none."""
    if not isinstance(backend, str) or backend not in ("auto", "cpu", "cuda"):
        raise ValueError(f"backend: expected 'auto', 'cpu' or 'cuda', got {backend!r}")
    if backend == "cuda" and not _core.cuda_available():
        raise ValueError(f"backend: expected 'auto' or 'cpu', because {why_not_cuda()}, got 'cuda'")
    return backend == "cuda"
