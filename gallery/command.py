"""The command line of `python -m gallery`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gallery import pages
from gallery.record import Record
from gallery.registry import DOCUMENTS, Entry, all_entries, find
from stickslip.cli.options import fail

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
_WIDTH = 100  # of the tables, at least


@app.command()
def gallery(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Examples to run.")
    ] = None,
    run_all: Annotated[bool, typer.Option("--all", help="Run every example.")] = False,
    variations: Annotated[
        int,
        typer.Option(
            min=1, max=2**31 - 1, help="Variations (of mass, friction, ...) solved at once."
        ),
    ] = 1000,
    write: Annotated[
        Path | None,
        typer.Option(
            help="Folder whose pages get new pictures and tables, and its README the list."
        ),
    ] = None,
) -> None:
    """List the examples of the gallery; run those named, and check them against theory."""
    console = Console()
    console.width = max(console.width, _WIDTH)
    if not names and not run_all and not write:
        console.print(_list())
        return
    try:
        chosen = all_entries() if run_all else [find(name) for name in dict.fromkeys(names or [])]
    except ValueError as error:
        fail(str(error))
    found = []
    for entry in chosen:
        try:
            record = entry.run(variations)
        except MemoryError:
            fail(f"--variations: expected what fits this machine's memory, got {variations}")
        except ValueError as error:
            fail(f"{entry.name}: {error}")
        console.print(_checks(entry, record, variations))
        found.append((entry, record, variations))
    try:
        for file in pages.write(write, found) if write else []:
            console.print(f"wrote {file}", markup=False)
    except (OSError, ValueError) as error:
        fail(str(error))
    failing = [entry.name for entry, record, _ in found if not record.holds]
    if failing:
        fail(f"checks fail: {', '.join(failing)}", code=1)


def _list() -> Table:
    table = Table("name", "", "document", "", title="the gallery", box=box.SIMPLE_HEAD)
    for entry in all_entries():
        document = f"{entry.document}: {DOCUMENTS[entry.document]}"
        table.add_row(entry.name, escape(entry.title), document, entry.kind)
    return table


def _checks(entry: Entry, record: Record, variations: int) -> Table:
    title = escape(f"{entry.title}: {variations:,} variations")
    table = Table(title=title, box=box.SIMPLE_HEAD)
    table.add_column("")
    for heading in ("found", "at most", ""):
        table.add_column(heading, justify="right", no_wrap=True)
    for check in record.checks:
        verdict = "[green]holds" if check.holds else "[red]FAILS"
        value, bound = pages.shown(check.value), f"{check.bound:.3g}"
        table.add_row(escape(check.name), value, bound, verdict)
    table.add_section()
    for name, number in record.numbers.items():
        table.add_row(escape(name), pages.shown(number), "", "")
    return table
