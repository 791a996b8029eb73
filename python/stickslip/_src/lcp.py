"""Linear complementarity problems with any matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stickslip import _core
from stickslip._core import LcpMethod, Precision, Status
from stickslip._src import arrays as check
from stickslip._src.aliases import Backend, Float64, Int32, LcpMethodName, LcpPrecisionName, Numbers
from stickslip._src.options import use_cuda
from stickslip._src.solution import Verdicts


@dataclass(frozen=True)
class LcpOptions:
    """Tolerances and budgets. solved means residual <= atol + rtol * max|q|."""

    atol: float | None = None  #: None: 1e-9, or 1e-5 with precision "float32"
    rtol: float | None = None  #: the same defaults
    max_pivots: int | None = None  #: of one attempt by Lemke; None: 100 + 20 rows
    max_newton: int = 100  #: steps of one attempt by Newton
    restarts: int = 7  #: further attempts, with other covering vectors and starts


@dataclass(frozen=True, eq=False, repr=False)
class LcpSolution(Verdicts):
    """Solutions of a batch, and a verdict on each environment.

    For one problem instead of a batch the environment axis is missing.
    """

    z: Numbers  #: (E, n); entries beyond an environment's own rows are 0
    w: Numbers  #: (E, n), M z + q
    residual: Float64  #: (E,), measured in double: max |z - clip(z - w, lo, hi)|
    status: Int32  #: (E,) int32; compare with members of `Status`
    iterations: Int32  #: (E,) int32, pivots and Newton steps together
    method: Int32  #: (E,) int32; the member of `LcpMethod` that produced z

    def __repr__(self) -> str:
        if np.ndim(self.status) == 0:
            status, method = Status(int(self.status)).name, LcpMethod(int(self.method)).name
            return (
                f"LcpSolution({status}, residual {self.residual:.1e}, "
                f"{self.iterations} iterations of {method})"
            )
        counts = ", ".join(f"{number} {name}" for name, number in self.status_counts.items())
        return f"LcpSolution({len(self.status)} environments: {counts or 'none'})"


def solve_lcp(
    M: ArrayLike,
    q: ArrayLike,
    *,
    n_free: ArrayLike = 0,
    lo: ArrayLike | None = None,
    hi: ArrayLike | None = None,
    findex: ArrayLike | None = None,
    method: LcpMethodName | LcpMethod = "auto",
    precision: LcpPrecisionName | Precision = "float64",
    tol: float | None = None,
    cfm: float = 0.0,
    counts: ArrayLike | None = None,
    start: ArrayLike | None = None,
    options: LcpOptions | None = None,
    backend: Backend = "auto",
    threads: int | None = None,
) -> LcpSolution:
    """Solves E problems w = M z + q: w = 0 on the first rows, 0 <= z ⟂ w >= 0 on the others.

    With bounds lo <= z <= hi: w >= 0 where z is at its lower bound, w <= 0 at its upper one, w = 0
    in between. Arrays are float32 or float64, all of one type. One problem: omit the
    environment axis. In a batch, arrays other than M, q and counts may omit it and are shared.

    Args:
        M, q: (E, n, n) any matrices; (E, n).
        n_free: number of free rows, which come first; one number or (E,).
        lo, hi: (E, n) bounds, infinite ones included; not read for free rows. Default 0 and
            infinity.
        findex: (E, n) integers; j >= 0 scales a row's bounds by max(0, z[j]) (lo = -mu, hi = mu is
            friction), -1 leaves them as they are.
        method: "auto" (attempts by Lemke and by Newton alternate), "lemke" or "newton".
        precision: "float64", or "float32", which float32 arrays require.
        tol: solved means residual <= tol * (1 + max|q|); `options` has separate tolerances and
            budgets.
        cfm: constraint force mixing; solves, and measures, the problem with M_ii (1 + cfm).
        counts: (E,) rows in use of each environment. More than n give `over_capacity`.
        start: (E, n) z to start from; default 0.
        backend, threads: "cpu", "cuda", "auto" (the CPU); default all cores. The same bits.

    Raises TypeError and ValueError for a wrong type, shape or value of an argument. Numbers that
    make an environment unsolvable (NaN, lo > hi) are not an error: its status is `bad_input`.
    """
    M, batched = check.matrices("M", M)
    num_envs, n = M.shape[:2]
    q = check.floats("q", q, M.dtype, "M")
    check.require_shape("q", q, (num_envs, n) if batched else (n,))
    rows = rows_in_use(counts, n_free, num_envs, n, batched)
    arrays = {
        name: None if value is None else check.floats(name, value, M.dtype, "M")
        for name, value in (("lo", lo), ("hi", hi), ("start", start))
    }
    if findex is not None:
        arrays["findex"] = _friction_index(findex, rows, n)
        if arrays["lo"] is None or arrays["hi"] is None:
            raise ValueError("findex: expected None unless lo and hi are given, got an array")
    elif (arrays["lo"] is None) != (arrays["hi"] is None):
        missing, value = ("lo", 0.0) if arrays["lo"] is None else ("hi", math.inf)
        arrays[missing] = np.full(n, value, M.dtype)
    for name, array in arrays.items():
        if array is not None:
            arrays[name] = check.per_environment(name, array, num_envs, n, batched)
    core_options = _options(method, precision, tol, cfm, options)
    if M.dtype == np.float32 and core_options[1] != Precision.float32:
        raise TypeError("M: expected float64 because precision is 'float64', got float32")
    results: dict[str, Any] = {
        **{name: np.zeros((num_envs, n), M.dtype) for name in ("z", "w")},
        "residual": np.zeros(num_envs),
        **{name: np.zeros(num_envs, np.int32) for name in ("status", "iterations", "method")},
    }
    on_cuda, pool = use_cuda(backend), check.thread_count(threads)
    if num_envs:
        arrays |= {"rows": rows, "M": M, "q": check.slots(q if batched else q[None])}
        _core.solve_lcp(arrays, results, options=core_options[0], on_cuda=on_cuda, threads=pool)
    solution = LcpSolution(**results)
    return solution if batched else solution.one()


def rows_in_use(counts: Any, n_free: Any, num_envs: int, n: int, batched: bool) -> Int32:
    """(E, 2): rows in use and free rows of each environment."""
    rows = np.empty((num_envs, 2), np.int64)
    if counts is not None and not batched:
        raise ValueError("counts: expected None because M is one problem, got an array")
    for column, (name, value) in enumerate((("counts", counts), ("n_free", n_free))):
        array = np.asarray(n) if value is None else check.integers(name, value)
        check.require_shape(name, array, *(((num_envs,), ()) if batched else ((),)))
        rows[:, column] = array
    for e, (used, free) in enumerate(rows):
        if used < 0:
            raise ValueError(f"counts: expected numbers >= 0, got {used} in environment {e}")
        if not 0 <= free <= used:
            raise ValueError(
                f"n_free: expected 0 to {used}, the rows in use, got {free} in environment {e}"
            )
    return np.minimum(rows, 2**31 - 1).astype(np.int32)


def _friction_index(findex: Any, rows: np.ndarray, n: int) -> np.ndarray:
    """`findex` as int32; refuses indices that no row in use has."""
    array = check.integers("findex", findex)
    if (
        array.ndim not in (1, 2)
        or array.shape[-1] != n
        or (array.ndim == 2 and len(array) != len(rows))
    ):
        raise ValueError(f"findex: expected shape ({len(rows)}, {n}) or ({n},), got {array.shape}")
    row = np.arange(n)
    read = (row >= rows[:, 1:]) & (row < rows[:, :1])
    given = np.broadcast_to(array, read.shape)
    wrong = read & ((given < -1) | (given >= np.minimum(rows[:, :1], n)) | (given == row))
    if wrong.any():
        e, i = np.argwhere(wrong)[0]
        raise ValueError(
            f"findex: expected -1 or the index of another row, got {given[e, i]} for row {i} of "
            f"environment {e}"
        )
    return np.where(np.abs(array) < 2**31, array, -1).astype(np.int32)


def _options(
    method: LcpMethodName | LcpMethod,
    precision: LcpPrecisionName | Precision,
    tol: float | None,
    cfm: float,
    options: LcpOptions | None,
) -> tuple[_core.LcpOptions, Precision]:
    options = LcpOptions() if options is None else options
    if not isinstance(options, LcpOptions):
        raise TypeError(f"options: expected LcpOptions, got {type(options).__name__}")
    which = check.member("precision", precision, Precision)
    if which == Precision.mixed:
        raise ValueError("precision: expected one of 'float64', 'float32', got 'mixed'")
    mixing = check.number("cfm", cfm)
    if not 0 <= mixing < math.inf:
        raise ValueError(f"cfm: expected a number >= 0, got {cfm}")
    core = _core.LcpOptions(
        method=check.member("method", method, LcpMethod),
        precision=which,
        **check.tolerances(tol, options),
        max_pivots=0
        if options.max_pivots is None
        else check.count("options.max_pivots", options.max_pivots, low=1),
        max_newton=check.count("options.max_newton", options.max_newton),
        restarts=check.count("options.restarts", options.restarts),
        cfm=mixing,
    )
    return core, which
