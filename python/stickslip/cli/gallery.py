"""The command `stickslip gallery`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stickslip.cli.options import fail
from stickslip.gallery import html, pages
from stickslip.gallery.record import Record
from stickslip.gallery.registry import DOCUMENTS, Entry, all_entries, find

_WIDTH = 100  # of the tables, at least


def gallery(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Examples to run.")
    ] = None,
    run_all: Annotated[bool, typer.Option("--all", help="Run every example.")] = False,
    variations: Annotated[
        int, typer.Option(min=1, help="Variations (of mass, friction, ...) solved at once.")
    ] = 1000,
    out: Annotated[
        Path | None, typer.Option(help="Folder for index.html, with pictures and equations.")
    ] = None,
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
    if not names and not run_all:
        if out:
            fail("--out: expected a NAME or --all")
        if not write:
            console.print(_list())
            return
    try:
        chosen = all_entries() if run_all else [find(name) for name in dict.fromkeys(names or [])]
    except ValueError as error:
        fail(str(error))
    found = []
    for entry in chosen:
        record = entry.run(variations)
        console.print(_checks(entry, record, variations))
        found.append((entry, record, variations))
    try:
        for file in [*_write_html(out, found), *(pages.write(write, found) if write else [])]:
            console.print(f"wrote {file}", markup=False)
    except (OSError, ValueError) as error:
        fail(str(error))
    except ImportError as error:
        fail(f'--out: {error}; pip install ".[gallery]"')
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


def _write_html(out: Path | None, found: list[tuple[Entry, Record, int]]) -> list[Path]:
    if out is None:
        return []
    out.mkdir(parents=True, exist_ok=True)
    file = out / "index.html"
    file.write_text(html.render(found))
    return [file]
