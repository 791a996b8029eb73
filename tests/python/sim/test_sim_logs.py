"""Cylinders and capsules whose sides touch edges and one another, at rest in any frame: along a
line near gap 0, MuJoCo's collider returned one point, with a normal that was degrees wrong; logs
fell through a gap, from rails, and out of a pile."""

import mujoco
import numpy as np
import pytest
from sim_models import text

from stickslip import BatchSim, Status

FRAMES = [(1, 0, 0, 0), (0.94, 0.09, 0.18, 0.28)]
LYING = (0.5**0.5, 0.5**0.5, 0, 0)  # along y
RIDGE = text([c for y in (-3, 3) for x, z in ((-1, -1), (1, -1), (0, 0)) for c in (x, y, z)])
CUBE = text([c for x in (-4, 4) for y in (-4, 4) for z in (-1, 1) for c in (x, y, z)])
ASSETS = {"ridge": RIDGE, "cube": CUBE}


def geom(kind, size, place, quat=(1, 0, 0, 0)):
    shape = f'type="mesh" mesh="{kind}"' if kind in ASSETS else f'type="{kind}" size="{text(size)}"'
    return f'<geom {shape} pos="{text(place)}" quat="{text(quat)}"/>'


def log(x, z, kind="cylinder"):
    return (x, z, geom(kind, (1, 1.5), (0, 0, 0), LYING))


def pair(kind, size, x, z, quat=(1, 0, 0, 0)):
    return "".join(geom(kind, size, (side * x, 0, z), quat) for side in (-1, 1))


def height(x, reach=1):
    return (reach**2 - x**2) ** 0.5


TROUGH = pair("box", (1, 4, 2), 3.4, 2) + geom("plane", (0, 0, 1), (0, 0, 0))
# What is fixed, and logs with their places, in radii.
PILES = {
    "gap_of_boxes": (pair("box", (4, 4, 1), 4.4, -1), [log(0, height(0.4))]),
    "wide_gap_of_boxes": (pair("box", (4, 4, 1), 4.8, -1), [log(0, height(0.8))]),
    "gap_of_meshes": (pair("cube", None, 4.4, -1), [log(0, height(0.4))]),
    "capsule_in_a_gap": (pair("cube", None, 4.4, -1), [log(0, height(0.4), "capsule")]),
    "rails": (pair("cylinder", (1, 2), 1.3, 0, LYING), [log(0, height(1.3, 2))]),
    "round_rails": (pair("capsule", (1, 2), 1.3, 0, LYING), [log(0, height(1.3, 2))]),
    "ridges": (pair("ridge", None, 0.6, 0), [log(0, height(0.6))]),
    "trough": (TROUGH, [log(-1.4, 1), log(1.4, 1), log(0, 1 + height(1.4, 2))]),
}


def pile(fixed, logs, frame, size, h, mu):
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, frame)
    turn = matrix.reshape(3, 3)
    bodies = "".join(
        f'<body pos="{text(turn @ (x, 0, z))}" quat="{text(frame)}"><freejoint/>{of}</body>'
        for x, z, of in logs
    )
    meshes = "".join(f'<mesh name="{name}" vertex="{at}"/>' for name, at in ASSETS.items())
    spec = mujoco.MjSpec.from_string(
        f"""<mujoco><option timestep="{h}" gravity="{text(-9.81 * turn[:, 2])}"/>
        <default><geom friction="{mu} 0 0"/></default><asset>{meshes}</asset>
        <worldbody><frame quat="{text(frame)}">{fixed}</frame>{bodies}</worldbody></mujoco>"""
    )
    for g in spec.geoms:
        g.size, g.pos = size * g.size, size * g.pos
    for b in spec.bodies:
        b.pos = size * b.pos
    for m in spec.meshes:
        m.scale = [size] * 3
    return spec.compile()


@pytest.mark.parametrize("name", PILES)
@pytest.mark.parametrize("mu", [0, 0.5])
@pytest.mark.parametrize(("size", "h"), [(0.005, 0.01), (0.05, 0.002), (0.5, 0.01)])
@pytest.mark.parametrize("frame", FRAMES)
def test_logs_lie_still(name, mu, size, h, frame):
    frame = np.array(frame) / np.linalg.norm(frame)
    sim = BatchSim(pile(*PILES[name], frame, size, h, mu), 1)
    start = sim.qpos.copy()
    for _ in range(100):
        assert sim.step()[0] == Status.solved
    assert abs(sim.qpos - start).max() < 1e-6 * max(size, 0.1)
    assert abs(sim.qvel).max() < 1e-4


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("floor", ["plane", "cube"])
def test_standing_cylinders_push_one_another_upright(floor, frame):
    """Their line of contact is as high as they are: by one point of it, they tipped over."""
    s, speed, count = 0.05, 0.5, 3
    floors = geom("plane", (0, 0, 1), (0, 0, 0))
    if floor == "cube":
        floors = "".join(geom("cube", None, (8 * i, 0, -1)) for i in (-1, 0, 1))
    discs = [(2 * i, 0.5, geom("cylinder", (1, 0.5), (0, 0, 0))) for i in range(count)]
    frame = np.array(frame) / np.linalg.norm(frame)
    sim = BatchSim(pile(floors, discs, frame, s, 0.01, 0), 1)
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, frame)
    turn = matrix.reshape(3, 3)
    quat = sim.qpos.reshape(count, 7)[:, 3:].copy()
    sim.qvel[0, :3] = speed * turn[:, 0]
    for _ in range(30):
        assert sim.step()[0] == Status.solved
    velocity = sim.qvel.reshape(count, 6)[:, :3] @ turn
    np.testing.assert_allclose(velocity, [(speed / count, 0, 0)] * count, atol=2e-4 * speed)
    np.testing.assert_allclose(sim.qpos.reshape(count, 7)[:, 3:], quat, atol=1e-6)


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("offset", [0, 1e-12, 1e-9, 1e-6])
def test_a_cylinder_stands_on_a_box_as_wide(offset, frame):
    """Its rim touches the edges of the face: MuJoCo may return four points of one quarter."""
    frame = np.array(frame) / np.linalg.norm(frame)
    on = [(0, 1, geom("box", (1, 1, 1), (0, 0, 0)))]
    on.append((offset, 3, geom("cylinder", (1, 1), (0, 0, 0))))
    sim = BatchSim(pile(geom("plane", (0, 0, 1), (0, 0, 0)), on, frame, 0.005, 0.01, 0.5), 1)
    start = sim.qpos.copy()
    for _ in range(60):
        assert sim.step()[0] == Status.solved
    assert abs(sim.qpos - start).max() < 1e-9


@pytest.mark.parametrize("kind", ["box", "cube"])
@pytest.mark.parametrize("tilt", [0.1, 1, 5])
def test_a_cylinder_whose_end_sinks_onto_edges_is_held(tilt, kind):
    """Dropped into a gap with one end lower, it took the normals of the sides of the gap once that
    end overlapped the edges, and fell between them, solved. `mj_step` overlaps by 0.3 radii."""
    fixed, _ = PILES["gap_of_boxes" if kind == "box" else "gap_of_meshes"]
    model = pile(fixed, [log(0, height(0.4))], FRAMES[0], 0.1, 0.005, 0.5)
    drops = np.repeat([0.02, 0.05, 0.1, 0.2, 0.4], 4)
    sim = BatchSim(model, num_envs=drops.size, integrator="implicitfast")
    axis = np.array([np.cos(np.radians(tilt) / 2), np.sin(np.radians(tilt) / 2), 0, 0])
    sim.qpos[:, 3:7] = axis
    sim.qpos[:, 2] += 0.1 * drops
    sim.qvel[:, 3:5] = np.tile([[0, 0], [0.3, 0], [0, 0.3], [-0.3, 0.2]], (5, 1))
    for _ in range(200):
        sim.step()
        assert sim.qpos[:, 2].min() > 0.1 * (height(0.4) - 0.08)
    assert np.abs(sim.qvel[:, :3]).max() < 0.1


@pytest.mark.parametrize("kind", ["cylinder", "capsule"])
def test_a_log_in_a_valley_of_logs_does_not_sink_by_rocking(kind):
    """Side by side to 2 mrad, MuJoCo has one contact at the lower end: with `position_iterations`,
    recovery lifted this end, the other one sank, and so on, through the valley."""
    fixed = "".join(pair(kind, (1, 24), x, -1, LYING) for x in range(1, 16, 2))
    model = pile(fixed, [log(0, height(1, 2) - 1, kind)], FRAMES[0], 0.01, 0.002, 0)
    sim = BatchSim(model, num_envs=24, position_iterations=10, integrator="implicitfast")
    rng = np.random.default_rng(1)
    yaw = rng.uniform(-0.5, 0.5, 24)
    turned = np.array([np.cos(yaw / 2), 0 * yaw, 0 * yaw, np.sin(yaw / 2)])
    for env in range(24):
        mujoco.mju_mulQuat(sim.qpos[env, 3:7], turned[:, env], LYING)
    sim.qpos[:, 2] = 0.01 * rng.uniform(1, 1.2, 24)
    sim.qvel[:, 3:] = rng.normal(size=(24, 3))
    for _ in range(500):
        sim.step()
    assert sim.qpos[:, 2].min() > 0.01 * (height(1, 2) - 1 - 0.01)
