"""Reading and writing files in another process: HDF5's C library crashes or never returns on some
damaged files, and takes the process with it."""

from __future__ import annotations

import multiprocessing
import os
import resource
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from stickslip.files.hdf5 import FileError

_T = TypeVar("_T")
_SECONDS, _BYTES_PER_SECOND = 10, 100_000  # of CPU time; sound files need a tenth


def isolated(path: str | os.PathLike[str], function: Callable[..., _T], *args: Any) -> _T:
    """function(*args), which opens `path`. Raises what it raises, and FileError if it dies or
    takes far longer than a file of that size may."""
    try:
        size = os.path.getsize(path)
    except OSError:
        raise FileError(f"{os.fspath(path)}: no such file") from None
    seconds = _SECONDS + size // _BYTES_PER_SECOND
    context = multiprocessing.get_context("spawn")  # no copies of this process's threads and locks
    try:
        with ProcessPoolExecutor(1, context, _limit, (seconds,)) as pool:
            return pool.submit(function, *args).result()
    except BrokenProcessPool:
        raise FileError(
            f"{os.fspath(path)}: damaged: HDF5 crashed on it, or came to no end in {seconds} s"
        ) from None


def _limit(seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
