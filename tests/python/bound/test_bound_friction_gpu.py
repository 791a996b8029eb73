"""One coefficient of friction per contact on a GPU: the bits of the CPU. Skipped without a GPU."""

import numpy as np
import pytest
import test_bound_friction
import test_bound_gpu

import stickslip
from stickslip import BoundSolver, _core

pytestmark = pytest.mark.skipif(not _core.cuda_available(), reason="no GPU here")
framework = test_bound_gpu.framework
DERIVATIVES = ("b", "mu", "R", "status", "kink_distance", "inconsistency", "redundant")


def bound_to(framework, given, **others):
    """A solver on the GPU, and its arrays."""
    device = {
        name: framework.array(value)
        for name, value in given.items()
        if isinstance(value, np.ndarray)
    }
    solver = BoundSolver(**given | device, stream=framework.stream(), **others)
    return solver, device


@pytest.mark.parametrize("precision", ["float64", "mixed", "float32"])
@pytest.mark.parametrize("shared", [False, True])
def test_has_the_bits_of_the_cpu(framework, precision, shared):
    dtype = np.float32 if precision == "float32" else np.float64
    given = test_bound_friction.problem(dtype)
    if shared:
        given["mu"] = given["mu"][0].copy()
    solver, device = bound_to(framework, given, precision=precision)
    for _ in range(2):
        expected = stickslip.solve(**given, precision=precision)
        test_bound_gpu.expect_same(framework, solver(), expected)
        given["mu"] *= dtype(0.5)
        framework.fill(device["mu"], given["mu"])


def test_graphs_read_what_the_arrays_hold(framework):
    given = test_bound_friction.ragged(num_envs=150)  # two blocks
    loss = np.random.default_rng(3).normal(size=(150, 15))
    solver, device = bound_to(framework, given)
    where = framework.array(loss)

    def enqueue():
        solver()
        return solver.vjp(d_impulse=where)

    gradient = enqueue()
    replay = framework.capture(solver._owner, enqueue)
    for change in range(3):
        given["mu"] = np.roll(given["mu"], 1)
        given["counts"][:, 3] = (np.arange(150) + change) % 5 - 1  # bad, none, some, too many
        for name in ("mu", "counts"):
            framework.fill(device[name], given[name])
        replay()
        cpu = BoundSolver(**given)
        test_bound_gpu.expect_same(framework, solver.out, cpu())
        expected = cpu.vjp(d_impulse=loss)
        for field in DERIVATIVES:
            found = framework.to_host(getattr(gradient, field))
            assert np.array_equal(found, getattr(expected, field)), field
        assert expected.mu.any()
