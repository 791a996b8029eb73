"""Checks of the arguments of stickslip.torch, also while torch compiles what calls it."""

from __future__ import annotations

import functools
import operator
from dataclasses import fields
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.compiler import is_compiling

from stickslip._src import settings
from stickslip._src.layout import MOST_ROWS, Layout, bounds_given
from stickslip._src.options import SolveOptions
from stickslip._src.settings import is_per_contact

_OPTIONS = tuple(field.name for field in fields(SolveOptions))
_FLOATS = (torch.float32, torch.float64)


def settings_of(layout: tuple[Any, ...], options: tuple[Any, ...]) -> tuple[str, Rows]:
    """The text of `stickslip._src.settings.settings_of`, which depends on no tensor's contents, and
    its layout."""
    if not is_compiling():
        known = settings.settings_of(layout, options)
        return known.text, known.layout
    text, *rows = _constants(*[_constant(value) for value in (*layout, *options)])
    return text, ConstantLayout(*rows)


class ConstantLayout(NamedTuple):
    """What is read of a `Layout`. torch's compiler cannot read an object of that class."""

    kinds: tuple[int, int, int]
    contacts: int
    tangential: int
    ragged: bool
    contact_of_row: tuple[int, ...]


Rows = Layout | ConstantLayout


def _read(*arguments: Any) -> tuple[Any, ...]:
    """Text and `ConstantLayout`, while torch compiles: called then, and not by the graph."""
    *others, options = arguments
    options = SolveOptions(*options) if isinstance(options, tuple) else options
    known = settings.settings_of(tuple(others[:-4]), (*others[-4:], options))
    return (known.text, *[getattr(known.layout, name) for name in ConstantLayout._fields])


_compiler: Any = torch.compiler
_constants = _compiler.assume_constant_result(_read)


def _constant(value: Any) -> Any:
    """What may be given to `_constants`. Numbers that have changed since the last call are symbols
    of the graph unless they are made numbers: then another graph is compiled. Of options that the
    compiled function creates, torch passes on the fields, but the object with defaults."""
    if isinstance(value, SolveOptions):
        return tuple([_constant(getattr(value, name)) for name in _OPTIONS])
    if type(value) is float:
        return float.fromhex(value.hex())
    if type(value) is int:  # not bool, no enum
        return operator.index(value)
    return value


def _require_tensor(name: str, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}: expected a tensor, got {type(value).__name__}")
    if forward_ad._current_level < 0:
        return
    unpack: Any = forward_ad.unpack_dual
    if unpack(value).tangent is not None:
        raise TypeError(
            f"{name}: expected a tensor without a forward derivative: none are computed, but "
            "backward() gives gradients, and stickslip.jvp takes numpy arrays"
        )


def sizes(W: Tensor) -> tuple[tuple[int, ...], int]:
    """The axis of the environments, if there is one, and the number of rows."""
    _require_tensor("W", W)
    shape = W.shape
    if len(shape) not in (2, 3) or shape[-1] != shape[-2]:
        raise ValueError(
            f"W: expected shape (E, n, n), or (n, n) for one problem, got {tuple(shape)}"
        )
    if W.dtype not in _FLOATS:
        raise TypeError(f"W: expected float32 or float64, got {_name(W.dtype)}")
    return (shape[0],) if len(shape) == 3 else (), shape[-1]


def require(name: str, value: Any, W: Tensor, *allowed: tuple[int, ...]) -> None:
    """Refuses what is not a tensor like W, of one of the allowed shapes (none: of any)."""
    if not isinstance(value, Tensor) or value.requires_grad or forward_ad._current_level >= 0:
        _require_tensor(name, value)
    if value.dtype != W.dtype:
        raise TypeError(f"{name}: expected {_name(W.dtype)}, as W has, got {_name(value.dtype)}")
    if value.device != W.device:
        _require_place(name, value, W)
    if allowed and value.shape not in allowed:
        expected = " or ".join(map(str, allowed))
        raise ValueError(f"{name}: expected shape {expected}, got {tuple(value.shape)}")


def _require_place(name: str, value: Tensor, W: Tensor) -> None:
    if value.device != W.device:
        raise ValueError(f"{name}: expected a tensor on {W.device}, as W is, got {value.device}")


def _require_integers(name: str, value: Any, W: Tensor) -> None:
    _require_tensor(name, value)
    if value.dtype.is_floating_point or value.dtype.is_complex or value.dtype == torch.bool:
        raise TypeError(f"{name}: expected integers, got {_name(value.dtype)}")
    _require_place(name, value, W)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def bounds(lo: Any, hi: Any, W: Tensor, lead: tuple[int, ...]) -> int:
    """Columns of lo and hi."""
    if not bounds_given(lo, hi, "a tensor"):
        return 0
    require("lo", lo, W)
    if lo.dim() not in (1, 1 + len(lead)):
        raise ValueError(
            f"lo: expected shape {(*lead, 'n_box')} or ('n_box',), got {tuple(lo.shape)}"
        )
    n_box: int = lo.shape[-1]
    require("lo", lo, W, (*lead, n_box), (n_box,))
    require("hi", hi, W, (*lead, n_box), (n_box,))
    return n_box


def dimensions(
    dims: Any, W: Tensor, lead: tuple[int, ...]
) -> tuple[tuple[int, ...] | None, int | None, Tensor | None]:
    """Dimensions as numbers; or the number of contacts, and a tensor of int32."""
    if isinstance(dims, (list, tuple)):
        return tuple(dims), None, None
    if not isinstance(dims, Tensor):
        raise TypeError(f"dims: expected a list of numbers or a tensor, got {type(dims).__name__}")
    _require_integers("dims", dims, W)
    shape = tuple(dims.shape)
    if len(shape) not in (1, 1 + len(lead)) or shape[:-1] not in ((), lead):
        raise ValueError(f"dims: expected shape {(*lead, 'p')} or ('p',), got {shape}")
    return None, shape[-1], dims.clamp(-1, 7).to(torch.int32)


def axes_of(counts: Any, W: Tensor, lead: tuple[int, ...]) -> int:
    """Number of axes of `counts`."""
    if not lead:
        raise ValueError("counts: expected None because W is one problem, got a tensor")
    _require_integers("counts", counts, W)
    if counts.shape not in (lead, (*lead, 4)):
        raise ValueError(
            f"counts: expected shape {lead} or {(*lead, 4)}, got {tuple(counts.shape)}"
        )
    axes: int = counts.dim()
    return axes


def row_counts(counts: Tensor, layout: Rows) -> Tensor:
    """(E, 4) int32 free, nonneg, box rows and contacts."""
    numbers = counts.clamp(-1, MOST_ROWS).to(torch.int32)
    if counts.dim() == 2:
        return numbers
    kinds = [torch.full_like(numbers, number) for number in layout.kinds]
    return torch.stack([*kinds, numbers], dim=1)


def friction(
    mu: Any, dims: Tensor | None, W: Tensor, lead: tuple[int, ...], layout: Rows
) -> Tensor:
    """One number per tangential row."""
    require("mu", mu, W)
    tangential = layout.tangential
    if mu.shape == (*lead, tangential) and tangential != layout.contacts:
        return mu
    if not mu.dim():
        return mu.expand(tangential)
    if not has_one_per_contact(mu, lead, layout):
        return mu
    contact = _contact_of_row(dims, layout, mu.device)
    if dims is None:
        return mu.index_select(-1, contact)
    shape = max(mu.shape[:-1], contact.shape[:-1], key=len)
    return mu.expand(*shape, -1).gather(-1, contact.expand(*shape, -1))


def has_one_per_contact(mu: Any, lead: tuple[int, ...], layout: Rows) -> bool:
    """Whether mu, a tensor or a number, has a number per contact, or one for all."""
    shape = tuple(mu.shape) if isinstance(mu, Tensor) else ()
    if not shape:
        return True
    contacts, tangential = layout.contacts, layout.tangential
    if shape == (*lead, tangential) and tangential != contacts:
        return False
    return is_per_contact(shape, lead, contacts, tangential, layout.ragged)


def per_contact(rows: Tensor, dims: Tensor | None, layout: Rows) -> Tensor:
    """Sums over the tangential rows of each contact; rows that are not used hold 0."""
    sums = rows.new_zeros((*rows.shape[:-1], layout.contacts))
    contact = _contact_of_row(dims, layout, rows.device)
    return sums.scatter_add(-1, contact.expand(rows.shape), rows)


def _contact_of_row(dims: Tensor | None, layout: Rows, device: torch.device) -> Tensor:
    """The contact of each tangential row."""
    if dims is None:
        indices = _indices if is_compiling() else _kept_indices
        return indices(layout.contact_of_row, device)
    # A tangential row belongs to the contact after those whose rows end before it.
    ends = (dims - 1).clamp(min=0).cumsum(-1)
    row = torch.arange(layout.tangential, device=device)
    return (ends[..., None, :] <= row[:, None]).sum(-1).clamp(max=max(layout.contacts - 1, 0))


def _indices(numbers: tuple[int, ...], device: torch.device) -> Tensor:
    return torch.tensor(numbers, dtype=torch.int64, device=device)


_kept_indices = functools.lru_cache(maxsize=64)(_indices)  # torch warns of it in compiled functions
