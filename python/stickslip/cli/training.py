"""`stickslip train` and `stickslip play`."""

from __future__ import annotations

import contextlib
import importlib
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from stickslip._src.aliases import SimLawName
from stickslip._src.stage import NoOpenGLError, choose_opengl
from stickslip._src.text import cell, told
from stickslip.cli import options as choice
from stickslip.cli.options import fail, word

Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder that `stickslip train` wrote.")]


def train(
    context: typer.Context,
    env: Annotated[str, typer.Argument(metavar="ENV", help="Ant-v5, HalfCheetah-v5, Go1-v0, ...")],
    out: Annotated[Path, typer.Option(help="Folder of the run; without --resume, a new one.")],
    steps: Annotated[
        int | None,
        typer.Option(min=1, help="Environment steps, at least; default 5,000,000, or the run's."),
    ] = None,
    envs: choice.Envs = 64,
    law: choice.SimLaw = "coulomb",
    seed: Annotated[int, typer.Option(min=0, help="Seed.")] = 0,
    threads: choice.Threads = None,
    device: Annotated[str, typer.Option(help="Of the networks: cpu, cuda.")] = "cpu",
    resume: Annotated[
        bool,
        typer.Option(help="Continue the run in --out from its checkpoint."),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", help="Print all numbers of each update, not a line for ten."),
    ] = False,
) -> None:
    """Train a policy by rsl_rl's proximal policy optimization, on one process or under torchrun.
    Ctrl-C saves and ends; --resume continues."""
    runs, module = import_rl("runs"), import_rl("train")
    if out.exists() and not out.is_dir():
        fail(f"--out: {out} is not a folder")
    name = full_id(env)
    require_env(name)
    if resume:
        settings = _saved(runs, out, name, context)
        settings.steps = steps or settings.steps
    else:
        if (out / "settings.json").exists():
            fail(f"--out: {out} has a run already (--resume continues it)")
        options = {"law": word(law), "threads": threads}
        arguments = (name, steps or runs.Settings.steps, envs, seed, options, device)
        settings = runs.Settings(*arguments)
    import gymnasium

    try:
        trainer = module.Trainer(settings, out, resume, verbose)
    except (gymnasium.error.Error, FileNotFoundError, RuntimeError, ValueError) as error:
        fail(str(error))
    if trainer.done_steps >= settings.steps:
        fail(f"--steps: the run has {trainer.done_steps:,} already, expected more")
    trainer.train()
    if trainer.rank == 0:
        _conclude(trainer, out, env)


def _saved(runs: Any, out: Path, env: str, context: typer.Context) -> Any:
    """The settings of a run of `env`, which no option may contradict."""
    if not (out / "settings.json").exists():
        fail(f"--resume: {out} has no run")
    try:
        settings = runs.load(out)
        runs.weights(out)
    except FileNotFoundError as error:
        fail(f"--resume: {error}")
    except Exception as error:  # of JSON, pickle, zip and torch, many kinds
        fail(f"--resume: the checkpoint cannot be read: {type(error).__name__}: {error}")
    if settings.env != env:
        fail(f"--resume: {out} is a run of {settings.env}, not of {env}")
    for name in ("envs", "law", "seed", "threads", "device"):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            fail(f"--{name}: the run in --out has this setting: leave it out with --resume")
    return settings


def _conclude(trainer: Any, out: Path, env: str) -> None:
    """The last lines of a training."""
    earned = f", return {told(trainer.mean_return)}" if trainer.mean_return is not None else ""
    print(f"{out}: {trainer.done_steps:,} steps{earned}")
    if trainer.interrupted:
        print(f"interrupted; continue with: stickslip train {env} --out {out} --resume")
    print(f"see it with: stickslip play {out} --video {out}.mp4")


def play(
    run: Run,
    envs: choice.Envs = 32,
    law: choice.Laws = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first environment.")] = 1_000_000,
    threads: choice.Threads = None,
    video: Annotated[Path | None, typer.Option(help="Film of the first: .mp4 or .gif.")] = None,
) -> None:
    """Play a trained policy, one episode per environment, and print its returns by law."""
    choose_opengl()
    module = import_rl("play")
    if not (run / "settings.json").exists():
        fail(f"{run} has no run")
    require_env(import_rl("runs").load(run).env)
    if video and (problem := module.Film.refuses(video)):
        fail(f"--video: {problem}")
    table = Table("law", "return", "length", "failed")
    laws: list[SimLawName | None] = [*dict.fromkeys(law)] if law else [None]
    written = []
    for each in laws:
        options: dict[str, Any] = {"threads": threads} | ({"law": word(each)} if each else {})
        file = video.with_stem(f"{video.stem}-{each}") if video and laws[1:] else video
        try:
            with module.Film(file) if file else contextlib.nullcontext() as film:
                episodes = module.play(run, envs, seed, film, **options)
        except NoOpenGLError as error:
            fail(f"--video: {error}")
        except FileNotFoundError as error:
            fail(str(error))
        written += [f"wrote {film}"] if film else []
        table.add_row(
            episodes.law,
            f"{told(episodes.returns.mean())} ± {told(episodes.returns.std())}",
            f"{episodes.lengths.mean():.0f}",
            f"{episodes.failed.sum()}",
        )
    console = Console()
    console.print(table)
    for line in written:
        console.print(cell(line))


def full_id(env: str) -> str:
    """Ids of environments of stickslip may come without "stickslip/"."""
    return env if "/" in env or ":" in env else f"stickslip/{env}"


def require_env(env: str) -> None:
    """Imports the module of "module:id"; one line if it is not there, or not named."""
    import gymnasium

    module, colon, name = env.rpartition(":")
    if colon and not all(part.isidentifier() for part in module.split(".")):
        fail(f"expected MODULE:ID with the name of a Python module, got {env}")
    try:
        importlib.import_module(module or "stickslip.envs")
    except ModuleNotFoundError as error:
        fail(f"{env}: Python finds no module {error.name}: put its folder on PYTHONPATH")
    space = name.rpartition("/")[0] or None
    if space in {spec.namespace for spec in gymnasium.registry.values()}:
        return
    if colon:
        fail(f"{env}: the module {module} registers no environment of namespace {space}")
    fail(f"{env} is not registered: write MODULE:{env}, with the Python module that registers it")


def import_rl(name: str) -> Any:
    """A module that needs torch, which gets one thread unless OMP_NUM_THREADS tells otherwise:
    networks as small as these gain nothing from more, and take the time of the simulation."""
    try:
        module = __import__(f"stickslip.rl.{name}", fromlist=[name])
    except ModuleNotFoundError as error:
        fail(f'{error.name} is not installed: pip install ".[rl]"')
    if "OMP_NUM_THREADS" not in os.environ:
        __import__("torch").set_num_threads(1)
    return module
