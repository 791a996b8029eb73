"""`stickslip run` and `stickslip dump`: models stepped as batches."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from stickslip import _core, info, models
from stickslip._src.interrupt import INTERRUPTED
from stickslip._src.options import SolveOptions, make_options
from stickslip._src.picture import draw
from stickslip._src.run import Controller, RunRecord, WorstProblems, simulate
from stickslip._src.sim import BatchSim
from stickslip._src.stage import choose_opengl
from stickslip._src.text import cell, printable
from stickslip._src.timeline import Timeline
from stickslip.cli import options as choice
from stickslip.cli.options import fail, word
from stickslip.cli.progress import progress_bar
from stickslip.files import ContactProblem, FileError, from_simulation, write
from stickslip.files.problems import stored_residual

Frames = Annotated[
    int, typer.Option(min=0, max=8, help="Images of environments in run.png, at most.")
]
Dump = Annotated[Path | None, typer.Option(help="Problem file for the worst problem of the run.")]
Compared = Annotated[
    bool, typer.Option("--mujoco", help="Then the same under MuJoCo's own law, for the report.")
]


def run_model(
    model: choice.Model,
    envs: choice.Envs = 256,
    steps: choice.Steps = 200,
    law: choice.SimLaw = "coulomb",
    solver: choice.Solvers = "auto",
    precision: choice.Precisions = "float64",
    tol: choice.Tolerance = None,
    backend: choice.Backends = "auto",
    threads: choice.Threads = None,
    control: choice.Controls = "random",
    seed: choice.Seed = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder for run.png and run.json; default out/MODEL.")
    ] = None,
    picture: Annotated[
        bool, typer.Option("--picture/--no-picture", help="Draw run.png, which takes a second.")
    ] = True,
    frames: Frames = 4,
    write_json: Annotated[
        bool, typer.Option("--json/--no-json", help="Write run.json, with everything.")
    ] = True,
    dump: Dump = None,
    mujoco: Compared = False,
) -> None:
    """Step many environments of a robot model, with a verdict for each at every step."""
    settings = _settings(law=law, solver=solver, precision=precision, backend=backend)
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
    controller = Controller(plain, envs, word(control), seed)
    record, worst = _step(sim, controller, steps, name, timeline)
    if record.interrupted:
        _end_early(record, timeline)
    settings = {"model": name, "file": str(file), **settings}
    settings |= {"control": word(control), "seed": seed, "integrator": sim.integrator}
    settings |= {"threads": sim.threads, "timestep": sim.timestep, "tol": tol}
    settings["residual_unit"] = "m/s²" if settings["law"] in ("convex", "mujoco") else "m/s"
    _report(console, record, settings)
    drawn = _draw(console, out, plain, record, settings, frames) if picture else None
    if write_json:
        compared = mujoco and not record.interrupted
        other = _under_mujoco(plain, file, settings, record) if compared else None
        _write(console, out, record, settings, drawn, other)
    timeline.save(out / "timeline.npz")
    if worst:
        write(out / "worst.h5", worst)
    console.print(cell(f"`stickslip report {out}` makes a page of it"))
    if dump is not None:
        _write_problem(console, dump, worst[0])
    if record.interrupted:
        raise typer.Exit(INTERRUPTED)


def dump_problem(
    model: choice.Model,
    envs: choice.Envs = 256,
    steps: choice.Steps = 200,
    env: Annotated[
        int | None,
        typer.Option(min=0, help="Environment, after the last step; default the run's worst."),
    ] = None,
    law: choice.SimLaw = "coulomb",
    solver: choice.Solvers = "auto",
    precision: choice.Precisions = "float64",
    tol: choice.Tolerance = None,
    backend: choice.Backends = "auto",
    threads: choice.Threads = None,
    control: choice.Controls = "random",
    seed: choice.Seed = 0,
    out: Annotated[
        Path, typer.Option(help="Problem file; keeps what other problems it has.")
    ] = Path("problems.h5"),
) -> None:
    """Step a model as `run` does and write the contact problem of one environment to a file."""
    settings = _settings(law=law, solver=solver, precision=precision, backend=backend)
    if law == "mujoco":
        fail("--law: expected one whose problems are solved here, got mujoco")
    if env is not None and env >= envs:
        fail(f"--env: expected at most {envs - 1}, got {env}")
    console = Console()
    _, plain, sim = _start(console, model, envs, **settings, tol=tol, threads=threads)
    controller = Controller(plain, envs, word(control), seed)
    record, worst = _step(sim, controller, steps, Path(model).stem, Timeline(envs, steps))
    if record.interrupted:
        raise KeyboardInterrupt
    _write_problem(console, out, worst[0] if env is None else from_simulation(sim, env))


def _settings(**words: str) -> dict[str, Any]:
    """The choices as plain text."""
    return {key: word(value) for key, value in words.items()}


def _start(console: Console, model: str, envs: int, **options: Any) -> tuple[Path, Any, BatchSim]:
    """The model's file, the model as a mujoco.MjModel, and the batch."""
    choose_opengl()
    try:
        file = models.find(model)
        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always")
            # As `stickslip solve`, so that a dumped problem is solved again to the same bits.
            sim = BatchSim(file, envs, **options, options=SolveOptions(thorough=True))
        plain = models.load(file)
    except (ValueError, TypeError, RuntimeError, ImportError) as error:
        fail(str(error))
    for note in notes:
        console.print(cell(f"note: {note.message}"))
    if plain.nu == 0 and envs > 1:
        console.print("note: the model has no actuators, so all environments are identical")
    if plain.nkey:
        sim.reset(key=0)
    return file, plain, sim


def _step(
    sim: BatchSim, controller: Controller, steps: int, name: str, timeline: Timeline
) -> tuple[RunRecord, list[ContactProblem]]:
    """Steps the batch; returns the record and the worst problems."""
    worst = WorstProblems(sim)
    with progress_bar() as progress:
        task = progress.add_task(printable(f"{name}, {sim.num_envs} environments"), total=steps)

        def on_step(record: RunRecord) -> None:
            worst(record)
            timeline.add(record.steps - 1, sim.status, sim.residual)
            progress.advance(task)

        return simulate(sim, controller, steps, on_step), worst.problems


def _under_mujoco(plain: Any, file: Path, settings: dict[str, Any], record: RunRecord) -> RunRecord:
    """The same steps with the same controls under MuJoCo's own law, for the report."""
    envs = record.num_envs
    sim = BatchSim(file, envs, law="mujoco", threads=settings["threads"])
    if plain.nkey:
        sim.reset(key=0)
    controller = Controller(plain, envs, settings["control"], settings["seed"])
    name = f"{settings['model']} under MuJoCo's law"
    return _step(sim, controller, record.steps, name, Timeline(envs, record.steps))[0]


def _end_early(record: RunRecord, timeline: Timeline) -> None:
    """After Ctrl-C: what follows is about the steps that were made."""
    console = Console(stderr=True)
    if record.steps == 0:
        console.print("interrupted before the end of the first step: nothing is written")
        raise typer.Exit(INTERRUPTED)
    console.print(f"interrupted after {record.steps} of {timeline.steps} steps")
    timeline.end(record.steps)


def _write_problem(console: Console, file: Path, problem: ContactProblem) -> None:
    try:
        write(file, [problem], append=True)
    except FileError as error:
        fail(str(error))
    status = problem.stored.status if problem.stored else None
    verdict = f"{problem.rows} rows, {status}, {stored_residual(problem):.1e}"
    console.print(cell(f"wrote {file}: problem {problem.name} ({verdict})"))


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


def _draw(
    console: Console,
    out: Path,
    model: Any,
    record: RunRecord,
    settings: dict[str, Any],
    frames: int,
) -> dict[str, Any]:
    """Draws run.png; returns what run.json says about it."""
    image = out / "run.png"
    title = f"{settings['model']}: {record.num_envs:,} environments, law {settings['law']}"
    own_law: Any = "convex" if settings["law"] == "mujoco" else settings["law"]
    options = make_options(own_law, "auto", settings["precision"], settings["tol"], None)
    tolerance, unit = _core.tolerance(options, 0.0), settings["residual_unit"]
    rendered = draw(
        image, model, record, title=title, tolerance=tolerance, unit=unit, frames=frames
    )
    note = "" if rendered or not frames else " (no OpenGL: without frames)"
    console.print(cell(f"wrote {image}{note}"))
    return {"file": str(image), "rendered": rendered}


def _write(
    console: Console,
    out: Path,
    record: RunRecord,
    settings: dict[str, Any],
    drawn: dict[str, Any] | None,
    under_mujoco: RunRecord | None,
) -> None:
    contents = {"machine": info.facts(), "settings": settings, **record.as_dict()}
    contents["picture"] = drawn
    if under_mujoco is not None:
        contents["mujoco"] = under_mujoco.as_dict()
    (out / "run.json").write_text(json.dumps(contents, indent=2, allow_nan=False) + "\n")
    console.print(cell(f"wrote {out / 'run.json'}"))
