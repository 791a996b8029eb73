"""MuJoCo's search for convex shapes may tell of an overlap that is not the least, above all with
the margins of rigid contacts: the normals of contacts are right nevertheless."""

import mujoco
import numpy as np
import pytest
from sim_models import text
from tabletop import CUBE

from stickslip import BatchSim

ANGLES = 2 * np.pi * np.arange(3) / 3
FRUSTUM = np.concatenate(
    [
        np.stack([r * np.cos(ANGLES), r * np.sin(ANGLES), np.full(3, z)], axis=1)
        for r, z in ((0.0317761054, 0.0), (0.0275186511, 0.0186067943))
    ]
)
# Radius and half length of a cylinder at the origin; vertices of a mesh and its pose; the least
# overlap, m, and its direction from the cylinder, by a search over all directions.
CASES = {
    "cap": (
        (0.010669625805445946, 0.0047127545906680262),
        FRUSTUM,
        (-0.0016673210469289193, -0.02860408302077377, -0.017715285048261177),
        (0.7071067811865476, 0.0, 0.7071067811865475, 0.0),
        2.886e-3,
        (0, 0, -1),
    ),
    "side and face": (
        (0.1517200061746484, 0.063530712412062929),
        CUBE * [0.108869426, 0.122450247, 0.527736008],
        (-0.10950989042029245, 0.2717410364536292, 0.028016586383968412),
        (0.9999999915766383, 1.448318e-05, 1.063137e-06, -0.00012897996),
        2.458e-3,
        (0, 1, 0),
    ),
    "side and edge": (
        (0.0098519911645497185, 0.017073628391133751),
        CUBE * [0.00217227265, 0.00418650545, 0.00839761551],
        (-0.011975861382114815, -0.004428943005556333, 0.002531915437399187),
        (1, 0, 0, 0),
        4.74e-5,
        (-1, -0.0044, 0),
    ),
    "side and corner": (
        (0.35083886254087127, 0.24505125629355429),
        CUBE * [0.296841145, 0.101584993, 0.0583711676],
        (0.23550817086692682, -0.4908066777442648, 0.28545889281877707),
        (-0.017076644878464234, 0.9973705119149936, -0.06905324705591931, -0.013859986765955906),
        4.27e-4,
        (-0.1306, -0.9914, 0),
    ),
}


def overlap_along(n, size, vertices, place, rotation):
    """How far the cylinder and the mesh overlap along n, from one to the other, m."""
    cylinder = size[0] * np.hypot(n[0], n[1]) + size[1] * abs(n[2])
    mesh = (vertices @ rotation.T + place) @ -n
    return cylinder + mesh.max()


@pytest.mark.parametrize("name", CASES)
def test_a_cylinder_and_a_mesh_part_in_the_shortest_way(name):
    size, vertices, place, quat, least, direction = CASES[name]
    sim = BatchSim(
        f"""<mujoco><option gravity="0 0 0"/><asset>
        <mesh name="m" vertex="{text(vertices)}"/></asset>
        <worldbody><geom type="cylinder" size="{size[0]} {size[1]}"/>
        <body><freejoint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""
    )
    sim.qpos[0] = [*place, *quat]
    sim.step()
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, np.array(quat, float))
    contacts = sim.contacts(0)
    assert contacts
    for contact in contacts:
        assert contact["geoms"] == (0, 1)
        normal = contact["frame"][0]
        assert normal @ direction > np.cos(np.radians(3)) * np.linalg.norm(direction)
        along = overlap_along(normal, size, vertices, np.array(place), rotation.reshape(3, 3))
        assert along == pytest.approx(least, rel=0.1)
    assert min(c["gap"] for c in contacts) == pytest.approx(-least, rel=0.1)
