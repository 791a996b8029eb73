"""Whatever is placed at rest on a table, or on one another, stays where it is."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

from tabletop import tabletop

from stickslip import BatchSim, Status


@pytest.mark.parametrize("timestep", [0.001, 0.005])
@pytest.mark.parametrize("seed", range(12))
def test_table_tops_lie_still(seed, timestep):
    sim = BatchSim(tabletop(seed, timestep), 1, threads=1)
    start = sim.qpos.copy()
    for _ in range(int(1 / timestep)):
        assert sim.step()[0] == Status.solved
    moved = (sim.qpos - start).reshape(-1, 7)
    assert np.abs(moved[:, :3]).max() < 20e-6
    assert np.degrees(2 * np.abs(moved[:, 3:]).max()) < 0.01
