"""`start_selected`: what the caller knows of the warm start."""

import numpy as np
import pytest

import stickslip
from stickslip import Selected

J = np.array([[0, 0, 1.0, s * 0.1, t * 0.1] for s in (-1, 1) for t in (-1, 1)])
W, B, MU = J @ J.T, np.full(4, -1.0), np.zeros(0)


def solve(**keywords):
    return stickslip.solve(W, B, MU, n_nonneg=4, **keywords)


def test_a_contact_without_load_takes_its_share_unless_the_choice_is_known():
    """Two opposite corners of a table bear it too; 2: only if nothing closed bears no load."""
    diagonal = np.array([0.5, 0.0, 0.0, 0.5])
    np.testing.assert_allclose(W @ diagonal, 1.0)
    kept = solve(warm_start=diagonal, start_selected=True)
    assert kept.iterations == 0
    np.testing.assert_array_equal(kept.impulse, diagonal)
    for start_selected in (2, False):
        chosen = solve(warm_start=diagonal, start_selected=start_selected)
        np.testing.assert_allclose(chosen.impulse, 0.25, rtol=1e-6)
    known = solve(warm_start=np.full(4, 0.25), start_selected=2)
    assert known.iterations == 0


@pytest.mark.parametrize("wrong", [3, -1, 0.5, [True, False]])
def test_wrong_flags_are_named(wrong):
    with pytest.raises(ValueError, match="start_selected"):
        solve(start_selected=wrong)


def test_a_solution_says_which_of_many_it_is():
    """Feet under one body share a load; two bodies do not; what is refused has no solution."""
    W = np.tile([[1.0, 0, 0], [0, 0, 0], [0, 0, 0]], (3, 2, 2))
    b = np.tile([-0.2, 0, 0], (3, 2))
    b[1, 3:] = 0.1
    W[1] = np.eye(6)
    b[2, 0] = np.nan
    found = stickslip.solve(W, b, 0.5)
    expected = [Selected.yes, Selected.unique, Selected.no]
    assert found.selected.tolist() == [int(s) for s in expected]
    np.testing.assert_allclose(found.impulse[0, ::3], 0.1)
    one = stickslip.solve(W[0], b[0], 0.5)
    assert one.selected is Selected.yes


@pytest.mark.parametrize("law", ["coulomb", "convex", "pyramid"])
@pytest.mark.parametrize("slide", [0.05, 0.4])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_row_that_nothing_moves_has_no_impulse(law, slide, dtype):
    """As across the plane of a planar robot. Nothing is to be selected, whether the contact sticks
    or slides; a start that has an impulse there loses it, and so does a turned frame."""
    W = np.array([[1.0, 0.5, 0], [0.5, 2.0, 0], [0, 0, 0]], dtype)
    b = np.array([-0.3, slide, 0], dtype)
    found = stickslip.solve(W, b, 0.5, law=law)
    assert found.selected is Selected.unique
    assert found.impulse[2] == 0
    start = found.impulse + np.array([0, 0, 0.2 * found.impulse[0]], dtype)
    again = stickslip.solve(W, b, 0.5, law=law, warm_start=start)
    assert again.selected is not Selected.no
    np.testing.assert_allclose(again.impulse, found.impulse, rtol=1e-5, atol=1e-7)
    # Edges of a pyramid do not turn, and rounding of float moves what nothing else does.
    if law == "pyramid" or dtype == np.float32:
        return
    turn = np.array([[1, 0, 0], [0, 0.6, -0.8], [0, 0.8, 0.6]])
    turned = stickslip.solve(turn @ W @ turn.T, turn @ b, 0.5, law=law)
    assert turned.selected is Selected.yes
    np.testing.assert_allclose(turn.T @ turned.impulse, found.impulse, rtol=1e-5, atol=1e-7)
