"""Derivatives of solves, each with its validity (docs/gradients.md)."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from stickslip import _core
from stickslip._src import arrays as check
from stickslip._src.aliases import Numbers
from stickslip._src.batch import Batch, assemble
from stickslip._src.gradient_results import Change, Gradient, StepGradient
from stickslip._src.keywords import DerivativeKeywords
from stickslip._src.mechanism import mechanism_arrays
from stickslip._src.options import derivative_options
from stickslip._src.solution import Solution

_CHANGES = ("db", "dW", "dmu", "dR", "dlo", "dhi")


def vjp(
    W: ArrayLike,
    b: ArrayLike,
    mu: ArrayLike,
    solution: Solution[Any],
    *,
    d_impulse: ArrayLike | None = None,
    d_velocity: ArrayLike | None = None,
    **others: Unpack[DerivativeKeywords],
) -> Gradient:
    """dL/d(problem) of a loss L of the solution of `solve`, by one linear system per environment.

    Args:
        W, b, mu: the problem that was solved.
        solution: what `solve` returned for it. Environments that are not solved get zeros.
        d_impulse, d_velocity: (E, n) dL/dr and dL/du, where u = (W + diag R) r + b; default 0.
        others: law, precision, tol, options, dims, n_free, n_nonneg, lo, hi, R, counts, threads: as
            they were given to `solve`.

    Errors are as in `solve`. A loss that is not finite in an environment is no error: its status is
    `unsolved`, and its derivatives are zero.
    """
    batch, given, threads = _arguments(W, b, mu, others, ("d_impulse", "d_velocity"))
    per_contact = batch.has_one_per_contact(mu)
    return vjp_of(batch, solution, given, d_impulse, d_velocity, per_contact, threads)


def vjp_of(
    batch: Batch,
    solution: Solution[Any],
    options: _core.SolveOptions,
    d_impulse: ArrayLike | None,
    d_velocity: ArrayLike | None,
    per_contact: bool,
    threads: int,
) -> Gradient:
    """`vjp`, of arrays and options that have been checked; `per_contact`: the form of dL/dmu."""
    num_envs = len(batch.b)
    solved = _solved(batch, solution)
    loss = _loss(batch, d_impulse, d_velocity)
    out = _derivatives(batch) | _report(num_envs)
    if num_envs:
        arrays = batch.arrays | solved
        _core.solve_vjp(arrays, loss, out, options=options, threads=threads)
    gradient = Gradient(**_results(batch, out, per_contact), impulse=solved["impulse"])
    return gradient if batch.batched else gradient.one()


def jvp(
    W: ArrayLike,
    b: ArrayLike,
    mu: ArrayLike,
    solution: Solution[Any],
    *,
    db: ArrayLike | None = None,
    dW: ArrayLike | None = None,
    dmu: ArrayLike | None = None,
    dR: ArrayLike | None = None,
    dlo: ArrayLike | None = None,
    dhi: ArrayLike | None = None,
    **others: Unpack[DerivativeKeywords],
) -> Change:
    """The change of the solution with the problem; arguments and errors as in `vjp`.

    Where contacts are redundant, impulses move as the solution that `solve` selects among many;
    `not_unique` if those given are not it (law `box`, sweeps alone), though velocities are right.

    Args:
        db, dW, dmu, dR, dlo, dhi: the change, in the forms of b, W, mu, R, lo, hi; default 0. Where
            mu is 0, its change has no effect.
    """
    batch, given, threads = _arguments(W, b, mu, others, _CHANGES)
    change = {"db": db, "dW": dW, "dmu": dmu, "dR": dR, "dlo": dlo, "dhi": dhi}
    return jvp_of(batch, solution, given, change, threads)


def jvp_of(
    batch: Batch,
    solution: Solution[Any],
    options: _core.SolveOptions,
    change: dict[str, Any],
    threads: int,
) -> Change:
    """`jvp`, of arrays and options that have been checked; `change`: its arguments, by name."""
    num_envs, n = batch.b.shape
    solved = _solved(batch, solution)
    dW, dmu = change["dW"], change["dmu"]
    if dW is not None:
        dW = check.floats("dW", dW, batch.W.dtype)
        check.require_shape("dW", dW, batch.W.shape if batch.batched else (n, n))
        dW = check.slots(dW if batch.batched else dW[None])
    given = {
        "dW": dW,
        "dmu": None if dmu is None else batch.friction("dmu", dmu),
        **{name: _optional_rows(batch, name, change[name]) for name in ("db", "dR")},
        **{name: _optional_bounds(batch, name, change[name]) for name in ("dlo", "dhi")},
    }
    out = {name: np.zeros((num_envs, n), batch.W.dtype) for name in ("impulse", "velocity")}
    out |= _report(num_envs)
    if num_envs:
        arrays = batch.arrays | solved
        _core.solve_jvp(arrays, given, out, options=options, threads=threads)
    result = Change(**out)
    return result if batch.batched else result.one()


def step_vjp(
    M: ArrayLike,
    J: ArrayLike,
    b: ArrayLike,
    mu: ArrayLike,
    v_free: ArrayLike,
    solution: Solution[Any],
    *,
    d_v_next: ArrayLike | None = None,
    d_impulse: ArrayLike | None = None,
    d_velocity: ArrayLike | None = None,
    **others: Unpack[DerivativeKeywords],
) -> StepGradient:
    """dL/d(problem) of a loss L of v_next = v_free + M^-1 J^T r, where r solves u = W r + b,
    W = J M^-1 J^T, b = J v_free + c.

    The derivatives by J and v_free contain what b does with them; those by c are those by b.

    Args:
        M, J: (E, nv, nv) or (nv, nv); (E, n, nv).
        b, mu, solution: the problem that was solved with W = delassus(M, J), and its solution.
        v_free: (E, nv).
        d_v_next: (E, nv) dL/dv_next; default 0.
        d_impulse, d_velocity, others: as in `vjp`.
    """
    M, J, _, batched = mechanism_arrays(M, J, None)
    num_envs, n, nv = J.shape
    W = np.empty((num_envs, n, n) if batched else (n, n), M.dtype)  # its numbers are not read
    batch, given, threads = _arguments(W, b, mu, others, ("d_v_next", "d_impulse", "d_velocity"))
    solved = _solved(batch, solution)
    free, loss_v = (_velocities(name, value, M, num_envs, nv, batched)
                    for name, value in (("v_free", v_free), ("d_v_next", d_v_next)))  # fmt: skip
    if free is None:
        raise TypeError("v_free: expected an array, got None")
    loss = _loss(batch, d_impulse, d_velocity) | {"d_v_next": loss_v}
    through = {
        "adjoint": np.zeros((num_envs, nv), M.dtype),
        "v_free": np.zeros((num_envs, nv), M.dtype),
        "M": np.zeros((num_envs, nv, nv), M.dtype),
        "J": np.zeros((num_envs, n, nv), M.dtype),
    }
    out = _derivatives(batch) | through | _report(num_envs)
    if num_envs:
        arrays = batch.arrays | solved | {"W": None, "M": M, "J": J, "v_free": free}
        _core.step_vjp(arrays, loss, out, options=given, threads=threads)
    found = _results(batch, out, batch.has_one_per_contact(mu))
    gradient = StepGradient(**found, impulse=solved["impulse"])
    return gradient if batch.batched else gradient.one()


def _arguments(
    W: Any, b: Any, mu: Any, others: DerivativeKeywords, own: tuple[str, ...]
) -> tuple[Batch, _core.SolveOptions, int]:
    """The arguments that derivatives share; `own`: the names of the others, for the message."""
    known: dict[str, Any] = dict(others)
    for name in known:
        if name not in DerivativeKeywords.__annotations__:
            expected = ", ".join((*own, *DerivativeKeywords.__annotations__))
            raise TypeError(f"{name}: unexpected keyword argument, expected {expected}")
    threads = check.thread_count(known.pop("threads", None))
    given = derivative_options(
        known.pop("law", "coulomb"),
        known.pop("precision", "float64"),
        known.pop("tol", None),
        known.pop("options", None),
    )
    return assemble(W, b, mu, **known), given, threads


def _solved(batch: Batch, solution: Solution[Any]) -> dict[str, Numbers]:
    if not isinstance(solution, Solution):
        raise TypeError(f"solution: expected a Solution, got {type(solution).__name__}")
    impulse = batch.rows("solution.impulse", solution.impulse)
    status = np.ascontiguousarray(np.atleast_1d(solution.status), np.int32)
    check.require_shape("solution.status", status, (len(impulse),))
    return {"impulse": impulse, "status": status}


def _loss(batch: Batch, d_impulse: Any, d_velocity: Any) -> dict[str, Numbers | None]:
    given = {"d_impulse": d_impulse, "d_velocity": d_velocity}
    return {name: _optional_rows(batch, name, value) for name, value in given.items()}


def _optional_rows(batch: Batch, name: str, value: Any) -> Numbers | None:
    return None if value is None else batch.rows(name, value)


def _optional_bounds(batch: Batch, name: str, value: Any) -> Numbers | None:
    if value is None:
        return None
    if batch.lo is None:
        raise ValueError(f"{name}: expected None because the problem has no bounds, got an array")
    array = check.floats(name, value, batch.W.dtype)
    num_envs, n_box = batch.lo.shape
    return check.per_environment(name, array, num_envs, n_box, batch.batched)


def _velocities(
    name: str, value: Any, M: Numbers, num_envs: int, nv: int, batched: bool
) -> Numbers | None:
    if value is None:
        return None
    array = check.floats(name, value, M.dtype, "M")
    return check.per_environment(name, array, num_envs, nv, batched)


def _derivatives(batch: Batch) -> dict[str, Any]:
    num_envs, n = batch.b.shape
    dtype = batch.W.dtype
    bounds = None if batch.lo is None else batch.lo.shape
    return {
        "b": np.zeros((num_envs, n), dtype),
        "mu": np.zeros(batch.mu.shape, dtype),
        "R": np.zeros((num_envs, n), dtype),
        "lo": None if bounds is None else np.zeros(bounds, dtype),
        "hi": None if bounds is None else np.zeros(bounds, dtype),
    }


def _report(num_envs: int) -> dict[str, Any]:
    return {
        "status": np.zeros(num_envs, np.int32),
        "kink_distance": np.zeros(num_envs),
        "inconsistency": np.zeros(num_envs),
        "redundant": np.zeros(num_envs, np.int32),
    }


def _results(batch: Batch, out: dict[str, Any], per_contact: bool) -> dict[str, Any]:
    return out | {"mu": batch.per_contact(out["mu"])} if per_contact else out
