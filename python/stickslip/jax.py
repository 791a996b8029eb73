"""Solving batches of contact problems given as JAX arrays, also in compiled functions.

`solve` works under `jax.jit`, `jax.vmap` and `jax.lax.scan` (docs/jax.md).
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np

from stickslip import _arrays as check
from stickslip import _core
from stickslip._core import Law, Precision, Solver, Status
from stickslip._settings import MOST_ROWS, Settings, is_per_contact, settings_of
from stickslip._types import LawName, PrecisionName, SolverName
from stickslip.contact import SolveOptions

__all__ = ["Solution", "solve"]
_TARGETS = {"float32": "stickslip_solve_f32", "float64": "stickslip_solve_f64"}


def _register() -> None:
    """Tells XLA the functions of the C++ library."""
    targets = _core.jax_targets()
    if not targets:
        raise ImportError(
            "stickslip.jax: expected a stickslip that was built where JAX is installed, got one "
            "without JAX: install it and build again (pip install jax; make setup)"
        )
    for platform, functions in targets.items():
        for name, function in functions.items():
            jax.ffi.register_ffi_target(name, function, platform=platform)
            jax.ffi.register_ffi_target_as_batch_partitionable(name)


_register()


class Solution(NamedTuple):
    """Impulses, and a verdict on each environment. For one problem the axis of the environments is
    missing."""

    impulse: jax.Array  #: (E, n), N s; rows beyond an environment's own are 0
    residual: jax.Array  #: (E,), m/s, measured in double, then of the type of W
    status: jax.Array  #: (E,) int32; compare with members of `stickslip.Status`
    iterations: jax.Array  #: (E,) int32, sweeps and Newton steps together

    @property
    def ok(self) -> jax.Array:
        """(E,) bool: solved."""
        return self.status == int(Status.solved)


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


def solve(
    W: Any,
    b: Any,
    mu: Any,
    *,
    law: LawName | Law = "coulomb",
    solver: SolverName | Solver = "auto",
    precision: PrecisionName | Precision = "double",
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

    Raises TypeError and ValueError for a wrong type, shape or value of an argument, and
    NotImplementedError when JAX differentiates it: no gradients are computed. What the arrays hold
    raises nothing: an environment with NaN, negative counts or dimensions other than 3, 4 and 6
    gets the status `bad_input`.
    """
    W = _array("W", W)
    if str(W.dtype) not in _TARGETS:
        raise TypeError(f"W: expected float32 or float64, got {W.dtype}")
    if W.ndim < 2 or W.shape[-1] != W.shape[-2]:
        raise ValueError(f"W: expected shape (E, n, n), or (n, n) for one problem, got {W.shape}")
    lead, n = W.shape[:-2], W.shape[-1]
    rows = (*lead, n), (n,)
    b = _numbers("b", b, W, rows[0])
    R = None if R is None else _numbers("R", R, W, *rows)
    warm_start = None if warm_start is None else _numbers("warm_start", warm_start, W, *rows)
    n_box = 0
    if lo is not None or hi is not None:
        lo, hi, n_box = _bounds(lo, hi, W)
    known, dims = _dims(dims, lead)
    counts, axes = _counts(counts, lead)
    settings = settings_of(
        n, known, None if dims is None else dims.shape[-1], n_free, n_nonneg, n_box, axes,
        law, solver, precision, tol, options,
    )  # fmt: skip
    if isinstance(mu, int | float) and not isinstance(mu, bool):
        mu = np.asarray(mu, W.dtype)
    mu = _numbers("mu", mu, W)
    per_contact = mu.ndim > 0 and is_per_contact(
        mu.shape, lead, settings.contacts, settings.tangential, settings.ragged
    )
    arrays = Arrays(W, b, mu, R, lo, hi, warm_start, counts, dims)
    return Solution(*_solve(arrays, settings, per_contact, check.thread_count(threads)))


@functools.partial(jax.custom_jvp, nondiff_argnums=(1, 2, 3))
def _traced(arrays: Arrays, settings: Settings, per_contact: bool, threads: int) -> Any:
    W, b = arrays.W, arrays.b
    lead, struct = b.shape[:-1], cast(Any, jax.ShapeDtypeStruct)
    results = [(b.shape, b.dtype), (lead, b.dtype), (lead, jnp.int32), (lead, jnp.int32)]
    call = jax.ffi.ffi_call(
        _TARGETS[str(W.dtype)],
        [struct(*each) for each in results],
        vmap_method="broadcast_all",
    )
    absent = jnp.zeros((0,), W.dtype)
    dims = jnp.asarray(settings.dims or (), jnp.int32)
    if arrays.dims is not None:
        dims = _clipped(arrays.dims, -1, 7)
    operands = (
        _friction(arrays.mu, dims, settings, per_contact, lead),
        *[absent if each is None else each for each in arrays[3:7]],
        _shapes(arrays.counts, lead, settings),
        dims,
    )
    attributes = (*settings.options, ("ragged", settings.ragged), ("threads", threads))
    return call(
        W, b, *[_environments(each, lead) for each in operands],
        **{name: _attribute(value) for name, value in attributes},
    )  # fmt: skip


def _no_gradient(*_: Any) -> Any:
    raise NotImplementedError(
        "stickslip.jax.solve: expected arguments that are not differentiated, because it computes "
        "no gradients: use jax.lax.stop_gradient on W, b, mu and the other arguments"
    )


_traced.defjvp(_no_gradient)
# jit keeps what was traced, so that calls outside of compiled functions are fast too.
_solve = jax.jit(_traced, static_argnums=(1, 2, 3))


def _attribute(value: float) -> np.generic:
    """As the C++ side reads it."""
    if isinstance(value, bool):
        return np.bool_(value)
    return np.float64(value) if isinstance(value, float) else np.int32(value)


def _array(name: str, value: Any) -> jax.Array:
    if isinstance(value, jax.Array):
        return value
    try:
        return jnp.asarray(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: expected an array, got {type(value).__name__}") from error


def _numbers(name: str, value: Any, W: jax.Array, *allowed: tuple[int, ...]) -> jax.Array:
    """An array of the type of W, of one of the allowed shapes (none: of any)."""
    array = _array(name, value)
    if array.dtype != W.dtype:
        raise TypeError(f"{name}: expected {W.dtype}, as W has, got {array.dtype}")
    if allowed and array.shape not in allowed:
        expected = " or ".join(map(str, dict.fromkeys(allowed)))
        raise ValueError(f"{name}: expected shape {expected}, got {array.shape}")
    return array


def _environments(array: jax.Array, lead: tuple[int, ...]) -> jax.Array:
    """With the axes of the environments."""
    return jnp.broadcast_to(array, (*lead, array.shape[-1]))


def _bounds(lo: Any, hi: Any, W: jax.Array) -> tuple[jax.Array, jax.Array, int]:
    """lo, hi, and their columns."""
    for name, value, other in (("lo", lo, "hi"), ("hi", hi, "lo")):
        if value is None:
            raise ValueError(f"{name}: expected an array because {other} is given, got None")
    n_box = (0, *np.shape(lo))[-1]
    shapes = (*W.shape[:-2], n_box), (n_box,)
    return _numbers("lo", lo, W, *shapes), _numbers("hi", hi, W, *shapes), n_box


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


def _shapes(counts: jax.Array | None, lead: tuple[int, ...], settings: Settings) -> jax.Array:
    """(E, 4) int32 free, nonneg, box rows and contacts."""
    if counts is None:
        return jnp.asarray(settings.shape)
    numbers = _clipped(counts, -1, MOST_ROWS)
    if counts.shape == (*lead, 4):
        return numbers
    kinds = [jnp.full_like(numbers, number) for number in settings.kinds]
    return jnp.stack([*kinds, numbers], axis=-1)


def _friction(
    mu: jax.Array, dims: jax.Array, settings: Settings, per_contact: bool, lead: tuple[int, ...]
) -> jax.Array:
    """One number per tangential row."""
    if mu.ndim == 0:
        return jnp.broadcast_to(mu, (settings.tangential,))
    if not per_contact:
        return mu
    if settings.dims is not None:
        return mu[..., np.array(settings.contact_of_row, int)]
    # A tangential row belongs to the contact after those whose rows end before it.
    ends = jnp.cumsum(jnp.maximum(dims - 1, 0), -1)
    contact = (ends[..., None, :] <= jnp.arange(settings.tangential)[:, None]).sum(-1)
    contact = jnp.minimum(contact, max(settings.contacts - 1, 0))
    return jnp.take_along_axis(_environments(mu, lead), _environments(contact, lead), axis=-1)
