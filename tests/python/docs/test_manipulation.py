"""docs/manipulation.md: its table is what examples/hold.py measures."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from stickslip import models

ROOT = Path(__file__).resolve().parents[3]
UNITS = {"mm": 1e-3, "µm": 1e-6, "nm": 1e-9, "s": 1.0}


def outcomes(text):
    """Of a table: row -> (what, number) for each column. Lengths in m, times in s."""
    found = {}
    for row, cells in re.findall(r"^\| (\w+, \d+ s) \|(.*)\|$", text, re.MULTILINE):
        each = re.findall(r"(moves|falls after) (?:less than )?([\d.]+) (\w+)", cells)
        found[row] = [(what, float(number) * UNITS[unit]) for what, number, unit in each]
        assert len(found[row]) == 3, row
    return found


@pytest.mark.skipif("panda" not in models.available(), reason="panda: its model is not installed")
def test_the_table_is_what_the_script_measures():
    """Numbers within a factor of two, for other processors."""
    call = [sys.executable, ROOT / "examples" / "hold.py"]
    ran = subprocess.run(call, capture_output=True, text=True, timeout=500, check=True)
    measured, shown = outcomes(ran.stdout), outcomes((ROOT / "docs/manipulation.md").read_text())
    assert list(shown) == list(measured) == ["cube, 20 s", "mug, 20 s"]
    for row, cells in shown.items():
        for (what, number), (truly, value) in zip(cells, measured[row], strict=True):
            assert what == truly, row
            assert value / 2 <= number <= 2 * value, row
        ours, default, best = (number for _, number in measured[row])
        assert ours <= 1e-9 < 1e-7 < best < default
    assert "not solved: 0." in ran.stdout
