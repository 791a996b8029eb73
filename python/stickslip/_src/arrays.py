"""Checks of arguments: messages name the argument, the expected and the actual value."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickslip import _core
from stickslip._src.aliases import Float64, Numbers

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_PROMOTED = "?bBhHiIlLqQe"  # bool, integers and float16, as numpy abbreviates them
_DLPACK_HOST = (1, 3)  # kDLCPU, kDLCUDAHost
_MAX_THREADS = 1024
_TOLERANCES = ("atol", "rtol")


def refuse_gradient(name: str, value: Any) -> None:
    """Raises TypeError where `value` is a tensor whose gradient is wanted, or whose memory does not
    hold its numbers."""
    if hasattr(value, "is_neg") and value.is_neg():  # torch's DLPack exports the memory as it is
        raise TypeError(
            f"{name}: expected numbers as they are in memory, got a negated view: call "
            ".resolve_neg() on it"
        )
    if getattr(value, "requires_grad", False) is True:
        raise TypeError(
            f"{name}: expected an array without a gradient, got a {type(value).__name__} that "
            "requires grad: no gradients are computed here, call .detach() on it"
        )


def refuse_device_array(name: str, value: Any) -> None:
    """Raises TypeError where `value` is in the memory of a GPU."""
    device = None
    if hasattr(value, "__cuda_array_interface__"):
        device = "a GPU"
    elif hasattr(value, "__dlpack_device__"):
        kind, index = value.__dlpack_device__()
        if int(kind) not in _DLPACK_HOST:
            device = f"device {index} (DLPack type {int(kind)})"
    if device is not None:
        raise TypeError(
            f"{name}: expected an array in host memory, got {type(value).__name__} in the memory "
            f"of {device}; BoundSolver takes it, or copy it to the host (backend='cuda' takes that)"
        )


def floats(name: str, value: Any, dtype: np.dtype[Any] | None = None, owner: str = "W") -> Numbers:
    """`value` as an array of float32 or float64, or of the `dtype` that the argument `owner` has.

    Arrays of these types keep their memory. Those of integers, bool and float16, Python numbers and
    lists of numbers are converted. Between float32 and float64 nothing is.
    """
    if value is None or isinstance(value, str):
        raise TypeError(f"{name}: expected an array of numbers, got {value!r:.60}")
    if isinstance(value, list | tuple | float | int) and not isinstance(value, bool):
        return _numbers_of(name, value, dtype or np.dtype(np.float64))
    refuse_device_array(name, value)
    array = as_array(name, value)
    if array.dtype in ((dtype,) if dtype else _FLOATS):
        return array
    if array.dtype.char in _PROMOTED and not isinstance(value, bool):
        return _promoted(name, array, dtype or np.dtype(np.float64))
    expected = f"{dtype}, as {owner} has" if dtype else "float32 or float64"
    raise TypeError(f"{name}: expected {expected}, got {array.dtype}")


def _numbers_of(name: str, value: Any, dtype: np.dtype[Any]) -> Numbers:
    """Python numbers, and lists of numbers or arrays, as an array."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise TypeError(f"{name}: expected an array of numbers, got {value!r:.60}") from error
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name}: expected an array of numbers, got {value!r:.60}")
    return array.astype(dtype) if array.dtype.kind == "f" else _promoted(name, array, dtype)


def _promoted(name: str, array: Numbers, dtype: np.dtype[Any]) -> Numbers:
    """`array` in the type `dtype`; refuses integers that it may not hold exactly."""
    _core.require_memory(float(dtype.itemsize * array.size), name)
    largest = 2 ** (np.finfo(dtype).nmant + 1)
    if array.dtype.kind in "iu":
        beyond = array[(array > largest) | (array < -largest)]
        if beyond.size:
            power = f"2**{np.finfo(dtype).nmant + 1}"
            raise ValueError(
                f"{name}: expected integers from -{power} to {power}, which {dtype} holds exactly, "
                f"got {beyond[0]}"
            )
    return array.astype(dtype)


def float64(name: str, value: Any) -> Float64:
    """`value`, of any numbers, as an array of float64."""
    refuse_device_array(name, value)
    array = as_array(name, value)
    return array.astype(np.float64) if array.dtype in _FLOATS else floats(name, array)


def integers(name: str, value: Any) -> NDArray[np.int64]:
    """`value` as an array of int64."""
    refuse_device_array(name, value)
    array = as_array(name, value)
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"{name}: expected integers, got {array.dtype}")
    return array.astype(np.int64)


def as_array(name: str, value: Any) -> Numbers:
    """`value` as an array of whatever type it has."""
    refuse_gradient(name, value)
    try:
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{name}: expected an array, got {type(value).__name__}") from error


def require_shape(name: str, array: Numbers, *allowed: tuple[int, ...]) -> None:
    if array.shape not in allowed:
        expected = " or ".join(map(str, allowed))
        raise ValueError(f"{name}: expected shape {expected}, got {array.shape}")


def matrices(name: str, value: Any) -> tuple[Numbers, bool]:
    """`value` as slots (E, n, n) of floats, and whether it has the environment axis already."""
    array = floats(name, value)
    if array.ndim not in (2, 3) or array.shape[-1] != array.shape[-2]:
        raise ValueError(
            f"{name}: expected shape (E, n, n), or (n, n) for one problem, got {array.shape}"
        )
    batched = array.ndim == 3
    require_memory(name, array.size // max(array.shape[-1], 1), array.itemsize)
    return slots(array if batched else array[None]), batched


def require_memory(name: str, rows: int, itemsize: int) -> None:
    """Refuses batches with more rows than this machine's memory can hold results for."""
    numbers = 4  # results, copies, verdicts
    _core.require_memory(float(numbers * itemsize * rows), name)


def per_environment(name: str, array: Numbers, num_envs: int, size: int, batched: bool) -> Numbers:
    """`array` as (E, size); (size,) is shared by all environments."""
    allowed = ((num_envs, size), (size,)) if batched else ((size,),)
    require_shape(name, array, *allowed)
    return np.broadcast_to(slots(array), (num_envs, size))


def slots(array: Numbers) -> Numbers:
    """`array` itself where each environment's values are contiguous (rows of matrices may lie
    apart, environments may lie anywhere), else a contiguous copy."""
    item = array.itemsize
    fits = array.flags.aligned and all(stride % item == 0 for stride in array.strides)
    if array.shape[-1] > 1:
        fits &= array.strides[-1] == item
    if array.ndim == 3 and array.shape[1] > 1:
        fits &= array.strides[1] >= array.shape[2] * item
    return array if fits else aligned(array)


def aligned(array: Numbers) -> Numbers:
    """`array` where it is one block of memory whose numbers are aligned, else a copy that is."""
    return np.require(array, requirements=("C", "A"))


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise TypeError(f"{name}: expected a bool, got {type(value).__name__}")
    return value


def count(name: str, value: Any, low: int = 0) -> int:
    """A Python integer >= low."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {type(value).__name__}") from None
    if isinstance(value, bool):
        raise TypeError(f"{name}: expected an integer, got bool")
    if not low <= number < 2**31:
        raise ValueError(f"{name}: expected an integer >= {low} and < 2**31, got {number}")
    return number


def member(name: str, value: Any, enum: type) -> Any:
    """The member of `enum` for `value`, a name or a member."""
    if isinstance(value, enum):
        return value
    members = enum.__members__  # type: ignore[attr-defined]
    names = ", ".join(map(repr, members))
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected one of {names}, got {type(value).__name__}")
    if value not in members:
        raise ValueError(f"{name}: expected one of {names}, got {value!r}")
    return members[value]


def thread_count(threads: Any) -> int:
    """Threads to use; 0 means all cores (None)."""
    number = 0 if threads is None else count("threads", threads, low=1)
    if number > _MAX_THREADS:
        raise ValueError(f"threads: expected at most {_MAX_THREADS}, got {number}")
    return number


def one_of(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """One of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        raise ValueError(f"{name}: expected one of {words}, got {value!r}")
    return value


def number(name: str, value: Any) -> float:
    """A Python float."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name}: expected a number, got {type(value).__name__}")
    return float(value)


def tolerances(tol: float | None, options: Any) -> dict[str, float]:
    """`atol` and `rtol`: `tol`, or those of the options; -1 means the library's default."""
    if tol is None:
        return {key: _tolerance(f"options.{key}", getattr(options, key)) for key in _TOLERANCES}
    if any(getattr(options, key) is not None for key in _TOLERANCES):
        raise ValueError(f"tol: expected None because options has tolerances, got {tol!r}")
    both = number("tol", tol)
    if not 0 < both < math.inf:
        raise ValueError(f"tol: expected a number > 0, got {tol}")
    return dict.fromkeys(_TOLERANCES, both)


def _tolerance(name: str, value: float | None) -> float:
    if value is None:
        return -1.0
    tolerance = number(name, value)
    if not 0 <= tolerance < math.inf:  # with one of them 0, the other decides
        raise ValueError(f"{name}: expected a number >= 0, got {value}")
    return tolerance


def name_pairs(argument: str, pairs: Any) -> list[tuple[str, str]]:
    """Pairs of names; None in the second place becomes ""."""
    if not isinstance(pairs, Sequence) or isinstance(pairs, str):
        raise TypeError(f"{argument}: expected a list of pairs, got {type(pairs).__name__}")
    names = []
    for i, pair in enumerate(pairs):
        good = isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str)
        if not good or not isinstance(pair[1], str | None) or pair[1] == "":
            raise TypeError(
                f"{argument}[{i}]: expected a pair of names, or (name, None), got {pair!r}"
            )
        names.append((pair[0], pair[1] or ""))
    return names
