"""The commands `stickslip solve` and `stickslip check`."""

from __future__ import annotations

import collections
import dataclasses
import functools
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from stickslip._src import json_numbers
from stickslip._src.text import cell
from stickslip.cli import options as choice
from stickslip.cli.options import fail, word
from stickslip.files import FileError, ProblemFile, answer, judge, write
from stickslip.files.isolated import isolated, read_isolated

_NUMBERS = ("rows", "residual", "iterations", "time/ms", "limit")
_PIPE_WIDTH = 140

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A problem file, or one of FCLIB.", readable=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def solve_file(
    file: File,
    law: choice.LawOfProblem = None,
    solver: choice.Solvers = "auto",
    precision: choice.Precisions = "float64",
    tol: choice.Tolerance = None,
    backend: choice.Backends = "auto",
    threads: choice.Threads = None,
    out: Annotated[
        Path | None, typer.Option(help="Write problems and solutions there; may be FILE.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Solve every problem of a file, with a verdict. Exit code 0: all were processed, solved or
    not; 1: a file cannot be read or written; 2: misuse."""
    problems = _read(file)
    try:
        answers = answer.solve(
            problems.problems,
            law=law and word(law),
            solver=word(solver),
            precision=word(precision),
            tol=tol,
            backend=word(backend),
            threads=threads,
        )
    except answer.UnsolvableKindError as error:
        fail(f"{file}: {error}")
    except (ValueError, TypeError, RuntimeError, MemoryError) as error:
        fail(str(error))
    if out is not None:
        _write(problems, answers, out)
    if as_json:
        print(json.dumps(_record(file, answers), indent=2, allow_nan=False))
        return
    console = _console()
    console.print(_table(file, answers))
    console.print(_summary(answers), markup=False)
    if out is not None:
        console.print(cell(f"wrote {out}"))


def check_file(
    file: File,
    tol: Annotated[
        float | None, typer.Option(help="Tolerance; default the one stored, or 1e-9.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check every stored solution again. Exit code 1: one stored as solved is not solved, one
    stored as infeasible has no proof, or the file cannot be read."""
    try:
        checks = judge.check(_read(file), tol)
    except ValueError as error:
        fail(str(error))
    wrong = sum(check.wrong for check in checks)
    if as_json:
        keys = (*(field.name for field in dataclasses.fields(judge.Check)), "solved", "wrong")
        rows = [{key: json_numbers.number(getattr(check, key)) for key in keys} for check in checks]
        print(json.dumps({"file": str(file), "wrong": wrong, "solutions": rows}, indent=2))
    else:
        console = _console()
        console.print(_check_table(file, checks))
        for c in checks:
            for note in c.notes:
                console.print(cell(f"{c.name} ({c.where}): {note}"))
        console.print(f"{len(checks)} stored solutions, {wrong} with a wrong status")
    if wrong:
        raise typer.Exit(1)


def _check_table(file: Path, checks: list[judge.Check]) -> Table:
    header = ("stored in", "law", "says", "residual", "limit", "from", "is")
    table = _empty_table(file, "name", *header)
    for c in checks:
        verdict = "WRONG" if c.wrong else "solved" if c.solved else "not solved"
        if c.certificate == "proves" and not c.solved:
            verdict = "infeasible"
        numbers = f"{c.residual:.1e}", f"{c.limit:.1e}", c.limit_from
        table.add_row(cell(c.name), c.where, c.law, cell(c.stored_status or "–"), *numbers, verdict)
    return table


def _read(file: Path) -> ProblemFile:
    try:
        return read_isolated(file)
    except FileError as error:
        fail(str(error), 1)


def _write(problems: ProblemFile, answers: list[answer.Answer], out: Path) -> None:
    """The whole file appears at once, or not at all. Problems are copied as they are."""
    solutions = {a.problem.name: a.solution for a in answers}
    converted = [p for p in problems.problems if p.kind == "fclib"]
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        number, part = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.")
        os.close(number)
        try:
            if converted:
                write(part, converted, solutions)
            else:
                shutil.copyfile(problems.path, part)
                isolated(part, functools.partial(write, append=True), part, (), solutions)
            Path(part).chmod(0o666 & ~_umask())
            Path(part).replace(out)
        finally:
            Path(part).unlink(missing_ok=True)
    except (OSError, FileError) as error:
        fail(f"--out: {error}", 1)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _console() -> Console:
    """As wide as the terminal; wider than rich's 80 columns without a terminal."""
    console = Console()
    return console if console.is_terminal else Console(width=_PIPE_WIDTH)


def _empty_table(file: Path, *header: str) -> Table:
    table = Table(title=cell(file), box=box.SIMPLE_HEAD)
    for name in header:
        side: Literal["right", "left"] = "right" if name in _NUMBERS else "left"
        free = name in ("name", "says")  # untrusted texts: they wrap
        table.add_column(name, justify=side, no_wrap=not free, overflow="fold")
    return table


def _table(file: Path, answers: list[answer.Answer]) -> Table:
    header = ("kind", "law", "rows", "status", "residual", "iterations", "solver", "time/ms")
    table = _empty_table(file, "name", *header)
    for a in answers:
        s = a.solution
        numbers = f"{s.residual:.1e}", str(s.iterations)
        kind = (cell(a.problem.name), a.problem.kind, s.law or "–", str(a.problem.rows))
        table.add_row(*kind, s.status, *numbers, s.solver, f"{1e3 * a.seconds:.3f}")
    return table


def _summary(answers: list[answer.Answer]) -> str:
    counts = collections.Counter(a.solution.status for a in answers)
    told = ", ".join(f"{number} {name}" for name, number in counts.most_common()) or "nothing"
    seconds = sum(a.seconds for a in answers)
    worst = max((a.solution.residual or 0.0 for a in answers), default=0.0)
    return f"{len(answers)} problems: {told}; worst residual {worst:.1e}; {seconds:.3f} s"


def _record(file: Path, answers: list[answer.Answer]) -> dict[str, Any]:
    counts = collections.Counter(a.solution.status for a in answers)
    keys = ("law", "status", "residual", "iterations", "solver", "tolerance")
    problems = [
        {
            "name": a.problem.name,
            "kind": a.problem.kind,
            "rows": a.problem.rows,
            **{key: json_numbers.number(getattr(a.solution, key)) for key in keys},
            "seconds": a.seconds,
        }
        for a in answers
    ]
    return {"file": str(file), "status": dict(counts), "problems": problems}
