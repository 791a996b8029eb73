"""Cylinders that stand lie still: where the axis is normal to a plane but for rounding, MuJoCo's
collider returns one point that is millimetres too deep, or none."""

import mujoco
import numpy as np
import pytest

from stickslip import BatchSim, Status

STANDING = """<mujoco><option timestep=".002" gravity="{g}"/><worldbody>
<geom type="plane" size="3 3 1" quat="{q}"/>
<body pos="{p}" quat="{q}"><freejoint/><geom type="cylinder" size=".05 .04"/></body>
<body pos="{up}" quat="{q}"><freejoint/><geom type="cylinder" size=".04 .03"/></body>
</worldbody></mujoco>"""


def text(values):
    return " ".join(repr(float(v)) for v in values)


@pytest.mark.parametrize("law", ["coulomb", "pyramid"])
def test_cylinders_stand_in_any_frame(law):
    rng = np.random.default_rng(0)
    for _ in range(8):
        quat = rng.normal(size=4)
        quat /= np.linalg.norm(quat)
        matrix = np.zeros(9)
        mujoco.mju_quat2Mat(matrix, quat)
        up = matrix.reshape(3, 3)[:, 2]
        xml = STANDING.format(
            g=text(-9.81 * up), q=text(quat), p=text(0.04 * up), up=text(0.11 * up)
        )
        sim = BatchSim(xml, 1, law=law)
        start = sim.qpos.copy()
        for _ in range(1000):
            assert sim.step()[0] == Status.solved
        assert abs(sim.qpos - start).max() < 2e-5
