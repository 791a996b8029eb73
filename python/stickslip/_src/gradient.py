"""Derivatives of solves, each with its validity (docs/gradients.md)."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from stickslip import _core
from stickslip._src import arrays as check
from stickslip._src.aliases import Int32, Numbers
from stickslip._src.gradient_results import Change, Gradient, StepGradient
from stickslip._src.keywords import DerivativeKeywords
from stickslip._src.mechanism import mechanism_arrays
from stickslip._src.options import make_options
from stickslip._src.problem import Problem, assemble
from stickslip._src.solution import Solution


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
    problem, given, threads = _arguments(W, b, mu, others)
    num_envs = len(problem.b)
    impulses, status = _solved(problem, solution)
    loss = [_optional_rows(problem, name, value) for name, value in
            (("d_impulse", d_impulse), ("d_velocity", d_velocity))]  # fmt: skip
    out = _outputs(problem)
    report = _report(num_envs)
    if num_envs:
        arguments: list[Any] = [impulses, status, given, *loss, *out.values(), *report.values()]
        _core.solve_vjp(*[*problem.arrays, *arguments, threads])
    gradient = Gradient(**_results(problem, out, report, mu), impulse=impulses)
    return gradient if problem.batched else gradient.one()


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
    problem, given, threads = _arguments(W, b, mu, others)
    num_envs, n = problem.b.shape
    impulses, status = _solved(problem, solution)
    if dW is not None:
        dW = check.floats("dW", dW, problem.W.dtype)
        check.require_shape("dW", dW, problem.W.shape if problem.batched else (n, n))
        dW = check.slots(dW if problem.batched else dW[None])
    bounds = [_optional_bounds(problem, name, value) for name, value in
              (("dlo", dlo), ("dhi", dhi))]  # fmt: skip
    change = [
        _optional_rows(problem, "db", db),
        dW,
        None if dmu is None else problem.friction("dmu", dmu),
        _optional_rows(problem, "dR", dR),
        *bounds,
    ]
    out = [np.zeros((num_envs, n), problem.W.dtype) for _ in range(2)]
    report = _report(num_envs)
    if num_envs:
        arguments: list[Any] = [impulses, status, given, *change, *out, *report.values()]
        _core.solve_jvp(*[*problem.arrays, *arguments, threads])
    result = Change(impulse=out[0], velocity=out[1], **_verdict(report))
    return result if problem.batched else result.one()


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
    problem, given, threads = _arguments(W, b, mu, others)
    impulses, status = _solved(problem, solution)
    free, loss_v = (_velocities(name, value, M, num_envs, nv, batched)
                    for name, value in (("v_free", v_free), ("d_v_next", d_v_next)))  # fmt: skip
    if free is None:
        raise TypeError("v_free: expected an array, got None")
    loss = [_optional_rows(problem, name, value) for name, value in
            (("d_impulse", d_impulse), ("d_velocity", d_velocity))]  # fmt: skip
    out = _outputs(problem)
    through = {
        "adjoint": np.zeros((num_envs, nv), M.dtype),
        "v_free": np.zeros((num_envs, nv), M.dtype),
        "M": np.zeros((num_envs, nv, nv), M.dtype),
        "J": np.zeros((num_envs, n, nv), M.dtype),
    }
    report = _report(num_envs)
    if num_envs:
        shape, dims, _, *vectors = problem.arrays
        arguments: list[Any] = [M, J, free, shape, dims, *vectors, impulses, status, given]
        written = [*out.values(), *through.values(), *report.values()]
        _core.step_vjp(*[*arguments, loss_v, *loss, *written, threads])
    gradient = StepGradient(**_results(problem, out, report, mu), impulse=impulses, **through)
    return gradient if problem.batched else gradient.one()


def _arguments(
    W: Any, b: Any, mu: Any, others: DerivativeKeywords
) -> tuple[Problem, _core.SolveOptions, int]:
    known: dict[str, Any] = dict(others)
    for name in known:
        if name not in DerivativeKeywords.__annotations__:
            expected = ", ".join(DerivativeKeywords.__annotations__)
            raise TypeError(f"{name}: unexpected keyword argument, expected {expected}")
    threads = check.thread_count(known.pop("threads", None))
    given = make_options(
        known.pop("law", "coulomb"),
        "auto",
        known.pop("precision", "double"),
        known.pop("tol", None),
        known.pop("options", None),
    )
    return assemble(W, b, mu, **known), given, threads


def _solved(problem: Problem, solution: Solution[Any]) -> tuple[Numbers, Int32]:
    if not isinstance(solution, Solution):
        raise TypeError(f"solution: expected a Solution, got {type(solution).__name__}")
    impulse = problem.rows("solution.impulse", solution.impulse)
    status = np.ascontiguousarray(np.atleast_1d(solution.status), np.int32)
    check.require_shape("solution.status", status, (len(impulse),))
    return impulse, status


def _optional_rows(problem: Problem, name: str, value: Any) -> Numbers | None:
    return None if value is None else problem.rows(name, value)


def _optional_bounds(problem: Problem, name: str, value: Any) -> Numbers | None:
    if value is None:
        return None
    if problem.lo is None:
        raise ValueError(f"{name}: expected None because the problem has no bounds, got an array")
    array = check.floats(name, value, problem.W.dtype)
    num_envs, n_box = problem.lo.shape
    return check.per_environment(name, array, num_envs, n_box, problem.batched)


def _velocities(
    name: str, value: Any, M: Numbers, num_envs: int, nv: int, batched: bool
) -> Numbers | None:
    if value is None:
        return None
    array = check.floats(name, value, M.dtype, "M")
    return check.per_environment(name, array, num_envs, nv, batched)


def _outputs(problem: Problem) -> dict[str, Numbers | None]:
    num_envs, n = problem.b.shape
    dtype = problem.W.dtype
    bounds = None if problem.lo is None else problem.lo.shape
    return {
        "b": np.zeros((num_envs, n), dtype),
        "mu": np.zeros(problem.mu.shape, dtype),
        "R": np.zeros((num_envs, n), dtype),
        "lo": None if bounds is None else np.zeros(bounds, dtype),
        "hi": None if bounds is None else np.zeros(bounds, dtype),
    }


def _report(num_envs: int) -> dict[str, Any]:
    return {
        "verdict": np.zeros(num_envs, np.int32),
        "kink_distance": np.zeros(num_envs),
        "inconsistency": np.zeros(num_envs),
        "redundant": np.zeros(num_envs, np.int32),
    }


def _verdict(report: dict[str, Any]) -> dict[str, Any]:
    return {"status" if name == "verdict" else name: each for name, each in report.items()}


def _results(
    problem: Problem, out: dict[str, Any], report: dict[str, Any], mu: Any
) -> dict[str, Any]:
    if problem.has_one_per_contact(mu):
        out["mu"] = problem.per_contact(out["mu"])
    return {**out, **_verdict(report)}
