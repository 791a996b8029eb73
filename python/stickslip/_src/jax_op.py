"""The calls of XLA that solve, and those of their derivatives."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np

from stickslip import _core
from stickslip._src.settings import Settings
from stickslip._src.solution import INTEGERS


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


class Operands(NamedTuple):
    """The arrays of a call, all with the axes of the environments; absent: without columns."""

    W: jax.Array
    b: jax.Array
    mu: jax.Array  #: per tangential row
    R: jax.Array
    lo: jax.Array
    hi: jax.Array
    warm_start: jax.Array
    counts: jax.Array  #: free, nonneg, box rows and contacts
    dims: jax.Array


class Derivatives(NamedTuple):
    """Of a loss by an operand each; and the verdict on them."""

    b: jax.Array
    mu: jax.Array
    R: jax.Array  #: also where the problem has none
    lo: jax.Array
    hi: jax.Array
    status: jax.Array
    kink_distance: jax.Array
    inconsistency: jax.Array
    redundant: jax.Array


@functools.partial(jax.custom_vjp, nondiff_argnums=(1, 2))
def solve(operands: Operands, settings: Settings, threads: int) -> Any:
    """The results, in the order of `RESULTS`."""
    b = operands.b
    lead = b.shape[:-1]
    results = [(b.shape, b.dtype), (lead, b.dtype), *[(lead, jnp.int32) for _ in INTEGERS]]
    return _call("solve", operands, results, settings, threads)


def _solve_and_keep(operands: Operands, settings: Settings, threads: int) -> Any:
    results = solve(operands, settings, threads)
    impulse, _, status, *_ = results
    return results, (operands, impulse, status)


def _backward(settings: Settings, threads: int, kept: Any, by_results: Any) -> Any:
    operands, impulse, status = kept
    loss = (by_results[0], jnp.zeros((*impulse.shape[:-1], 0), impulse.dtype))
    found = vjp(operands, impulse, status, loss, settings, threads)
    by_R = found.R if operands.R.shape[-1] else None
    by_W = jnp.nan_to_num(found.b[..., :, None] * impulse[..., None, :])  # of infinite impulses
    return (
        Operands(by_W, found.b, found.mu, by_R, found.lo, found.hi, *[None] * 3),  # type: ignore[arg-type]
    )


solve.defvjp(_solve_and_keep, _backward)


@functools.partial(jax.custom_jvp, nondiff_argnums=(4, 5))
def vjp(
    operands: Operands,
    impulse: jax.Array,
    status: jax.Array,
    loss: tuple[jax.Array, jax.Array],
    settings: Settings,
    threads: int,
) -> Derivatives:
    """The derivatives of a loss, given those by impulse and velocity (absent: without columns)."""
    W, b, mu, R, lo, hi, _, counts, dims = operands
    lead = b.shape[:-1]
    results = [(each.shape, b.dtype) for each in (b, mu, b, lo, hi)]
    results += [(lead, each) for each in (jnp.int32, b.dtype, b.dtype, jnp.int32)]
    arrays = (W, b, mu, R, lo, hi, counts, dims, impulse, status, *loss)
    return Derivatives(*_call("vjp", arrays, results, settings, threads))


@vjp.defjvp
def _refuse(*_: Any) -> Any:
    raise NotImplementedError(
        "stickslip.jax: expected a loss that is differentiated once, got a second derivative of a "
        "solve: none are computed; jax.lax.stop_gradient on its arguments holds the first fixed"
    )


def _call(
    name: str, arrays: tuple[Any, ...], results: list[Any], settings: Settings, threads: int
) -> Any:
    struct = cast(Any, jax.ShapeDtypeStruct)
    call = jax.ffi.ffi_call(
        f"stickslip_{name}",
        [struct(*each) for each in results],
        vmap_method="broadcast_all",
    )
    attributes = (*settings.options, ("ragged", settings.layout.ragged), ("threads", threads))
    return call(*arrays, **{key: _attribute(value) for key, value in attributes})


def _attribute(value: float) -> np.generic:
    """As the C++ side reads it."""
    if isinstance(value, bool):
        return np.bool_(value)
    return np.float64(value) if isinstance(value, float) else np.int32(value)
