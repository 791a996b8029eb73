"""Ctrl-C: in the command `stickslip`, and for loops that end between two steps."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

INTERRUPTED = 130  #: exit code after Ctrl-C, as shells have it
MESSAGE = "stickslip: interrupted"


def in_command() -> bool:
    """Whether this process is the command `stickslip`."""
    program = sys.orig_argv[1:3]
    modules = (["-m", "stickslip"], ["-m", "stickslip.cli"])
    return program in modules or [Path(p).name for p in program[:1]] == ["stickslip"]


def print_no_traceback() -> None:
    """From now on Ctrl-C prints one line; imports take the first moments of a command."""
    shown = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        if issubclass(kind, KeyboardInterrupt):
            print(MESSAGE, file=sys.stderr)
        else:
            shown(kind, error, trace)

    sys.excepthook = show


@contextmanager
def ctrl_c() -> Iterator[list[int]]:
    """Gives a list that is no longer empty once Ctrl-C was pressed; a second Ctrl-C raises
    KeyboardInterrupt. Outside the main thread, which alone gets signals, the list stays empty."""
    pressed: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return
    previous = signal.getsignal(signal.SIGINT)

    def note(number: int, _: Any) -> None:
        pressed.append(number)
        signal.signal(signal.SIGINT, previous)

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, previous)
