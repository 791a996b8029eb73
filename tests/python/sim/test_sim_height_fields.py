"""Bodies on height fields: they come to rest, and level cells are a plane
(docs/mathematics.md §12). MuJoCo returns one point for each triangle, another one in each step."""

import numpy as np
import pytest

pytest.importorskip("mujoco")
from sim_models import text
from tabletop import CUBE

from stickslip import BatchSim, Status

NODES = 12  # along a side
GRIP = 'condim="6" friction="1 .01 .01"'  # so that what is round stops
SIDE = np.linspace(-1, 1, NODES)


def field(height, half, attributes=""):
    """MJCF of a height field: its asset and its geom."""
    low, most = height.min(), max(np.ptp(height), 1e-3)
    rows, columns = height.shape
    asset = f"""<hfield name="field" nrow="{rows}" ncol="{columns}"
    size="{half[0]} {half[1]} {most} .1" elevation="{text((height - low) / most)}"/>"""
    return asset, f'<geom type="hfield" hfield="field" {attributes}/>'


def ground(kind, rng):
    """Heights, m, on cells of 15 cm, or of 5 cm ("rough"); half a side of all of them."""
    angle = rng.uniform(0, 2 * np.pi)
    along = np.cos(angle) * SIDE[:, None] + np.sin(angle) * SIDE
    height = {
        "level": 0 * along,
        "slope": 0.06 * along,
        "valley": 0.24 * np.abs(along),
        "bumpy": rng.uniform(0, 0.06, along.shape),
        "rough": rng.uniform(0, 0.06, along.shape),
    }[kind]
    return height, 0.25 if kind == "rough" else 0.8


def dropped(kind, shape, seed):
    rng = np.random.default_rng(seed)
    height, half = ground(kind, rng)
    size, quat = rng.uniform(0.02, 0.07, 3), rng.normal(size=4)
    vertex = CUBE * size
    if seed % 2:
        ball = rng.normal(size=(6 + 4 * (seed % 3), 3))
        vertex = ball / np.linalg.norm(ball, axis=1)[:, None] * size
    geom = {
        "box": f'type="box" size="{text(size)}"',
        "mesh": 'type="mesh" mesh="mesh"',
        "cylinder": f'type="cylinder" size="{text(size[:2])}" {GRIP}',
        "capsule": f'type="capsule" size="{text(size[:2])}" {GRIP}',
        "sphere": f'type="sphere" size="{size[0]}" {GRIP}',
    }[shape]
    asset, floor = field(height, (half, half))
    pos = [*rng.uniform(-0.1, 0.1, 2), np.ptp(height) + 0.13]
    return f"""<mujoco><option timestep=".002"/><asset>{asset}
    <mesh name="mesh" vertex="{text(vertex)}"/></asset><worldbody>{floor}
    <body pos="{text(pos)}" quat="{text(quat / np.linalg.norm(quat))}"><freejoint/><geom {geom}/>
    </body></worldbody></mujoco>"""


@pytest.mark.parametrize("shape", ["box", "mesh", "cylinder", "capsule", "sphere"])
@pytest.mark.parametrize("kind", ["level", "slope", "valley", "bumpy", "rough"])
def test_dropped_bodies_come_to_rest(kind, shape):
    for seed in range(8):
        sim = BatchSim(dropped(kind, shape, seed), 1, threads=1)
        for _ in range(2000):
            assert sim.step()[0] == Status.solved
        start = sim.qpos.copy()
        for _ in range(500):
            assert sim.step()[0] == Status.solved
            assert np.abs(sim.qpos - start).max() < 1e-5
        assert np.abs(sim.qvel).max() < 1e-6


MOVING = {  # geom, height, velocity
    "box": ('type="box" size=".05 .03 .04"', 0.04, (3, 0.4, 0, 0, 0, 2)),
    "mesh": ('type="mesh" mesh="mesh"', 0.04, (3, 0.4, 0, 0, 0, 2)),
    "disc": ('type="cylinder" size=".1 .03"', 0.03, (2, 0.4, 0, 0, 0, 5)),
    "wheel": ('type="cylinder" size=".1 .03" euler="90 0 0"', 0.1, (2, 0, 0, 0, 20, 0)),
    "ball": ('type="sphere" size=".1"', 0.1, (2, 0.3, 0, -3, 20, 0)),
    "ellipsoid": ('type="ellipsoid" size=".05 .05 .05"', 0.05, (2, 0.3, 0, -6, 40, 0)),
    "skid": ('type="capsule" size=".03 .1" euler="0 90 0"', 0.03, (2, 0.4, 0, 0, 0, 1)),
}


@pytest.mark.parametrize("h", [0.001, 0.002, 0.005, 0.01])
@pytest.mark.parametrize("shape", MOVING)
def test_level_cells_are_a_plane(shape, h):
    """Seams neither brake nor turn what slides and rolls over them."""
    geom, z, velocity = MOVING[shape]
    asset, floor = field(np.zeros((41, 61)), (3, 2), "friction='.5 .005 .0001'")
    plane = '<geom type="plane" size="9 9 1" friction=".5 .005 .0001"/>'
    sims = [
        BatchSim(
            f"""<mujoco><option timestep="{h}"/><asset>{asset}
            <mesh name="mesh" vertex="{text(CUBE * [0.05, 0.03, 0.04])}"/></asset>
            <worldbody>{ground}
            <body pos="-2 .013 {z}"><freejoint/><geom {geom} friction=".5 .005 .0001"/></body>
            </worldbody></mujoco>""",
            1,
            threads=1,
        )
        for ground in (floor, plane)
    ]
    for sim in sims:
        sim.qvel[:] = [velocity]
    for _ in range(round(1 / h)):
        for sim in sims:
            assert sim.step()[0] == Status.solved
        assert np.abs(sims[0].qpos - sims[1].qpos).max() < 1e-8


def test_a_mesa_carries_at_its_rim():
    """A box wider than the level top of a hill has the vertices and edges of the top."""
    height = np.zeros((7, 7))
    height[2:5, 2:5] = 0.1
    asset, floor = field(height, (0.3, 0.3))
    sim = BatchSim(
        f"""<mujoco><asset>{asset}</asset><worldbody>{floor}<body pos=".03 .02 .13"><freejoint/>
        <geom type="box" size=".12 .13 .03"/></body></worldbody></mujoco>""",
        1,
        threads=1,
    )
    for _ in range(100):
        assert sim.step()[0] == Status.solved
    assert np.abs(sim.qvel).max() < 1e-9
    position = np.array([contact["position"] for contact in sim.contacts(0)])
    for corner in np.array([(s, t, 1) for s in (-1, 1) for t in (-1, 1)]) * 0.1:
        place = np.maximum(corner, [-0.09, -0.11, 0])  # of the box
        assert np.linalg.norm(position - place, axis=1).min() < 1e-6


def test_a_belt_carries_by_the_frame_of_each_contact():
    """Surface velocities are those along each contact's own tangents, where normals differ."""
    height = 0.3 * np.abs(SIDE)[:, None] * np.ones(NODES)
    asset, floor = field(height, (0.8, 0.8), 'surfacevel=".3 0 0 0 0 0" friction="1"')
    sim = BatchSim(
        f"""<mujoco><asset>{asset}</asset><worldbody>{floor}<body pos="-.3 0 .25"><freejoint/>
        <geom type="box" size=".06 .2 .03"/></body></worldbody></mujoco>""",
        1,
        threads=1,
    )
    for _ in range(500):
        assert sim.step()[0] == Status.solved
    assert np.allclose(sim.qvel[0], [0.3, 0, 0, 0, 0, 0], atol=1e-6)


# Between the wall and the cells normals are opposed but for a small angle, so that exact contacts
# leave a way out at up to 10^8 m/s, or a body turns as fast about an axis through its contacts.
@pytest.mark.parametrize("seed", range(2, 10))
def test_a_moving_wall_does_not_shoot_what_it_jams(seed):
    height = np.random.default_rng(seed).random((20, 20)) * 0.1
    asset, ground = field(height, (1, 1), 'friction=".8 .005 .002"')
    corners = ".05 .05 -.03 -.05 .05 -.03 .05 -.05 -.03 -.05 -.05 -.03 0 0 .06"
    sim = BatchSim(
        f"""<mujoco><option timestep=".005"/><asset>{asset}<mesh name="tent" vertex="{corners}"/>
        </asset><default><geom friction=".8 .005 .002"/></default><worldbody>{ground}
        <body mocap="true" pos="-.5 0 .12"><geom type="box" size=".03 .2 .12"/></body>
        <body pos=".03 .02 .2"><freejoint/><geom type="mesh" mesh="tent"/></body>
        </worldbody></mujoco>""",
        1,
    )
    fastest = 0.0
    for k in range(800):
        sim.mocap_pos[0, 0, 0] = -0.5 + 0.001 * (k + 1)
        sim.step()
        fastest = max(fastest, float(np.abs(sim.qvel[0, :3]).max()))
    assert fastest < 30
