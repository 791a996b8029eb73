"""MuJoCo's collider of two boxes misses pairs that are apart, and finds others too far away."""

import mujoco
import numpy as np
import pytest
from sim_models import scene

from stickslip import BatchSim, Status

SIZES = {"slab": (".1 .06 .03", ".05 .04 .02"), "cube": (".06 .06 .06", ".05 .05 .05")}


def distance(model, data, ends=None):
    mujoco.mj_kinematics(model, data)
    return mujoco.mj_geomDistance(model, data, 0, 1, 1.0, ends)


def fly(model, data, rng, aligned, most):
    """Poses the second box at random, apart from the first by at most `most`, m, from where it
    would overlap it after the way that it flies. Returns both."""
    while True:
        data.qpos[:3] = rng.uniform(-0.25, 0.25, 3)
        data.qpos[3:] = [1, 0, 0, 0] if aligned else rng.normal(size=4)
        mujoco.mj_normalizeQuat(model, data.qpos)
        ends = np.zeros(6)
        if not 1e-4 < distance(model, data, ends) < most:
            continue
        way, pose = 1.3 * (ends[:3] - ends[3:]), data.qpos.copy()
        data.qpos[:3] += way
        if distance(model, data) < -1e-4:
            return pose, way


@pytest.mark.parametrize("h", [0.001, 0.005])
@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_boxes_that_fly_at_one_another_meet(sizes, aligned, h):
    """Along the shortest way, by 1.3 times its length in a step. (A tenth of them passed into one
    another without an impulse.)"""
    count, rng = 400, np.random.default_rng(0)
    first, second = (f'<geom type="box" size="{size}"/>' for size in SIZES[sizes])
    text = scene(h, first, f"<body><freejoint/>{second}</body>", gravity=0)
    model = mujoco.MjModel.from_xml_string(text)
    data, sim = mujoco.MjData(model), BatchSim(text, count)
    ways = np.empty((count, 3))
    for env in range(count):
        sim.qpos[env], ways[env] = fly(model, data, rng, aligned, 0.04)
    sim.qvel[:, :3] = ways / h
    assert np.all(sim.step() == Status.solved)
    along = (h * sim.qvel[:, :3] * ways).sum(axis=1) / (ways**2).sum(axis=1)
    assert along.max() < 0.999  # 1: they did not meet


@pytest.mark.parametrize("gap", [0.0, 1e-5])
def test_neighbours_at_rest_have_no_contact_of_edges(gap):
    """Nine boxes side by side: diagonal neighbours touch at an edge, or hardly do. Their contacts
    would bear nothing, or a load along the normal of either box, as rounding decides."""
    boxes = (
        f'<body pos="{(0.1 + gap) * i} {(0.1 + gap) * j} .05"><freejoint/>'
        '<geom type="box" size=".05 .05 .05"/></body>'
        for i in range(3)
        for j in range(3)
    )
    sim = BatchSim(scene(0.002, '<geom type="plane" size="9 9 1"/>', *boxes), 16)
    # What the first steps need is chance: rounding tells sticking contacts of gap 0 apart.
    sim.qpos[1:, :3] += 1e-14 * np.random.default_rng(0).normal(size=(15, 3))
    iterations = []
    for _ in range(200):
        assert np.all(sim.step() == Status.solved)
        # of the floor, and of neighbours side by side
        assert np.all(sim.num_rows == 3 * 4 * (9 + 12))
        iterations.append(sim.iterations.copy())
    assert np.mean(iterations[100:]) < 3


@pytest.mark.parametrize("tilt", [1e-5, 1e-4, 1e-3])
def test_faces_that_nearly_meet_have_the_normal_of_the_first(tilt):
    """MuJoCo's collider takes either face for the plane of the contacts, as rounding decides."""
    first, second = (f'<geom type="box" size="{size}"/>' for size in (".1 .1 .1", ".08 .03 .02"))
    sim = BatchSim(scene(0.002, first, f"<body><freejoint/>{second}</body>"), 64)
    turn = tilt * np.random.default_rng(0).normal(size=(64, 2))
    sim.qpos[:, 2] = 0.12 + np.abs(turn) @ [0.03, 0.08]
    sim.qpos[:, 4:6] = turn / 2
    for _ in range(5):
        sim.step()
        for env in range(64):
            for contact in sim.contacts(env):
                np.testing.assert_array_equal(contact["frame"][0], [0, 0, 1])
