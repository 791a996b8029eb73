"""delassus and apply_impulse."""

import numpy as np
import pytest

import stickslip


def mechanism(seed=0, num_envs=6, nv=7, n=5):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(num_envs, nv, nv))
    return A @ A.transpose(0, 2, 1) + np.eye(nv), rng.normal(size=(num_envs, n, nv))


def test_formulas():
    M, J = mechanism()
    expected = J @ np.linalg.solve(M, J.transpose(0, 2, 1))
    np.testing.assert_allclose(stickslip.delassus(M, J), expected, rtol=1e-12, atol=1e-12)
    r, v = np.ones((6, 5)), np.zeros((6, 7))
    moved = stickslip.apply_impulse(M, J, r, v)
    expected = np.linalg.solve(M, (J.transpose(0, 2, 1) @ r[..., None]))[..., 0]
    np.testing.assert_allclose(moved, expected, rtol=1e-12, atol=1e-12)


def test_shared_ragged_single_and_float():
    M, J = mechanism()
    whole = stickslip.delassus(np.tile(M[0], (6, 1, 1)), J)
    assert stickslip.delassus(M[0], J).tobytes() == whole.tobytes()
    assert stickslip.delassus(M[0], J[0]).tobytes() == whole[0].tobytes()
    ragged = stickslip.delassus(M[0], J, counts=[5, 4, 3, 2, 1, 0])
    for e, rows in enumerate([5, 4, 3, 2, 1, 0]):
        assert ragged[e, :rows, :rows].tobytes() == whole[e, :rows, :rows].tobytes()
        assert not ragged[e, rows:].any()
        assert not ragged[e, :, rows:].any()
    single = stickslip.delassus(M.astype(np.float32), J.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, stickslip.delassus(M, J), rtol=1e-3, atol=1e-4)
    assert stickslip.delassus(M[:0], J[:0]).shape == (0, 5, 5)


def test_views_give_the_same_bits():
    M, J = mechanism()
    expected = stickslip.delassus(M, J).tobytes()
    wide = np.zeros((6, 5, 9))
    wide[:, :, :7] = J
    assert stickslip.delassus(np.asfortranarray(M), wide[:, :, :7]).tobytes() == expected


def test_indefinite_mass_is_nan_there_and_bad_input_later():
    M, J = mechanism(n=6)
    clean = stickslip.delassus(M, J)
    M[2, 0, 0] = -1.0
    M[4, 1, 1] = np.nan
    W = stickslip.delassus(M, J)
    others = [0, 1, 3, 5]
    assert np.isnan(W[[2, 4]]).all()
    assert W[others].tobytes() == clean[others].tobytes()
    status = stickslip.solve(W, np.full((6, 6), -1.0), 0.5).status
    assert [stickslip.Status(s).name for s in status[[2, 4]]] == ["bad_input"] * 2
    v = stickslip.apply_impulse(M, J, np.ones((6, 6)), np.zeros((6, 7)))
    assert np.isnan(v[[2, 4]]).all()
    assert np.isfinite(v[others]).all()


@pytest.mark.parametrize(
    ("error", "start", "changes"),
    [
        (ValueError, "M: expected shape (E, nv, nv)", {"M": np.ones((6, 7, 6))}),
        (ValueError, "M: expected shape (6, 7, 7)", {"M": np.ones((5, 7, 7))}),
        (ValueError, "J: expected shape (E, n, 7)", {"J": np.ones((6, 5, 8))}),
        (
            TypeError,
            "J: expected float64, as M has",
            {"J": np.ones((6, 5, 7), np.float32)},
        ),
        (TypeError, "M: expected float32 or float64", {"M": np.ones((6, 7, 7), "U1")}),
        (ValueError, "counts: expected numbers from 0 to 5, got 6", {"counts": [6] * 6}),
        (ValueError, "counts: expected shape (6,)", {"counts": [1, 2]}),
        (ValueError, "threads: expected", {"threads": -1}),
    ],
)
def test_messages(error, start, changes):
    M, J = mechanism()
    with pytest.raises(error) as caught:
        stickslip.delassus(**({"M": M, "J": J} | changes))
    assert str(caught.value).startswith(start)


def test_messages_of_apply_impulse():
    M, J = mechanism()
    with pytest.raises(ValueError, match=r"^impulse: expected shape \(6, 5\), got \(5,\)"):
        stickslip.apply_impulse(M, J, np.ones(5), np.ones((6, 7)))
    with pytest.raises(ValueError, match=r"^v_free: expected shape \(6, 7\), got \(6, 8\)"):
        stickslip.apply_impulse(M, J, np.ones((6, 5)), np.ones((6, 8)))
