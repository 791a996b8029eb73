"""`backend="cuda"` from Python: the bits of the CPU. Skipped without a GPU."""

import numpy as np
import pytest
from problems import mechanisms
from sim_models import MACHINE

import stickslip
from stickslip import _core

pytestmark = pytest.mark.skipif(not _core.cuda_available(), reason="no GPU here")
LAWS = [law for law in stickslip.Law if law.name != "mujoco"]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("directions", [4, 8])
def test_solve(law, directions):
    M, J, _, b = mechanisms(num_envs=20)
    W = stickslip.delassus(M, J)
    options = stickslip.SolveOptions(directions=directions)
    cpu, gpu = (
        stickslip.solve(W, b, 0.5, law=law, options=options, backend=backend)
        for backend in ("cpu", "cuda")
    )
    assert (cpu.status == stickslip.Status.solved).any()
    for field in ("impulse", "residual", "status", "iterations", "rung"):
        assert np.array_equal(getattr(gpu, field), getattr(cpu, field)), field


def test_solve_lcp():
    random = np.random.default_rng(1)
    A = random.normal(size=(20, 12, 12))
    M, q = A @ A.transpose(0, 2, 1) + np.eye(12), random.normal(size=(20, 12))
    cpu, gpu = (stickslip.solve_lcp(M, q, backend=backend) for backend in ("cpu", "cuda"))
    assert (cpu.status == stickslip.Status.solved).all()
    assert np.array_equal(gpu.z, cpu.z)
    assert np.array_equal(gpu.residual, cpu.residual)


@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_steps(law):
    def states(backend):
        sim = stickslip.BatchSim(MACHINE, 4, law=law, backend=backend)
        for _ in range(40):
            sim.step()
        assert (sim.num_rows > 0).any()
        return sim.state.copy()

    assert np.array_equal(states("cuda"), states("cpu"))


def test_laws_of_mujoco_are_refused():
    with pytest.raises(ValueError, match="backend"):
        stickslip.BatchSim(MACHINE, 2, law="mujoco", backend="cuda")
