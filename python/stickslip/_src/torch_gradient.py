"""PyTorch's operator `stickslip::solve_vjp`, the derivative of `stickslip::solve`; calls of both.

Its arguments are those of `stickslip::solve`, without the warm start; impulse and status of the
solution; and the derivatives of a loss by impulse and velocity. Its results have the axis of the
environments also for arguments that these share; `lo` and `hi` have no columns where the problem
has no bounds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, from_numpy
from torch.compiler import is_compiling
from torch.utils.dlpack import from_dlpack

from stickslip import _core
from stickslip._src import arrays as check
from stickslip._src import torch_op as op
from stickslip._src.settings import Settings

_SCHEMA = (
    "solve_vjp(Tensor W, Tensor b, Tensor mu, Tensor? R, Tensor? lo, Tensor? hi, Tensor? counts, "
    "Tensor? dims, Tensor impulse, Tensor status, Tensor? g_impulse, Tensor? g_velocity, "
    "str settings, int threads) -> (Tensor d_b, Tensor d_mu, Tensor d_R, Tensor d_lo, Tensor d_hi, "
    "Tensor verdict, Tensor kink_distance, Tensor inconsistency, Tensor redundant)"
)
_library: Any = op._library
_library.define(_SCHEMA, tags=torch.Tag.pt2_compliant_tag)
_BY = ("b", "mu", "R", "lo", "hi")
_REPORT = {"status": np.int32, "kink_distance": np.double, "inconsistency": np.double,
           "redundant": np.int32}  # fmt: skip
Results = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]


class Operands(NamedTuple):
    """The arguments of the operator; W, b, mu, impulse and status are always there."""

    W: Tensor
    b: Tensor
    mu: Tensor
    R: Tensor | None
    lo: Tensor | None
    hi: Tensor | None
    counts: Tensor | None
    dims: Tensor | None
    impulse: Tensor
    status: Tensor
    g_impulse: Tensor | None
    g_velocity: Tensor | None
    settings: str
    threads: int


def _on_cpu(*arguments: Any) -> Results:
    given = Operands(*arguments)
    W = given.W
    *lead, n, _ = W.shape
    num_envs = lead[0] if lead else 1
    known = Settings.of(given.settings)
    names = ("b", "mu", "R", "lo", "hi", "impulse", "counts", "dims")
    arrays: dict[str, Any] = {name: _array(getattr(given, name)) for name in names}
    arrays |= {
        "W": _array(W if lead else W[None]),
        "status": _array(given.status.reshape(num_envs)),
    }
    if given.counts is None:
        arrays["counts"] = known.layout.counts
    if given.dims is None:
        arrays["dims"] = np.array(known.layout.dims or (), np.int32)
    loss = {"d_impulse": _array(given.g_impulse), "d_velocity": _array(given.g_velocity)}
    widths = dict(zip(_BY, _widths(n, given.mu, given.lo, given.hi), strict=True))
    out = {name: np.zeros((num_envs, width), arrays["W"].dtype) for name, width in widths.items()}
    out |= {name: np.zeros(num_envs, dtype) for name, dtype in _REPORT.items()}
    if num_envs:
        _core.solve_vjp(arrays, loss, out, options=known.core_options(), threads=given.threads)
    found: Any = [from_numpy(each) for each in out.values()]
    return tuple(found if lead else [each[0] for each in found])


def _array(tensor: Tensor | None) -> Any:
    """The tensor's memory as an array, where the values of an environment are contiguous."""
    return None if tensor is None else check.slots(tensor.detach().resolve_neg().numpy())


def _bounds(lo: Tensor | None, hi: Tensor | None) -> tuple[int, int]:
    """Columns of lo and hi."""
    return (0, 0) if lo is None or hi is None else (lo.shape[-1], hi.shape[-1])


def _widths(n: int, mu: Tensor, lo: Tensor | None, hi: Tensor | None) -> tuple[int, ...]:
    """Columns of the derivatives, in the order of `_BY`."""
    return (n, mu.shape[-1], n, *_bounds(lo, hi))


def _fake(W: Tensor, b: Tensor, mu: Tensor, R: Any, lo: Any, hi: Any, *others: Any) -> Results:
    lead, n = b.shape[:-1], b.shape[-1]
    out = [b.new_empty((*lead, width)) for width in _widths(n, mu, lo, hi)]
    types = (torch.int32, torch.double, torch.double, torch.int32)
    report = [b.new_empty(lead, dtype=each) for each in types]
    return (*out, *report)  # type: ignore[return-value]


def _on_cuda(*arguments: Any) -> Results:
    """Enqueues on the current stream, and waits, as the solve does. The solution is copied: the
    loss may have the same memory."""
    given = Operands(*arguments)
    W = given.W
    lead, num_envs = W.shape[:-2], W.shape[0] if W.dim() == 3 else 1
    solution = {
        "impulse": given.impulse.detach().reshape(num_envs, -1).clone(),
        "status": given.status.detach().reshape(num_envs).clone(),
    }
    problem: dict[str, Any] = dict(zip(Operands._fields[:6], given, strict=False))
    problem["warm_start"] = None
    found = op.bound_to(problem, given.counts, given.dims, given.settings, solution).vjp(
        d_impulse=op.contiguous(given.g_impulse),
        d_velocity=op.contiguous(given.g_velocity),
        stream=torch.cuda.current_stream(W.device),
    )
    by_bounds = [
        W.new_zeros((num_envs, 0)) if each is None else from_dlpack(each)[:, :width]
        for each, width in zip((found.lo, found.hi), _bounds(given.lo, given.hi), strict=True)
    ]
    by_rows = [from_dlpack(each) for each in (found.b, found.mu, found.R)]
    verdict = (found.status, found.kink_distance, found.inconsistency, found.redundant)
    report = [from_dlpack(each) for each in verdict]
    all_of = [each.contiguous() for each in (*by_rows, *by_bounds, *report)]
    return tuple(all_of if lead else [each[0] for each in all_of])  # type: ignore[return-value]


def _keep(ctx: Any, inputs: tuple[Any, ...], output: op.Results) -> None:
    W, b, mu, R, lo, hi, _, counts, dims, ctx.settings, ctx.threads = inputs
    impulse, residual, status, *others = output
    ctx.mark_non_differentiable(residual, status, *others)
    ctx.save_for_backward(W, b, mu, R, lo, hi, counts, dims, impulse, status)


def _backward(ctx: Any, g_impulse: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
    *problem, impulse, status = ctx.saved_tensors
    found = vjp(*problem, impulse, status, g_impulse, None, ctx.settings, ctx.threads)
    by_row = found[0]
    by_W = None
    if ctx.needs_input_grad[0]:  # impulses may be infinite where nothing is solved, or in float32
        by_W = torch.nan_to_num(by_row[..., :, None] * impulse[..., None, :])
    gradients = [
        _like(gradient, argument) if wanted else None
        for gradient, argument, wanted in zip(
            found[:5], problem[1:6], ctx.needs_input_grad[1:6], strict=True
        )
    ]
    return by_W, *gradients, None, None, None, None, None


def _like(gradient: Tensor, argument: Tensor) -> Tensor:
    """The sum over the environments where they share the argument."""
    return gradient.sum(0) if gradient.dim() > argument.dim() else gradient


def _refuse(ctx: Any, *_: Any) -> Any:
    raise NotImplementedError(
        "stickslip.torch: expected a loss that is differentiated once, got a second derivative of "
        "a solve: none are computed (call backward without create_graph)"
    )


class _Solve(torch.autograd.Function):
    """The operator inside torch.func.grad and the like, which the autograd of torch's operators
    does not know."""

    generate_vmap_rule = True

    @staticmethod
    def forward(*arguments: Any) -> Any:
        return _operators.solve.default(*arguments)

    setup_context = staticmethod(_keep)
    backward = staticmethod(_backward)
    jvp = staticmethod(_refuse)


class _Vjp(torch.autograd.Function):
    """The same for its derivative."""

    generate_vmap_rule = True

    @staticmethod
    def forward(*arguments: Any) -> Any:
        return _operators.solve_vjp.default(*arguments)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    backward = staticmethod(_refuse)
    jvp = staticmethod(_refuse)


_dispatch_modes = torch._C._len_torch_dispatch_stack
_transforms = torch._C._functorch.peek_interpreter_stack
_tracing = torch._C._get_tracing_state
_wants_gradient: Any = torch._C._any_requires_grad


def _is_transformed() -> bool:
    return not is_compiling() and _transforms() is not None


def solve(*arguments: Any) -> op.Results:
    """`stickslip::solve`, also where torch.func differentiates it. Or its kernel where nothing else
    would see the call, nor differentiate it: torch takes as long to call the kernel as the kernel
    to prepare a solve."""
    W, b, mu = arguments[:3]
    transformed = _is_transformed()
    nobody_else = (
        not is_compiling()
        and type(W) is type(b) is type(mu) is Tensor
        and W.is_cpu
        and not _dispatch_modes()
        and not transformed
        and _tracing() is None
        and not (torch.is_grad_enabled() and _wants_gradient(*arguments))
    )
    if nobody_else:
        return op.on_cpu(*arguments)
    found: op.Results = (_Solve.apply if transformed else _operators.solve.default)(*arguments)
    return found


def vjp(*arguments: Any) -> Any:
    """`stickslip::solve_vjp`, also where torch.func calls it."""
    return (_Vjp.apply if _is_transformed() else _operators.solve_vjp.default)(*arguments)


_library.impl("solve_vjp", _on_cpu, "CPU")
_library.impl("solve_vjp", _on_cuda, "CUDA")
_torch_library: Any = torch.library
_torch_library.register_fake("stickslip::solve_vjp", _fake, lib=_library)
_torch_library.register_autograd("stickslip::solve", _backward, setup_context=_keep, lib=_library)
_torch_library.register_autograd("stickslip::solve_vjp", _refuse, lib=_library)
_operators: Any = torch.ops.stickslip
