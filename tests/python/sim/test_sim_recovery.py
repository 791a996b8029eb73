"""Recovery of overlap in poses where joints hardly change it."""

import numpy as np
import pytest

from stickslip import BatchSim, Status

ROD = """<mujoco><option timestep=".005" gravity="0 0 0"/><worldbody>
  <geom type="plane" pos=".35 0 0" zaxis="-1 0 0" size="5 5 .1"/>
  <body pos=".3 0 .9"><joint type="{joint}" axis="{axis}"/>
    <geom type="capsule" size=".03" fromto="0 0 0 .15 0 0"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("law", ["coulomb", "box", "pyramid", "frictionless"])
@pytest.mark.parametrize("joint", ["hinge", "slide"])
@pytest.mark.parametrize("start", [0.0, 1e-15, 1e-12, 1e-8, 1e-4, 1e-2])
def test_recovery_from_a_singular_pose_is_slow(law, joint, start):
    """A rod through a wall turns about an axis that is hardly able to open the gap, or slides along
    the wall: the linearised gap requires angles and distances of up to 1e14."""
    axis = {"hinge": "0 1 0", "slide": f"{start} 0 1"}[joint]
    sim = BatchSim(ROD.format(joint=joint, axis=axis), law=law)
    if joint == "hinge":
        sim.qpos[:] = start
    for _ in range(100):
        before = sim.qpos.copy()
        assert (sim.step() == Status.solved).all()
        assert np.abs(sim.qpos - before).max() <= 0.1 + 1e-12
        assert np.abs(sim.qvel).max() < 1e-9
