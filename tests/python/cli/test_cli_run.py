"""`stickslip run` without a picture and ended by Ctrl-C; `stickslip --version`."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sim_models import FALLING
from typer.testing import CliRunner

import stickslip
from stickslip._src import stage
from stickslip._src.picture import shots_of
from stickslip._src.timeline import Timeline
from stickslip.cli import app

PROGRAMS = {
    "script": [str(Path(sys.executable).with_name("stickslip"))],
    "module": [sys.executable, "-m", "stickslip.cli"],
    "package": [sys.executable, "-m", "stickslip"],
}
RUN = [*PROGRAMS["module"], "run"]


def test_version():
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.stdout) == (0, f"stickslip {stickslip.__version__}\n")


def test_a_run_without_a_picture(tmp_path):
    model = tmp_path / "box.xml"
    model.write_text(FALLING)
    arguments = ["run", str(model), "--envs", "2", "--steps", "3", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, [*arguments, "--no-picture"])
    assert result.exit_code == 0, result.output
    assert not (tmp_path / "out/run.png").exists()
    numbers = json.loads((tmp_path / "out/run.json").read_text())
    assert numbers["picture"] is None
    assert not numbers["interrupted"]
    assert CliRunner().invoke(app, ["report", str(tmp_path / "out")]).exit_code == 0


def test_ctrl_c_writes_the_steps_that_were_made(tmp_path):
    model, out = tmp_path / "box.xml", tmp_path / "out"
    model.write_text(FALLING)
    arguments = [str(model), "--envs", "4", "--steps", "100000000", "--out", str(out)]
    process = subprocess.Popen(
        [*RUN, *arguments, "--no-picture"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    while not out.exists():  # made before the first step
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.05)
    time.sleep(1.0)
    start = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    _, messages = process.communicate(timeout=20)
    assert time.monotonic() - start < 10
    assert process.returncode == 130, messages
    numbers = json.loads((out / "run.json").read_text())
    assert numbers["interrupted"]
    assert 0 < numbers["steps"] < 100000000
    assert sum(numbers["status"].values()) == 4 * numbers["steps"]
    assert f"interrupted after {numbers['steps']} of 100000000 steps" in messages
    timeline = Timeline.load(out / "timeline.npz")
    assert timeline.steps == numbers["steps"]


def test_a_timeline_that_ends_early_has_only_its_steps():
    timeline = Timeline(3, 2000)
    for step in range(501):
        timeline.add(step, np.array([0, 1, 0]), np.array([1e-9, 1.0, np.inf]))
    timeline.end(501)
    assert timeline.steps == 501
    assert timeline.status.shape == (3, 251)
    assert (timeline.status[1] == 1).all()
    assert (timeline.residual[:, 2] == 1.0).all()


def test_a_picture_shows_four_images_and_none_twice():
    film = [np.full((8, 7), float(step)) for step in range(200)]
    shots = shots_of(film, 4)
    assert list(shots) == [
        "environment 0, 0 %",
        "environment 0, 100 %",
        "environment 3, at the end",
        "environment 7, at the end",
    ]
    assert [qpos[0] for qpos in shots.values()] == [0, 199, 199, 199]
    assert len(shots_of(film, 8)) == 8
    assert list(shots_of([qpos[:1] for qpos in film[:1]], 8)) == ["environment 0, 0 %"]
    assert shots_of(film, 0) == shots_of([], 4) == {}


def test_a_picture_without_images(tmp_path):
    model = tmp_path / "box.xml"
    model.write_text(FALLING)
    arguments = ["run", str(model), "--envs", "2", "--steps", "3", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, [*arguments, "--frames", "0"])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out/run.png").exists()
    assert not json.loads((tmp_path / "out/run.json").read_text())["picture"]["rendered"]


INTERRUPTS = """
import os, signal, sys

class Finder:
    def find_spec(name, path=None, target=None):
        if name == os.environ["INTERRUPT_AT"]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder)
"""


@pytest.mark.parametrize("program", PROGRAMS)
def test_ctrl_c_while_a_command_starts_prints_one_line(program, tmp_path):
    """From the package's first import on, with SIGINT when a module is imported."""
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTS)
    places = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(tmp_path)]))
    ours = ("stickslip._core", "stickslip._src.bound", "stickslip.cli.report")
    for name in (*ours, "numpy", "typer"):
        process = subprocess.run(
            [*PROGRAMS[program], "info"],
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": places, "INTERRUPT_AT": name},
        )
        assert process.stderr == "stickslip: interrupted\n", (name, process.stderr)
        assert process.returncode in (130, -signal.SIGINT)


def test_ctrl_c_in_a_command_prints_one_line(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("stickslip.info.facts", interrupted)
    result = CliRunner().invoke(app, ["info"])
    assert (result.exit_code, result.stderr) == (130, "stickslip: interrupted\n")


@pytest.mark.parametrize(
    ("installed", "chosen"),
    [("EGL", "disable"), ("GL", "disable"), ("EGL OpenGL", "egl"), ("EGL GL", "egl")],
)
def test_pictures_need_egl_and_the_functions_of_opengl(monkeypatch, installed, chosen):
    environment: dict[str, str] = {}
    monkeypatch.delitem(sys.modules, "mujoco.rendering.classic.gl_context", raising=False)
    monkeypatch.setattr(os, "environ", environment)
    monkeypatch.setattr(stage, "find_library", {n: n for n in installed.split()}.get)
    stage.choose_opengl()
    assert environment == {"MUJOCO_GL": chosen}
