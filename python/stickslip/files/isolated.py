"""Reading and writing files in another process: on some damaged files, HDF5's C library crashes,
never returns or takes all memory, which ends the process."""

from __future__ import annotations

import multiprocessing
import os
import resource
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

from stickslip._src.child import end_with
from stickslip.files import layout, room
from stickslip.files.hdf5 import FileError, size_of
from stickslip.files.problems import ProblemFile

_T = TypeVar("_T")
_SECONDS, _BYTES_PER_SECOND = 10, 100_000  # of CPU time; sound files need a tenth
_WAIT = 10  # factor of the time limit, for a reader that sleeps


def read_isolated(path: str | os.PathLike[str]) -> ProblemFile:
    """`files.read` in another process."""
    return isolated(path, layout.read, path)


def isolated(path: str | os.PathLike[str], function: Callable[..., _T], *args: Any) -> _T:
    """function(*args), which opens `path`. Raises its exceptions, and FileError if the
    process dies or takes far longer, or far more memory, than a file of that size may."""
    shown, size = os.fspath(path), size_of(path)
    seconds, memory = _SECONDS + size // _BYTES_PER_SECOND, room.memory_for(size)
    context = multiprocessing.get_context("spawn")  # no copies of this process's threads and locks
    receiver, sender = context.Pipe(duplex=False)
    task = sender, (os.getpid(), seconds, memory), function, args
    reader = context.Process(target=_work, args=task, daemon=True)
    reader.start()
    sender.close()
    try:
        if not receiver.poll(_WAIT * seconds):
            raise EOFError
        done, result = receiver.recv()
    except (EOFError, OSError):
        raise FileError(
            f"{shown}: damaged: HDF5 crashed on it, or came to no end in {seconds} s"
        ) from None
    finally:
        reader.kill()
        reader.join()
        receiver.close()
    if isinstance(result, MemoryError):
        raise FileError(f"{shown}: expected to need at most {room.shown(memory)} of memory")
    if not done:
        raise result
    return result


def _work(
    sender: Connection,
    limits: tuple[int, int, int],
    function: Callable[..., Any],
    args: tuple[Any, ...],
) -> None:
    _limit(*limits)
    try:
        sender.send((True, function(*args)))
    except Exception as error:
        sender.send((False, error))


def _limit(parent: int, seconds: int, memory: int) -> None:
    """Ends with its parent; takes at most this memory in addition to Python and libraries."""
    end_with(parent)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    _lower(resource.RLIMIT_AS, pages * resource.getpagesize() + memory)
    _lower(resource.RLIMIT_CPU, seconds)
    _lower(resource.RLIMIT_CORE, 0)


def _lower(what: int, limit: int) -> None:
    hard = resource.getrlimit(what)[1]
    limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(what, (limit, limit))
