"""Solving batches of contact problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Unpack, get_args, overload

import numpy as np
from numpy.typing import ArrayLike

from stickslip import _arrays as check
from stickslip import _core
from stickslip._core import Law, Precision, Solver
from stickslip._problem import assemble
from stickslip._types import (
    Backend,
    Directions,
    Float64,
    LawName,
    PrecisionName,
    SolveKeywords,
    SolverName,
)
from stickslip.solution import Solution

DIRECTIONS: tuple[int, ...] = get_args(Directions)
_INTEGERS = ("status", "iterations", "solver", "rows_needed", "rung")  # fields of Solution


@dataclass(frozen=True)
class SolveOptions:
    """Tolerances and budgets of a solve (docs/tuning.md: when to change which).

    An environment is solved if residual <= atol + rtol * max|b|, the largest entry of its b.

    Args:
        atol: absolute tolerance, m/s. None: 1e-9, or 1e-5 with precision "float". 0 is 0.
        rtol: relative tolerance, of max|b|. None: the same numbers. 0 is 0.
        max_sweeps: budget of solver "pgs", in sweeps; also of the first stage of law "box".
        max_newton: Newton steps of a stage of the ladder, and of solver "newton"; a stage ends
            earlier if the merit is not halved within 10 steps.
        max_rung: last rung of the ladder of solver "auto" that may run: 0 to 5, or more for all.
        exact_sweeps: run exactly `max_sweeps` sweeps of solver "pgs", without an early exit.
        max_pivots: budget of Lemke's method (solver "lemke", law "pyramid"), in pivots.
        exact_pivots: run exactly `max_pivots` pivots of solver "lemke", without an early exit; with
            contacts of dimension 3 alone and 4 directions.
        directions: corners of law "pyramid"'s polygon in the sliding plane: 4, 8, 16, 32 or 64.
        max_work: multiplications for one environment in one solve (a Newton step of n rows counts
            n**3), half of them for rung 0. Then the best impulse is the answer, and it may be far
            from a solution. 0: all of rung 0, then as `thorough` says.
        thorough: whether to spend much work on problems that the first stages did not solve: after
            rung 0 max(1e9, 2400 n**3) multiplications, unless `max_work` is set. If False:
            max(4e7, 100 n**3) up to 64 rows and 1300 n**3 beyond, and rungs 3 and later are left
            out where an impulse solves but for the bound of its rounding errors
            (docs/mathematics.md, section 11). `BatchSim`'s default is False.
    """

    atol: float | None = None
    rtol: float | None = None
    max_sweeps: int = 1000
    max_newton: int = 100
    max_rung: int = 99
    exact_sweeps: bool = False
    max_pivots: int = 20_000
    exact_pivots: bool = False
    directions: Directions = 4
    max_work: float = 0.0
    thorough: bool = True


@overload
def solve(
    W: ArrayLike,
    b: ArrayLike,
    mu: ArrayLike,
    *,
    certificates: Literal[False] = False,
    **others: Unpack[SolveKeywords],
) -> Solution[None]: ...
@overload
def solve(
    W: ArrayLike,
    b: ArrayLike,
    mu: ArrayLike,
    *,
    certificates: Literal[True],
    **others: Unpack[SolveKeywords],
) -> Solution[Float64]: ...
@overload
def solve(
    W: ArrayLike,
    b: ArrayLike,
    mu: ArrayLike,
    *,
    certificates: bool,
    **others: Unpack[SolveKeywords],
) -> Solution[Float64 | None]: ...
def solve(
    W: ArrayLike,
    b: ArrayLike,
    mu: ArrayLike,
    *,
    law: LawName | Law = "coulomb",
    solver: SolverName | Solver = "auto",
    precision: PrecisionName | Precision = "double",
    tol: float | None = None,
    dims: ArrayLike | None = None,
    n_free: int = 0,
    n_nonneg: int = 0,
    lo: ArrayLike | None = None,
    hi: ArrayLike | None = None,
    R: ArrayLike | None = None,
    counts: ArrayLike | None = None,
    warm_start: ArrayLike | None = None,
    options: SolveOptions | None = None,
    certificates: bool = False,
    backend: Backend = "auto",
    threads: int | None = None,
) -> Solution[Any]:
    """Solves E problems u = (W + diag R) r + b under a friction law, each with a verdict.

    Rows: free, nonneg, box, then contacts (normal, two tangents[, torsion, two rolling rows]).
    Arrays are float32 or float64, all of one type, and read in place (copied only where the values
    of one environment are not contiguous). Integers, bool and float16 are converted.
    One problem: omit the environment axis. In a batch, arrays other than W, b and counts may omit
    it; all environments then share them.

    Args:
        W, b: (E, n, n) Delassus matrices J M^-1 J^T, 1/kg; (E, n) free velocities, m/s.
        mu: (E, p) per contact, (E, sum(dims - 1)) per tangential row (torsion, rolling: m; ragged
            batches may have more columns, but not p), or one number.
        law, solver: as `stickslip info` lists them.
        precision: "double", "mixed" or "float", of the arithmetic. float32 arrays are converted
            where they are used; the verdict is that of the impulse before it is rounded to float32.
        tol: solved means residual <= tol * (1 + max|b|); `options` has separate tolerances and
            budgets.
        dims, n_free, n_nonneg: (p,) or (E, p) contact dimensions 3, 4, 6 (default 3); row numbers.
        lo, hi, R: (E, n_box) bounds of box rows, N s; (E, n) compliance, 1/kg, default 0.
        counts: (E,) contacts, or (E, 4) free, nonneg, box rows and contacts of each environment,
            stored first in its slot. More than n rows give `over_capacity`.
        warm_start: (E, n) impulses to start from; default 0.
        certificates: fill `solution.certificate` with the proofs of `infeasible` environments.
        backend, threads: "cpu", "cuda", "auto" (where the arrays are: the CPU); default all cores.

    Raises TypeError and ValueError for a wrong type, shape or value of an argument. Numbers that
    make an environment unsolvable (NaN, mu < 0, lo > hi) are not an error: its status is
    `bad_input`. Several threads may call it at once; Ctrl-C ends it with KeyboardInterrupt.
    """
    problem = assemble(W, b, mu, dims, n_free, n_nonneg, lo, hi, R, counts)
    warm = None if warm_start is None else problem.rows("warm_start", warm_start)
    core_options = make_options(law, solver, precision, tol, options)
    on_cuda = use_cuda(backend)
    num_envs, n = problem.b.shape
    results: dict[str, Any] = {
        "impulse": np.zeros((num_envs, n), problem.W.dtype),
        "residual": np.zeros(num_envs),
        **{name: np.zeros(num_envs, np.int32) for name in _INTEGERS},
        "certificate": np.zeros((num_envs, n))
        if check.flag("certificates", certificates)
        else None,
    }
    pool = check.thread_count(threads)
    if num_envs:
        _core.solve(*problem.arrays, warm, core_options, **results, on_cuda=on_cuda, threads=pool)
    solution: Solution[Any] = Solution(**results)
    return solution if problem.batched else solution.one()


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
    for name in ("exact_sweeps", "exact_pivots", "thorough"):
        check.flag(f"options.{name}", getattr(options, name))
    return _core.SolveOptions(
        law=which_law,
        solver=which_solver,
        precision=check.member("precision", precision, Precision),
        **tolerances,
        max_sweeps=check.count("options.max_sweeps", options.max_sweeps),
        max_newton=check.count("options.max_newton", options.max_newton),
        max_rung=check.count("options.max_rung", options.max_rung),
        exact_sweeps=options.exact_sweeps,
        max_pivots=check.count("options.max_pivots", options.max_pivots),
        exact_pivots=options.exact_pivots,
        directions=directions_of("options.directions", options.directions),
        max_work=check.number("options.max_work", options.max_work),
        thorough=options.thorough,
    )


def directions_of(name: str, value: Any) -> int:
    number = check.count(name, value)
    if number not in DIRECTIONS:
        raise ValueError(f"{name}: expected 4, 8, 16, 32 or 64, got {number}")
    return number


def use_cuda(backend: str) -> bool:
    """Whether `backend` selects the GPU; refuses where there is none."""
    if not isinstance(backend, str) or backend not in ("auto", "cpu", "cuda"):
        raise ValueError(f"backend: expected 'auto', 'cpu' or 'cuda', got {backend!r}")
    if backend == "cuda" and not _core.cuda_available():
        why = _core.cuda_why_not()
        raise ValueError(f"backend: expected 'auto' or 'cpu', because {why}, got 'cuda'")
    return backend == "cuda"
