"""Checks of the arguments of `BoundSolver`, arrays of any framework and in any memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip import _core
from stickslip._src import arrays as check
from stickslip._src.engine import EngineMechanism
from stickslip._src.layout import Layout, bounds_given, layout_of
from stickslip._src.settings import is_per_contact

_IN_PLACE = (
    "a BoundSolver reads the given array at each call, so convert it before, as with astype, and "
    "write to the new array"
)


def require_backend(backend: Any, own: str) -> None:
    """Refuses a backend other than that of the arrays' memory."""
    check.one_of("backend", backend, ("auto", "cpu", "cuda"))
    if backend not in ("auto", own):
        where = "host memory" if own == "cpu" else "the memory of a GPU"
        raise ValueError(
            f"backend: expected 'auto' or {own!r} because the arrays are in {where}, where a "
            f"BoundSolver solves them, got {backend!r}"
        )


def leader_of(W: Any, M: Any, J: Any, engine: Any, v_free: Any) -> str:
    """Name of the argument that determines the sizes."""
    if engine is not None:
        if not isinstance(engine, EngineMechanism):
            raise TypeError(f"engine: expected EngineMechanism, got {type(engine).__name__}")
        for name, value in (("W", W), ("M", M), ("J", J)):
            if value is not None:
                raise ValueError(
                    f"{name}: expected None because engine is given, got {type(value).__name__}"
                )
        _require_engine(engine)
        for group in (("M_rownnz", "M_rowadr", "M_colind"), ("J_rownnz", "J_rowadr", "J_colind")):
            absent = [name for name in group if getattr(engine, name) is None]
            if absent and len(absent) < len(group):
                raise ValueError(
                    f"engine.{absent[0]}: expected an array because others of {', '.join(group)} "
                    "are given, got None"
                )
        return "engine.J"
    if W is not None:
        for name, value in (("M", M), ("J", J), ("v_free", v_free)):
            if value is not None:
                raise ValueError(
                    f"{name}: expected None because W is given, got {type(value).__name__}"
                )
        return "W"
    for name, value in (("M", M), ("J", J)):
        if value is None:
            raise ValueError(f"{name}: expected an array because W is None, got None")
    return "J"


def _require_engine(engine: EngineMechanism) -> None:
    """Refuses what the C++ library could not name."""
    check.count("engine.nv", engine.nv)
    for name, value in vars(engine).items():
        if value is None and name in ("M", "J"):
            raise ValueError(f"engine.{name}: expected an array, got None")
        if value is not None and name != "nv":
            check.refuse_gradient(f"engine.{name}", value)
    shape = describe("engine.J", engine.J)[1]
    if engine.J_rownnz is None and (len(shape) != 3 or shape[2] < engine.nv):
        raise ValueError(f"engine.J: expected shape (E, rows, ld), ld >= {engine.nv}, got {shape}")


def describe(name: str, value: Any) -> tuple[int, tuple[int, ...], str]:
    """Of an array: its GPU (-1: in host memory), its shape, the type of its numbers."""
    check.refuse_gradient(name, value)
    return _core.describe(name, value)


def require_type(name: str, value: Any, dtype: str, leader: str) -> None:
    """Refuses arrays of another type: a converted copy would miss what is written to them."""
    found = dtype if value is None else describe(name, value)[2]
    if found != dtype:
        note = "" if dtype == "int32" else f", as {leader} has"
        raise TypeError(f"{name}: expected {dtype}{note}, got {found}: {_IN_PLACE}")


def sizes_of(
    name: str, shape: tuple[int, ...], dtype: str, b: Any
) -> tuple[int, int, np.dtype[Any]]:
    """Environments, rows, and the type of all numbers but an engine's."""
    if name == "engine.J":
        if dtype != "float32" or len(shape) < 2:
            raise TypeError(f"engine.J: expected (E, ...) float32, got {shape} {dtype}")
        return shape[0], (0, *describe("b", b)[1])[-1], np.dtype(np.float64)
    if len(shape) != 3:
        expected = "(E, n, n)" if name == "W" else "(E, n, nv)"
        raise ValueError(f"{name}: expected shape {expected}, got {shape}")
    if dtype not in ("float32", "float64"):
        raise TypeError(f"{name}: expected float32 or float64, got {dtype}: {_IN_PLACE}")
    return shape[0], shape[1], np.dtype(dtype)


def bound_layout(
    n: int, dims: Any, n_free: Any, n_nonneg: Any, lo: Any, hi: Any, counts: Any
) -> tuple[Layout, int]:
    """The rows of a slot, and the columns of lo and hi: with counts, which are read at each call,
    any row may be one of a box."""
    n_box = (0, *describe("lo", lo)[1])[-1] if bounds_given(lo, hi) else 0
    if counts is None:
        if not isinstance(dims, list | tuple | None):
            raise TypeError(
                "dims: expected a list of numbers because counts is None, "
                f"got {type(dims).__name__}"
            )
        return layout_of(n, dims, None, n_free, n_nonneg, n_box, None), n_box
    known = (3,) * (n // 3) if dims is None else dims if isinstance(dims, list | tuple) else None
    contacts = (0, *describe("dims", dims)[1])[-1] if known is None else None
    return layout_of(n, known, contacts, n_free, n_nonneg, 0, 2), n if lo is not None else 0


def friction_columns(mu: Any, num_envs: int, layout: Layout) -> dict[str, Any]:
    """What the columns of the array mu are, as the C++ library takes it. Refuses other shapes."""
    contacts, tangential = layout.contacts, layout.tangential
    shape = (tangential,) if mu is None else describe("mu", mu)[1]
    more = layout.ragged and shape[-1:] > (tangential,)
    if is_per_contact(shape, (num_envs,), contacts, tangential, more):
        return {"mu": contacts, "friction_rows": tangential, "ragged": False}
    return {"mu": tangential, "friction_rows": 0, "ragged": layout.ragged}
