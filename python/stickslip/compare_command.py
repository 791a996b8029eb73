"""The command `stickslip compare`."""

from __future__ import annotations

import json
import math
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from stickslip import _core, info, profiles
from stickslip.compare import Comparison, Entry, summary

LawName = StrEnum("LawName", [each.name for each in _core.Law])
FamilyName = StrEnum("FamilyName", list(_core.families()))
_FILES = "HDF5 files of contact problems."


def compare(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]...", exists=True, help=_FILES)
    ] = None,
    family: Annotated[
        list[FamilyName] | None, typer.Option(help="Random problems; may be repeated.")
    ] = None,
    contacts: Annotated[int, typer.Option(min=1, help="Contacts of each random problem.")] = 8,
    count: Annotated[int, typer.Option(min=1, help="Random problems of each family.")] = 100,
    law: Annotated[LawName, typer.Option(help="Friction law.")] = LawName.coulomb,
    solvers: Annotated[
        str | None, typer.Option(help="Ours, as auto,auto:mixed,newton; default all of the law.")
    ] = None,
    peers: Annotated[bool, typer.Option(help="Let others take part, where installed.")] = True,
    tol: Annotated[float, typer.Option(help="solved: residual <= tol (1 + max|b|).")] = 1e-9,
    peer_tol: Annotated[
        float | None, typer.Option(help="What peers are asked for; default the same.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Timed rounds.")] = 11,
    out: Annotated[Path, typer.Option(help="Folder for the picture and the report.")] = Path(
        "out/compare"
    ),
    write_json: Annotated[
        bool, typer.Option("--json/--no-json", help="Write compare.json, with everything.")
    ] = True,
) -> None:
    """Time our solvers beside others on the same problems, and check every verdict.

    Prints one line per solver: share solved (by the independent oracle, not by its own word), times
    over the problems, how often its own verdict was wrong. compare.png shows performance profiles.
    """
    if not files and not family:
        _fail("expected a FILE or --family")
    try:
        chosen = solvers.split(",") if solvers else None
        contest = Comparison(str(law), tol, peer_tol, chosen, None if peers else [])
        for file in files or []:
            contest.add_file(file)
        for each in family or []:
            contest.add_family(str(each), contacts, count)
    except (ValueError, TypeError, OSError) as error:
        _fail(str(error))
    if not contest.names:
        _fail(f"no contact problems of law {law} in {', '.join(str(f) for f in files or [])}")
    entries = contest.run(rounds)
    console = Console()
    rows = [summary(entry, entries[0]) for entry in entries]
    console.print(_times(rows, contest), _verdicts(rows))
    _notes(console, contest)
    out.mkdir(parents=True, exist_ok=True)
    profiles.draw(out / "compare.png", entries, _title(contest))
    console.print(f"wrote {out / 'compare.png'}")
    if write_json:
        settings = {"law": str(law), "tol": tol, "peer_tol": contest.peer_tol, "rounds": rounds,
                    "files": [str(f) for f in files or []], "families": list(family or []),
                    "contacts": contacts, "count": count}  # fmt: skip
        (out / "compare.json").write_text(_report(rows, entries, contest, settings))
        console.print(f"wrote {out / 'compare.json'}")


def _title(contest: Comparison) -> str:
    return f"{len(contest.names):,} problems, law {contest.law.name}, tolerance {contest.tol:g}"


def _times(rows: list[dict[str, Any]], contest: Comparison) -> Table:
    table = _columns("solver", "problems", "solved", "median", "95 %", "99.9 %", "max µs",
                     "ratio (least)", title=_title(contest))  # fmt: skip
    for row in rows:
        times = (f"{row[f'us_{key}']:.1f}" for key in ("median", "p95", "p99.9", "max"))
        ratio = f"{row['ratio_median']:.2f} ({row['ratio_min']:.2f})"
        solved = f"{100 * row['solved']:.4g} %"
        table.add_row(row["solver"], f"{row['problems']:,}", solved, *times, ratio)
    if contest.missing:
        table.caption = f"not installed: {', '.join(sorted(contest.missing))}"
    return table


def _verdicts(rows: list[dict[str, Any]]) -> Table:
    table = _columns("solver", "claims, not solved", "worst residual", "solved, not claimed",
                     "NaN or infinite", title="wrong verdicts")  # fmt: skip
    for row in rows:
        worst = "" if row["worst_claimed"] is None else f"{row['worst_claimed']:.0e}"
        table.add_row(row["solver"], f"{row['claimed_not_solved']:,}", worst,
                      f"{row['solved_not_claimed']:,}", f"{row['not_finite']:,}")  # fmt: skip
    return table


def _columns(first: str, *others: str, title: str) -> Table:
    table = Table(title=title)
    table.add_column(first, no_wrap=True)
    for heading in others:
        table.add_column(heading, justify="right")
    return table


def _notes(console: Console, contest: Comparison) -> None:
    for name, why in sorted(contest.missing.items()):
        console.print(f"{name}: {why}", markup=False, style="dim")
    if contest.left_out:
        console.print(f"{contest.left_out:,} problems left out: they are of another law")


def _report(
    rows: list[dict[str, Any]], entries: list[Entry], contest: Comparison, settings: dict[str, Any]
) -> str:
    """Everything: settings, the table, and each problem's times and residuals."""
    each = {
        e.name: {
            "us": [round(float(t), 3) if math.isfinite(t) else None for t in e.median_us],
            "residual": [_number(r) for r in e.residual],
        }
        for e in entries
    }
    machine = info.facts() | {"compiler": _core.compiler(), "load": os.getloadavg()[0]}
    table = [{key: _number(value) for key, value in row.items()} for row in rows]
    report = {"machine": machine, "settings": settings, "not_installed": contest.missing,
              "results": table, "problems": contest.names, "each": each}  # fmt: skip
    return json.dumps(report, allow_nan=False) + "\n"


def _number(value: Any) -> Any:
    """JSON has no infinity: a text instead."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _fail(message: str) -> NoReturn:
    print(f"stickslip: {message}", file=sys.stderr)
    raise typer.Exit(2)
