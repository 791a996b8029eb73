"""stickslip._core alone: no argument makes it read or write outside an array."""

import numpy as np
import pytest

from stickslip import _core

E, N, P = 3, 6, 2


def arguments():
    return {
        "shape": np.tile(np.int32([0, 0, 0, P]), (E, 1)),
        "dims": np.full((E, P), 3, np.int32),
        "W": np.tile(np.eye(N), (E, 1, 1)),
        "b": np.full((E, N), -1.0),
        "mu": np.full((E, 2 * P), 0.5),
        "R": None,
        "lo": None,
        "hi": None,
        "warm_start": None,
        "options": _core.SolveOptions(),
        "impulse": np.zeros((E, N)),
        "residual": np.zeros(E),
        "status": np.zeros(E, np.int32),
        "iterations": np.zeros(E, np.int32),
        "solver": np.zeros(E, np.int32),
        "rows_needed": np.zeros(E, np.int32),
        "rung": np.zeros(E, np.int32),
        "certificate": None,
        "on_cuda": False,
        "threads": 1,
    }


def test_the_example_works():
    good = arguments()
    _core.solve(**good)
    assert not good["status"].any()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("shape", np.zeros((E, 3), np.int32)),
        ("shape", np.zeros((E + 1, 4), np.int32)),
        ("dims", np.zeros((E - 1, P), np.int32)),
        ("dims", np.full((E, 2 * P), 3, np.int32)[:, ::2]),
        ("W", np.zeros((E, N, N + 1))),
        ("W", np.zeros((E, N, N)).transpose(0, 2, 1)),
        ("W", np.zeros((E, N, N))[:, ::-1]),
        ("b", np.zeros((E, N - 1))),
        ("b", np.zeros((E, 2 * N))[:, ::2]),
        ("mu", np.zeros((E, P))),
        ("R", np.zeros((E, N - 1))),
        ("warm_start", np.zeros((E - 1, N))),
        ("impulse", np.zeros((E, N - 1))),
        ("residual", np.zeros(E - 1)),
        ("status", np.zeros(2 * E, np.int32)[::2]),
        ("certificate", np.zeros((E, N - 1))),
        ("threads", -1),
    ],
)
def test_wrong_sizes_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        _core.solve(**(arguments() | {name: value}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("W", np.zeros((E, N, N), np.float32)),
        ("b", np.zeros((E, N), np.int64)),
        ("shape", np.zeros((E, 4), np.int64)),
        ("impulse", np.broadcast_to(0.0, (E, N))),  # read-only
        ("options", None),
        ("b", None),
    ],
)
def test_wrong_types_are_refused(name, value):
    with pytest.raises(TypeError):
        _core.solve(**(arguments() | {name: value}))


def test_box_rows_without_bounds_are_refused():
    with pytest.raises(ValueError, match="lo, hi: fewer bounds than box rows"):
        _core.solve(**(arguments() | {"shape": np.tile(np.int32([0, 0, 3, 1]), (E, 1))}))


def test_shapes_beyond_the_slot_are_over_capacity():
    over = arguments()
    over["shape"][1] = [0, 0, 0, 2**20]
    over["shape"][2] = [2**30, 0, 0, 1]
    _core.solve(**over)
    assert over["status"].tolist() == [0, 4, 4]


def test_enums_name_what_the_library_knows():
    assert [s.name for s in _core.Status] == [
        *("solved", "not_converged", "infeasible", "bad_input", "over_capacity")
    ]
    assert all(member.__doc__ for enum in (_core.Law, _core.Solver) for member in enum)
    assert _core.Status.solved == np.int32(0)
