"""Solving batches of contact problems given as JAX arrays, also in compiled functions.

`solve` works under `jax.jit`, `jax.vmap`, `jax.lax.scan` and `jax.grad`; `vjp` says whether
gradients can be trusted (docs/jax.md).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from stickslip._core import GradientStatus, Law, Precision, Solver, Status
from stickslip._src import arrays as check
from stickslip._src import jax_op as op
from stickslip._src.aliases import LawName, PrecisionName, SolverName
from stickslip._src.jax_arguments import Arrays, checked, environments, friction, numbers, operands
from stickslip._src.options import SolveOptions, without_solver
from stickslip._src.settings import Settings

__all__ = ["Gradient", "Solution", "solve", "vjp"]


class Solution(NamedTuple):
    """Impulses, and a verdict on each environment. For one problem the axis of the environments is
    missing."""

    impulse: jax.Array  #: (E, n), N s; rows beyond an environment's own are 0
    residual: jax.Array  #: (E,), m/s, measured in double, then of the type of W
    status: jax.Array  #: (E,) int32; compare with members of `stickslip.Status`
    iterations: jax.Array  #: (E,) int32, sweeps and Newton steps together
    solver: jax.Array  #: (E,) int32, the member of `stickslip.Solver` that produced the impulse
    rows_needed: jax.Array  #: (E,) int32; more than n where the status is over_capacity
    rung: jax.Array  #: (E,) int32, of the ladder, from 0: which produced the impulse

    @property
    def ok(self) -> jax.Array:
        """(E,) bool: solved."""
        return self.status == int(Status.solved)


class Gradient(NamedTuple):
    """dL/d(problem), per environment, also for arguments that environments share; and whether it
    can be trusted. For one problem the axis of the environments is missing. None of it is NaN."""

    b: jax.Array  #: (E, n)
    mu: jax.Array  #: (E, p) if `mu` was one number or per contact, else per tangential row
    R: jax.Array  #: (E, n)
    lo: jax.Array | None  #: (E, n_box)
    hi: jax.Array | None
    impulse: jax.Array  #: (E, n) of the solution
    status: jax.Array  #: (E,) int32; compare with members of `stickslip.GradientStatus`
    kink_distance: jax.Array  #: (E,), m/s: how far the next change of a contact's state is
    inconsistency: jax.Array  #: (E,), share of the right side that does not fit the equations
    redundant: jax.Array  #: (E,) int32, as in `stickslip.Gradient`

    @property
    def W(self) -> jax.Array:
        """(E, n, n), b r^T: the derivative by every entry as if it were independent."""
        return jnp.nan_to_num(self.b[..., :, None] * self.impulse[..., None, :])

    @property
    def ok(self) -> jax.Array:
        """(E,) bool: valid."""
        return self.status == int(GradientStatus.valid)


def solve(
    W: Any,
    b: Any,
    mu: Any,
    *,
    law: LawName | Law = "coulomb",
    solver: SolverName | Solver = "auto",
    precision: PrecisionName | Precision = "float64",
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
    threads: int | None = None,
) -> Solution:
    """`stickslip.solve` for JAX arrays, with the same bits, also in functions that JAX compiles.

    Args:
        W, b: (E, n, n) Delassus matrices, 1/kg; (E, n) free velocities, m/s; both float32 or
            float64. One problem: omit the axis of the environments, here and in the other arrays.
            More axes in front are environments too.
        mu: (E, p) per contact, (E, sum(dims - 1)) per tangential row, or one number.
        dims: p numbers that are known when JAX traces, or a JAX array of integers, (E, p) or (p,).
        counts: integers, (E,) or (E, 4).
        lo, hi, R, warm_start, law, solver, precision, tol, n_free, n_nonneg, options, threads:
            as in `stickslip.solve`. Arrays other than W, b and counts may omit the axis of the
            environments.

    In reverse mode (`jax.grad`, `jax.vjp`, `jax.jacrev`) impulses have derivatives by W, b, mu, R,
    lo and hi; `vjp` says what they are worth. Those by warm_start, and those of the
    verdicts, are 0.

    Raises TypeError and ValueError for a wrong type, shape or value of an argument, and
    NotImplementedError in forward mode and for second derivatives. What the arrays hold raises
    nothing: an environment with NaN, negative counts or dimensions other than 3, 4 and 6 gets the
    status `bad_input`.
    """
    arrays, settings, per_contact = checked(
        W, b, mu, R, lo, hi, warm_start, counts, dims,
        (n_free, n_nonneg), (law, solver, precision, tol, options),
    )  # fmt: skip
    try:
        return Solution(*_solve(arrays, settings, per_contact, check.thread_count(threads)))
    except TypeError as error:
        if "forward-mode" not in str(error):
            raise
        raise NotImplementedError(
            "stickslip.jax.solve: expected reverse mode, got a forward derivative, which is not "
            "computed: use jax.grad, jax.vjp or jax.jacrev, or stickslip.jvp with numpy arrays"
        ) from error


def vjp(
    W: Any,
    b: Any,
    mu: Any,
    solution: Solution,
    *,
    d_impulse: Any = None,
    d_velocity: Any = None,
    law: LawName | Law = "coulomb",
    precision: PrecisionName | Precision = "float64",
    tol: float | None = None,
    dims: Any = None,
    n_free: int = 0,
    n_nonneg: int = 0,
    lo: Any = None,
    hi: Any = None,
    R: Any = None,
    counts: Any = None,
    options: SolveOptions | None = None,
    threads: int | None = None,
) -> Gradient:
    """`stickslip.vjp` for JAX arrays, with the same bits: what reverse mode through `solve`
    computes, and the verdict on each environment.

    Args:
        W, b, mu: the problem that was solved.
        solution: what `solve` returned for it. Environments that are not solved get zeros.
        d_impulse, d_velocity: (E, n) dL/dr and dL/du, where u = (W + diag R) r + b; default 0.
        law, precision, tol, dims, n_free, n_nonneg, lo, hi, R, counts, options: as they were given
            to `solve`.
        threads: as in `solve`.

    Errors are as in `solve`; derivatives of the result raise NotImplementedError.
    """
    if not isinstance(solution, Solution):
        raise TypeError(f"solution: expected a Solution, got {type(solution).__name__}")
    arrays, settings, per_contact = checked(
        W, b, mu, R, lo, hi, None, counts, dims,
        (n_free, n_nonneg), (law, "auto", precision, tol, without_solver(options)),
    )  # fmt: skip
    rows = arrays.b.shape
    numbers("solution.impulse", solution.impulse, arrays.W, rows)
    loss = tuple(
        jnp.zeros((0,), arrays.W.dtype)
        if each is None
        else numbers(name, each, arrays.W, rows, rows[-1:])
        for name, each in (("d_impulse", d_impulse), ("d_velocity", d_velocity))
    )
    found = _vjp(arrays, solution, loss, settings, per_contact, check.thread_count(threads))
    return Gradient(*found)


def _traced(arrays: Arrays, settings: Settings, per_contact: bool, threads: int) -> Any:
    return op.solve(operands(arrays, settings.layout, per_contact), settings, threads)


def _traced_vjp(
    arrays: Arrays,
    solution: Solution,
    loss: Any,
    settings: Settings,
    per_contact: bool,
    threads: int,
) -> Any:
    layout = settings.layout
    lead, given = arrays.b.shape[:-1], operands(arrays, layout, per_contact)
    loss = tuple(environments(each, lead) for each in loss)
    impulse = solution.impulse
    found = op.vjp(given, impulse, solution.status, loss, settings, threads)
    by_mu = found.mu
    if per_contact or arrays.mu.ndim == 0:
        form = jnp.zeros((*lead, layout.contacts), impulse.dtype)
        rows_of = lambda mu: friction(mu, given.dims, layout, True, lead)  # noqa: E731
        (by_mu,) = jax.vjp(rows_of, form)[1](by_mu)
    by_bounds = (None, None) if arrays.lo is None else (found.lo, found.hi)
    return found.b, by_mu, found.R, *by_bounds, impulse, *found[5:]


# jit keeps what was traced, so that calls outside of compiled functions are fast too.
_solve = jax.jit(_traced, static_argnums=(1, 2, 3))
_vjp = jax.jit(_traced_vjp, static_argnums=(3, 4, 5))
