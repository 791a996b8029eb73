"""Reading HDF5 that nobody vouches for: every refusal is one line that names file, place, what was
expected and what was found."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import h5py
import numpy as np

MAX_ROWS = 10_000  # a dense matrix of 0.8 GB


class FileError(ValueError):
    """A file cannot be read or written; the message is one line."""


@contextlib.contextmanager
def guarded(where: str) -> Iterator[None]:
    """Turns whatever h5py and HDF5 raise (their errors share no class) into FileError."""
    try:
        yield
    except FileError:
        raise
    except Exception as error:
        text = " ".join(str(error).split()) or type(error).__name__
        raise FileError(f"{where}: {text}") from error


@contextlib.contextmanager
def open_to_read(path: str | os.PathLike[str]) -> Iterator[h5py.File]:
    path = os.fspath(path)
    if not os.path.isfile(path):
        raise FileError(f"{path}: no such file")
    with guarded(str(path)), h5py.File(path, "r") as file:
        yield file


class Place:
    """A group of a file, and how messages name it."""

    def __init__(self, group: h5py.Group, name: str) -> None:
        self.group, self.name = group, name

    def error(self, what: str, expected: str, got: Any) -> FileError:
        return FileError(f"{self.name}: {what}: expected {expected}, got {got!s:.60}")

    def __contains__(self, key: str) -> bool:
        with guarded(f"{self.name}: {key}"):
            return key in self.group

    def inside(self, key: str) -> Place:
        """The group `key`."""
        with guarded(f"{self.name}: {key}"):
            group = self.group.get(key)
        if not isinstance(group, h5py.Group):
            raise self.error(key, "a group", _kind(group))
        return Place(group, f"{self.name}/{key}")

    def length(self, key: str, limit: int = MAX_ROWS) -> int:
        """Of a vector."""
        shape = self._dataset(key).shape
        if shape is None or len(shape) != 1:
            raise self.error(key, "a vector", f"shape {shape}")
        if shape[0] > limit:
            raise self.error(key, f"at most {limit} numbers", shape[0])
        return int(shape[0])

    def floats(self, key: str, *shape: int, infinite: bool = False) -> np.ndarray:
        """Finite numbers; with `infinite` also ±inf."""
        array = self._array(key, shape, "fiu", "numbers", np.float64)
        bad = np.isnan(array) if infinite else ~np.isfinite(array)
        if bad.any():
            index = tuple(int(i) for i in np.argwhere(bad)[0])
            raise self.error(f"{key}{list(index)}", "a finite number", array[index])
        return array

    def integers(self, key: str, *shape: int) -> np.ndarray:
        return self._array(key, shape, "iu", "integers", np.int64)

    def optional(self, key: str, *shape: int, infinite: bool = False) -> np.ndarray | None:
        return self.floats(key, *shape, infinite=infinite) if key in self else None

    def scalar(self, key: str, low: int, high: int) -> int:
        """An integer from a dataset of one number."""
        shape = self._dataset(key).shape
        if shape not in ((), (1,)):
            raise self.error(key, "one number", f"shape {shape}")
        value = int(self.integers(key, *shape).reshape(()))
        if not low <= value <= high:
            raise self.error(key, f"an integer from {low} to {high}", value)
        return value

    def attribute(self, key: str) -> Any:
        """As h5py has it, but one number or text without its axes; None where it is missing."""
        with guarded(f"{self.name}: {key}"):
            value = self.group.attrs.get(key)
            single = isinstance(value, np.ndarray) and value.size == 1
            return value.reshape(-1)[0] if single else value

    def count(self, key: str, default: int | None = None, high: int = MAX_ROWS) -> int | None:
        """An attribute that is an integer from 0 to `high`; `default` where it is missing."""
        value = self.attribute(key)
        if value is None:
            return default
        if not isinstance(value, int | np.integer) or not 0 <= value <= high:
            raise self.error(key, f"an integer from 0 to {high}", _shown(value))
        return int(value)

    def number(self, key: str) -> float | None:
        """An attribute that is a number other than NaN, if there is one."""
        value = self.attribute(key)
        if value is None:
            return None
        if not isinstance(value, int | float | np.integer | np.floating) or np.isnan(value):
            raise self.error(key, "a number", _shown(value))
        return float(value)

    def text(self, key: str, *allowed: str) -> str | None:
        """An attribute that is a text, one of `allowed` if any are named; None if missing."""
        value = self.attribute(key)
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        if value is None or (isinstance(value, str) and (not allowed or value in allowed)):
            return value
        raise self.error(
            key, "one of " + ", ".join(allowed) if allowed else "a text", _shown(value)
        )

    def _dataset(self, key: str) -> h5py.Dataset:
        with guarded(f"{self.name}: {key}"):
            dataset = self.group.get(key)
        if not isinstance(dataset, h5py.Dataset):
            raise self.error(key, "a dataset", _kind(dataset))
        return dataset

    def _array(
        self, key: str, shape: tuple[int, ...], kinds: str, noun: str, dtype: type
    ) -> np.ndarray:
        dataset = self._dataset(key)
        if dataset.shape != shape:
            raise self.error(key, f"shape {shape}", dataset.shape)
        with guarded(f"{self.name}: {key}"):
            if dataset.dtype.kind not in kinds:
                raise self.error(key, noun, dataset.dtype)
            with np.errstate(all="ignore"):
                return np.ascontiguousarray(dataset[()], dtype=dtype).reshape(shape)


def _kind(value: Any) -> str:
    return "nothing" if value is None else f"a {type(value).__name__.lower()}"


def _shown(value: Any) -> str:
    return "nothing" if value is None else " ".join(repr(value).split())
