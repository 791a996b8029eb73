"""Checks of the arguments of stickslip.jax, and their form for XLA."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from stickslip._src.jax_op import Operands
from stickslip._src.layout import MOST_ROWS, Layout, bounds_given
from stickslip._src.settings import Settings, is_per_contact, settings_of


class Arrays(NamedTuple):
    """The arrays of a call as they are given; all but W, b and counts may lack the environments."""

    W: jax.Array
    b: jax.Array
    mu: jax.Array
    R: jax.Array | None
    lo: jax.Array | None
    hi: jax.Array | None
    warm_start: jax.Array | None
    counts: jax.Array | None
    dims: jax.Array | None


def checked(
    W: Any,
    b: Any,
    mu: Any,
    R: Any,
    lo: Any,
    hi: Any,
    warm_start: Any,
    counts: Any,
    dims: Any,
    kinds: tuple[int, int],
    options: tuple[Any, ...],
) -> tuple[Arrays, Settings, bool]:
    """The arguments of a solve, and whether mu has one number per contact.

    Args:
        kinds: n_free, n_nonneg.
        options: law, solver, precision, tol, options.
    """
    W = _array("W", W)
    if W.dtype not in (jnp.float32, jnp.float64):
        raise TypeError(f"W: expected float32 or float64, got {W.dtype}")
    if W.ndim < 2 or W.shape[-1] != W.shape[-2]:
        raise ValueError(f"W: expected shape (E, n, n), or (n, n) for one problem, got {W.shape}")
    lead, n = W.shape[:-2], W.shape[-1]
    rows = (*lead, n), (n,)
    b = numbers("b", b, W, rows[0])
    R = None if R is None else numbers("R", R, W, *rows)
    warm_start = None if warm_start is None else numbers("warm_start", warm_start, W, *rows)
    n_box = 0
    if bounds_given(lo, hi):
        lo, hi, n_box = _bounds(lo, hi, W)
    known, dims = _dims(dims, lead)
    counts, axes = _counts(counts, lead)
    contacts = None if dims is None else dims.shape[-1]
    settings = settings_of((n, known, contacts, *kinds, n_box, axes), options)
    layout = settings.layout
    if isinstance(mu, int | float) and not isinstance(mu, bool):
        mu = np.asarray(mu, W.dtype)
    mu = numbers("mu", mu, W)
    per_contact = mu.ndim > 0 and is_per_contact(
        mu.shape, lead, layout.contacts, layout.tangential, layout.ragged
    )
    return Arrays(W, b, mu, R, lo, hi, warm_start, counts, dims), settings, per_contact


def operands(arrays: Arrays, layout: Layout, per_contact: bool) -> Operands:
    """With the axes of the environments, and a number of friction per tangential row."""
    W, b = arrays.W, arrays.b
    lead = b.shape[:-1]
    absent = jnp.zeros((0,), W.dtype)
    dims = jnp.asarray(layout.dims or (), jnp.int32)
    if arrays.dims is not None:
        dims = _clipped(arrays.dims, -1, 7)
    others = (
        friction(arrays.mu, dims, layout, per_contact, lead),
        *[absent if each is None else each for each in arrays[3:7]],
        _shapes(arrays.counts, lead, layout),
        dims,
    )
    return Operands(W, b, *[environments(each, lead) for each in others])


def _array(name: str, value: Any) -> jax.Array:
    if isinstance(value, jax.Array):
        return value
    try:
        return jnp.asarray(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: expected an array, got {type(value).__name__}") from error


def numbers(name: str, value: Any, W: jax.Array, *allowed: tuple[int, ...]) -> jax.Array:
    """An array of the type of W, of one of the allowed shapes (none: of any)."""
    array = _array(name, value)
    if array.dtype != W.dtype:
        raise TypeError(f"{name}: expected {W.dtype}, as W has, got {array.dtype}")
    if allowed and array.shape not in allowed:
        expected = " or ".join(map(str, dict.fromkeys(allowed)))
        raise ValueError(f"{name}: expected shape {expected}, got {array.shape}")
    return array


def environments(array: jax.Array, lead: tuple[int, ...]) -> jax.Array:
    """With the axes of the environments."""
    return jnp.broadcast_to(array, (*lead, array.shape[-1]))


def _bounds(lo: Any, hi: Any, W: jax.Array) -> tuple[jax.Array, jax.Array, int]:
    """lo, hi, and their columns."""
    n_box = (0, *np.shape(lo))[-1]
    shapes = (*W.shape[:-2], n_box), (n_box,)
    return numbers("lo", lo, W, *shapes), numbers("hi", hi, W, *shapes), n_box


def _integers(name: str, value: Any) -> jax.Array:
    array = _array(name, value)
    if not jnp.issubdtype(array.dtype, jnp.integer):
        raise TypeError(f"{name}: expected integers, got {array.dtype}")
    return array


def _clipped(array: jax.Array, low: int, high: int) -> jax.Array:
    """As int32, between low and high; these need not be numbers of the array's type."""
    type_of = np.iinfo(array.dtype)
    return jnp.clip(array, max(low, type_of.min), min(high, type_of.max)).astype(jnp.int32)


def _dims(dims: Any, lead: tuple[int, ...]) -> tuple[tuple[int, ...] | None, jax.Array | None]:
    """Dimensions as numbers, or as an array."""
    if dims is None:
        return None, None
    if isinstance(dims, list | tuple):
        return tuple(dims), None
    array = _integers("dims", dims)
    if array.ndim == 0 or array.shape[:-1] not in ((), lead):
        raise ValueError(f"dims: expected shape {(*lead, 'p')} or ('p',), got {array.shape}")
    return None, array


def _counts(counts: Any, lead: tuple[int, ...]) -> tuple[jax.Array | None, int | None]:
    """The array, and 2 if it has all kinds of rows, else 1."""
    if counts is None:
        return None, None
    if not lead:
        raise ValueError("counts: expected None because W is one problem, got an array")
    array = _integers("counts", counts)
    if array.shape not in (lead, (*lead, 4)):
        raise ValueError(f"counts: expected shape {lead} or {(*lead, 4)}, got {array.shape}")
    return array, 1 if array.shape == lead else 2


def _shapes(counts: jax.Array | None, lead: tuple[int, ...], layout: Layout) -> jax.Array:
    """(E, 4) int32 free, nonneg, box rows and contacts."""
    if counts is None:
        return jnp.asarray(layout.counts)
    numbers = _clipped(counts, -1, MOST_ROWS)
    if counts.shape == (*lead, 4):
        return numbers
    kinds = [jnp.full_like(numbers, number) for number in layout.kinds]
    return jnp.stack([*kinds, numbers], axis=-1)


def friction(
    mu: jax.Array, dims: jax.Array, layout: Layout, per_contact: bool, lead: tuple[int, ...]
) -> jax.Array:
    """One number per tangential row."""
    if mu.ndim == 0:
        return jnp.broadcast_to(mu, (layout.tangential,))
    if not per_contact:
        return mu
    if layout.dims is not None:
        return mu[..., np.array(layout.contact_of_row, int)]
    # A tangential row belongs to the contact after those whose rows end before it.
    ends = jnp.cumsum(jnp.maximum(dims - 1, 0), -1)
    contact = (ends[..., None, :] <= jnp.arange(layout.tangential)[:, None]).sum(-1)
    contact = jnp.minimum(contact, max(layout.contacts - 1, 0))
    return jnp.take_along_axis(environments(mu, lead), environments(contact, lead), axis=-1)
