"""BoundSolver: bound once, called often. On the CPU here; on a GPU if torch or CuPy find one."""

import numpy as np
import pytest
from problems import mechanisms

import stickslip
from stickslip import BoundSolver, Status

FIELDS = ("impulse", "residual", "status", "iterations", "solver", "rows_needed", "rung")


def as_solution(result):
    return [np.array(getattr(result, name)) for name in FIELDS]


def expect_same(result, solution):
    for name in FIELDS:
        got, expected = getattr(result, name), getattr(solution, name)
        assert np.array_equal(got, expected), name


@pytest.mark.parametrize("precision", ["float64", "mixed", "float32"])
@pytest.mark.parametrize("law", ["coulomb", "convex", "pyramid", "box"])
def test_has_the_bits_of_solve(law, precision):
    dtype = np.float32 if precision == "float32" else np.float64
    M, J, _, b = mechanisms(dtype=dtype)
    W = stickslip.delassus(M, J)
    bound = BoundSolver(W=W, b=b, mu=0.5, law=law, precision=precision)
    for _ in range(2):
        expect_same(bound(), stickslip.solve(W, b, 0.5, law=law, precision=precision))


def test_a_call_reads_what_the_arrays_hold():
    M, J, _, b = mechanisms()
    W = stickslip.delassus(M, J)
    bound = BoundSolver(W=W, b=b, mu=0.5)
    before = as_solution(bound())
    b *= -0.5
    W *= 2.0
    expect_same(bound(), stickslip.solve(W, b, 0.5))
    assert not np.array_equal(bound.out.impulse, before[0])


def test_environments_in_any_order_are_read_in_place():
    M, J, _, b = mechanisms()
    W = stickslip.delassus(M, J)
    bound = BoundSolver(W=W[::-1], b=b[::-1], mu=0.5)
    b *= 2.0
    expect_same(bound(), stickslip.solve(W[::-1].copy(), b[::-1].copy(), 0.5))


@pytest.mark.parametrize("threads", [1, 3])
def test_mechanisms_have_the_bits_of_the_three_calls(threads):
    M, J, v_free, b = mechanisms()
    bound = BoundSolver(M=M, J=J, b=b, mu=0.5, v_free=v_free, threads=threads)
    result = bound()
    solution = stickslip.solve(stickslip.delassus(M, J), b, 0.5)
    expect_same(result, solution)
    assert np.array_equal(result.v_next, stickslip.apply_impulse(M, J, solution.impulse, v_free))
    shared = BoundSolver(M=M[0], J=J, b=b, mu=0.5)()
    expect_same(shared, stickslip.solve(stickslip.delassus(M[0], J), b, 0.5))
    assert shared.v_next is None


def test_rows_of_every_kind_and_shared_arrays():
    rng = np.random.default_rng(1)
    num_envs, n = 20, 2 + 3 + 2 + 3 + 4 + 6
    J = rng.normal(size=(num_envs, n, 30))
    W = J @ J.transpose(0, 2, 1)
    b = rng.normal(size=(num_envs, n))
    rows = {"n_free": 2, "n_nonneg": 3, "dims": [3, 4, 6]}
    box = {"lo": np.full(2, -0.1), "hi": np.full((num_envs, 2), 0.2)}
    mu = rng.uniform(0.1, 1, size=(num_envs, 10))
    more = {"R": np.full(n, 1e-3), "warm_start": rng.normal(size=(num_envs, n))}
    result = BoundSolver(W=W, b=b, mu=mu, **rows, **box, **more)()
    expect_same(result, stickslip.solve(W, b, mu, **rows, **box, **more))


def test_ragged_batches_and_what_does_not_fit():
    M, J, _, b = mechanisms(num_envs=6)
    W = stickslip.delassus(M, J)
    counts = np.zeros((6, 4), np.int32)
    counts[:, 3] = [4, 0, 2, 5, 1, -1]
    counts[4, 1] = 3
    mu = np.full((6, 8), 0.5)
    bound = BoundSolver(W=W, b=b, mu=mu, counts=counts)
    result = bound()
    status = [Status.solved] * 3 + [Status.over_capacity, Status.solved, Status.bad_input]
    assert result.status.tolist() == status
    assert result.rows_needed.tolist() == [12, 0, 6, 15, 6, 0]
    assert not result.impulse[[1, 3, 5]].any()
    assert not result.impulse[2, 6:].any()
    counts[3, 3] = 3  # changed by the caller
    assert bound().status[3] == Status.solved
    host = stickslip.solve(W[:4], b[:4], 0.5, counts=counts[:4, 3])
    assert np.array_equal(bound.out.impulse[:4], host.impulse[:4])


def test_a_bad_environment_moves_on_as_it_was():
    M, J, v_free, b = mechanisms(num_envs=4)
    M[1] = np.nan
    b[2, 0] = np.inf
    result = BoundSolver(M=M, J=J, b=b, mu=0.5, v_free=v_free)()
    assert result.status.tolist() == [0, Status.bad_input, Status.bad_input, 0]
    assert np.array_equal(result.v_next[1:3], v_free[1:3])
    assert np.isfinite(result.v_next).all()


def test_results_go_where_the_caller_wants_them():
    M, J, v_free, b = mechanisms()
    buffer = np.full((40, 30), -7.0)  # impulses and velocities interleaved
    impulse, v_next = buffer[:, :12], buffer[:, 12:21]
    status = np.full(40, -1, np.int32)
    out = {"impulse": impulse, "v_next": v_next, "status": status}
    bound = BoundSolver(M=M, J=J, b=b, mu=0.5, v_free=v_free, out=out)
    assert bound.out.impulse is impulse
    bound()
    solution = stickslip.solve(stickslip.delassus(M, J), b, 0.5)
    assert np.array_equal(impulse, solution.impulse)
    assert (status == Status.solved).all()
    assert (buffer[:, 21:] == -7.0).all()


def test_empty_batches():
    empty = np.zeros((0, 6, 6)), np.zeros((0, 6))
    for mu in (0.5, np.zeros((0, 2)), np.zeros((0, 4)), np.zeros(4)):
        assert stickslip.solve(*empty, mu).impulse.shape == (0, 6)
    bound = BoundSolver(W=np.zeros((0, 3, 3)), b=np.zeros((0, 3)), mu=0.5)
    assert bound().impulse.shape == (0, 3)
    bound = BoundSolver(W=np.zeros((2, 0, 0)), b=np.zeros((2, 0)), mu=0.5)
    assert bound().status.tolist() == [0, 0]


class FromDlpack:
    """An array of a framework that supports only DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__(**kwargs)


def test_host_arrays_of_other_frameworks():
    M, J, v_free, b = mechanisms()
    arrays = {"M": M, "J": J, "b": b, "v_free": v_free}
    wrapped = {name: FromDlpack(array) for name, array in arrays.items()}
    result = BoundSolver(**wrapped, mu=0.5)()
    assert np.array_equal(result.v_next, BoundSolver(**arrays, mu=0.5)().v_next)


def test_printing_names_sizes_and_place():
    W, b = np.tile(np.eye(3), (2, 1, 1)), np.full((2, 3), -1.0)
    solver = BoundSolver(W=W, b=b, mu=0.5)
    assert repr(solver) == "BoundSolver(W of 2 × 3 rows, float64, in host memory)"
    assert repr(solver()).startswith("BoundResult(impulse (2, 3), residual (2,), status (2,)")
