"""The command `stickslip`."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
import typer.core
from rich.console import Console
from rich.table import Table
from rich.text import Text

from stickslip import info
from stickslip._src.interrupt import INTERRUPTED, MESSAGE
from stickslip.cli.files import check_file, solve_file
from stickslip.cli.report import report
from stickslip.cli.simulate import dump_problem, run_model
from stickslip.cli.training import play, train
from stickslip.cli.view import view


class Commands(typer.core.TyperGroup):
    """The commands; Ctrl-C ends each with one line."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            print(MESSAGE, file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

# In the order of --help: first what most people do.
app.command("run")(run_model)
app.command("view")(view)
app.command("report")(report)
app.command("train")(train)
app.command("play")(play)
app.command("dump")(dump_problem)
app.command("solve")(solve_file)
app.command("check")(check_file)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"stickslip {info.facts()['stickslip']}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Batches of small frictional-contact problems, solved together, judged one by one."""


def main() -> None:
    """Entry point of the installed command."""
    app()


@app.command("info")
def show_info(
    markdown: Annotated[bool, typer.Option(help="Print only the table, as Markdown.")] = False,
) -> None:
    """Show versions, the instruction set, CUDA, and which solver takes which law."""
    if markdown:
        print(info.support_markdown())
        return
    console = Console()
    machine = Table("", "", show_header=False, box=None)
    for key, value in info.facts().items():
        machine.add_row(key, Text(value))  # no markup: [cuda13]
    header, rows = info.support_table()
    support = Table(*header, title="laws and solvers")
    for row in rows:
        support.add_row(*row)
    console.print(machine, support)
