"""docs/tutorial.md and training.md: their commands and examples run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_tutorials_robot_is_trained_and_played(tmp_path: Path) -> None:
    text = (DOCS / "tutorial.md").read_text()
    for name, contents in re.findall(r"Save as `([^`]+)`:\n\n```\w+\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).write_text(contents)
    train, play = re.findall(r"^stickslip (.*)$", text, re.MULTILINE)
    for command in (train.replace("--steps 1000000", "--steps 8192"), play):
        call = [sys.executable, "-m", "stickslip.cli", *command.split()]
        environment = os.environ | {"PYTHONPATH": "."}
        ran = subprocess.run(call, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "crawler-coulomb.mp4").exists()


def test_the_examples_of_the_page_on_training_run() -> None:
    pytest.importorskip("rsl_rl")
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "training.md").read_text(), re.DOTALL)
    assert blocks
    exec(compile("\n".join(blocks), "training.md", "exec"), {})
