"""Cylinders that stand lie still: where the axis is normal to a plane but for rounding, MuJoCo's
collider returns one point that is millimetres too deep, or none."""

import mujoco
import numpy as np
import pytest
from sim_models import text

from stickslip import BatchSim, Status

STANDING = """<mujoco><option timestep=".002" gravity="{g}"/><worldbody>
<geom type="plane" size="3 3 1" quat="{q}"/>
<body pos="{p}" quat="{q}"><freejoint/><geom type="cylinder" size=".05 .04"/></body>
<body pos="{up}" quat="{q}"><freejoint/><geom type="cylinder" size=".04 .03"/></body>
</worldbody></mujoco>"""


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


@pytest.mark.parametrize("h", [0.001, 0.005])
def test_four_cylinders_carry_a_quarter_of_a_disc_each(h):
    """A rim's gaps are those of the cylinder as it stands, to less than what 1 nm forgives."""
    feet = "".join(
        f'<body pos="{x} {y} .04"><freejoint/><geom type="cylinder" size=".02 .04"/></body>'
        for x, y in ((0.1, 0), (0, 0.1), (-0.1, 0), (0, -0.1))
    )
    sim = BatchSim(
        f"""<mujoco><option timestep="{h}"/><worldbody><geom type="plane" size="0 0 1"/>{feet}
        <body pos="0 0 .1"><freejoint/><geom type="cylinder" size=".17 .02"/></body>
        </worldbody></mujoco>""",
        1,
    )
    for _ in range(1000):
        assert sim.step()[0] == Status.solved
    load = np.zeros(6)
    for contact in sim.contacts(0):
        assert abs(contact["gap"]) < 2e-10
        if 0 in contact["geoms"]:
            load[max(contact["geoms"])] += contact["force"][0]
    np.testing.assert_allclose(load[1:5], load.sum() / 4, rtol=0.05)


@pytest.mark.parametrize("yaw", [0, 12, 45])
def test_a_box_on_two_capsules_has_both_ends_of_each(yaw):
    """Where a capsule is parallel to the face, MuJoCo's collider may return one end."""
    across = (0.85716730070211233, 0.51503807491005416)
    rolls = "".join(
        f"""<body pos="{0.07 * side * across[1]!r} {-0.07 * side * across[0]!r} .03"
        xyaxes="0 0 -1 {-across[1]!r} {across[0]!r} 0"><freejoint/>
        <geom type="capsule" size=".03 .2"/></body>"""
        for side in (1, -1)
    )
    sim = BatchSim(
        f"""<mujoco><option timestep=".002"/><worldbody>
        <geom type="box" size=".5 .5 .02" pos="0 0 -.02"/>{rolls}
        <body pos="0 0 .08" euler="0 0 {yaw}"><freejoint/><geom type="box" size=".1 .1 .02"/></body>
        </worldbody></mujoco>""",
        1,
    )
    start = sim.qpos.copy()
    for _ in range(1000):
        assert sim.step()[0] == Status.solved
        assert sum(3 in contact["geoms"] for contact in sim.contacts(0)) == 4
    assert abs(sim.qpos - start).max() < 1e-7
