"""stickslip._core alone: no argument makes it read or write outside an array."""

import numpy as np
import pytest

from stickslip import _core

E, N, P = 3, 6, 2


def arguments():
    return {
        "counts": np.tile(np.int32([0, 0, 0, P]), (E, 1)),
        "dims": np.full((E, P), 3, np.int32),
        "W": np.tile(np.eye(N), (E, 1, 1)),
        "b": np.full((E, N), -1.0),
        "mu": np.full((E, 2 * P), 0.5),
        "R": None,
        "lo": None,
        "hi": None,
        "warm_start": None,
    }


def results():
    integers = ("status", "iterations", "solver", "rows_needed", "rung")
    return {
        "impulse": np.zeros((E, N)),
        "residual": np.zeros(E),
        "certificate": None,
        **{name: np.zeros(E, np.int32) for name in integers},
    }


def solve(changes=None, options=None, threads=1):
    """The results of the example with changed arrays."""
    changes = changes or {}
    given = {name: changes.get(name, value) for name, value in arguments().items()}
    out = {name: changes.get(name, value) for name, value in results().items()}
    options = _core.SolveOptions() if options is None else options
    _core.solve(given, out, options=options, on_cuda=False, threads=threads)
    return out


def test_the_example_works():
    assert not solve()["status"].any()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("counts", np.zeros((E, 3), np.int32)),
        ("counts", np.zeros((E + 1, 4), np.int32)),
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
    ],
)
def test_wrong_sizes_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        solve({name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("W", np.zeros((E, N, N), np.float32)),
        ("b", np.zeros((E, N), np.int64)),
        ("counts", np.zeros((E, 4), np.int64)),
        ("impulse", np.broadcast_to(0.0, (E, N))),  # read-only
        ("b", "numbers"),
        ("W", None),
    ],
)
def test_wrong_types_are_refused(name, value):
    with pytest.raises(TypeError, match=name):
        solve({name: value})


@pytest.mark.parametrize("name", ["b", "mu", "counts", "impulse", "status", "residual"])
def test_arrays_that_must_be_there_are_refused_without(name):
    with pytest.raises(ValueError, match=rf"(problem|result)\.{name}: expected an array, got none"):
        solve({name: None})


def test_options_and_threads_are_checked():
    with pytest.raises(TypeError):
        solve(options=7)
    with pytest.raises(ValueError, match="threads"):
        solve(threads=-1)


def test_box_rows_without_bounds_are_refused():
    with pytest.raises(ValueError, match="lo, hi: expected a bound for each box row, got 0"):
        solve({"counts": np.tile(np.int32([0, 0, 3, 1]), (E, 1))})


def test_counts_beyond_the_slot_are_over_capacity():
    counts = arguments()["counts"]
    counts[1] = [0, 0, 0, 2**20]
    counts[2] = [2**30, 0, 0, 1]
    assert solve({"counts": counts})["status"].tolist() == [0, 4, 4]


def test_enums_name_what_the_library_knows():
    assert [s.name for s in _core.Status] == [
        *("solved", "not_converged", "infeasible", "bad_input", "over_capacity")
    ]
    assert all(member.__doc__ for enum in (_core.Law, _core.Solver) for member in enum)
    assert _core.Status.solved == np.int32(0)
