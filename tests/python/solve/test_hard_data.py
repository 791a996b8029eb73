"""Solvable problems from adversarial tests that were called unsolvable, or left unsolved
(tests/data/README.md)."""

from pathlib import Path

import pytest

import stickslip
from stickslip import Status, files
from stickslip.files import judge

HARD = files.read(Path(__file__).resolve().parents[2] / "data" / "hard.h5")
UNSOLVED = {"mu1e3_pyramid"}


@pytest.mark.parametrize("problem", HARD.problems, ids=lambda problem: problem.name)
def test_what_has_a_solution_is_solved(problem):
    status = stickslip.solve(**problem.arguments, law=problem.law).status
    assert status == (Status.not_converged if problem.name in UNSOLVED else Status.solved)


def test_stored_solutions_are_solutions():
    assert [check.solved for check in judge.check(HARD)] == [True] * 9
