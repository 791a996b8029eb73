"""Types of arguments and results, for type checkers: the names that arguments accept, and arrays.

A test compares the names with those that the C++ library has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # has `default`, so that results need no parameter

    Proof = TypeVar("Proof", default=Any, covariant=True)  #: None, or an array
    Array = TypeVar("Array", default=Any, covariant=True)  #: of numpy, or of a GPU
else:
    from typing import TypeVar

    Proof, Array = TypeVar("Proof"), TypeVar("Array")

LawName = Literal["coulomb", "convex", "pyramid", "box", "frictionless"]
SimLawName = Literal["coulomb", "convex", "pyramid", "box", "frictionless", "mujoco"]
SolverName = Literal["auto", "pgs", "newton", "lemke"]
PrecisionName = Literal["float64", "float32", "mixed"]
LcpPrecisionName = Literal["float64", "float32"]
LcpMethodName = Literal["auto", "lemke", "newton"]
Backend = Literal["auto", "cpu", "cuda"]
Integrator = Literal["model", "euler", "rk4", "implicit", "implicitfast"]
Softness = Literal["rigid", "model"]
Control = Literal["random", "sine", "zero"]
Directions = Literal[4, 8, 16, 32, 64]  #: of law "pyramid" in the sliding plane

Float64 = NDArray[np.float64]
Int32 = NDArray[np.int32]
Flags = NDArray[np.bool_]
Numbers = NDArray[Any]  #: float64, or float32 where the arguments are
