"""The operator `stickslip::solve` of PyTorch: what `torch.compile` puts into its graphs.

Its arguments have been checked by `stickslip.torch.solve`: mu has a number per tangential row,
counts is (E, 4) and dims (E, p) or (p,), of int32. W (n, n) is one problem; tensors without the
axis of the environments are shared. The settings are text, so that a compiled graph that is stored
on disk contains them.
"""

from __future__ import annotations

import atexit
import functools
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, from_numpy

from stickslip import _core
from stickslip._src import bound
from stickslip._src.settings import Settings
from stickslip._src.solution import INTEGERS, RESULTS

_SCHEMA = (
    "solve(Tensor W, Tensor b, Tensor mu, Tensor? R, Tensor? lo, Tensor? hi, Tensor? warm_start, "
    "Tensor? counts, Tensor? dims, str settings, int threads) -> ("
    + ", ".join(f"Tensor {name}" for name in RESULTS)
    + ")"
)
# Defined without torch.library.custom_op, whose own checks take longer than a small solve.
_torch_library: Any = torch.library
_solve_at: Any = _core.solve_at
_library = _torch_library.Library("stickslip", "DEF")
_library.define(_SCHEMA, tags=torch.Tag.pt2_compliant_tag)
Results = tuple[Tensor, ...]  # in the order of RESULTS
# Address, elements of a slot, elements between two slots, and what keeps the memory.
Place = tuple[int, int, int, Any]


class Operands(NamedTuple):
    """The arguments of the operator; W, b and mu are always there."""

    W: Tensor
    b: Tensor
    mu: Tensor
    R: Tensor | None
    lo: Tensor | None
    hi: Tensor | None
    warm_start: Tensor | None
    counts: Tensor | None
    dims: Tensor | None
    settings: str
    threads: int


def on_cpu(*arguments: Any) -> Results:
    W, *others, counts, dims, settings, threads = arguments
    size, dtype = W.shape, W.dtype
    batched, n = len(size) == 3, size[-1]
    num_envs = size[0] if batched else 1
    lead = (num_envs,) if batched else ()
    wide = dtype is torch.float64
    if not wide and dtype is not torch.float32:
        raise TypeError(f"stickslip::solve: expected float32 or float64, got {dtype}")
    known_counts, known_dims, options = _constants(settings)
    impulse = from_numpy(np.empty((*lead, n), np.float64 if wide else np.float32))
    residual = from_numpy(np.empty(lead))
    # Results of an operator may not share memory, as the rows of one array would.
    found = (impulse, residual, *[from_numpy(np.empty(lead, np.int32)) for _ in INTEGERS])
    if num_envs:
        _solve_at(
            wide,
            (
                *[None if each is None else _place(each, dtype, batched, num_envs)
                  for each in (W, *others)],
                known_counts if counts is None else _place(counts, torch.int32, batched, num_envs),
                known_dims if dims is None else _place(dims, torch.int32, batched, num_envs),
            ),
            num_envs, n, [each.data_ptr() for each in found], options, threads,
        )  # fmt: skip
    return found


def _place(tensor: Tensor, dtype: torch.dtype, batched: bool, num_envs: int) -> Place:
    """Where the values of the environments are; those of one environment are contiguous. All
    environments share a tensor without their axis."""
    if tensor.dtype is not dtype:
        raise TypeError(f"stickslip::solve: expected {dtype}, got {tensor.dtype}")
    if not tensor.is_contiguous() or tensor.is_neg():
        tensor = tensor.resolve_neg()
        if batched and tensor.dim() > 1 and len(tensor) == num_envs and tensor[0].is_contiguous():
            return tensor.data_ptr(), tensor[0].numel(), tensor.stride(0), tensor
        tensor = tensor.contiguous()
    size = tensor.numel()
    if batched:
        if tensor.dim() == 1:
            return tensor.data_ptr(), size, 0, tensor
        size //= num_envs
    return tensor.data_ptr(), size, size, tensor


@functools.lru_cache(maxsize=1024)
def _constants(settings: str) -> tuple[Place, Place, _core.SolveOptions]:
    """Rows of each kind and dimensions, the same for all environments, and the options."""
    known = Settings.of(settings)
    counts, dims = known.layout.counts, np.array(known.layout.dims or (), np.int32)
    return (
        (counts.ctypes.data, counts.size, 0, counts),
        (dims.ctypes.data, dims.size, 0, dims),
        known.core_options(),
    )


atexit.register(_constants.cache_clear)  # before the C++ library looks for objects left behind


def results(lead: tuple[int, ...], impulse: Tensor) -> Results:
    """New tensors for all results; `impulse` is the first. `lead`: the axis of the environments."""
    integers = [impulse.new_zeros(lead, dtype=torch.int32) for _ in INTEGERS]
    return impulse, impulse.new_zeros(lead, dtype=torch.float64), *integers


def as_dict(found: Results) -> dict[str, Tensor]:
    """Each result by its name."""
    return dict(zip(RESULTS, found, strict=True))


def _fake(W: Tensor, b: Tensor, *others: Any) -> Results:
    return results(tuple(b.shape[:-1]), b.new_empty(b.shape))


def _on_cuda(*arguments: Any) -> Results:
    """Enqueues on the current stream. The solver's memory is freed at the end, which waits for the
    GPU; a BoundSolver keeps it."""
    given = Operands(*arguments)
    W = given.W
    num_envs = W.shape[0] if W.dim() == 3 else 1
    found = results((num_envs,), W.new_zeros((num_envs, W.shape[-1])))
    reals: dict[str, Any] = dict(zip(Operands._fields[:7], given, strict=False))
    solver = bound_to(reals, given.counts, given.dims, given.settings, as_dict(found))
    solver(torch.cuda.current_stream(W.device))
    return found if W.dim() == 3 else tuple([each[0] for each in found])


def bound_to(
    arrays: dict[str, Tensor | None],
    counts: Tensor | None,
    dims: Tensor | None,
    settings: str,
    out: dict[str, Tensor],
) -> bound.BoundSolver[Any]:
    """A solver of tensors where they are, which may be copied. `lo` and `hi` get a column for each
    row that could be one of a box."""
    if torch.cuda.is_current_stream_capturing():
        raise RuntimeError(
            "solve: expected no capture of a CUDA graph, which allows no allocation; create a "
            "stickslip.torch.BoundSolver before the capture, and call it there"
        )
    known = Settings.of(settings)
    layout = known.layout
    given: dict[str, Any] = {name: contiguous(value) for name, value in arrays.items()}
    W = given["W"]
    num_envs = W.shape[0] if W.dim() == 3 else 1
    if layout.ragged:
        same = from_numpy(layout.counts).to(W.device)
        given["counts"] = same.expand(num_envs, 4).contiguous() if counts is None else counts
        given["dims"] = layout.dims if dims is None else dims
        for name in ("lo", "hi"):  # counts is read on the GPU: NaN for box rows without bounds
            if given[name] is not None:
                room = layout.n - given[name].shape[-1]
                given[name] = torch.nn.functional.pad(given[name], (0, room), value=np.nan)
    else:
        given |= {"dims": layout.dims, "n_free": layout.kinds[0], "n_nonneg": layout.kinds[1]}
    if W.dim() != 3:
        given |= {"W": W[None], "b": given["b"][None]}
    return bound.BoundSolver(**given, **known.arguments(), out=out)


def contiguous(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.detach().contiguous()


_library.impl("solve", on_cpu, "CPU")
_library.impl("solve", _on_cuda, "CUDA")
_torch_library.register_fake("stickslip::solve", _fake, lib=_library)
