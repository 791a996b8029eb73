"""Options that commands share, and their error messages."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated, NoReturn

import typer

from stickslip._core import Law, Precision, Solver
from stickslip._text import printable

LawName = StrEnum("LawName", [each.name for each in Law])
SimLawName = StrEnum("SimLawName", "coulomb convex pyramid box frictionless mujoco")
SolverName = StrEnum("SolverName", [each.name for each in Solver])
PrecisionName = StrEnum("PrecisionName", [each.name for each in Precision])
BackendName = StrEnum("BackendName", "auto cpu cuda")
ControlName = StrEnum("ControlName", "random sine zero")

Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="An MJCF, URDF or .mjb file, or a short name.")
]
Envs = Annotated[int, typer.Option(min=1, help="Number of environments.")]
Steps = Annotated[int, typer.Option(min=1, help="Number of time steps.")]
SimLaw = Annotated[SimLawName, typer.Option(help="Friction law.")]
Solvers = Annotated[SolverName, typer.Option(help="Solver.")]
Precisions = Annotated[PrecisionName, typer.Option(help="Arithmetic.")]
Tolerance = Annotated[float | None, typer.Option(help="Tolerance; default by precision.")]
Backends = Annotated[BackendName, typer.Option(help="Where to solve.")]
Threads = Annotated[int | None, typer.Option(min=1, help="CPU threads; default all.")]
Control = Annotated[ControlName, typer.Option(help="Controls.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the controls.")]


def fail(message: str, code: int = 2) -> NoReturn:
    """One line on stderr, and the exit code: 2 for misuse."""
    print(f"stickslip: {printable(' '.join(message.split()))}", file=sys.stderr)
    raise typer.Exit(code)
