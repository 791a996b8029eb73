"""The arrays of a simulation, and the names that it has."""

import numpy as np
import pytest
from sim_models import stack

from stickslip._src.sim import BatchSim


def test_arrays_have_the_shapes_of_what_they_hold():
    xml = """<mujoco><worldbody><body name="a"><freejoint/><geom size=".1"/></body>
    <body name="b" pos="1 0 0"><freejoint/><geom size=".1"/></body></worldbody>
    <equality><weld body1="a" body2="b"/></equality></mujoco>"""
    sim = BatchSim(xml, 2, fields=["xpos", "qfrc_bias"])
    assert sim.xfrc_applied.shape == (2, 3, 6)
    sim.xfrc_applied[1, 1, 2] = 100.0
    assert np.all(sim.eq_active == 1)
    sim.eq_active[1] = 0
    for _ in range(10):
        sim.step()
    assert sim.field("xpos").shape == (2, 3, 3)
    assert sim.field("qfrc_bias").shape == (2, 12)
    assert sim.qvel[1, 2] > sim.qvel[1, 8] + 0.1  # they are not welded there
    assert abs(sim.qvel[0, 2] - sim.qvel[0, 8]) < 1e-9


def test_resets_take_indices_and_unknown_names_are_refused():
    sim = BatchSim(stack(1), 4)
    for _ in range(5):
        sim.step()
    sim.reset([1, 3])
    assert np.array_equal(sim.time > 0, [True, False, True, False])
    sim.reset(0)
    assert sim.time[0] == 0
    sim.reset([])
    assert sim.time[2] > 0
    with pytest.raises(IndexError, match=r"mask: expected 0 \.\.\. 3, got 4"):
        sim.reset([4])
    with pytest.raises(AttributeError, match="qpso"):
        sim.qpso = sim.qpos

    class Own(BatchSim):
        pass

    Own(stack(1), 1).reward = 1.0
