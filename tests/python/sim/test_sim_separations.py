"""Planes that separated convex geoms in earlier steps spare the search for their distance
(src/mujoco/contacts/separations.hpp). No result depends on what is remembered."""

import itertools

import numpy as np
import pytest

pytest.importorskip("mujoco")
import mujoco
from sim_models import text

from stickslip import BatchSim

SHAPES = 6
WALLS = "".join(
    f'<geom type="plane" size="5 5 .1" pos="{-0.25 * x} {-0.25 * y} 0" zaxis="{x} {y} 1e-9"/>'
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))
)


def shapes(rng):
    """Meshes of 20 vertices on a ball, some of them flat; an ellipsoid and a cylinder."""
    points = rng.normal(size=(SHAPES, 20, 3))
    points /= np.linalg.norm(points, axis=2, keepdims=True)
    points[::2, :, 2] *= 0.3
    return points


def bin_of(points, extra=""):
    assets = "".join(
        f'<mesh name="m{i}" vertex="{text(p)}" scale=".06 .06 .06"/>' for i, p in enumerate(points)
    )
    kinds = [f'type="mesh" mesh="m{i}"' for i in range(len(points))]
    kinds += ['type="ellipsoid" size=".05 .04 .03"', 'type="cylinder" size=".04 .05"']
    bodies = "".join(
        f'<body pos="{0.11 * (i % 3) - 0.11} {0.12 * (i // 3) - 0.12} {0.1 + 0.02 * i}">'
        f"<freejoint/><geom {kind}/></body>"
        for i, kind in enumerate(kinds)
    )
    plane = '<geom type="plane" size="5 5 .1"/>'
    return f"""<mujoco><option timestep="0.004" {extra}/><asset>{assets}</asset><worldbody>
        {plane}{WALLS}{bodies}</worldbody></mujoco>"""


def thrown(model, envs=4):
    sim = BatchSim(model, envs, threads=1)
    sim.qvel[:] = np.random.default_rng(1).normal(size=sim.qvel.shape)
    return sim


@pytest.fixture(scope="module")
def model():
    return bin_of(shapes(np.random.default_rng(0)))


def test_bits_do_not_depend_on_earlier_steps(model):
    """Each step is repeated by a simulation that remembers nothing."""
    sim = thrown(model)
    met = 0
    for k in range(150):
        before = sim.state.copy()
        sim.step()
        met += sim.num_contacts.sum()
        if k % 5:
            continue
        fresh = BatchSim(model, 4, threads=1)
        fresh.state[:] = before
        fresh.step()
        np.testing.assert_array_equal(fresh.state, sim.state)
        np.testing.assert_array_equal(fresh.num_rows, sim.num_rows)
    assert met > 1000


def test_jumps_are_seen(model):
    """A body that is put beside another one touches it in the next step."""
    sim = thrown(model, 1)
    for _ in range(20):
        sim.step()
    for k in range(1, 7):
        sim.qpos[0, :3] = sim.qpos[0, 7 * k : 7 * k + 3] + [0, 0, 0.01]
        before = sim.state.copy()
        sim.step()
        fresh = BatchSim(model, 1, threads=1)
        fresh.state[:] = before
        fresh.step()
        np.testing.assert_array_equal(fresh.state, sim.state)
        moved = sim.model.body(1).geomadr[0]
        assert any(moved in c["geoms"] for c in sim.contacts(0))


def test_other_sizes_are_seen():
    """`vary` makes an ellipsoid larger that was apart from a mesh."""
    model = bin_of(shapes(np.random.default_rng(0)), 'gravity="0 0 0"')
    sim, fresh = (BatchSim(model, 2, threads=1) for _ in range(2))
    sim.step()
    sizes = np.tile(sim.model.geom_size, (2, 1, 1))
    ellipsoid = int(np.flatnonzero(sim.model.geom_type == mujoco.mjtGeom.mjGEOM_ELLIPSOID)[0])
    sizes[1, ellipsoid] *= 2.2
    radii = np.tile(sim.model.geom_rbound, (2, 1))
    radii[1, ellipsoid] *= 2.2
    boxes = np.tile(sim.model.geom_aabb, (2, 1, 1))
    boxes[1, ellipsoid] *= 2.2
    before = sim.state.copy()
    for each in (sim, fresh):
        each.vary("geom_size", sizes)
        each.vary("geom_rbound", radii)
        each.vary("geom_aabb", boxes)
        each.state[:] = before
        each.step()
    np.testing.assert_array_equal(fresh.state, sim.state)
    assert sim.num_contacts[1] > sim.num_contacts[0]


KINDS = {
    "sphere": 'type="sphere" size=".05"',
    "capsule": 'type="capsule" size=".03 .05"',
    "ellipsoid": 'type="ellipsoid" size=".05 .04 .03"',
    "cylinder": 'type="cylinder" size=".04 .05"',
    "box": 'type="box" size=".05 .04 .03"',
    "ball": 'type="mesh" mesh="ball"',
    "plate": 'type="mesh" mesh="plate"',
}
PAIRS = list(itertools.combinations_with_replacement(KINDS, 2))


def couples(rng):
    """Two free bodies of each pair of kinds, pair by pair one metre apart."""
    ball = rng.normal(size=(200, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    plate = rng.uniform(-1, 1, size=(40, 3)) * [1, 1, 0.1]
    assets = "".join(
        f'<mesh name="{name}" vertex="{text(p)}" scale=".05 .05 .05"/>'
        for name, p in (("ball", ball), ("plate", plate))
    )
    bodies = "".join(
        f'<body pos="{k} {0.3 * side} 0"><freejoint/><geom {KINDS[kind]}/></body>'
        for k, pair in enumerate(PAIRS)
        for side, kind in enumerate(pair)
    )
    return f"""<mujoco><option timestep="0.002" gravity="0 0 0"/><size memory="64M"/>
        <asset>{assets}</asset><worldbody>{bodies}</worldbody></mujoco>"""


def bring_together(model, qpos, apart):
    """Shifts the second body of each pair until it is so far from the first, m. Returns velocities
    with which it closes at 1 m/s."""
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    velocities = np.zeros((len(PAIRS), 2, 6))
    for k in range(len(PAIRS)):
        ends = np.zeros(6)
        gap = mujoco.mj_geomDistance(model, data, 2 * k, 2 * k + 1, 10.0, ends)
        way = (ends[3:] - ends[:3]) / gap
        second = 7 * (2 * k + 1)
        qpos[second : second + 3] -= (gap - apart) * way
        velocities[k, 1, :3] = -way
    return velocities.ravel()


def overlaps_of(model, qpos):
    """How deep the bodies of each pair overlap, m."""
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    return [
        -mujoco.mj_geomDistance(model, data, 2 * k, 2 * k + 1, 10.0, None)
        for k in range(len(PAIRS))
    ]


@pytest.mark.parametrize("remembers", [False, True])
def test_all_pairs_that_close_are_found(remembers):
    """Every kind of convex geom stops every other, 0.1 mm before they touch, in any orientation."""
    rng = np.random.default_rng(3)
    envs = 6
    sim = BatchSim(couples(rng), envs, threads=1)
    for turns in sim.qpos.reshape(envs, -1, 7)[:, :, 3:]:
        turns[:] = rng.normal(size=turns.shape)
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    if remembers:  # planes between bodies that are apart
        for qpos in sim.qpos:
            bring_together(sim.model, qpos, 0.003)
        sim.qvel.reshape(envs, -1, 6)[:, :, 3:] = 0.2
        for _ in range(3):
            sim.step()
    for env in range(envs):
        sim.qvel[env] = bring_together(sim.model, sim.qpos[env], 1e-4)
    ahead = sim.qpos.reshape(envs, -1, 7).copy()
    ahead[:, :, :3] += sim.model.opt.timestep * sim.qvel.reshape(envs, -1, 6)[:, :, :3]
    sim.step()
    for env in range(envs):
        depth = overlaps_of(sim.model, ahead[env].ravel())
        met = {frozenset(c["geoms"]) for c in sim.contacts(env) if c["active"]}
        apart = [k for k in range(len(PAIRS)) if {2 * k, 2 * k + 1} not in met]
        # Two edges may pass each other: that is no contact.
        assert [PAIRS[k] for k in apart if depth[k] > 1e-4] == []
        assert len(apart) <= 1
