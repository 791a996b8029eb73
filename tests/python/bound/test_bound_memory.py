"""What a BoundSolver holds of the caller's memory, and which memory it refuses."""

import array

import numpy as np
import pytest

import stickslip
from stickslip import BoundSolver

E, N = 4, 6


def matrices():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(E, N, N))
    return A @ A.transpose(0, 2, 1) + np.eye(N), rng.normal(size=(E, N))


class Copies:
    """An exporter whose memory lives only as long as what it has exported."""

    def __init__(self, numbers, device=(1, 0)):
        self.numbers, self.device = numbers, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        return self.numbers.copy().__dlpack__(**options)


def test_the_exported_memory_is_held():
    W, b = matrices()
    bound = BoundSolver(W=Copies(W), b=Copies(b), mu=0.5)
    rubbish = [np.full((E, N, N), 1e300) for _ in range(50)]
    assert np.array_equal(bound().impulse, stickslip.solve(W, b, 0.5).impulse)
    assert len(rubbish) == 50


def test_memory_that_is_bound_does_not_move():
    W, b = matrices()
    mu = array.array("d", [0.5] * 4)
    bound = BoundSolver(W=W, b=b, mu=mu)
    with pytest.raises(BufferError):
        mu.extend([0.5] * 100_000)
    bound()
    del bound
    mu.extend([0.5])


@pytest.mark.parametrize("device", [(), (1,), (1, 0, 0), None, 5, [1, 0], ("a", "b"), (1.5, "x")])
def test_devices_that_are_none_are_refused(device):
    W, b = matrices()
    with pytest.raises(TypeError, match="b: expected two integers from __dlpack_device__, got"):
        BoundSolver(W=W, b=Copies(b, device), mu=0.5)


def test_derivatives_of_one_environment_that_is_no_longer_solved_are_zero():
    counts = np.array([[0, 0, 0, 2]], np.int32)
    bound = BoundSolver(W=np.eye(N)[None], b=np.full((1, N), -1.0), mu=0.5, counts=counts)
    bound()
    assert np.abs(bound.vjp(d_impulse=np.ones((1, N))).mu).max() > 0
    counts[0] = [-1, 0, 0, 0]
    bound()
    gradient = bound.vjp(d_impulse=np.ones((1, N)))
    assert not gradient.mu.any()
    assert not gradient.b.any()
