"""Work in child processes, which end with their parent."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import warnings
from collections.abc import Callable, Generator, Iterable
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from typing import Any, TypeVar

_T = TypeVar("_T")
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def end_with(parent: int) -> None:
    """Makes this process end when its parent does, and leave Ctrl-C to it."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before
        os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def items_of(produce: Callable[[], Iterable[_T]]) -> Generator[_T, None, None]:
    """The items of produce(), made in a fork of this process, which starts now and ends with the
    iteration: after Ctrl-C at once, even in C code that never returns. The iteration raises the
    exceptions of `produce`, and RuntimeError if the process dies."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_send, args=(sender, os.getpid(), produce), daemon=True)
    with warnings.catch_warnings():
        # Python 3.12 warns where there are threads, as numpy's; numpy takes care of forks.
        warnings.simplefilter("ignore", DeprecationWarning)
        child.start()
    sender.close()
    return _received(receiver, child)


def _received(receiver: Connection, child: ForkProcess) -> Generator[Any, None, None]:
    try:
        while (message := receiver.recv()) is not None:
            item, error = message
            if error is not None:
                raise error
            yield item
    except EOFError:
        child.join()
        raise RuntimeError(f"the process ended with exit code {child.exitcode}") from None
    finally:
        child.kill()
        child.join()
        receiver.close()


def _send(sender: Connection, parent: int, produce: Callable[[], Iterable[_T]]) -> None:
    end_with(parent)
    try:
        for item in produce():
            sender.send((item, None))
        sender.send(None)
    except Exception as error:
        sender.send((None, error))
