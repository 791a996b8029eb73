"""Solving batches of contact problems."""

from __future__ import annotations

from typing import Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stickslip import _core
from stickslip._core import Law, Precision, Solver
from stickslip._src import arrays as check
from stickslip._src.aliases import Backend, Float64, LawName, PrecisionName, SolverName
from stickslip._src.batch import Batch, assemble
from stickslip._src.keywords import SolveKeywords
from stickslip._src.options import SolveOptions, make_options, use_cuda
from stickslip._src.solution import INTEGERS, Solution


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
    precision: PrecisionName | Precision = "float64",
    tol: float | None = None,
    dims: ArrayLike | None = None,
    n_free: int = 0,
    n_nonneg: int = 0,
    lo: ArrayLike | None = None,
    hi: ArrayLike | None = None,
    R: ArrayLike | None = None,
    counts: ArrayLike | None = None,
    warm_start: ArrayLike | None = None,
    start_selected: ArrayLike | None = None,
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
        precision: "float64", "mixed" or "float32", of the arithmetic. float32 arrays are converted
            where they are used; the verdict is that of the impulse before it is rounded to float32.
        tol: solved means residual <= tol * (1 + max|b|); `options` has separate tolerances and
            budgets.
        dims, n_free, n_nonneg: (p,) or (E, p) contact dimensions 3, 4, 6 (default 3); row numbers.
        lo, hi, R: (E, n_box) bounds of box rows, N s; (E, n) compliance, 1/kg, default 0.
        counts: (E,) contacts, or (E, 4) free, nonneg, box rows and contacts of each environment,
            stored first in its slot. More than n rows give `over_capacity`.
        warm_start: (E, n) impulses to start from; default 0.
        start_selected: (E,) whether warm_start is the solution that is selected among many
            (mathematics, section 9) of a problem with nearly the same W: the solve then keeps that
            choice and begins there. 2: where the problem has not changed: islands that it solves
            exactly keep it. Default False.
        certificates: fill `solution.certificate` with the proofs of `infeasible` environments.
        backend, threads: "cpu", "cuda", "auto" (where the arrays are: the CPU); default all cores.

    Raises TypeError and ValueError for a wrong type, shape or value of an argument. Numbers that
    make an environment unsolvable (NaN, mu < 0, lo > hi) are not an error: its status is
    `bad_input`. Several threads may call it at once; Ctrl-C ends it with KeyboardInterrupt.
    """
    batch = assemble(W, b, mu, dims, n_free, n_nonneg, lo, hi, R, counts)
    given = make_options(law, solver, precision, tol, options)
    return solve_batch(batch, given, warm_start, certificates, backend, threads, start_selected)


def _flags(name: str, values: ArrayLike, num_envs: int, batched: bool) -> NDArray[np.int32]:
    """One flag for each environment, as the library reads them."""
    flags = np.asarray(values)
    fits = flags.shape == () or (batched and flags.shape == (num_envs,))
    if flags.dtype.kind not in "biu" or not fits:
        expected = f"bool of shape ({num_envs},)" if batched else "a bool"
        raise ValueError(f"{name}: expected {expected}, got {flags.dtype} of shape {flags.shape}")
    for wrong in np.flatnonzero((flags < 0) | (flags > 2)):
        raise ValueError(f"{name}[{wrong}]: expected False, True or 2, got {flags.flat[wrong]}")
    return np.ascontiguousarray(np.broadcast_to(flags, num_envs), np.int32)


def solve_batch(
    batch: Batch,
    options: _core.SolveOptions,
    warm_start: ArrayLike | None,
    certificates: bool,
    backend: Backend,
    threads: int | None,
    start_selected: ArrayLike | None = None,
) -> Solution[Any]:
    """`solve`, of arrays and options that have been checked."""
    warm = None if warm_start is None else batch.rows("warm_start", warm_start)
    on_cuda = use_cuda(backend)
    num_envs, n = batch.b.shape
    results: dict[str, Any] = {
        "impulse": np.zeros((num_envs, n), batch.W.dtype),
        "residual": np.zeros(num_envs),
        **{name: np.zeros(num_envs, np.int32) for name in (*INTEGERS, "selected")},
        "certificate": np.zeros((num_envs, n))
        if check.flag("certificates", certificates)
        else None,
    }
    pool = check.thread_count(threads)
    selected = None
    if start_selected is not None:
        selected = _flags("start_selected", start_selected, num_envs, batch.batched)
    if num_envs:
        arrays = batch.arrays | {"warm_start": warm, "start_selected": selected}
        _core.solve(arrays, results, options=options, on_cuda=on_cuda, threads=pool)
    solution: Solution[Any] = Solution(**results)
    return solution if batch.batched else solution.one()
