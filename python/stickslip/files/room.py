"""The memory that a file may use: a few kB can declare terabytes, and compress gigabytes."""

from __future__ import annotations

import math
import os

import h5py
from h5py import h5d, h5z

_MIB, _GIB = 2**20, 2**30
_GZIP = 1100  # bytes that gzip can make of one
_FILTERS = {
    h5z.FILTER_DEFLATE: "gzip",
    h5z.FILTER_SHUFFLE: "shuffle",
    h5z.FILTER_FLETCHER32: "fletcher32",
    h5z.FILTER_LZF: "lzf",
}


def room_for(size: int) -> int:
    """Bytes of all numbers in a file of `size` bytes: what gzip can make of it, and in large files
    20 for each byte, more than in any file that we have seen."""
    return min(64 * _MIB + _GZIP * size, 4 * _GIB + 20 * size)


def unwritten(dataset: h5py.Dataset) -> str | None:
    """The message for a dataset that cannot be in the file: HDF5 supplies data that were never
    written, which is harmless for small amounts."""
    size, stored = dataset.dtype.itemsize * math.prod(dataset.shape), dataset.id.get_storage_size()
    if size <= _MIB + _GZIP * stored:
        return None
    return f"{shown(size)}, of which {shown(stored)} are stored"


def memory_for(size: int) -> int:
    """Bytes that reading such a file may take: its numbers, a copy on their way to the caller, and
    the dense matrices of FCLIB. Never more than the machine has."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(3 * _GIB + 3 * room_for(size), machine)


def shown(size: float) -> str:
    """A number of bytes."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"


def elsewhere(dataset: h5py.Dataset) -> str | None:
    """The place of a dataset's numbers, if it is not its file."""
    properties = dataset.id.get_create_plist()
    if properties.get_layout() == h5d.VIRTUAL:
        return f"a virtual dataset of {properties.get_virtual_filename(0)!r}"
    if properties.get_external_count():
        return f"external storage in {properties.get_external(0)[0]!r}"
    return None


def odd_filter(dataset: h5py.Dataset) -> str | None:
    """A filter that is not in the layout, or appears twice: gzip in gzip can expand enormously."""
    properties = dataset.id.get_create_plist()
    codes = [properties.get_filter(i)[0] for i in range(properties.get_nfilters())]
    for place, code in enumerate(codes):
        if code not in _FILTERS or code in codes[:place]:
            return f"filter {_FILTERS.get(code, code)}" + (" twice" if code in _FILTERS else "")
    return None
