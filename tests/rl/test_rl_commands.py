"""The commands `train` and `play`, as separate processes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import imageio.v3 as imageio
import numpy as np
import pytest

from stickslip.cli.view import Replay
from stickslip.rl.log import curve
from stickslip.rl.play import play


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "stickslip.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def hopper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("rl") / "hopper"
    ran = run("train", "Hopper-v5", "--out", out, "--steps", "8192", "--envs", "32")
    assert ran.returncode == 0, ran.stderr
    (out / "printed.txt").write_text(ran.stdout)
    return out


# imageio closes the pipes of its ffmpeg only by garbage collection.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_play_tells_returns_by_law_and_films(hopper: Path) -> None:
    film = hopper / "film.mp4"
    laws = ("--law", "coulomb", "--law", "mujoco")
    ran = run("play", hopper, "--envs", "4", *laws, "--video", film)
    assert ran.returncode == 0, ran.stderr
    assert "coulomb" in ran.stdout
    assert "mujoco" in ran.stdout
    printed = "".join(ran.stdout.split())  # whose lines the console may break
    for law in ("coulomb", "mujoco"):
        made = film.with_stem(f"film-{law}")
        frames = imageio.imread(made)
        assert f"wrote{made}:{len(frames)}frames" in printed
        assert frames.shape[1:] == (480, 640, 3)
        assert frames.std() > 10  # the picture is not uniform


# As above.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_one_law_is_filmed_where_it_was_asked(hopper: Path, tmp_path: Path) -> None:
    film = tmp_path / "new" / "film.gif"
    ran = run("play", hopper, "--envs", "2", "--law", "convex", "--video", film)
    assert ran.returncode == 0, ran.stderr
    assert imageio.imread(film).shape[1:] == (480, 640, 3)


def test_view_replays_a_policy(hopper: Path) -> None:
    """As it would be played, at its own pace."""
    replay = Replay(hopper, 3, 1, law="convex", threads=1)
    assert replay.sim.law == "convex"
    assert replay.model.opt.timestep == pytest.approx(4 * replay.sim.timestep)
    episodes = play(hopper, 3, 1, law="convex", threads=1)
    start = replay.sim.qpos.copy()
    for _ in range(int(episodes.lengths[0])):
        replay.step()
    last = replay.sim.qpos[0].copy()
    replay.step()  # begins again
    assert last[1] != replay.sim.qpos[0, 1]
    replay.reset()
    np.testing.assert_array_equal(replay.sim.qpos, start)


def test_the_networks_get_one_thread_unless_told_otherwise() -> None:
    program = """
from stickslip.cli.training import import_rl
import_rl("runs")
import torch
print(torch.get_num_threads())
"""
    plain = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
    for told, threads in (({}, "1"), ({"OMP_NUM_THREADS": "2"}, "2")):
        ran = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=plain | told
        )
        assert ran.stdout.strip() == threads, ran.stderr


@pytest.mark.parametrize(("asked", "made"), [(300, "320"), (3000, "4,096")])
def test_at_least_the_steps_that_were_asked_for_are_made(
    asked: int, made: str, tmp_path: Path
) -> None:
    """An update is of 2048 steps, or shorter if fewer are asked for."""
    ran = run("train", "Hopper-v5", "--out", tmp_path, "--envs", "32", "--steps", str(asked))
    assert ran.returncode == 0, ran.stderr
    assert f"{tmp_path}: {made} steps" in ran.stdout


def test_numbers_are_logged(hopper: Path) -> None:
    rows = curve(hopper)
    assert len(rows) == 8192 // (32 * 64)
    assert rows[-1]["return"] > 0
    assert all(-16 <= row["log10_residual"] < -6 for row in rows)


def test_the_last_lines_name_the_run_and_how_to_see_it(hopper: Path) -> None:
    last = (hopper / "printed.txt").read_text().strip().splitlines()[-2:]
    assert last[0].startswith(f"{hopper}: 8,192 steps, return ")
    assert last[1] == f"see it with: stickslip play {hopper} --video {hopper}.mp4"


LINE = r"[0-9,]+ steps, (return [-0-9.]+|no episode ended yet), unsolved 0 %, [0-9,]+ steps/s"


def test_a_line_tells_of_some_updates(tmp_path: Path) -> None:
    """Of the first, each tenth more, and the last."""
    out = tmp_path / "run"
    ran = run("train", "Hopper-v5", "--out", out, "--envs", "16", "--steps", str(13 * 1024))
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert len(lines) == 3 + 2  # and how it ended
    assert [line.split()[0] for line in lines[:3]] == ["1,024", "11,264", "13,312"]
    for line in lines[:3]:
        assert re.fullmatch(LINE, line)
    assert not (out / "git").exists()


def test_all_numbers_are_told_if_asked_for(tmp_path: Path) -> None:
    out = tmp_path / "run"
    sizes = ("--envs", "16", "--steps", "1024")
    ran = run("train", "Hopper-v5", "--out", out, *sizes, "--verbose")
    assert ran.returncode == 0, ran.stderr
    assert "Learning iteration 0/1" in ran.stdout
    assert float(re.search(r"contacts/log10_residual: ([-0-9.]+)", ran.stdout)[1]) < -6
    assert "git" not in ran.stdout


def test_a_module_that_is_not_found_is_named(hopper: Path, tmp_path: Path) -> None:
    settings = json.loads((hopper / "settings.json").read_text())
    settings["env"] = "pusher:own/Pusher-v0"
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    new = tmp_path / "new"
    missing = "no module pusher: put its folder on PYTHONPATH"
    for arguments, message in (
        (("train", "pusher:own/Pusher-v0", "--out", new), missing),
        (("play", tmp_path), missing),
        (("view", tmp_path, "--no-browser", "--port", "8973"), missing),
        (("train", "own/Pusher-v0", "--out", new), "write MODULE:own/Pusher-v0"),
        (("train", "json:own/Pusher-v0", "--out", new), "json registers no environment of"),
        (("train", "./pusher:own/Pusher-v0", "--out", new), "expected MODULE:ID"),
    ):
        ran = run(*arguments)
        assert ran.returncode == 2, ran.stderr
        assert message in ran.stderr
        assert len(ran.stderr.strip().splitlines()) == 1
    assert not new.exists()


def test_a_run_is_saved_by_ctrl_c_and_resumed(tmp_path: Path) -> None:
    out = tmp_path / "hopper"
    train = ("train", "Hopper-v5", "--out", out, "--envs", "32")
    command = [sys.executable, "-m", "stickslip.cli", *map(str, train)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (out / "model_0.pt").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    told, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert f"stickslip train Hopper-v5 --out {out} --resume" in told

    before = len(curve(out))
    assert 0 < before < 5_000_000 // 2048
    steps = (before + 1) * 2048
    ran = run("train", "Hopper-v5", "--out", out, "--resume", "--steps", str(steps))
    assert ran.returncode == 0, ran.stderr
    assert f"{out}: {steps:,} steps" in ran.stdout
    assert [row["update"] for row in curve(out)] == list(range(before + 1))
    for arguments, message in (
        (("Ant-v5",), "is a run of stickslip/Hopper-v5, not of stickslip/Ant-v5"),
        (("Hopper-v5", "--law", "convex"), "--law: the run in --out has this setting"),
        (("Hopper-v5", "--steps", "100"), f"--steps: the run has {steps:,} already"),
    ):
        ran = run("train", *arguments, "--out", out, "--resume")
        assert ran.returncode == 2
        assert message in ran.stderr
    (out / "model_99999.pt").write_text("junk")
    ran = run("train", "Hopper-v5", "--out", out, "--resume")
    assert ran.returncode == 2
    assert "the checkpoint cannot be read" in ran.stderr


def test_misuse_is_told(hopper: Path, tmp_path: Path) -> None:
    for arguments, message in (
        (("train", "Hopper-v5", "--out", hopper), "has a run already"),
        (("train", "Hoper-v5", "--out", tmp_path), "Hoper"),
        (("train", "Hopper-v5", "--out", tmp_path, "--resume"), "has no run"),
        (("play", tmp_path), "has no run"),
        (("play", hopper, "--video", "film.avi"), "--video: expected a file .mp4 or .gif"),
    ):
        ran = run(*arguments)
        assert ran.returncode == 2
        assert message in ran.stderr
        assert len(ran.stderr.strip().splitlines()) == 1
