"""examples/*.ipynb: they run as an installed package runs them, and are stored without results."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def cells(notebook, kind):
    found = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in found if cell["cell_type"] == kind]


def run(notebook, folder, *arguments):
    """The cells, from any folder, with warnings as errors."""
    script = ROOT / "scripts/run_notebook.py"
    call = [sys.executable, "-W", "error", script, notebook, *arguments]
    return subprocess.run(call, cwd=folder, capture_output=True, text=True, timeout=120)


def test_there_is_one_for_newcomers():
    assert "first_batch.ipynb" in [notebook.name for notebook in NOTEBOOKS]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_the_cells_run(notebook, tmp_path):
    ran = run(notebook, tmp_path, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "solved" in ran.stdout
    assert "bad_input" in ran.stdout
    (picture,) = tmp_path.iterdir()
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_it_is_stored_as_written(notebook):
    """Format 4.5, every cell with a name, and no results, which differ by machine."""
    stored = json.loads(notebook.read_text(encoding="utf-8"))
    assert (stored["nbformat"], stored["nbformat_minor"]) == (4, 5)
    assert stored["metadata"]["kernelspec"]["name"] == "python3"
    names = [cell["id"] for cell in stored["cells"]]
    assert len(set(names)) == len(names)
    for cell in cells(notebook, "code"):
        assert (cell["outputs"], cell["execution_count"]) == ([], None)
        assert not re.search(r"^[%!]", "".join(cell["source"]), re.MULTILINE)  # plain Python


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_its_links_lead_somewhere(notebook):
    text = "\n".join("".join(cell["source"]) for cell in cells(notebook, "markdown"))
    targets = re.findall(r"\]\(([^)#:]+)[^)]*\)", text)
    assert targets
    for target in targets:
        assert (notebook.parent / target).exists(), target


def test_an_error_names_its_cell(tmp_path):
    cell = {"cell_type": "code", "id": "broken", "source": ["x = 1\n", "x / 0"]}
    (tmp_path / "wrong.ipynb").write_text(json.dumps({"cells": [cell]}))
    ran = run(tmp_path / "wrong.ipynb", tmp_path)
    assert ran.returncode != 0
    assert 'File "wrong.ipynb: broken", line 2' in ran.stderr
