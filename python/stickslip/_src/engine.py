"""Mechanisms in the arrays of a simulator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class EngineMechanism:
    """M and J of E environments as a simulator stores them, in float32: `BoundSolver(engine=...)`
    reads them where they lie, and converts them in the scratch of each environment.

    Arrays of numpy, torch, Warp, ... in host memory or on one GPU; float32, indices int32. Those of
    mujoco_warp have these shapes and names.
    """

    nv: int  #: degrees of freedom
    M: Any  #: (E, nv, nv); or (E, nC) values of its lower triangle, with the next three
    M_rownnz: Any = None  #: (nv,) number of values of each row, the diagonal last
    M_rowadr: Any = None  #: (nv,) place of its first value
    M_colind: Any = None  #: (nC,) columns
    #: (E, rows, ld), ld >= nv; or (E, 1, nnz) values, with the next three
    J: Any = None
    J_rownnz: Any = None  #: (E, rows) number of values of each row; their columns differ
    J_rowadr: Any = None  #: (E, rows) place of its first value
    J_colind: Any = None  #: columns, of the shape of J
    row_of: Any = None  #: (E, n) the row of J of each row of the problem; None: the same
