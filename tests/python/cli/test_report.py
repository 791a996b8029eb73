"""The data that a run stores for its report: failures with times, and the worst problems."""

from __future__ import annotations

import base64
import dataclasses
import html
import json

import numpy as np
import pytest
from command_line import call
from sim_models import stack

from stickslip import BatchSim, SolveOptions, Status, files
from stickslip._src.run import Controller, WorstProblems, simulate
from stickslip._src.timeline import QUANTILES, Timeline


@pytest.mark.parametrize(("envs", "steps"), [(3, 5), (1000, 7), (10, 2500), (700, 1300)])
def test_no_failure_and_no_residual_is_lost_in_the_timeline(envs, steps, tmp_path):
    rng = np.random.default_rng(envs)
    status = np.where(rng.random((steps, envs)) < 1e-3, rng.integers(1, 5, (steps, envs)), 0)
    residual = 10.0 ** rng.uniform(-14, -9, (steps, envs))
    residual[rng.random((steps, envs)) < 1e-3] = np.inf
    timeline = Timeline(envs, steps)
    for step in range(steps):
        timeline.add(step, status[step], residual[step])
    rows, columns = timeline.status.shape
    assert rows <= 256
    assert columns <= 1000
    expected = np.zeros_like(timeline.status)
    largest = np.zeros(columns)
    groups = np.searchsorted(np.arange(rows) * envs // rows, np.arange(envs), side="right") - 1
    for step in range(steps):
        column = step * columns // steps
        for env in np.flatnonzero(status[step]):
            cell = groups[env], column
            expected[cell] = max(expected[cell], status[step, env])
        finite = residual[step][np.isfinite(residual[step])]
        largest[column] = max(largest[column], finite.max(initial=0.0))
    np.testing.assert_array_equal(timeline.status, expected)
    np.testing.assert_array_equal(timeline.residual[:, QUANTILES.index(1.0)], largest)
    timeline.save(tmp_path / "timeline.npz")
    again = Timeline.load(tmp_path / "timeline.npz")
    np.testing.assert_array_equal(again.status, timeline.status)
    np.testing.assert_array_equal(again.residual, timeline.residual)
    assert (again.num_envs, again.steps) == (envs, steps)


def test_worst_problems_are_those_of_the_largest_residuals():
    sim = BatchSim(stack(3), 8, law="coulomb", options=SolveOptions())
    sim.qvel[:, 0] = np.linspace(0.1, 0.8, 8)
    worst, largest = WorstProblems(sim, most=3), np.zeros(8)

    def on_step(record):
        worst(record)
        env = int(np.argmax(sim.residual))
        largest[env] = max(largest[env], sim.residual[env])

    simulate(sim, Controller(sim_model(), 8, "zero", 0), 60, on_step)
    found = worst.problems
    assert [p.stored.residual for p in found] == sorted(largest, reverse=True)[:3]
    assert len({p.name.split("_")[0] for p in found}) == 3
    assert all(p.stored.status == Status.solved.name for p in found)


def sim_model():
    import mujoco

    return mujoco.MjModel.from_xml_string(stack(3))


def test_a_strangers_run_is_only_text(tmp_path):
    """In names and statuses of its problems, and of a model."""
    model = tmp_path / "[bold]box\x1b[31m$_{$.xml"
    model.write_text(stack(2))
    shown = call("run", model, "--envs", 2, "--steps", 5, "--out", tmp_path / "run")
    assert shown.exit_code == 0, shown.output
    assert "\x1b" not in shown.output
    assert r"[bold]box\x1b[31m" in shown.output
    (problem, *_) = files.read(tmp_path / "run" / "worst.h5").problems
    script = "<script>alert(1)</script>"
    stored = dataclasses.replace(problem.stored, status=script)
    some = [
        dataclasses.replace(problem, name=r"$\bad{$ <b> \x1b[31m", stored=stored),
        dataclasses.replace(problem, name="silent", stored=None),
        files.ComplementarityProblem("lcp", np.eye(2), np.ones(2)),
    ]
    files.write(tmp_path / "run" / "worst.h5", some)
    assert call("report", tmp_path / "run").exit_code == 0
    page = (tmp_path / "run" / "report.html").read_text()
    assert script not in page
    assert script.replace("<", "&lt;").replace(">", "&gt;") in page
    assert "silent" not in page
    files.write(tmp_path / "run" / "worst.h5", some[1:])
    assert call("report", tmp_path / "run").exit_code == 0


def reported(tmp_path, *options):
    """The page of a run of two boxes."""
    model = tmp_path / "boxes.xml"
    model.write_text(stack(2))
    run = call("run", model, "--envs", 2, "--steps", 5, "--out", tmp_path / "run", *options)
    assert run.exit_code == 0, run.output
    assert call("report", tmp_path / "run").exit_code == 0
    return (tmp_path / "run" / "report.html").read_text()


def test_a_report_has_the_runs_picture(tmp_path):
    page = reported(tmp_path)
    picture = base64.b64encode((tmp_path / "run" / "run.png").read_bytes()).decode()
    assert f'src="data:image/png;base64,{picture}"' in page
    (tmp_path / "run" / "run.png").unlink()
    assert call("report", tmp_path / "run").exit_code == 0
    page = (tmp_path / "run" / "report.html").read_text()
    assert "<img" not in page
    assert "<h2>picture" not in page


def test_a_report_compares_with_mujoco_if_the_run_has_stepped_it(tmp_path):
    assert "MuJoCo's own law" not in html.unescape(reported(tmp_path, "--no-picture"))
    page = html.unescape(reported(tmp_path, "--no-picture", "--mujoco"))
    (head,) = (line for line in page.splitlines() if "<th>law coulomb</th>" in line)
    assert "<th>MuJoCo's own law</th>" in head
    (row,) = (line for line in page.splitlines() if "environments x steps" in line)
    assert row.count('<td class="number">2 x 5</td>') == 2
    other = json.loads((tmp_path / "run" / "run.json").read_text())["mujoco"]
    assert other["status"]["solved"] == 10
    assert other["stage_seconds"]["solve"] == 0.0, "MuJoCo's own solver, not this package's"
