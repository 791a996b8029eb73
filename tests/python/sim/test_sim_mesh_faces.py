"""Meshes that rest on meshes and boxes have the whole polygon that their faces share, with the gap
of each corner (docs/mathematics.md §12). MuJoCo returns four or five of its points."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

from sim_models import text
from tabletop import CUBE
from test_sim_faces import product, turn

from stickslip import BatchSim, Status

PRISM = [  # a dodecagon
    (np.cos(a), np.sin(a), z) for a in np.arange(12) * np.pi / 6 for z in (-1, 1)
]
SCENE = """<mujoco><option timestep="0.002"/><asset>
<mesh name="cube" vertex="{cube}" scale=".05 .05 .05"/>
<mesh name="prism" vertex="{prism}" scale=".05 .05 .05"/></asset><worldbody>
<geom {lower} pos="0 0 -.05"/>
<body pos="0 0 .05"><freejoint/><geom {upper} mass="1"/>{more}</body></worldbody></mujoco>"""
KINDS = {
    "box": 'type="box" size=".05 .05 .05"',
    "cube": 'type="mesh" mesh="cube"',
    "prism": 'type="mesh" mesh="prism"',
}
OCTAGON = 0.05 * (np.sqrt(2) - 1)  # half a side


def scene(lower, upper, more=""):
    kinds = {"lower": KINDS[lower], "upper": KINDS[upper], "more": more}
    return SCENE.format(cube=text(CUBE), prism=text(PRISM), **kinds)


@pytest.mark.parametrize("gap", [-1e-5, -1e-8, 0.0, 1e-8, 2e-6])
@pytest.mark.parametrize("pair", [("box", "cube"), ("cube", "box"), ("cube", "cube")])
def test_two_squares_share_an_octagon(pair, gap):
    tilts = [0.0, 1e-9, 1e-6, 1e-4]
    sim = BatchSim(scene(*pair), len(tilts), threads=1)
    qpos = sim.qpos.copy()
    for pose, tilt in zip(qpos, tilts, strict=True):
        pose[2] += gap
        pose[3:] = product(turn([1, 0, 0], tilt), turn([0, 0, 1], np.pi / 4))
        pose[2] += 0.05 * (1 - np.cos(tilt)) + tilt * 0.05
    sim.qpos[:] = qpos
    sim.step()
    corners = {(s * 0.05, t * OCTAGON) for s in (1, -1) for t in (1, -1)}
    corners |= {(y, x) for x, y in corners}
    for env, tilt in enumerate(tilts):
        contacts = sim.contacts(env)
        shown = [c for c in corners if gap + tilt * (0.05 + c[1]) < 1e-5]
        assert len(contacts) >= len(shown)
        for x, y in shown:
            near = [c for c in contacts if np.hypot(*(c["position"][:2] - (x, y))) < 1e-4]
            assert len(near) == 1
            assert abs(near[0]["gap"] - (gap + tilt * (0.05 + y))) < 2e-8
            assert abs(near[0]["frame"][0][2]) > 1 - 1e-7


@pytest.mark.parametrize("pair", [("box", "cube"), ("cube", "box"), ("cube", "cube")])
@pytest.mark.parametrize("side", range(8))
def test_nothing_tips_over_a_side_of_an_octagon(pair, side):
    angle = side * np.pi / 4  # the centre of mass close to the middle of a side
    to = 0.047 * np.array([np.cos(angle - np.pi / 4), np.sin(angle - np.pi / 4)])
    weight = f'<geom type="sphere" size=".002" pos="{2 * to[0]} {2 * to[1]} 0" mass="1"/>'
    sim = BatchSim(scene(*pair, more=weight), 1)
    sim.qpos[0, 3:] = turn([0, 0, 1], np.pi / 4)
    start = sim.qpos.copy()
    for _ in range(1000):
        assert sim.step()[0] == Status.solved
    assert np.abs(sim.qpos - start).max() < 1e-6


@pytest.mark.parametrize("lower", ["box", "cube"])
def test_a_face_of_many_corners_keeps_eight(lower):
    sim = BatchSim(scene(lower, "prism"), 1)
    for _ in range(500):
        assert sim.step()[0] == Status.solved
    contacts = sim.contacts(0)
    assert len(contacts) == 8
    assert abs(sum(c["force"][0] for c in contacts) - 9.81) < 1e-6
    assert abs(sim.qpos[0, 2] - 0.05) < 1e-8


def test_meshes_in_a_stack_lie_still():
    names = ["cube", "prism"] * 3
    bodies = "".join(
        f"""<body pos="{0.004 * k} 0 {0.05 + 0.1 * k}" euler="0 0 {17 * k}"><freejoint/>
        <geom {KINDS[name]} mass="1"/></body>"""
        for k, name in enumerate(names)
    )
    xml = scene("box", "cube")
    xml = xml[: xml.index("<body")] + bodies + "</worldbody></mujoco>"
    sim = BatchSim(xml, 1)
    start = sim.qpos.copy()
    for _ in range(1500):
        assert sim.step()[0] == Status.solved
    assert np.abs(sim.qpos - start).max() < 1e-6


@pytest.mark.parametrize("overlap", [1e-5, 1e-4, 3e-4])
def test_a_face_that_overlaps_is_whole_too(overlap):
    """The centre of mass 1 mm inside the side that MuJoCo's four points leave out."""
    weight = f'<geom type="sphere" size=".002" pos="{2 * 0.049} 0 0" mass="1"/>'
    sim = BatchSim(scene("cube", "cube", more=weight), 1)
    sim.qpos[0, 2] -= overlap
    sim.qpos[0, 3:] = turn([0, 0, 1], np.pi / 4)
    for _ in range(500):
        assert sim.step()[0] == Status.solved
    assert abs(sim.qpos[0, 2] - 0.05) < 1e-6
    assert np.abs(sim.qpos[0, 4:6]).max() < 1e-4


@pytest.mark.parametrize("corners", [5, 12, 20, 30])
@pytest.mark.parametrize("uneven", [1e-6, 1e-5, 5e-5])
def test_an_uneven_foot_stands_on_a_plane(corners, uneven):
    rng = np.random.default_rng(corners)
    angles = 2 * np.pi * np.arange(corners) / corners
    low = np.c_[np.cos(angles), np.sin(angles), np.zeros(corners)] * 0.05
    high = low + np.array([0, 0, 0.04])
    low[:, 2] += uneven * rng.uniform(size=corners)
    sim = BatchSim(
        f"""<mujoco><option timestep=".002"/><asset>
        <mesh name="m" vertex="{text(np.r_[low, high])}"/></asset><worldbody>
        <geom type="plane" size="1 1 1"/><body pos="0 0 .03"><freejoint/>
        <geom type="mesh" mesh="m"/></body></worldbody></mujoco>""",
        1,
    )
    for _ in range(500):
        assert sim.step()[0] == Status.solved
    start = sim.qpos.copy()
    for _ in range(500):
        assert sim.step()[0] == Status.solved
        assert np.abs(sim.qvel[0, 3:]).max() < 1e-6
    assert np.abs(sim.qpos - start).max() < 1e-6


def test_a_round_foot_that_lands_tilted_comes_to_rest():
    """Of the 60 corners of a prism, eight act: the lowest, and others all around."""
    corners = np.arange(60) * np.pi / 30
    prism = [(np.cos(a), np.sin(a), z) for a in corners for z in (-1, 1)]
    mesh = f'<mesh name="prism" vertex="{text(prism)}" scale=".05 .05 .05"/>'
    model = f"""<mujoco><option timestep="0.002"/><asset>{mesh}</asset><worldbody>
        <geom type="plane" size="5 5 .1"/><body pos="0 0 .052"><freejoint/>
        <geom type="mesh" mesh="prism" mass="1"/></body></worldbody></mujoco>"""
    sim = BatchSim(model, 8, threads=1)
    tilts = np.linspace(0.5e-3, 4e-3, 8)
    sim.qpos[:, 3:] = [turn([np.cos(k), np.sin(k), 0], t) for k, t in enumerate(tilts)]
    for _ in range(1000):
        assert (sim.step() == Status.solved).all()
    assert np.abs(sim.qvel).max() < 1e-6
