"""Options that commands share, and their error messages."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, NoReturn, TypeVar, get_args

import typer

from stickslip._src import aliases
from stickslip._src.text import printable

if TYPE_CHECKING:
    from stickslip._src.aliases import (
        Backend,
        Control,
        LawName,
        PrecisionName,
        SimLawName,
        SolverName,
    )
else:  # typer takes enums; their members are the words that the types allow
    LawName, SimLawName, SolverName, PrecisionName, Backend, Control = (
        StrEnum(name, get_args(getattr(aliases, name)))
        for name in ("LawName", "SimLawName", "SolverName", "PrecisionName", "Backend", "Control")
    )

Word = TypeVar("Word", bound=str)
Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="An MJCF, URDF or .mjb file, or a short name.")
]
Envs = Annotated[int, typer.Option(min=1, help="Number of environments.")]
Steps = Annotated[int, typer.Option(min=1, help="Number of time steps.")]
Law = Annotated[LawName, typer.Option(help="Friction law.")]
LawOfProblem = Annotated[
    LawName | None, typer.Option(help="Friction law; default the problem's, coulomb.")
]
RunLaw = Annotated[
    SimLawName | None, typer.Option(help="Friction law; default coulomb, or the run's.")
]
Laws = Annotated[list[SimLawName] | None, typer.Option(help="Friction law, several if repeated.")]
SimLaw = Annotated[SimLawName, typer.Option(help="Friction law.")]
Solvers = Annotated[SolverName, typer.Option(help="Solver; lemke: with the law pyramid only.")]
Precisions = Annotated[PrecisionName, typer.Option(help="Arithmetic.")]
Tolerance = Annotated[float | None, typer.Option(help="Tolerance; default by precision.")]
Backends = Annotated[Backend, typer.Option(help="Where to solve.")]
Threads = Annotated[int | None, typer.Option(min=1, help="CPU threads; default all.")]
Controls = Annotated[Control, typer.Option(help="Controls.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the controls.")]


def word(choice: Word) -> Word:
    """A word that typer gave as a member of an enum, as text."""
    return str(choice)  # type: ignore[return-value]


def fail(message: str, code: int = 2) -> NoReturn:
    """One line on stderr, and the exit code: 2 for misuse."""
    print(f"stickslip: {printable(' '.join(message.split()))}", file=sys.stderr)
    raise typer.Exit(code)
