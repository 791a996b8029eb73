"""README.md is correct: its examples run, and its table is that of the code."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stickslip import info, models

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_two_commands_come_first():
    first = blocks("sh")[0].splitlines()
    assert [line.split("#")[0].strip() for line in first] == ["make demo", "make test"]


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_python_examples_run(number):
    code = blocks("python")[number]
    if "ant" in re.findall(r'models.find\("(\w+)"\)', code) and "ant" not in models.available():
        pytest.skip("ant: gymnasium is not installed")
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout


def test_python_example_shows_that_all_are_solved():
    code = blocks("python")[0]
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("Solution(8 environments: 8 solved; worst residual")


def test_cpp_example_is_the_one_that_is_compiled_and_run():
    assert blocks("cpp") == [(ROOT / "examples" / "quickstart.cpp").read_text()]


def test_table_is_the_codes():
    tables = re.findall(r"(?:^\|.*\|\n)+", README, re.MULTILINE)
    assert tables == [info.support_markdown() + "\n"]


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


def test_examples_are_found_from_any_folder(tmp_path):
    """The examples do not depend on the current folder."""
    code = blocks("python")[0]
    environment = {k: v for k, v in os.environ.items() if k != "PWD"}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
