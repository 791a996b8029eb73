"""The operator `stickslip::solve` of PyTorch: what `torch.compile` puts into its graphs.

Its arguments have been checked by `stickslip.torch.solve`: mu has a number per tangential row,
counts is (E, 4) and dims (E, p) or (p,), of int32. W (n, n) is one problem; tensors without the
axis of the environments are shared. The settings are text, so that a compiled graph that is stored
on disk contains them.
"""

from __future__ import annotations

import atexit
import functools
from typing import Any

import numpy as np
import torch
from torch import Tensor, from_numpy

from stickslip import _arrays as check
from stickslip import _core, bound
from stickslip._settings import Settings
from stickslip._types import Int32

_SCHEMA = (
    "solve(Tensor W, Tensor b, Tensor mu, Tensor? R, Tensor? lo, Tensor? hi, Tensor? warm_start, "
    "Tensor? counts, Tensor? dims, str settings, int threads) -> (Tensor impulse, Tensor residual, "
    "Tensor integers)"
)
INTEGERS = ("status", "iterations", "solver", "rows_needed", "rung")  #: rows of `integers`
# Defined without torch.library.custom_op, whose own checks take longer than a small solve.
_torch_library: Any = torch.library
_solve: Any = _core.solve
_library = _torch_library.Library("stickslip", "DEF")
_library.define(_SCHEMA, tags=torch.Tag.pt2_compliant_tag)
Results = tuple[Tensor, Tensor, Tensor]  # impulse, residual, integers


def _on_cpu(
    W: Tensor,
    b: Tensor,
    mu: Tensor,
    R: Tensor | None,
    lo: Tensor | None,
    hi: Tensor | None,
    warm_start: Tensor | None,
    counts: Tensor | None,
    dims: Tensor | None,
    settings: str,
    threads: int,
) -> Results:
    *lead, n, _ = W.shape
    num_envs = lead[0] if lead else 1
    shape, known_dims, options = _constants(settings, num_envs)
    matrices = _slots(W, num_envs)
    impulse: Any = np.empty((num_envs, n), matrices.dtype)
    residual = np.empty(num_envs)
    integers = np.empty((len(INTEGERS), num_envs), np.int32)
    if num_envs:
        _solve(
            shape if counts is None else _slots(counts, num_envs),
            known_dims if dims is None else _slots(dims, num_envs),
            matrices if lead else matrices[None],
            _slots(b, num_envs),
            _slots(mu, num_envs),
            None if R is None else _slots(R, num_envs),
            None if lo is None else _slots(lo, num_envs),
            None if hi is None else _slots(hi, num_envs),
            None if warm_start is None else _slots(warm_start, num_envs),
            options, impulse, residual, *integers, None, False, threads,
        )  # fmt: skip
    found = from_numpy(impulse), from_numpy(residual), from_numpy(integers)
    return found if lead else _one(found)


@functools.lru_cache(maxsize=1024)
def _constants(settings: str, num_envs: int) -> tuple[Int32, Int32, _core.SolveOptions]:
    """Rows of each kind (E, 4), dimensions (E, p), and the options."""
    known = Settings.of(settings)
    dims = np.array(known.dims or (), np.int32)
    return (
        np.broadcast_to(known.shape, (num_envs, 4)),
        np.broadcast_to(dims, (num_envs, len(dims))),
        known.core_options(),
    )


atexit.register(_constants.cache_clear)  # before the C++ library looks for objects left behind


def _slots(tensor: Tensor, num_envs: int) -> Any:
    """The tensor's memory as an array, (E, size) or (E, n, n), where the values of an environment
    are contiguous. All environments share (size,)."""
    array: Any = (tensor.detach() if tensor.requires_grad else tensor).numpy()
    if not tensor.is_contiguous():
        array = check.slots(array)
    if array.ndim == 1:
        return np.ndarray((num_envs, array.size), array.dtype, array, 0, (0, array.itemsize))
    return array


def results(lead: tuple[int, ...], impulse: Tensor) -> Results:
    """New tensors for all results; `impulse` is the first. `lead`: the axis of the environments."""
    integers = impulse.new_zeros((len(INTEGERS), *lead), dtype=torch.int32)
    return impulse, impulse.new_zeros(lead, dtype=torch.float64), integers


def as_dict(found: Results) -> dict[str, Tensor]:
    """Each result by its name."""
    impulse, residual, integers = found
    names = dict(zip(INTEGERS, integers, strict=True))
    return {"impulse": impulse, "residual": residual, **names}


def _one(found: Results) -> Results:
    """The results of the only environment."""
    impulse, residual, integers = found
    return impulse[0], residual[0], integers[:, 0]


def _fake(W: Tensor, b: Tensor, *others: Any) -> Results:
    return results(tuple(b.shape[:-1]), b.new_empty(b.shape))


def _on_cuda(
    W: Tensor,
    b: Tensor,
    mu: Tensor,
    R: Tensor | None,
    lo: Tensor | None,
    hi: Tensor | None,
    warm_start: Tensor | None,
    counts: Tensor | None,
    dims: Tensor | None,
    settings: str,
    threads: int,
) -> Results:
    """Enqueues on the current stream. The solver's memory is freed at the end, which waits for the
    GPU; a BoundSolver keeps it."""
    if torch.cuda.is_current_stream_capturing():
        raise RuntimeError(
            "solve: expected no capture of a CUDA graph, which allows no allocation; create a "
            "stickslip.torch.BoundSolver before the capture, and call it there"
        )
    known = Settings.of(settings)
    num_envs = W.shape[0] if W.dim() == 3 else 1
    arrays = {"b": b, "mu": mu, "R": R, "lo": lo, "hi": hi, "warm_start": warm_start}
    given: dict[str, Any] = {name: _contiguous(value) for name, value in arrays.items()}
    if known.ragged:
        shape = from_numpy(known.shape).to(W.device)
        given["counts"] = shape.expand(num_envs, 4).contiguous() if counts is None else counts
        given["dims"] = known.dims if dims is None else dims
        for name in ("lo", "hi"):  # counts is read on the GPU: NaN for box rows without bounds
            if given[name] is not None:
                room = known.n - given[name].shape[-1]
                given[name] = torch.nn.functional.pad(given[name], (0, room), value=np.nan)
    else:
        given |= {"dims": known.dims, "n_free": known.kinds[0], "n_nonneg": known.kinds[1]}
    if W.dim() != 3:
        given["b"] = given["b"][None]
    matrices = W.detach().contiguous().reshape(num_envs, known.n, known.n)
    found = results((num_envs,), torch.zeros_like(given["b"]))
    solver = bound.BoundSolver(W=matrices, **given, **known.arguments(), out=as_dict(found))
    solver(torch.cuda.current_stream(W.device))
    return found if W.dim() == 3 else _one(found)


def _contiguous(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.detach().contiguous()


_library.impl("solve", _on_cpu, "CPU")
_library.impl("solve", _on_cuda, "CUDA")
_torch_library.register_fake("stickslip::solve", _fake, lib=_library)
_operator = torch.ops.stickslip.solve.default


def solve(*arguments: Any) -> Results:
    """Calls the operator, or its kernel where nothing else would see the call: torch takes as long
    to call the kernel as the kernel to prepare a solve."""
    W, b, mu = arguments[:3]
    nobody_else = (
        not torch.compiler.is_compiling()
        and type(W) is type(b) is type(mu) is Tensor
        and W.is_cpu
        and not torch._C._len_torch_dispatch_stack()
        and torch._C._functorch.peek_interpreter_stack() is None
        and torch._C._get_tracing_state() is None
    )
    return _on_cpu(*arguments) if nobody_else else _operator(*arguments)
