"""Sizes that exceed every slot or the memory, and messages of errors."""

import re
import time

import numpy as np
import pytest
from problems import small_problems
from sim_models import FALLING

import stickslip
from stickslip import BatchSim, BoundSolver, Status


def test_counts_beyond_the_slot_spare_the_neighbours():
    problem = {"W": np.tile(np.eye(3), (4, 1, 1)), "b": -np.ones((4, 3)), "mu": 0.5}
    counts = np.tile(np.array([0, 0, 0, 1], np.int32), (4, 1))
    solver = BoundSolver(**problem, counts=counts)
    for beyond in ([9, 9, 0, 1], [0, 0, 9, 1], [2**31 - 1] * 4, [0, 0, 4, 0]):
        counts[2] = beyond
        expected = [Status.solved, Status.solved, Status.over_capacity, Status.solved]
        found = stickslip.solve(**problem, dims=[3], counts=counts)
        assert found.status.tolist() == expected
        assert solver().status.tolist() == expected
    counts[2] = [0, 0, 1, 0]
    with pytest.raises(ValueError, match="counts: expected at most 0 box rows"):
        stickslip.solve(**problem, dims=[3], counts=counts)
    with pytest.raises(ValueError, match=r"problem\.lo, problem\.hi: expected arrays"):
        solver()


MOST = 2**31 - 1
HUGE = {
    "solve": lambda: stickslip.solve(**small_problems(MOST)),
    "residual": lambda: stickslip.residual(**small_problems(MOST), r=np.zeros(12)),
    "solve_lcp": lambda: stickslip.solve_lcp(
        small_problems(MOST)["W"], np.broadcast_to(0.0, (MOST, 12))
    ),
    "BoundSolver": lambda: BoundSolver(**small_problems(MOST)),
    "BatchSim": lambda: BatchSim(FALLING, num_envs=MOST),
}


@pytest.mark.parametrize("name", HUGE)
def test_sizes_beyond_the_memory_are_refused_at_once(name):
    start = time.monotonic()
    with pytest.raises(ValueError, match="expected sizes that fit this machine's memory"):
        HUGE[name]()
    assert time.monotonic() - start < 20.0


def test_a_bound_solver_names_the_backend_that_it_has():
    problem = small_problems(4) | {"mu": np.full((4, 8), 0.7)}
    for backend in ("auto", "cpu"):
        BoundSolver(**problem, backend=backend)
    message = "backend: expected 'auto' or 'cpu' because the arrays are in host memory"
    with pytest.raises(ValueError, match=re.escape(message)):
        BoundSolver(**problem, backend="cuda")
    with pytest.raises(ValueError, match="backend: expected one of 'auto', 'cpu', 'cuda', got 3"):
        BoundSolver(**problem, backend=3)


def test_laws_of_simulations_are_listed_in_full():
    with pytest.raises(ValueError, match=r"law: expected one of .*'pyramid'.*'mujoco', got 'glue'"):
        BatchSim(FALLING, law="glue")
    sim = BatchSim(FALLING, law="pyramid")
    assert (sim.step(substeps=200) == Status.solved).all()
    assert '"pyramid"' in BatchSim.__doc__
