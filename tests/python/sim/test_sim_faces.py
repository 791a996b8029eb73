"""Boxes that rest on one another keep the corners of the faces that meet, at any gap and tilt near
rest, and lie still (docs/mathematics.md §12; mujoco#2356, mujoco#2471)."""

import numpy as np
import pytest

pytest.importorskip("mujoco")
import mujoco
from sim_models import text
from tabletop import CUBE

from stickslip import BatchSim, Status

CROSSED = """<mujoco><option timestep="0.002"/><worldbody>
<geom type="box" size=".03 .03 .03" pos="0 0 .03"/>
<body pos="0 0 .072"><freejoint/><geom type="box" size=".06 .012 .012" condim="{dim}"/></body>
</worldbody></mujoco>"""


def turn(axis, angle):
    quat = np.zeros(4)
    mujoco.mju_axisAngle2Quat(quat, np.asarray(axis, float), angle)
    return quat


def product(a, b):
    quat = np.zeros(4)
    mujoco.mju_mulQuat(quat, a, b)
    return quat


@pytest.mark.parametrize("gap", [-1e-5, -1e-6, -1e-8, 0.0, 1e-8, 1e-6, 2e-6])
@pytest.mark.parametrize("yaw", [0.0, 0.3, 1.0, np.pi / 2])
def test_corners_of_faces_are_found_at_every_tilt(gap, yaw):
    tilts = [0.0, 1e-12, 1e-9, 1e-7, 1e-6, 1e-5]
    rng = np.random.default_rng(1)
    sim = BatchSim(CROSSED.format(dim=3), len(tilts), threads=1)
    qpos = sim.qpos.copy()
    axes = np.c_[rng.normal(size=(len(tilts), 2)), np.zeros(len(tilts))]
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    for pose, axis, tilt in zip(qpos, axes, tilts, strict=True):
        pose[2] += gap
        pose[3:] = product(turn(axis, tilt), turn([0, 0, 1], yaw))
    sim.qpos[:] = qpos
    sim.step()
    for env, (axis, tilt) in enumerate(zip(axes, tilts, strict=True)):
        contacts = sim.contacts(env)
        assert len(contacts) >= 4
        position = np.array([contact["position"] for contact in contacts])
        assert np.ptp(position[:, 0]) > 0.02
        assert np.ptp(position[:, 1]) > 0.02
        for contact in contacts:  # the plane through the lower face, for small tilts
            x, y = contact["position"][:2]
            expected = gap + tilt * (axis[0] * y - axis[1] * x)
            assert abs(contact["gap"] - expected) < 1e-8


@pytest.mark.parametrize("law", ["coulomb", "pyramid"])
@pytest.mark.parametrize("dim", [3, 6])
def test_crossed_boxes_that_settle_lie_still(law, dim):
    count = 8
    rng = np.random.default_rng(2)
    sim = BatchSim(CROSSED.format(dim=dim), count, law=law, threads=1)
    qpos = sim.qpos.copy()
    qpos[:, 0] += rng.uniform(-0.025, 0.025, count)
    qpos[:, 2] += rng.uniform(0, 2e-4, count)
    for pose in qpos:
        axis = np.append(rng.normal(size=2), 0)
        tilt = turn(axis / np.linalg.norm(axis), 1e-3 * rng.uniform())
        pose[3:] = product(tilt, turn([0, 0, 1], rng.uniform(0, 2 * np.pi)))
    sim.qpos[:] = qpos
    for _ in range(250):
        sim.step()
    start = sim.qpos.copy()
    for _ in range(1000):
        assert np.all(sim.step() == Status.solved)
        assert sim.num_contacts.min() >= 4
    assert np.abs(sim.qpos - start).max() < 1e-6


def random_body(seed):
    rng = np.random.default_rng(seed)
    quat = rng.normal(size=4)
    return quat / np.linalg.norm(quat), rng.uniform(0.02, 0.07, 3)


ROCKED = (  # for ever, when contacts that close by micrometres were taken for ghosts
    (-0.4044414583, 0.479037775673, -0.493252685833, -0.603035408749),
    (0.06342664557487136, 0.03805598734492282, 0.02332238890450631),
)


def dropped(shape, floor, body):
    quat, half = body
    geom = {
        "box": f'<geom type="box" size="{text(half)}"/>',
        "mesh": '<geom type="mesh" mesh="m"/>',
    }[shape]
    return f"""<mujoco><option timestep=".002"/><asset><mesh name="m" vertex="{text(CUBE * half)}"/>
    <mesh name="floor" vertex="-5 -5 -.2 5 -5 -.2 -5 5 -.2 5 5 -.2 -5 -5 0 5 -5 0 -5 5 0 5 5 0"/>
    </asset><worldbody>{floor}<body pos="0 0 .15" quat="{text(quat)}"><freejoint/>{geom}</body>
    </worldbody></mujoco>"""


@pytest.mark.parametrize("shape", ["box", "mesh"])
@pytest.mark.parametrize(
    "floor",
    ['<geom type="box" size="5 5 .1" pos="0 0 -.1"/>', '<geom type="mesh" mesh="floor"/>'],
    ids=["on box", "on mesh"],
)
def test_dropped_bodies_come_to_rest(shape, floor):
    """Where a face touches on one side, contacts of its other side close although the body would
    get only micrometres deep without them: no ghosts."""
    for body in (ROCKED, *map(random_body, (27, *range(8)))):
        sim = BatchSim(dropped(shape, floor, body), 1, threads=1)
        for _ in range(2000):
            assert sim.step()[0] == Status.solved
        for _ in range(10):
            sim.step()
            assert np.abs(sim.qvel).max() < 1e-6
