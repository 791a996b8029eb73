"""Work for reader processes in tests; they import it by name."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from stickslip import files
from stickslip.files.isolated import isolated


def note_and_sleep(note: Path) -> None:
    """Writes the number of its process, then sleeps for a long time."""
    note.with_suffix(".part").write_text(str(os.getpid()))
    note.with_suffix(".part").rename(note)
    time.sleep(600)


def read_all(paths: list[Path]) -> list[Any]:
    """For each file its problems, or the error."""
    return [read_or_refusal(path) for path in paths]


def read_or_refusal(path: Path) -> Any:
    try:
        return files.read(path)
    except files.FileError as error:
        return error


if __name__ == "__main__":
    isolated(sys.argv[1], note_and_sleep, Path(sys.argv[2]))
