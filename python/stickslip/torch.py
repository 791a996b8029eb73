"""Solving batches of contact problems given as PyTorch tensors, also in compiled functions.

`solve` takes tensors on the CPU or on a GPU, and autograd differentiates it; `vjp` says whether
gradients can be trusted; `BoundSolver` solves in place, for CUDA graphs (docs/torch.md).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

import stickslip
from stickslip._core import GradientStatus, Law, Precision, Solver, Status
from stickslip._src import arrays as check
from stickslip._src import torch_gradient
from stickslip._src import torch_op as op
from stickslip._src.aliases import LawName, PrecisionName, SolverName
from stickslip._src.options import SolveOptions, without_solver
from stickslip._src.torch_arguments import (
    Rows,
    axes_of,
    bounds,
    dimensions,
    friction,
    has_one_per_contact,
    per_contact,
    require,
    row_counts,
    settings_of,
    sizes,
)

__all__ = ["BoundSolver", "Gradient", "Solution", "solve", "vjp"]


class Solution(NamedTuple):
    """Impulses of a batch, and a verdict on each environment, as tensors on the device of W. For
    one problem the axis of the environments is missing."""

    impulse: Tensor  #: (E, n), N s; rows beyond an environment's own are 0
    residual: Tensor  #: (E,) float64, m/s, measured in double, in every precision
    status: Tensor  #: (E,) int32, as all below; compare with members of `stickslip.Status`
    iterations: Tensor  #: sweeps and Newton steps together
    solver: Tensor  #: the member of `stickslip.Solver` that produced the impulse
    rows_needed: Tensor  #: more than n where the status is over_capacity
    rung: Tensor  #: of the ladder, from 0: which produced the impulse

    @property
    def ok(self) -> Tensor:
        """(E,) bool: solved."""
        return self.status == int(Status.solved)


def solve(
    W: Tensor,
    b: Tensor,
    mu: Tensor | float,
    *,
    law: LawName | Law = "coulomb",
    solver: SolverName | Solver = "auto",
    precision: PrecisionName | Precision = "float64",
    tol: float | None = None,
    dims: Tensor | list[int] | tuple[int, ...] | None = None,
    n_free: int = 0,
    n_nonneg: int = 0,
    lo: Tensor | None = None,
    hi: Tensor | None = None,
    R: Tensor | None = None,
    counts: Tensor | None = None,
    warm_start: Tensor | None = None,
    options: SolveOptions | None = None,
    threads: int | None = None,
) -> Solution:
    """`stickslip.solve` for tensors, with the same bits; `torch.compile` takes it into one graph.

    All tensors are on one device, those of numbers are all float32 or all float64. They are read in
    place (copied only where the values of one environment are not contiguous). On a GPU the solve
    is enqueued on torch's current stream.

    Args:
        W, b: (E, n, n) Delassus matrices, 1/kg; (E, n) free velocities, m/s. One problem: omit the
            axis of the environments, here and in the other tensors.
        mu: (E, p) per contact, (E, sum(dims - 1)) per tangential row, or one number.
        dims: p numbers, or a tensor of integers, (E, p) or (p,).
        counts: integers, (E,) or (E, 4).
        lo, hi, R, warm_start, law, solver, precision, tol, n_free, n_nonneg, options, threads:
            as in `stickslip.solve`. Tensors other than W, b and counts may omit the axis of the
            environments.

    Impulses have gradients by W, b, mu, R, lo and hi (`vjp` says what they are worth);
    that by warm_start is None, and the verdicts have none.

    Raises TypeError and ValueError for a wrong type, shape or value of an argument; TypeError for a
    tensor with a forward derivative. What the tensors hold raises nothing: an environment with NaN,
    negative counts or dimensions other than 3, 4 and 6 gets the status `bad_input`. Second
    derivatives raise NotImplementedError.
    """
    mu, counts, dims, text, _ = _prepare(
        W, b, mu, (("R", R), ("warm_start", warm_start)), lo, hi, counts, dims, n_free, n_nonneg,
        law, solver, precision, tol, options,
    )  # fmt: skip
    results = torch_gradient.solve(
        W, b, mu, R, lo, hi, warm_start, counts, dims, text,
        0 if threads is None else check.thread_count(threads),
    )  # fmt: skip
    return Solution(*results)


def _prepare(
    W: Tensor, b: Tensor, mu: Any, rows: Any, lo: Any, hi: Any, counts: Any, dims: Any,
    n_free: int, n_nonneg: int, *options: Any,
) -> tuple[Any, Any, Any, str, Rows]:  # fmt: skip
    """Checks a problem, and `rows`, pairs of a name and an optional tensor (E, n) or (n,). Returns
    mu, counts and dims as the operators take them, the settings as text, and the layout."""
    lead, n = sizes(W)
    require("b", b, W, (*lead, n))
    for name, value in rows:
        if value is not None:
            require(name, value, W, (*lead, n), (n,))
    n_box = bounds(lo, hi, W, lead)
    list_of_dims, contacts, dims = (None, None, None) if dims is None else dimensions(dims, W, lead)
    axes = None if counts is None else axes_of(counts, W, lead)
    rows_of = (n, list_of_dims, contacts, n_free, n_nonneg, n_box, axes)
    text, layout = settings_of(rows_of, options)
    if isinstance(mu, (int, float)) and not isinstance(mu, bool):
        mu = torch.full((layout.tangential,), mu, dtype=W.dtype, device=W.device)
    else:
        mu = friction(mu, dims, W, lead, layout)
    return mu, None if counts is None else row_counts(counts, layout), dims, text, layout


class BoundSolver:
    """`stickslip.BoundSolver` for tensors: solves what they hold at each call, in place.

    Takes the arguments of `stickslip.BoundSolver` by keyword, except `out` and `stream`: W, or M
    and J, are tensors. The results are always the same tensors. On a GPU a call enqueues the solve
    on torch's current stream, and may be captured in a CUDA graph.
    """

    out: Solution
    v_next: Tensor | None  #: (E, nv), m/s; with `v_free` only
    certificate: Tensor | None  #: (E, n) float64; with `certificates` only

    def __init__(self, *, W: Tensor | None = None, J: Tensor | None = None, **others: Any) -> None:
        for name in ("out", "stream"):
            if name in others:
                raise TypeError(f"{name}: expected none, torch allocates and chooses the stream")
        leader = J if W is None else W
        if not isinstance(leader, Tensor) or leader.dim() != 3:
            name, shape = ("J", "(E, n, nv)") if W is None and J is not None else ("W", "(E, n, n)")
            raise TypeError(f"{name}: expected a tensor of shape {shape}")
        num_envs, n, nv = leader.shape
        found = op.results((num_envs,), leader.new_zeros((num_envs, n)))
        given = op.as_dict(found)
        if others.get("v_free") is not None:
            given["v_next"] = leader.new_zeros((num_envs, nv))
        if others.get("certificates") is True:
            given["certificate"] = leader.new_zeros((num_envs, n), dtype=torch.float64)
        self.out = Solution(*found)
        self.v_next, self.certificate = given.get("v_next"), given.get("certificate")
        self._device = leader.device
        self._solver: Any = stickslip.BoundSolver(W=W, J=J, out=given, **others)

    def __call__(self) -> Solution:
        """Solves, or, on a GPU, enqueues the solve."""
        on_gpu = self._device.type == "cuda"
        self._solver(torch.cuda.current_stream(self._device) if on_gpu else None)
        return self.out


class Gradient(NamedTuple):
    """dL/d(problem), per environment, also for arguments that environments share; and whether it
    can be trusted. For one problem the axis of the environments is missing. None of it is NaN."""

    b: Tensor  #: (E, n)
    mu: Tensor  #: (E, p) if `mu` was one number or per contact, else per tangential row
    R: Tensor  #: (E, n)
    lo: Tensor | None  #: (E, n_box)
    hi: Tensor | None
    impulse: Tensor  #: (E, n) of the solution
    status: Tensor  #: (E,) int32; compare with members of `stickslip.GradientStatus`
    kink_distance: Tensor  #: (E,) float64, m/s: how far the next change of a contact's state is
    inconsistency: Tensor  #: (E,) float64, share of the right side that does not fit the equations
    redundant: Tensor  #: (E,) int32, as in `stickslip.Gradient`

    @property
    def W(self) -> Tensor:
        """(E, n, n), b r^T: the derivative by every entry as if it were independent."""
        return torch.nan_to_num(self.b[..., :, None] * self.impulse[..., None, :])

    @property
    def ok(self) -> Tensor:
        """(E,) bool: valid."""
        return self.status == int(GradientStatus.valid)


def vjp(
    W: Tensor,
    b: Tensor,
    mu: Tensor | float,
    solution: Solution,
    *,
    d_impulse: Tensor | None = None,
    d_velocity: Tensor | None = None,
    law: LawName | Law = "coulomb",
    precision: PrecisionName | Precision = "float64",
    tol: float | None = None,
    dims: Tensor | list[int] | tuple[int, ...] | None = None,
    n_free: int = 0,
    n_nonneg: int = 0,
    lo: Tensor | None = None,
    hi: Tensor | None = None,
    R: Tensor | None = None,
    counts: Tensor | None = None,
    options: SolveOptions | None = None,
    threads: int | None = None,
) -> Gradient:
    """`stickslip.vjp` for tensors, with the same bits; what backward through `solve`
    computes, and the verdict on each environment.

    Args:
        W, b, mu: the problem that was solved.
        solution: what `solve` returned for it. Environments that are not solved get zeros.
        d_impulse, d_velocity: (E, n) dL/dr and dL/du, where u = (W + diag R) r + b; default 0.
        law, precision, tol, dims, n_free, n_nonneg, lo, hi, R, counts, options: as they were given
            to `solve`.
        threads: as in `solve`.

    Errors of arguments are as in `solve`. Backward through the result raises NotImplementedError.
    """
    if not isinstance(solution, Solution):
        raise TypeError(f"solution: expected a Solution, got {type(solution).__name__}")
    lead, n = sizes(W)
    require("solution.impulse", solution.impulse, W, (*lead, n))
    friction_rows, known_counts, known_dims, text, layout = _prepare(
        W, b, mu, (("R", R), ("d_impulse", d_impulse), ("d_velocity", d_velocity)), lo, hi,
        counts, dims,
        n_free, n_nonneg, law, "auto", precision, tol, without_solver(options),
    )  # fmt: skip
    d_b, d_mu, d_R, d_lo, d_hi, *report = torch_gradient.vjp(
        W, b, friction_rows, R, lo, hi, known_counts, known_dims, solution.impulse, solution.status,
        d_impulse, d_velocity, text,
        0 if threads is None else check.thread_count(threads),
    )  # fmt: skip
    if has_one_per_contact(mu, lead, layout):
        d_mu = per_contact(d_mu, known_dims, layout)
    d_lo, d_hi = (None, None) if lo is None else (d_lo, d_hi)
    return Gradient(d_b, d_mu, d_R, d_lo, d_hi, solution.impulse, *report)
