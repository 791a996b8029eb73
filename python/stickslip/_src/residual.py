"""Judging impulses and certificates from any source."""

from __future__ import annotations

from typing import Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from stickslip import _core
from stickslip._core import Law, Precision
from stickslip._src import arrays as check
from stickslip._src.aliases import Directions, Flags, Float64, LawName, PrecisionName
from stickslip._src.batch import Batch, assemble
from stickslip._src.keywords import ProblemKeywords
from stickslip._src.options import directions_of, make_options
from stickslip._src.solution import Measures


@overload
def residual(
    W: ArrayLike,
    b: ArrayLike,
    mu: ArrayLike,
    r: ArrayLike,
    *,
    directions: Directions = 4,
    details: Literal[False] = False,
    **others: Unpack[ProblemKeywords],
) -> Float64: ...
@overload
def residual(
    W: ArrayLike,
    b: ArrayLike,
    mu: ArrayLike,
    r: ArrayLike,
    *,
    directions: Directions = 4,
    details: Literal[True],
    **others: Unpack[ProblemKeywords],
) -> Measures: ...
def residual(
    W: ArrayLike,
    b: ArrayLike,
    mu: ArrayLike,
    r: ArrayLike,
    *,
    law: LawName | Law = "coulomb",
    dims: ArrayLike | None = None,
    n_free: int = 0,
    n_nonneg: int = 0,
    lo: ArrayLike | None = None,
    hi: ArrayLike | None = None,
    R: ArrayLike | None = None,
    counts: ArrayLike | None = None,
    directions: Directions = 4,
    details: bool = False,
    threads: int | None = None,
) -> Float64 | Measures:
    """The residual that `solve` reports, of any impulses r (E, n).

    Returns the residual (E,) in m/s, infinite for bad input and NaN; with `details` a `Measures`,
    which also has the violation of each condition. `directions` are those of law
    "pyramid". The other arguments are as in `solve`.
    """
    batch = assemble(W, b, mu, dims, n_free, n_nonneg, lo, hi, R, counts)
    return residual_of(batch, r, check.member("law", law, Law), directions, details, threads)


def residual_of(
    batch: Batch,
    r: ArrayLike,
    law: Law,
    directions: int,
    details: bool,
    threads: int | None,
) -> Float64 | Measures:
    """`residual`, of arrays that have been checked."""
    impulses = batch.rows("r", r)
    measures = np.zeros((len(impulses), 5))
    pool = check.thread_count(threads)
    corners = directions_of("directions", directions)
    if len(impulses):
        _core.measure(
            batch.arrays | {"impulse": impulses}, {"measures": measures},
            law=law, directions=corners, threads=pool,
        )  # fmt: skip
    columns = measures.T if batch.batched else measures[0]
    return Measures(*columns) if check.flag("details", details) else columns[0]


def certificate_holds(
    W: ArrayLike,
    b: ArrayLike,
    mu: ArrayLike,
    certificate: ArrayLike,
    *,
    law: LawName | Law = "coulomb",
    tol: float | None = None,
    dims: ArrayLike | None = None,
    n_free: int = 0,
    n_nonneg: int = 0,
    lo: ArrayLike | None = None,
    hi: ArrayLike | None = None,
    R: ArrayLike | None = None,
    counts: ArrayLike | None = None,
    precision: PrecisionName | Precision = "float64",
    threads: int | None = None,
) -> Flags | bool:
    """Whether certificates (E, n), of any scale, prove that there is no solution: (E,) bool.

    The check uses only the problem as given and no solver (docs/mathematics.md §5): it holds if no
    impulse within its cones and bounds, up to 1e12 max|b| rho, has a residual of
    tol * (1 + max|b|) or less. Bad input proves nothing. The other
    arguments are as in `solve`.
    """
    batch = assemble(W, b, mu, dims, n_free, n_nonneg, lo, hi, R, counts)
    options = make_options(law, "auto", precision, tol, None)
    return certificate_holds_in(batch, certificate, options, threads)


def certificate_holds_in(
    batch: Batch, certificate: ArrayLike, options: _core.SolveOptions, threads: int | None
) -> Flags | bool:
    """`certificate_holds`, of arrays and options that have been checked."""
    if certificate is None:
        raise TypeError("certificate: expected an array, got None (solve with certificates=True)")
    y = check.aligned(check.float64("certificate", certificate))
    check.require_shape("certificate", y, batch.b.shape if batch.batched else batch.b[0].shape)
    y = y.reshape(batch.b.shape)
    holds = np.zeros(len(y), np.uint8)
    pool = check.thread_count(threads)
    if len(y):
        arrays = batch.arrays | {"certificate": y}
        _core.check_certificates(arrays, {"holds": holds}, options=options, threads=pool)
    return holds.astype(bool) if batch.batched else bool(holds[0])
