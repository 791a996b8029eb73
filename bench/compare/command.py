"""The command line of `python bench/compare`."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import profiles
import typer
from comparison import Comparison, Entry, joined, summary
from rich import box
from rich.console import Console
from rich.table import Table

from stickslip import _compare, _core, info
from stickslip._src import json_numbers
from stickslip._src.interrupt import INTERRUPTED
from stickslip._src.text import cell
from stickslip.cli import options as choice
from stickslip.cli.options import fail, word
from stickslip.cli.progress import progress_bar
from stickslip.files.isolated import read_isolated

if TYPE_CHECKING:
    FamilyName = str
else:
    FamilyName = StrEnum("FamilyName", list(_compare.families()))
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
_WIDTH = 96  # of the tables
_MOST = 2**31 - 1  # of what C++ counts
_FILES = "HDF5 files of contact problems."

Contacts = Annotated[int, typer.Option(min=1, max=_MOST, help="Contacts of each random problem.")]
Count = Annotated[int, typer.Option(min=1, max=_MOST, help="Random problems of each family.")]
Rounds = Annotated[int, typer.Option(min=1, max=_MOST, help="Timed rounds.")]
Out = Annotated[Path, typer.Option(help="Folder for the picture and the report.")]


@app.command()
def compare(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]...", exists=True, help=_FILES)
    ] = None,
    family: Annotated[
        list[FamilyName] | None, typer.Option(help="Random problems; may be repeated.")
    ] = None,
    contacts: Contacts = 8,
    count: Count = 100,
    law: choice.Law = "coulomb",
    solvers: Annotated[
        str | None, typer.Option(help="Ours, as auto,auto:mixed,newton; default all of the law.")
    ] = None,
    peers: Annotated[bool, typer.Option(help="Let others take part, where installed.")] = True,
    tol: Annotated[float, typer.Option(help="solved: residual <= tol (1 + max|b|).")] = 1e-9,
    peer_tol: Annotated[
        float | None, typer.Option(help="What peers are asked for; default the same.")
    ] = None,
    rounds: Rounds = 11,
    out: Out = Path("out/compare"),
    write_json: Annotated[
        bool, typer.Option("--json/--no-json", help="Write compare.json, with everything.")
    ] = True,
) -> None:
    """Time our solvers and others on the same problems, and check every verdict.

    Prints one line per solver: share solved (by the independent oracle, not by its own claim),
    times over the problems, and the number of its own verdicts that were wrong. compare.png shows
    performance profiles. Ctrl-C ends it with the problems that all solvers have done.
    """
    if not files and not family:
        fail("expected a FILE or --family")
    try:
        out.mkdir(parents=True, exist_ok=True)
        chosen = solvers.split(",") if solvers else None
        contest = Comparison(word(law), tol, peer_tol, chosen, None if peers else [])
        for file in files or []:
            contest.add_problems(file.stem, read_isolated(file).problems)
        for each in family or []:
            contest.add_family(str(each), contacts, count)
        _core.require_memory(8.0 * rounds * len(contest.names), "rounds")
    except MemoryError:
        fail(f"contacts, count: expected what fits this machine's memory, got {contacts}, {count}")
    except (ValueError, TypeError, OSError) as error:
        fail(str(error))
    if not contest.names:
        fail(f"no contact problems of law {law} in {', '.join(str(f) for f in files or [])}")
    parts = _measure(contest, rounds)
    names, entries = contest.names[: len(parts)], joined(parts)
    if not entries:
        fail(f"no solver takes these problems under law {law}")
    console = Console()
    console.width = max(console.width, _WIDTH)
    rows, title = [summary(entry, entries[0]) for entry in entries], _title(contest, len(names))
    console.print(_times(rows, contest, title), _verdicts(rows))
    _notes(console, contest)
    if write_json:
        settings = {"law": word(law), "tol": tol, "peer_tol": contest.peer_tol, "rounds": rounds,
                    "files": [str(f) for f in files or []], "families": list(family or []),
                    "contacts": contacts, "count": count}  # fmt: skip
        (out / "compare.json").write_text(_report(rows, entries, contest, names, settings))
        console.print(cell(f"wrote {out / 'compare.json'}"))
    profiles.draw(out / "compare.png", entries, title)  # last: Ctrl-C loses the picture alone
    console.print(cell(f"wrote {out / 'compare.png'}"))
    if len(names) < len(contest.names):
        raise typer.Exit(INTERRUPTED)


def _measure(contest: Comparison, rounds: int) -> list[list[Entry]]:
    """The entries of each problem; after Ctrl-C of those that were done."""
    total, parts = len(contest.names), []
    measured = contest.run_each(rounds)
    try:
        with progress_bar() as progress, contextlib.closing(measured):
            task = progress.add_task("problems", total=total)
            for part in measured:
                parts.append(part)
                progress.advance(task)
    except KeyboardInterrupt:
        if not parts:
            fail("interrupted before the first problem was done: nothing is written", INTERRUPTED)
        print(f"stickslip: interrupted after {len(parts)} of {total} problems", file=sys.stderr)
    except MemoryError as error:
        fail(f"{contest.names[len(parts)]}: this machine's memory is too small for it: {error}")
    except RuntimeError as error:
        fail(f"{contest.names[len(parts)]}: {error}", code=1)
    return parts


def _title(contest: Comparison, problems: int) -> str:
    return f"{problems:,} problems, law {contest.law.name}, tolerance {contest.tol:g}"


def _times(rows: list[dict[str, Any]], contest: Comparison, title: str) -> Table:
    table = _columns("solver", "solved", "median", "95 %", "99.9 %", "max", "ratio (least)",
                     title=title)  # fmt: skip
    for row in rows:
        times = (_time(row[f"us_{key}"]) for key in ("median", "p95", "p99.9", "max"))
        ratio = f"{row['ratio_median']:.2f} ({row['ratio_min']:.2f})"
        solved = f"{100 * row['solved']:.4g} %"
        table.add_row(row["solver"], solved, *times, ratio)
    if contest.missing:
        table.caption = f"not installed: {', '.join(sorted(contest.missing))}"
    return table


def _time(us: float) -> str:
    """Three digits."""
    scale, unit = (1.0, "µs") if us < 999.5 else (1e3, "ms") if us < 999.5e3 else (1e6, "s")
    return f"{us / scale:.3g} {unit}"


def _verdicts(rows: list[dict[str, Any]]) -> Table:
    headings = ("problems", "claims,\nnot solved", "worst\nresidual", "solved,\nnot claimed")
    table = _columns("solver", *headings, "NaN or\ninfinite", title="wrong verdicts")
    for row in rows:
        worst = "" if row["worst_claimed"] is None else f"{row['worst_claimed']:.0e}"
        counts = ("problems", "claimed_not_solved", "solved_not_claimed", "not_finite")
        problems, lies, denials, broken = (f"{row[key]:,}" for key in counts)
        table.add_row(row["solver"], problems, lies, worst, denials, broken)
    return table


def _columns(first: str, *others: str, title: str) -> Table:
    table = Table(title=title, box=box.SIMPLE_HEAD)
    table.add_column(first, no_wrap=True)
    for heading in others:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _notes(console: Console, contest: Comparison) -> None:
    for name, why in sorted(contest.missing.items()):
        console.print(f"{name}: {why}", markup=False, style="dim")
    if contest.left_out:
        console.print(
            f"{contest.left_out:,} problems left out: they are no contact problems of this law"
        )


def _report(
    rows: list[dict[str, Any]],
    entries: list[Entry],
    contest: Comparison,
    names: list[str],
    settings: dict[str, Any],
) -> str:
    """Everything: settings, the table, and each problem's times and residuals."""
    each = {
        e.name: {
            "us": [round(float(t), 3) if math.isfinite(t) else None for t in e.median_us],
            "residual": [json_numbers.number(r) for r in e.residual],
        }
        for e in entries
    }
    machine = info.facts() | {"compiler": _compare.compiler(), "load": os.getloadavg()[0]}
    table = [{key: json_numbers.number(value) for key, value in row.items()} for row in rows]
    report = {"machine": machine, "settings": settings, "not_installed": contest.missing,
              "results": table, "problems": names, "each": each,
              "interrupted": len(names) < len(contest.names)}  # fmt: skip
    return json.dumps(report, allow_nan=False) + "\n"
