"""Piles of 27 to 50 bodies in a bin: the interior point solves what Newton cannot; the
continuation, on those called `turning`, what the interior point cannot; the proximal term of its
last steps, on those called `proximal`, what the continuation without it cannot; and last steps that
identify states by velocities, on those called `velocities`, what those with 100 rho cannot.

`python bench/run_piles.py --record FILE.h5` records such problems; those called by a number alone
are from an earlier version of the time step."""

from pathlib import Path

import pytest

import stickslip
from stickslip import SolveOptions, files

PILES = files.read(Path(__file__).parents[1] / "data" / "piles.h5").problems


def solve(pile, **options):
    return stickslip.solve(pile.W, pile.b, pile.mu, dims=pile.dims, options=SolveOptions(**options))


@pytest.mark.parametrize("pile", PILES, ids=lambda pile: pile.name)
def test_piles_are_solved(pile):
    first = solve(pile, max_rung=0)
    assert first.status == stickslip.Status.not_converged, "too easy to show anything"
    solution = solve(pile)
    assert solution.status == stickslip.Status.solved
    assert solution.rung == 1
    residual = stickslip.residual(pile.W, pile.b, pile.mu, solution.impulse, dims=pile.dims)
    assert residual <= 1e-9 * (1 + abs(pile.b).max())


@pytest.mark.parametrize("max_newton", [18, 24, 30])
@pytest.mark.parametrize(
    "pile", [p for p in PILES if "turning" in p.name], ids=lambda pile: pile.name
)
def test_few_factorisations_suffice_around_turning_points(pile, max_newton):
    """The continuation has 7, then 14 times `max_newton` factorisations. A corrector that stays
    orthogonal to the last tangent solved none of these."""
    assert solve(pile, max_newton=max_newton).status == stickslip.Status.solved


def test_piles_have_the_same_bits_in_any_batch():
    pile = min(PILES, key=lambda pile: len(pile.b))
    alone = solve(pile)
    many = stickslip.solve(
        [pile.W] * 3, [pile.b] * 3, [pile.mu] * 3, dims=[pile.dims] * 3, threads=2
    )
    assert all((impulse == alone.impulse).all() for impulse in many.impulse)
