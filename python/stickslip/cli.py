"""The command `stickslip`."""

from __future__ import annotations

import json
import sys
import warnings
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from stickslip import _core, info, models, picture
from stickslip._core import Precision, Solver
from stickslip.compare_command import compare
from stickslip.contact import make_options
from stickslip.run import Account, Controller, simulate
from stickslip.sim import BatchSim

app = typer.Typer(
    help="Batches of small frictional-contact problems, solved together, judged one by one.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

LawName = StrEnum("LawName", "coulomb convex box frictionless mujoco")
SolverName = StrEnum("SolverName", [each.name for each in Solver])
PrecisionName = StrEnum("PrecisionName", [each.name for each in Precision])
BackendName = StrEnum("BackendName", "auto cpu cuda")
ControlName = StrEnum("ControlName", "random sine zero")

_MODEL = "An MJCF, URDF or .mjb file, or a short name."


app.command("compare")(compare)


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
        machine.add_row(key, value)
    header, rows = info.support_table()
    support = Table(*header, title="laws and solvers")
    for row in rows:
        support.add_row(*row)
    console.print(machine, support)


@app.command("run")
def run_model(
    model: Annotated[str, typer.Argument(metavar="MODEL", help=_MODEL)],
    envs: Annotated[int, typer.Option(min=1, help="Number of environments.")] = 256,
    steps: Annotated[int, typer.Option(min=1, help="Number of time steps.")] = 200,
    law: Annotated[LawName, typer.Option(help="Friction law.")] = LawName.coulomb,
    solver: Annotated[SolverName, typer.Option(help="Solver.")] = SolverName.auto,
    precision: Annotated[PrecisionName, typer.Option(help="Arithmetic.")] = PrecisionName.double,
    tol: Annotated[float | None, typer.Option(help="Tolerance; default by precision.")] = None,
    backend: Annotated[BackendName, typer.Option(help="Where to solve.")] = BackendName.auto,
    threads: Annotated[int | None, typer.Option(min=1, help="CPU threads; default all.")] = None,
    control: Annotated[ControlName, typer.Option(help="Controls.")] = ControlName.random,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the controls.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder for run.png and run.json; default out/MODEL.")
    ] = None,
    write_json: Annotated[
        bool, typer.Option("--json/--no-json", help="Write run.json, with everything.")
    ] = True,
) -> None:
    """Step many environments of a robot model and judge every one of them at every step."""
    picture.choose_opengl()
    import mujoco

    settings = {"law": law, "solver": solver, "precision": precision, "backend": backend}
    settings = {key: str(value) for key, value in settings.items()}
    try:
        file = models.find(model)
        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always")
            sim = BatchSim(file, envs, **settings, tol=tol, threads=threads)
        plain = _load(mujoco, file)
    except (ValueError, TypeError, RuntimeError) as error:
        _fail(str(error))
    name = Path(model).stem
    out = out or Path("out") / name
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _fail(f"--out: {error}")
    console = Console()
    for note in notes:
        console.print(f"note: {note.message}", markup=False)
    if plain.nkey:
        sim.reset(key=0)
    controller = Controller(plain, envs, str(control), seed)
    with _progress() as progress:
        task = progress.add_task(f"{name}, {envs} environments", total=steps)
        account = simulate(sim, controller, steps, lambda _: progress.advance(task))
    settings = {"model": name, "file": str(file), **settings}
    settings |= {"control": str(control), "seed": seed, "integrator": sim.integrator}
    settings |= {"threads": sim.threads, "timestep": sim.timestep, "tol": tol}
    settings["residual_unit"] = "m/s²" if settings["law"] == "convex" else "m/s"
    _report(console, account, settings)
    _write(console, out, plain, account, settings, write_json)


def _load(mujoco: Any, file: Path) -> Any:
    """The model for MuJoCo's own Python package, which draws it."""
    kind = mujoco.MjModel
    return (kind.from_binary_path if file.suffix == ".mjb" else kind.from_xml_path)(str(file))


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True))


def _report(console: Console, account: Account, settings: dict[str, Any]) -> None:
    data = account.as_dict()
    env_steps = account.num_envs * account.steps
    table = Table("", "", title=f"{settings['model']}, law {settings['law']}", show_header=False)
    table.add_row("environments x steps", f"{account.num_envs:,} x {account.steps:,}")
    table.add_row("env-steps/s", f"{account.env_steps_per_second:,.0f}")
    table.add_section()
    for stage, seconds in data["stage_seconds"].items():
        share = 100 * seconds / max(account.seconds, 1e-30)
        micro = 1e6 * seconds / env_steps
        table.add_row(f"time in {stage}", f"{seconds:8.3f} s {share:5.1f} %  {micro:8.2f} µs each")
    table.add_section()
    for what in ("contacts", "rows"):
        numbers = data[f"{what}_per_environment"]
        table.add_row(f"{what} per environment", f"{numbers['mean']:.1f} (max {numbers['max']})")
    table.add_section()
    for status, number in data["status"].items():
        if number:
            table.add_row(status, f"{number:,} ({100 * number / env_steps:.3f} %)")
    if data["worst"]:
        unit = settings["residual_unit"]
        table.add_section()
        for q, value in data["residual_quantiles"].items():
            table.add_row(f"residual, {100 * float(q):g} %", f"<= {float(value):.1e} {unit}")
        worst = data["worst"]
        table.add_row("worst residual", f"{float(worst['residual']):.1e} {unit}, {worst['status']}")
        table.add_row("  where", f"environment {worst['environment']}, step {worst['step']}")
    console.print(table)


def _write(
    console: Console,
    out: Path,
    model: Any,
    account: Account,
    settings: dict[str, Any],
    write_json: bool,
) -> None:
    image = out / "run.png"
    title = f"{settings['model']}: {account.num_envs:,} environments, law {settings['law']}"
    own_law = "convex" if settings["law"] == "mujoco" else settings["law"]
    options = make_options(own_law, "auto", settings["precision"], settings["tol"], None)
    rendered = picture.draw(
        image,
        model,
        account,
        title=title,
        tolerance=_core.tolerance(options, 0.0),
        unit=settings["residual_unit"],
    )
    console.print(f"wrote {image}" + ("" if rendered else " (no OpenGL: without frames)"))
    if write_json:
        record = {
            "machine": info.facts(),
            "settings": settings,
            **account.as_dict(),
            "picture": {"file": str(image), "rendered": rendered},
        }
        (out / "run.json").write_text(json.dumps(record, indent=2, allow_nan=False) + "\n")
        console.print(f"wrote {out / 'run.json'}")


def _fail(message: str) -> NoReturn:
    print(f"stickslip: {message}", file=sys.stderr)
    raise typer.Exit(2)


if __name__ == "__main__":
    main()
