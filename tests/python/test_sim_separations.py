"""Planes that separated convex geoms in earlier steps spare the search for their distance
(src/mujoco/separations.hpp). No result depends on what is remembered."""

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
