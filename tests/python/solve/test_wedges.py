"""A tilted cube that two flat pads squeeze and lift (Grasp-v0 in training): 8 contacts, rank 7,
hardly any contact moves. Random starts did not solve these with the budget of a simulation; the
interior point does."""

from pathlib import Path

import numpy as np
import pytest

import stickslip
from stickslip import SolveOptions, files

WEDGES = files.read(Path(__file__).parents[1] / "data" / "wedges.h5").problems


def as_given(wedge):
    return wedge.W, wedge.b


def reversed_contacts(wedge):
    rows = np.arange(len(wedge.b)).reshape(-1, 3)[::-1].ravel()
    return wedge.W[np.ix_(rows, rows)], wedge.b[rows]


def mirrored(wedge):
    """The first tangents point the other way."""
    sign = np.tile([1.0, -1.0, 1.0], len(wedge.dims))
    return sign[:, None] * wedge.W * sign, sign * wedge.b


def heavier(wedge):
    return wedge.W / 1000, wedge.b


@pytest.mark.parametrize("wedge", WEDGES, ids=lambda wedge: wedge.name)
@pytest.mark.parametrize("posed", [reversed_contacts, mirrored, heavier, as_given])
def test_wedges_are_solved_with_the_budget_of_a_simulation(wedge, posed):
    W, b = posed(wedge)
    options = SolveOptions(thorough=False)
    solution = stickslip.solve(W, b, wedge.mu, dims=wedge.dims, options=options)
    assert solution.status == stickslip.Status.solved
    assert solution.rung <= 1
    residual = stickslip.residual(W, b, wedge.mu, solution.impulse, dims=wedge.dims)
    assert residual <= 1e-9 * (1 + abs(b).max())
