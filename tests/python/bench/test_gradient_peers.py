"""bench/run_gradient_peers.py: its scenes with this library, and what its table says of results."""

import importlib
import json
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench"


@pytest.fixture
def module(monkeypatch):
    """The modules of the benchmark."""
    monkeypatch.syspath_prepend(BENCH)
    monkeypatch.syspath_prepend(BENCH / "gradient_peers")
    return importlib.import_module


@pytest.mark.parametrize("kind", ["coulomb", "coulomb, R_n", "convex"])
def test_derivatives_that_are_valid_are_those_of_differences(module, capsys, kind, monkeypatch):
    scenes, ours = module("scenes"), module("stickslip_peer")
    monkeypatch.setattr(scenes, "seconds", lambda call: 0.0)
    scenes.study(kind, "", lambda scene, x: ours.run(scene, x, kind),
                 lambda scene, x, output: ours.derive(scene, x, output, kind))  # fmt: skip
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == sum(len(scene.asked) for scene in scenes.SCENES.values())
    assert {row["says"] for row in rows if row["scene"] == "slides"} == {"valid"}
    error = module("tables_gradients").error
    for row in rows:
        if row["says"] == "valid":
            assert error(row) < 1e-3, row


def row(value, numeric=(1.0, 1.0), says=""):
    return {"value": value, "numeric": list(numeric), "says": says}


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([row(1.0), row(1.1)], "1e-01"),
        ([row(1.0), row(None)], "NaN"),
        ([row(1e-15, (0.0, 1e-13), "kink")], "0 kink"),
        ([row(1.0, (1.0, 2.0))], "1 undecided"),
        ([row(1.0, (1.0, 2.0)), row(1.5, says="valid")], "5e-01 1 undecided valid"),
        ([{"refused": "no derivative by this input"}], "–"),
    ],
)
def test_cells_of_the_table(module, rows, text):
    assert module("tables_gradients").scene(rows) == text


def test_peers_that_are_not_installed_are_named(module, capsys, monkeypatch):
    runner = module("run_gradient_peers")
    monkeypatch.setitem(runner.PEERS, "nothing", "no_such_module")
    assert runner.results("nothing", sys.executable) == [{"program": "nothing", "missing": True}]
    assert "not installed" in capsys.readouterr().out
