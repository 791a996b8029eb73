"""`start_selected`: what the caller knows of the warm start."""

import numpy as np
import pytest

import stickslip

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
