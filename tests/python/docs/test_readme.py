"""README.md is correct: its examples run, and its table is what examples/creep.py measures."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stickslip import models

ROOT = Path(__file__).resolve().parents[3]
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


LENGTHS = {"mm": 1e-3, "µm": 1e-6, "nm": 1e-9}


def outcomes(text):
    """Of a table: row -> (law or rival, what, number) for each column. Lengths in m, times in s."""
    found = {}
    for line in re.findall(r"^\| (.+, \d+ s) \|(.*)\|$", text, re.MULTILINE):
        cells = re.findall(r"(slides|moves|topples after) (?:less than )?([\d.]+) (\w+)", line[1])
        assert len(cells) == 3, line
        found[line[0]] = [(what, float(n) * LENGTHS.get(unit, 1.0)) for what, n, unit in cells]
    return found


def test_the_table_is_what_the_script_measures():
    """The names of rows and outcomes are equal; numbers within a factor of two, for other
    processors: MuJoCo's topples are sensitive to rounding."""
    call = [sys.executable, ROOT / "examples" / "creep.py"]
    ran = subprocess.run(call, capture_output=True, text=True, timeout=300, check=True)
    measured, shown = outcomes(ran.stdout), outcomes(README)
    assert len(shown) == 4
    assert shown.keys() == measured.keys()
    for row, cells in shown.items():
        for (what, number), (truly, value) in zip(cells, measured[row], strict=True):
            assert what == truly, row
            assert value / 2 <= number <= 2 * value, row
    unsolved = re.search(r"not solved: (\d+) of ([\d,]+)\.", ran.stdout)
    assert f"{unsolved[1]} of the {unsolved[2]} steps" in README
    slope = next(iter(measured.values()))
    assert slope[0][1] < 1e-8
    assert slope[1][1] > 1e-2


def test_the_pictures_are_small():
    pictures = re.findall(r"\]\(([^)]+\.gif)\)", README)
    assert len(pictures) == 2
    assert sum((ROOT / picture).stat().st_size for picture in pictures) < 1.5e6


def test_examples_are_found_from_any_folder(tmp_path):
    """The examples do not depend on the current folder."""
    code = blocks("python")[0]
    environment = {k: v for k, v in os.environ.items() if k != "PWD"}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
