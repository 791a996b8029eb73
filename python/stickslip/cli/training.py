"""`stickslip train` and `stickslip play`."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from stickslip._src import picture
from stickslip._src.aliases import SimLawName
from stickslip.cli import options as choice
from stickslip.cli.options import fail, word

Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder that `stickslip train` wrote.")]


def train(
    context: typer.Context,
    env: Annotated[str, typer.Argument(metavar="ENV", help="Ant-v5, HalfCheetah-v5, Go1-v0, ...")],
    out: Annotated[Path, typer.Option(help="Folder of the run; without --resume, a new one.")],
    steps: Annotated[
        int | None,
        typer.Option(min=1, help="Environment steps, in all; default 5,000,000, or the run's."),
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
) -> None:
    """Train a policy by proximal policy optimization, on one process or under torchrun. Ctrl-C
    saves and ends; --resume continues."""
    ppo = _import("ppo")
    if not resume and ((out / "policy.pt").exists() or (out / "progress.jsonl").exists()):
        fail(f"--out: {out} has a run already (--resume continues it)")
    if out.exists() and not out.is_dir():
        fail(f"--out: {out} is not a folder")
    saved = _checkpoint(out, full_id(env), context) if resume else None
    options = {"law": word(law), "threads": threads}
    first = os.getenv("RANK", "0") == "0"
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(), disable=not first) as progress:
        task = progress.add_task(env)

        def report(numbers: dict[str, float]) -> None:
            earned = f"return {numbers['return']:.0f}" if "return" in numbers else env
            progress.update(task, completed=numbers["steps"], description=earned)

        import gymnasium

        if saved:
            settings = ppo.Settings(**saved["settings"])
            settings.steps = steps or settings.steps
            if saved["done_steps"] >= settings.steps:
                fail(f"--steps: the run has {saved['done_steps']:,} already, expected more")
        else:
            arguments = (full_id(env), steps or ppo.Settings.steps, envs, seed, options)
            settings = ppo.Settings(*arguments, device=device)
        progress.update(task, total=settings.steps)
        try:
            trainer = ppo.Trainer(settings, out, resume)
        except (gymnasium.error.Error, FileNotFoundError, RuntimeError, ValueError) as error:
            fail(str(error))
        trainer.train(report)
        trainer.processes.close()
    if first:
        _conclude(trainer, out, env)


def _checkpoint(out: Path, env: str, context: typer.Context) -> dict[str, Any]:
    """The checkpoint of a run of `env`, whose settings no option may contradict."""
    file = out / "checkpoint.pt"
    if not file.exists():
        fail(f"--resume: {out} has no checkpoint.pt")
    try:
        saved = _import("checkpoint").load(out)
        trained = saved["settings"]["env"]
    except Exception as error:  # of pickle, zip and torch, many kinds
        fail(f"--resume: {file} is no checkpoint: {type(error).__name__}: {error}")
    if trained != env:
        fail(f"--resume: {out} is a run of {trained}, not of {env}")
    for name in ("envs", "law", "seed", "threads", "device"):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            fail(f"--{name}: the run in --out has this setting: leave it out with --resume")
    return saved


def _conclude(trainer: Any, out: Path, env: str) -> None:
    """The last lines of a training."""
    earned = (
        f", return {sum(trainer.returns) / len(trainer.returns):.0f}" if trainer.returns else ""
    )
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
    picture.choose_opengl()
    module = _import("play")
    if not (run / "policy.pt").exists():
        fail(f"{run}: no policy.pt there")
    table = Table("law", "return", "length", "failed")
    laws: list[SimLawName | None] = [*law] if law else [None]
    for each in laws:
        options: dict[str, Any] = {"threads": threads} | ({"law": word(each)} if each else {})
        file = video.with_stem(f"{video.stem}-{each}") if video and law and law[1:] else video
        try:
            with module.Film(file) if file else contextlib.nullcontext() as film:
                episodes = module.play(run, envs, seed, film, **options)
        except module.NoOpenGLError as error:
            fail(f"--video: {error}")
        table.add_row(
            episodes.law,
            f"{episodes.returns.mean():.0f} ± {episodes.returns.std():.0f}",
            f"{episodes.lengths.mean():.0f}",
            f"{episodes.failed.sum()}",
        )
    Console().print(table)


def full_id(env: str) -> str:
    """Ids of environments of stickslip may come without "stickslip/"."""
    return env if "/" in env else f"stickslip/{env}"


def _import(name: str) -> Any:
    """A module that needs torch."""
    try:
        return __import__(f"stickslip.rl.{name}", fromlist=[name])
    except ModuleNotFoundError as error:
        fail(f'{error.name} is not installed: pip install ".[rl]"')
