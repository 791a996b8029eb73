"""Reading untrusted HDF5: every refusal is one line that names file, place, the expected and the
actual value."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator
from typing import Any, overload

import h5py
import numpy as np
from h5py import h5l, h5t

from stickslip._src.text import printable
from stickslip.files import room

MAX_ROWS = 10_000  # a dense matrix of 0.8 GB
MAX_TEXT = 200  # characters of a name, or of an attribute
NAMES = f"a text without '/' of 1 to {MAX_TEXT} characters"
TEXT = f"a text of at most {MAX_TEXT} characters"
FINITE = "a finite number"
_ATTRIBUTE_BYTES = 4096
_LINKS = {h5l.TYPE_SOFT: "a soft link", h5l.TYPE_EXTERNAL: "an external link"}


class FileError(ValueError):
    """A file cannot be read or written; the message is one line that a terminal may show."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


@contextlib.contextmanager
def guarded(where: str) -> Iterator[None]:
    """Converts all errors of h5py and HDF5 (they have no common class) into FileError."""
    try:
        yield
    except FileError:
        raise
    except Exception as error:
        text = " ".join(str(error).split()) or type(error).__name__
        raise FileError(f"{where}: {text:.200}") from error


def shown(path: Any) -> str:
    """A path in messages. Raises TypeError for anything else."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path: expected a path, got {type(path).__name__}")
    return str(os.fspath(path))


def size_of(path: str | os.PathLike[str]) -> int:
    """Bytes of a file. Raises FileError if there is none, or if it is a folder or a device."""
    name = shown(path)
    if not os.path.isfile(path):
        what = "not a file" if os.path.exists(path) else "no such file"
        raise FileError(f"{name}: {what}")
    return os.path.getsize(path)


@contextlib.contextmanager
def open_to_read(path: str | os.PathLike[str]) -> Iterator[h5py.File]:
    size_of(path)
    with guarded(os.fspath(path)), h5py.File(path, "r") as file:
        yield file


class Place:
    """A group of a file, and how messages name it. Only the contents of the file itself are
    read: soft and external links, external storage and virtual datasets can lead to any file."""

    def __init__(self, group: h5py.Group, name: str, parent: Place | None = None) -> None:
        self.group, self.name = group, name
        self._root: Place = parent._root if parent else self
        if parent is None:
            self._size = group.file.id.get_filesize()
            self._left = room.room_for(self._size)

    def error(self, what: str, expected: str, got: Any) -> FileError:
        return FileError(f"{self.name}: {what}: expected {expected}, got {got!s:.60}")

    def __contains__(self, key: str) -> bool:
        with guarded(f"{self.name}: {key}"):
            links, name = self.group.id.links, key.encode()
            if not links.exists(name):
                return False
            kind = links.get_info(name).type
            if kind == h5l.TYPE_HARD:
                return True
            target = links.get_val(name) if kind in _LINKS else ""
        raise self.error(key, "a part of this file", f"{_LINKS.get(kind, 'a link')} to {target!r}")

    def inside(self, key: str) -> Place:
        """The group `key`."""
        group = self._open(key)
        if not isinstance(group, h5py.Group):
            raise self.error(key, "a group", _kind(group))
        return Place(group, f"{self.name}/{key}", self)

    def names(self) -> list[str]:
        """Of what is inside."""
        with guarded(self.name):
            names = list(self.group)
        for name in names:
            if not isinstance(name, str):  # h5py cannot decode it
                raise self.error("name", "UTF-8", name)
            if not is_name(name):
                raise self.error("name", NAMES, repr(name))
        return names

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
        if (index := unfit(array, infinite)) is not None:
            raise self.error(f"{key}{list(index)}", FINITE, array[index])
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
        """The value of h5py, but a single number or text without its axes; None if missing."""
        with guarded(f"{self.name}: {key}"):
            if key not in self.group.attrs:
                return None
            stored = self.group.attrs.get_id(key)
            if stored.get_type().get_class() not in (h5t.INTEGER, h5t.FLOAT, h5t.STRING):
                raise self.error(key, "a number or a text", stored.dtype)
            if stored.get_storage_size() > _ATTRIBUTE_BYTES:
                raise self.error(key, "one number or text", f"shape {stored.shape}")
            value = self.group.attrs[key]
            single = isinstance(value, np.ndarray) and value.size == 1
            return value.reshape(-1)[0] if single else value

    @overload
    def count(self, key: str, default: int, high: int = MAX_ROWS) -> int: ...
    @overload
    def count(self, key: str, *, high: int = MAX_ROWS) -> int | None: ...

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
        known = value in allowed if allowed else isinstance(value, str) and len(value) <= MAX_TEXT
        if value is None or (isinstance(value, str) and known):
            return value
        expected = "one of " + ", ".join(allowed) if allowed else TEXT
        raise self.error(key, expected, _shown(value))

    def _open(self, key: str) -> Any:
        if key not in self:
            return None
        with guarded(f"{self.name}: {key}"):
            return self.group[key]

    def _dataset(self, key: str) -> h5py.Dataset:
        dataset = self._open(key)
        if not isinstance(dataset, h5py.Dataset):
            raise self.error(key, "a dataset", _kind(dataset))
        with guarded(f"{self.name}: {key}"):
            where, odd = room.elsewhere(dataset), room.odd_filter(dataset)
        if where:
            raise self.error(key, "numbers in this file", where)
        if odd:
            raise self.error(key, "plain numbers, or gzip, lzf, shuffle, fletcher32 once", odd)
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
            self._claim(key, dataset)
            with np.errstate(all="ignore"):
                return np.ascontiguousarray(dataset[()], dtype=dtype).reshape(shape)

    def _claim(self, key: str, dataset: h5py.Dataset) -> None:
        """Checks sizes before HDF5 allocates memory for the numbers or a chunk (may be larger)."""
        root, width = self._root, max(8, dataset.dtype.itemsize)
        size, chunk = width * math.prod(dataset.shape), width * math.prod(dataset.chunks or ())
        unwritten = room.unwritten(dataset)
        if unwritten:
            raise self.error(key, "numbers", unwritten)
        if max(size, chunk) > root._left:
            allowed = f"at most {room.shown(room.room_for(root._size))} of numbers in all"
            expected = f"{allowed} in a file of {room.shown(root._size)}"
            raise self.error(key, expected, f"{room.shown(max(size, chunk))} more here")
        root._left -= size


def unfit(array: np.ndarray, infinite: bool = False) -> tuple[int, ...] | None:
    """Index of the first number that files do not have: NaN, and without `infinite` also ±inf."""
    bad = np.isnan(array) if infinite else ~np.isfinite(array)
    return tuple(int(i) for i in np.argwhere(bad)[0]) if bad.any() else None


def is_name(name: str) -> bool:
    """Whether this is a valid name of a problem; HDF5 reads other texts as paths of groups."""
    return 0 < len(name) <= MAX_TEXT and "/" not in name and name != "."


def _kind(value: Any) -> str:
    return "nothing" if value is None else f"a {type(value).__name__.lower()}"


def _shown(value: Any) -> str:
    return "nothing" if value is None else " ".join(repr(value).split())
