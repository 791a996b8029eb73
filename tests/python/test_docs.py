"""docs/{python,files,environments}.md: their examples run. Tables equal those of the reports."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("page", "examples"), [("python.md", 4), ("files.md", 2), ("environments.md", 5)]
)
def test_the_examples_of_the_pages_for_python_run(page, examples, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    models = pytest.importorskip("stickslip.models")
    if "hopper" not in models.available():
        pytest.skip("gymnasium's models are not installed")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(), re.S)
    assert len(blocks) >= examples
    exec(compile("\n".join(blocks), page, "exec"), {})


@pytest.fixture
def tables(monkeypatch):
    """bench/tables.py as a module."""
    monkeypatch.syspath_prepend(ROOT / "bench")
    spec = importlib.util.spec_from_file_location("tables", ROOT / "bench" / "tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tables_are_those_of_the_reports():
    check = [sys.executable, ROOT / "bench" / "tables.py", "--check"]
    found = subprocess.run(check, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("amd-epyc/delassus plain", "delassus/tower/p:8"),
        ("nowhere/delassus plain", "Not measured yet."),
    ],
)
def test_a_table_is_written_where_the_page_says(tables, place, expected):
    page = f"before\n<!-- table: {place} -->\n\nstale\n<!-- end -->\nafter"
    text = tables.BLOCK.sub(tables.block, page)
    assert expected in text
    assert "stale" not in text
    assert text.startswith("before\n<!-- table")
    assert text.endswith("\n<!-- end -->\nafter")
