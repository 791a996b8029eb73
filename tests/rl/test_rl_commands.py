"""The commands `train` and `play`, as separate processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import imageio.v3 as imageio
import pytest


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "stickslip.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def hopper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("rl") / "hopper"
    ran = run("train", "Hopper-v5", "--out", out, "--steps", "8192", "--envs", "32")
    assert ran.returncode == 0, ran.stderr
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
    for law in ("coulomb", "mujoco"):
        frames = imageio.imread(film.with_stem(f"film-{law}"))
        assert frames.shape[1:] == (480, 640, 3)
        assert frames.std() > 10  # the picture is not uniform


def test_numbers_are_logged(hopper: Path) -> None:
    lines = [json.loads(line) for line in (hopper / "progress.jsonl").read_text().splitlines()]
    assert lines[-1]["steps"] == 8192
    assert lines[-1]["return"] > 0
    assert 0 < lines[-1]["largest_residual"] < 1e-6


def test_misuse_is_told(hopper: Path, tmp_path: Path) -> None:
    for arguments, message in (
        (("train", "Hopper-v5", "--out", hopper), "has a run already"),
        (("train", "Hoper-v5", "--out", tmp_path), "Hoper"),
        (("play", tmp_path), "no policy.pt there"),
    ):
        ran = run(*arguments)
        assert ran.returncode == 2
        assert message in ran.stderr
        assert len(ran.stderr.strip().splitlines()) == 1
