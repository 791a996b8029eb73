"""bench/compare ended by Ctrl-C, and with solvers that hang or crash."""

import json
import signal
import subprocess
import sys
import time

import pytest
from comparisons import PROBLEMS, ROOT, compiled, sticking


@pytest.fixture
def file(tmp_path):
    return sticking(tmp_path)


@pytest.fixture(scope="module")
def hanging(tmp_path_factory):
    return compiled("hanging", tmp_path_factory.mktemp("peers"))


def start(out, *arguments):
    """A comparison in another process."""
    command = [sys.executable, ROOT / "bench/compare", "--out", out, *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([str(each) for each in command], **pipes)


def interrupted(file, peer, at, out, monkeypatch):
    """Ctrl-C while the peer is stuck in C++ code at a problem: messages, and seconds to the end."""
    stuck = out / "stuck"
    monkeypatch.setenv("STICKSLIP_COMPARE", str(peer))
    monkeypatch.setenv("HANGS_AT", str(at))
    monkeypatch.setenv("HANGS_NOW", str(stuck))
    process = start(out, file, "--rounds", 1)
    deadline = time.monotonic() + 100
    while not stuck.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.5)  # the results of the problems before have arrived
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130, messages
    assert "Traceback" not in messages
    return messages, time.monotonic() - sent


def test_ctrl_c_keeps_the_problems_that_were_done(file, hanging, tmp_path, monkeypatch):
    messages, took = interrupted(file, hanging, 3, tmp_path, monkeypatch)
    assert messages.endswith(f"stickslip: interrupted after 2 of {PROBLEMS} problems\n")
    report = json.loads((tmp_path / "compare.json").read_text())
    assert report["interrupted"]
    assert report["problems"] == ["sticking/0", "sticking/1"]
    assert [row["problems"] for row in report["results"] if row["solver"] == "hanging"] == [2]
    assert (tmp_path / "compare.png").exists()
    assert took < 20  # with the picture, on a busy machine


def test_ctrl_c_ends_a_comparison_at_once(file, hanging, tmp_path, monkeypatch):
    """Before the first problem is done there is nothing to draw."""
    messages, took = interrupted(file, hanging, 1, tmp_path, monkeypatch)
    assert took < 2.0
    assert messages.endswith(
        "stickslip: interrupted before the first problem was done: nothing is written\n"
    )
    assert not list(tmp_path.glob("compare.*"))


def test_a_solver_that_crashes_is_named_with_its_problem(file, hanging, tmp_path, monkeypatch):
    monkeypatch.setenv("STICKSLIP_COMPARE", str(hanging))
    monkeypatch.setenv("HANGS_AT", "3")
    process = start(tmp_path, file, "--rounds", 1)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "stickslip: sticking/2: the process ended with exit code -6\n" in messages
