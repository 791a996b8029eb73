"""Solving batches of contact problems, and measuring given impulses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from stickslip import _arrays as check
from stickslip import _core
from stickslip._core import Law, Precision, Solver
from stickslip._problem import assemble
from stickslip.solution import Measures, Solution

Backend = Literal["auto", "cpu", "cuda"]

DIRECTIONS = (4, 8, 16, 32, 64)  # of law "pyramid" in the sliding plane


@dataclass(frozen=True)
class SolveOptions:
    """Tolerances and budgets. solved means residual <= atol + rtol * max|b|.

    Args:
        atol, rtol: m/s, and 1; None: 1e-9, or 1e-5 with precision "float"; 0 is 0.
        max_sweeps: budget of solver "pgs".
        max_newton: budget of the first Newton stage; later ones have 2/3 to 10/3 of it.
        max_rung: last rung of the ladder of solver "auto" that may run, 0 to 5.
        exact_sweeps: exactly `max_sweeps` sweeps of "pgs", without an early exit.
        max_pivots: budget of solver "lemke".
        exact_pivots: exactly `max_pivots` pivots of "lemke", without an early exit; with contacts
            of dimension 3 alone and 4 directions.
        directions: of law "pyramid" in the sliding plane: 4, 8, 16, 32 or 64.
        max_work: multiplications for one environment in one solve (a Newton step of n rows counts
            n**3), half of them for rung 0. Then the best impulse is the answer, and it may be far
            from a solution. 0: all of rung 0, then max(1e9, 2400 n**3).
        thorough: whether to spend much work on problems that the first stages did not solve. If
            False, a problem whose impulses grow as if it had no solution is given up at once;
            others of up to 64 rows get max(1e7, 100 n**3) multiplications after rung 0, those of
            more rows 1300 n**3. The default of `BatchSim` is False.
    """

    atol: float | None = None
    rtol: float | None = None
    max_sweeps: int = 1000
    max_newton: int = 30
    max_rung: int = 99
    exact_sweeps: bool = False
    max_pivots: int = 20_000
    exact_pivots: bool = False
    directions: int = 4
    max_work: float = 0.0
    thorough: bool = True


def solve(
    W: Any,
    b: Any,
    mu: Any,
    *,
    law: str | Law = "coulomb",
    solver: str | Solver = "auto",
    precision: str | Precision = "double",
    tol: float | None = None,
    dims: Any = None,
    n_free: int = 0,
    n_nonneg: int = 0,
    lo: Any = None,
    hi: Any = None,
    R: Any = None,
    counts: Any = None,
    warm_start: Any = None,
    options: SolveOptions | None = None,
    certificates: bool = False,
    backend: Backend = "auto",
    threads: int | None = None,
) -> Solution:
    """Solves E problems u = (W + diag R) r + b under a friction law, each with a verdict.

    Rows: free, nonneg, box, then contacts (normal, two tangents[, torsion, two rolling rows]).
    Arrays are float32 or float64, all of one type, and read in place (copied only where the values
    of one environment are not contiguous). One problem: omit the environment axis. In a batch,
    arrays other than W, b and counts may omit it; all environments then share them.

    Args:
        W, b: (E, n, n) Delassus matrices J M^-1 J^T, 1/kg; (E, n) free velocities, m/s.
        mu: (E, p) per contact, (E, sum(dims - 1)) per tangential row (torsion, rolling: m; ragged
            batches may have more columns, but not p), or one number.
        law, solver: as `stickslip info` lists them.
        precision: "double", "mixed", or "float", which float32 arrays require.
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
    if problem.W.dtype == np.float32 and core_options.precision != Precision.float:
        name = core_options.precision.name
        raise TypeError(f"W: expected float64 because precision is {name!r}, got float32")
    on_cuda = use_cuda(backend)
    num_envs, n = problem.b.shape
    numbers = [np.zeros(num_envs, np.int32) for _ in range(5)]
    result = (np.zeros((num_envs, n), problem.W.dtype), np.zeros(num_envs), *numbers)
    proofs = np.zeros((num_envs, n)) if check.flag("certificates", certificates) else None
    pool = check.thread_count(threads)
    if num_envs:
        _core.solve(*problem.arrays, warm, core_options, *result, proofs, on_cuda, pool)
    solution = Solution(*result, proofs)
    return solution if problem.batched else solution.one()


def residual(
    W: Any,
    b: Any,
    mu: Any,
    r: Any,
    *,
    law: str | Law = "coulomb",
    dims: Any = None,
    n_free: int = 0,
    n_nonneg: int = 0,
    lo: Any = None,
    hi: Any = None,
    R: Any = None,
    counts: Any = None,
    directions: int = 4,
    details: bool = False,
    threads: int | None = None,
) -> np.ndarray | Measures:
    """The residual that `solve` reports, of any impulses r (E, n).

    Returns the residual (E,) in m/s, infinite for bad input and NaN; with `details` a `Measures`,
    which also has the violation of each condition. `directions` are those of law
    "pyramid". The other arguments are as in `solve`.
    """
    problem = assemble(W, b, mu, dims, n_free, n_nonneg, lo, hi, R, counts)
    r = problem.rows("r", r)
    measures = np.zeros((len(r), 5))
    which = check.member("law", law, Law)
    pool = check.thread_count(threads)
    corners = _directions("directions", directions)
    if len(r):
        _core.measure(*problem.arrays, r, which, measures, pool, corners)
    columns = measures.T if problem.batched else measures[0]
    return Measures(*columns) if details else columns[0]


def certificate_holds(
    W: Any,
    b: Any,
    mu: Any,
    certificate: Any,
    *,
    law: str | Law = "coulomb",
    tol: float | None = None,
    dims: Any = None,
    n_free: int = 0,
    n_nonneg: int = 0,
    lo: Any = None,
    hi: Any = None,
    R: Any = None,
    counts: Any = None,
    precision: str | Precision = "double",
    threads: int | None = None,
) -> np.ndarray:
    """Whether certificates (E, n), of any scale, prove that there is no solution: (E,) bool.

    The check uses only the problem as given and no solver (docs/mathematics.md §5): it holds if no
    impulse has a residual of tol * (1 + max|b|) or less. Bad input proves nothing. The other
    arguments are as in `solve`.
    """
    problem = assemble(W, b, mu, dims, n_free, n_nonneg, lo, hi, R, counts)
    if certificate is None:
        raise TypeError("certificate: expected an array, got None (solve with certificates=True)")
    y = np.ascontiguousarray(certificate, np.float64)
    check.require_shape(
        "certificate", y, problem.b.shape if problem.batched else problem.b[0].shape
    )
    y = y.reshape(problem.b.shape)
    holds = np.zeros(len(y), np.uint8)
    options = make_options(law, "auto", precision, tol, None)
    pool = check.thread_count(threads)
    if len(y):
        _core.check_certificates(*problem.arrays, y, options, holds, pool)
    return holds.astype(bool) if problem.batched else bool(holds[0])


def make_options(
    law: str | Law,
    solver: str | Solver,
    precision: str | Precision,
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
        directions=_directions("options.directions", options.directions),
        max_work=check.number("options.max_work", options.max_work),
        thorough=options.thorough,
    )


def _directions(name: str, value: Any) -> int:
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
