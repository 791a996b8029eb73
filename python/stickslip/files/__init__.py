"""Problem files: the layout of docs/files.md, and FCLIB files, which are read as they are."""

from stickslip.files.hdf5 import FileError
from stickslip.files.layout import read
from stickslip.files.problems import (
    ComplementarityProblem,
    ContactProblem,
    ProblemFile,
    StoredSolution,
)
from stickslip.files.simulation import from_simulation
from stickslip.files.writing import write

__all__ = [
    "ComplementarityProblem",
    "ContactProblem",
    "FileError",
    "ProblemFile",
    "StoredSolution",
    "from_simulation",
    "read",
    "write",
]
