"""The command `stickslip`."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from stickslip import _core, info, models, picture
from stickslip._text import cell, printable
from stickslip.cli import options as choice
from stickslip.cli.compare import compare
from stickslip.cli.files import check_file, solve_file
from stickslip.cli.gallery import gallery
from stickslip.cli.options import fail
from stickslip.cli.report import report
from stickslip.cli.training import play, train
from stickslip.cli.view import view
from stickslip.contact import SolveOptions, make_options
from stickslip.files import ContactProblem, FileError, from_simulation, write
from stickslip.run import Controller, RunRecord, WorstProblems, simulate
from stickslip.sim import BatchSim
from stickslip.timeline import Timeline

app = typer.Typer(
    help="Batches of small frictional-contact problems, solved together, judged one by one.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.command("solve")(solve_file)
app.command("check")(check_file)
app.command("compare")(compare)
app.command("gallery")(gallery)
app.command("train")(train)
app.command("play")(play)
app.command("report")(report)
app.command("view")(view)


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
    model: choice.Model,
    envs: choice.Envs = 256,
    steps: choice.Steps = 200,
    law: choice.SimLaw = choice.SimLawName.coulomb,
    solver: choice.Solvers = choice.SolverName.auto,
    precision: choice.Precisions = choice.PrecisionName.double,
    tol: choice.Tolerance = None,
    backend: choice.Backends = choice.BackendName.auto,
    threads: choice.Threads = None,
    control: choice.Control = choice.ControlName.random,
    seed: choice.Seed = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder for run.png and run.json; default out/MODEL.")
    ] = None,
    write_json: Annotated[
        bool, typer.Option("--json/--no-json", help="Write run.json, with everything.")
    ] = True,
    dump: Annotated[
        Path | None, typer.Option(help="Problem file for the worst problem of the run.")
    ] = None,
) -> None:
    """Step many environments of a robot model, with a verdict for each at every step."""
    settings = {"law": law, "solver": solver, "precision": precision, "backend": backend}
    settings = {key: str(value) for key, value in settings.items()}
    console = Console()
    file, plain, sim = _start(console, model, envs, **settings, tol=tol, threads=threads)
    if dump is not None and sim.law == "mujoco":
        fail("--dump: expected a law whose problems are solved here, got mujoco")
    name = printable(Path(model).stem)
    out = out or Path("out") / name
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(f"--out: {error}")
    timeline = Timeline(envs, steps)
    controller = Controller(plain, envs, str(control), seed)
    record, worst = _step(sim, controller, steps, name, timeline)
    settings = {"model": name, "file": str(file), **settings}
    settings |= {"control": str(control), "seed": seed, "integrator": sim.integrator}
    settings |= {"threads": sim.threads, "timestep": sim.timestep, "tol": tol}
    settings["residual_unit"] = "m/s²" if settings["law"] == "convex" else "m/s"
    _report(console, record, settings)
    _write(console, out, plain, record, settings, write_json)
    timeline.save(out / "timeline.npz")
    if worst:
        write(out / "worst.h5", worst)
    console.print(cell(f"`stickslip report {out}` makes a page of it"))
    if dump is not None:
        _write_problem(console, dump, worst[0])


@app.command("dump")
def dump_problem(
    model: choice.Model,
    envs: choice.Envs = 256,
    steps: choice.Steps = 200,
    env: Annotated[
        int | None,
        typer.Option(min=0, help="Environment, after the last step; default the run's worst."),
    ] = None,
    law: choice.SimLaw = choice.SimLawName.coulomb,
    solver: choice.Solvers = choice.SolverName.auto,
    precision: choice.Precisions = choice.PrecisionName.double,
    tol: choice.Tolerance = None,
    backend: choice.Backends = choice.BackendName.auto,
    threads: choice.Threads = None,
    control: choice.Control = choice.ControlName.random,
    seed: choice.Seed = 0,
    out: Annotated[
        Path, typer.Option(help="Problem file; keeps what other problems it has.")
    ] = Path("problems.h5"),
) -> None:
    """Step a model as `run` does and write the contact problem of one environment to a file."""
    settings = {"law": law, "solver": solver, "precision": precision, "backend": backend}
    settings = {key: str(value) for key, value in settings.items()}
    if law == choice.SimLawName.mujoco:
        fail("--law: expected one whose problems are solved here, got mujoco")
    if env is not None and env >= envs:
        fail(f"--env: expected at most {envs - 1}, got {env}")
    console = Console()
    _, plain, sim = _start(console, model, envs, **settings, tol=tol, threads=threads)
    controller = Controller(plain, envs, str(control), seed)
    _, worst = _step(sim, controller, steps, Path(model).stem, Timeline(envs, steps))
    _write_problem(console, out, worst[0] if env is None else from_simulation(sim, env))


def _start(console: Console, model: str, envs: int, **options: Any) -> tuple[Path, Any, BatchSim]:
    """The model's file, the model as a mujoco.MjModel, and the batch."""
    picture.choose_opengl()

    try:
        file = models.find(model)
        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always")
            # As `stickslip solve`, so that a dumped problem is solved again to the same bits.
            sim = BatchSim(file, envs, **options, options=SolveOptions(thorough=True))
        plain = models.load(file)
    except (ValueError, TypeError, RuntimeError) as error:
        fail(str(error))
    for note in notes:
        console.print(cell(f"note: {note.message}"))
    if plain.nkey:
        sim.reset(key=0)
    return file, plain, sim


def _step(
    sim: BatchSim, controller: Controller, steps: int, name: str, timeline: Timeline
) -> tuple[RunRecord, list[ContactProblem]]:
    """Steps the batch; returns the record and the worst problems."""
    worst = WorstProblems(sim)
    with _progress() as progress:
        task = progress.add_task(printable(f"{name}, {sim.num_envs} environments"), total=steps)

        def on_step(record: RunRecord) -> None:
            worst(record)
            timeline.add(record.steps - 1, sim.status, sim.residual)
            progress.advance(task)

        return simulate(sim, controller, steps, on_step), worst.problems


def _write_problem(console: Console, file: Path, problem: ContactProblem) -> None:
    try:
        write(file, [problem], append=True)
    except FileError as error:
        fail(str(error))
    verdict = f"{problem.rows} rows, {problem.stored.status}, {problem.stored.residual:.1e}"
    console.print(cell(f"wrote {file}: problem {problem.name} ({verdict})"))


def _progress() -> Progress:
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True))


def _report(console: Console, record: RunRecord, settings: dict[str, Any]) -> None:
    data = record.as_dict()
    env_steps = record.num_envs * record.steps
    title = Text(f"{settings['model']}, law {settings['law']}")
    table = Table("", "", title=title, show_header=False)
    table.add_row("environments x steps", f"{record.num_envs:,} x {record.steps:,}")
    table.add_row("env-steps/s", f"{record.env_steps_per_second:,.0f}")
    table.add_section()
    for stage, seconds in data["stage_seconds"].items():
        share = 100 * seconds / max(record.seconds, 1e-30)
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
    record: RunRecord,
    settings: dict[str, Any],
    write_json: bool,
) -> None:
    image = out / "run.png"
    title = f"{settings['model']}: {record.num_envs:,} environments, law {settings['law']}"
    own_law = "convex" if settings["law"] == "mujoco" else settings["law"]
    options = make_options(own_law, "auto", settings["precision"], settings["tol"], None)
    rendered = picture.draw(
        image,
        model,
        record,
        title=title,
        tolerance=_core.tolerance(options, 0.0),
        unit=settings["residual_unit"],
    )
    console.print(cell(f"wrote {image}" + ("" if rendered else " (no OpenGL: without frames)")))
    if write_json:
        contents = {
            "machine": info.facts(),
            "settings": settings,
            **record.as_dict(),
            "picture": {"file": str(image), "rendered": rendered},
        }
        (out / "run.json").write_text(json.dumps(contents, indent=2, allow_nan=False) + "\n")
        console.print(cell(f"wrote {out / 'run.json'}"))
