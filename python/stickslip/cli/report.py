"""`stickslip report`: a run on one HTML page that needs no network and no other file."""

from __future__ import annotations

import base64
import io
import json
from html import escape
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from stickslip._core import Status
from stickslip._src import picture
from stickslip._src.text import cell, printable
from stickslip._src.timeline import QUANTILES, Timeline
from stickslip.cli.options import fail
from stickslip.files import ContactProblem
from stickslip.files.isolated import read_isolated
from stickslip.files.problems import Problem, stored_residual

_STYLE = """
body { max-width: 64rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 sans-serif; }
h2 { border-top: 1px solid #ccc; margin-top: 2rem; padding-top: 1rem; }
svg, img { max-width: 100%; height: auto; }
table { border-collapse: collapse; }
td, th { padding: 0.1rem 1rem 0.1rem 0; text-align: left; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.unsolved { color: #b00; font-weight: bold; }
"""
_COLOURS = picture.STATUS_COLOURS | {Status.solved: "#e8f2e8"}  # most of a map, so a pale one


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder that `stickslip run` wrote.")],
    out: Annotated[Path | None, typer.Option(help="File; default RUN/report.html.")] = None,
) -> None:
    """Write a run as one HTML page: picture, speed, residuals, failures, the worst problems."""
    for name in ("run.json", "timeline.npz"):
        if not (run / name).is_file():
            fail(f"{run}: no {name} there; expected a folder that `stickslip run` wrote")
    file = out or run / "report.html"
    file.write_text(page(run), encoding="utf-8")
    Console().print(cell(f"wrote {file}"))


def page(run: Path) -> str:
    """The HTML page of a run's folder."""
    record = json.loads((run / "run.json").read_text())
    timeline = Timeline.load(run / "timeline.npz")
    settings = record["settings"]
    title = f"{settings['model']}: {record['environments']:,} environments, law {settings['law']}"
    sections = {
        "picture": _picture(run / "run.png"),
        "throughput": _throughput(record) + _figure(_draw_stages, record),
        "residuals": _figure(_draw_residuals, timeline, settings["residual_unit"]),
        "status": _statuses(record) + _figure(_draw_status, timeline),
        "worst environments": _worst(run / "worst.h5", settings["residual_unit"]),
        "settings": _rows(settings) + _rows(record["machine"]),
    }
    body = "\n".join(
        f'<section id="{name.split()[0]}"><h2>{name}</h2>\n{text}</section>'
        for name, text in sections.items()
        if text
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8" />\n'
        '<link rel="icon" href="data:," />\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<h1>{escape(title)}</h1>\n{body}\n</body>\n</html>\n"
    )


def _rows(values: dict[str, Any]) -> str:
    cells = (f"<tr><td>{escape(k)}</td><td>{escape(str(v))}</td></tr>" for k, v in values.items())
    return "<table>\n" + "\n".join(cells) + "\n</table>\n"


def _picture(file: Path) -> str:
    """run.png, as a part of the page; nothing if the run has drawn none."""
    if not file.is_file():
        return ""
    data = base64.b64encode(file.read_bytes()).decode()
    return f'<img alt="Environments, motion and residuals" src="data:image/png;base64,{data}" />\n'


def _throughput(record: dict[str, Any]) -> str:
    """One column, and one for MuJoCo if the run has stepped it, too."""
    columns = {f"law {record['settings']['law']}": record}
    if "mujoco" in record:
        columns["MuJoCo's own law"] = record["mujoco"]
    numbers = [_numbers(column) for column in columns.values()]
    rows = ["<tr><th></th>" + "".join(f"<th>{escape(name)}</th>" for name in columns) + "</tr>"]
    for what in numbers[0]:
        cells = "".join(f'<td class="number">{column[what]}</td>' for column in numbers)
        rows.append(f"<tr><td>{what}</td>{cells}</tr>")
    hint = (
        ""
        if "mujoco" in record
        else "<p>MuJoCo beside it: <code>stickslip run --mujoco</code>.</p>\n"
    )
    return "<table>\n" + "\n".join(rows) + "\n</table>\n" + hint


def _numbers(record: dict[str, Any]) -> dict[str, str]:
    """What is told of a run under one law."""
    each = 1e6 * record["seconds"] / max(1, record["environments"] * record["steps"])
    return {
        "environments x steps": f"{record['environments']:,} x {record['steps']:,}",
        "environment steps per second": f"{record['env_steps_per_second']:,.0f}",
        "µs per environment and step": f"{each:.2f}",
        "contacts per environment, mean": f"{record['contacts_per_environment']['mean']:.1f}",
        "rows per environment, mean": f"{record['rows_per_environment']['mean']:.1f}",
        "not solved": f"{sum(record['status'].values()) - record['status']['solved']:,}",
    }


def _statuses(record: dict[str, Any]) -> str:
    total = max(1, sum(record["status"].values()))
    rows = []
    for name, count in record["status"].items():
        style = ' class="unsolved"' if count and name != "solved" else ""
        rows.append(
            f'<tr{style}><td>{escape(name)}</td><td class="number">{count:,}</td>'
            f'<td class="number">{100 * count / total:.3f} %</td></tr>'
        )
    return "<table>\n" + "\n".join(rows) + "\n</table>\n"


def _worst(file: Path, unit: str) -> str:
    if not file.is_file():
        return "<p>The law mujoco is MuJoCo's own solver: there are no problems to show.</p>\n"
    judged = filter(_has_verdict, read_isolated(file).problems)
    problems = sorted(judged, key=stored_residual, reverse=True)
    if not problems:
        return f"<p>{file.name} has no problem with a verdict.</p>\n"
    drawable = [p for p in problems if p.rows > 0]
    link = "data:application/x-hdf5;base64," + base64.b64encode(file.read_bytes()).decode()
    rows = [f"<tr><th>problem</th><th>status</th><th>residual, {unit}</th><th>rows</th></tr>"]
    for p in problems:
        rows.append(
            f"<tr><td>{escape(p.name)}</td><td>{escape(str(p.stored and p.stored.status))}</td>"
            f'<td class="number">{stored_residual(p):.1e}</td><td class="number">{p.rows}</td></tr>'
        )
    return (
        "<table>\n" + "\n".join(rows) + "\n</table>\n"
        f'<p>Their problems: <a id="problems" download="worst.h5" href="{link}">worst.h5</a> '
        "(<code>stickslip solve worst.h5</code> solves them again).</p>\n"
        + (_figure(_draw_problems, drawable) if drawable else "")
    )


def _has_verdict(problem: Problem) -> bool:
    """The values of a contact; the file may have been changed since the run."""
    stored = problem.stored
    return (
        isinstance(problem, ContactProblem) and stored is not None and stored.residual is not None
    )


def _figure(draw: Any, *arguments: Any) -> str:
    """The drawing of `draw(figure, ...)`, as SVG."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": draw.__name__}):
        figure = plt.figure(figsize=(10, 3.2), layout="constrained")
        draw(figure, *arguments)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
        plt.close(figure)
    return text.getvalue()[text.getvalue().index("<svg") :] + "\n"


def _draw_stages(figure: Any, record: dict[str, Any]) -> None:
    each = 1e6 / max(1, record["environments"] * record["steps"])
    stages = {name: each * seconds for name, seconds in record["stage_seconds"].items()}
    figure.set_size_inches(10, 2.4)
    axes = figure.add_subplot()
    bars = axes.barh(list(stages), list(stages.values()))
    axes.bar_label(bars, fmt="%.2f", padding=3)
    axes.invert_yaxis()
    axes.set(xlabel="µs per environment and step")


def _draw_residuals(figure: Any, timeline: Timeline, unit: str) -> None:
    axes = figure.add_subplot()
    steps = np.linspace(0, timeline.steps, len(timeline.residual), endpoint=False)
    for q, values in zip(QUANTILES, timeline.residual.T, strict=True):
        axes.step(steps, np.where(values > 0, values, np.nan), where="post", label=_name(q))
    axes.set(xlabel="step", ylabel=f"residual [{unit}]", yscale="log")
    axes.legend(fontsize=8)


def _name(quantile: float) -> str:
    return {0.5: "median", 1.0: "largest"}.get(quantile, f"{100 * quantile:g} %")


def _draw_status(figure: Any, timeline: Timeline) -> None:
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    axes = figure.add_subplot()
    axes.imshow(
        timeline.status,
        aspect="auto",
        interpolation="nearest",
        cmap=ListedColormap(list(_COLOURS.values())),
        vmin=-0.5,
        vmax=len(_COLOURS) - 0.5,
        extent=(0, timeline.steps, timeline.num_envs, 0),
    )
    axes.set(xlabel="step", ylabel="environment")
    patches = [Patch(color=colour, label=s.name) for s, colour in _COLOURS.items()]
    figure.legend(handles=patches, loc="outside right", fontsize=8)


def _draw_problems(figure: Any, problems: list[ContactProblem]) -> None:
    """log |W| of each."""
    for i, p in enumerate(problems):
        axes = figure.add_subplot(1, len(problems), i + 1)
        size = np.abs(p.W)
        with np.errstate(divide="ignore"):
            image = axes.imshow(np.log10(size), cmap="viridis")
        axes.set_title(printable(p.name), fontsize=8, parse_math=False)
        axes.tick_params(labelsize=7)
    figure.colorbar(image, ax=figure.axes, shrink=0.7, label="log10 |W|")
