"""Cylinders that lie or roll on floors of level tiles move as on one plane, also along a seam."""

import numpy as np
import pytest
from sim_models import free, scene, text

from stickslip import BatchSim, Status

RADIUS, MU, G = 0.03, 0.01, 9.81
LYING = f'<geom type="cylinder" size="{RADIUS} .05" euler="{{turn}}" friction="{MU} 0 0"/>'
OFFSETS = np.array([0, 1e-12, -1e-9, 1e-6, -1e-5, 1.4e-5, 3e-5, 1e-3])  # m, beside the seam
BOX = 'type="box" size=".1 .1 .05"'
MESH = 'type="mesh" mesh="tile"'
TILE = " ".join(f"{x} {y} {z}" for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.05, 0.05))


def floor(h, turn, tile=BOX, count=8):
    """A floor of tiles with seams at y = 0 and x = ±0.1, ±0.3, ...; `count` cylinders in phases of
    a tile, each for all offsets from the seam at y = 0."""
    tiles = (
        f'<geom {tile} pos="{0.2 * i} {0.1 * k} -.05" friction="{MU} 0 0"/>'
        for i in range(-1, 5)
        for k in (-1, 1)
    )
    body = free(LYING.format(turn=turn), f"0 0 {RADIUS}")
    assets = f'<mesh name="tile" vertex="{TILE}"/>'
    sim = BatchSim(scene(h, *tiles, body, assets=assets), count * len(OFFSETS))
    sim.qpos[:, 0] = np.repeat(np.linspace(0, 0.2, count, endpoint=False), len(OFFSETS))
    sim.qpos[:, 1] = np.tile(OFFSETS, count)
    return sim


@pytest.mark.parametrize("tile", [BOX, MESH])
@pytest.mark.parametrize(("speed", "h"), [(0.3, 0.005), (1, 0.002), (1, 0.01), (3, 0.002)])
def test_a_lying_cylinder_slides_along_a_seam(tile, speed, h):
    """Its line of contact is an edge of the tiles: MuJoCo returned one point, with a normal of
    rounding. Half of the cylinders hit the side of a tile, and some fell through the seam."""
    sim, steps = floor(h, "0 90 0", tile), round(0.3 / speed / h)
    sim.qvel[:, 0] = speed
    for _ in range(steps):
        assert np.all(sim.step() == Status.solved)
        np.testing.assert_allclose(sim.qpos[:, 2], RADIUS, atol=1e-8)  # vertices are in float
    np.testing.assert_allclose(sim.qvel[:, 0], speed - MU * G * steps * h, rtol=1e-6)
    np.testing.assert_allclose(sim.qpos[:, 1], np.tile(OFFSETS, 8), atol=1e-6)


@pytest.mark.parametrize("h", [0.001, 0.005])
@pytest.mark.parametrize("turn", ["0 90 0", "0 90 20"])
def test_a_cylinder_falls_flat_onto_a_seam(turn, h):
    sim = floor(h, turn)
    sim.qpos[:, 2] += np.linspace(1e-4, 0.05, sim.num_envs)
    start = sim.qpos.copy()
    for _ in range(round(0.2 / h)):
        assert np.all(sim.step() == Status.solved)
    start[:, 2] = RADIUS
    np.testing.assert_allclose(sim.qpos, start, atol=1e-5)


@pytest.mark.parametrize("tile", [BOX, MESH])
@pytest.mark.parametrize("speed", [1e-4, 5e-4])
def test_a_lying_cylinder_creeps_over_a_seam(tile, speed):
    """By at most a micrometre in a step, with which it counted as resting at the tile's side."""
    h, steps = 0.002, 50
    sim = floor(h, "0 90 0", tile)
    sim.qpos[:, 0] = 0.05 - np.repeat(np.linspace(0, steps * speed * h, 8), len(OFFSETS))
    sim.xfrc_applied[:, 1, 0] = MU * G * sim.model.body_mass[1]  # as much as friction takes
    sim.qvel[:, 0] = speed
    for _ in range(steps):
        assert np.all(sim.step() == Status.solved)
    np.testing.assert_allclose(sim.qvel[:, 0], speed, rtol=1e-3)


@pytest.mark.parametrize("speed", [0.3, 2])
@pytest.mark.parametrize("h", [0.002, 0.01])
def test_a_wheel_rolls_over_tiles(h, speed):
    """Of its own size: the points found on the tiles' edges lifted it by some micrometres."""
    sim = floor(h, "90 0 0")
    sim.qvel[:, 0] = speed
    sim.qvel[:, 4] = speed / RADIUS
    for _ in range(round(0.2 / speed / h)):
        assert np.all(sim.step() == Status.solved)
        np.testing.assert_allclose(sim.qpos[:, 2], RADIUS, atol=1e-6)
    np.testing.assert_allclose(sim.qvel[:, 0], speed, rtol=1e-3)


def prism(sides, phase=0.0):
    """Vertices of a prism of radius 0.05 m and height 0.05 m, one of them in direction x."""
    angles = 2 * np.pi * (np.arange(sides) + phase) / sides
    corners = 0.05 * np.column_stack([np.cos(angles), np.sin(angles)])
    return text([(x, y, z) for x, y in corners for z in (-0.025, 0.025)])


@pytest.mark.parametrize("sides", [24, 60])
def test_a_round_mesh_slides_over_the_corners_of_tiles(sides):
    """The side of the next tile stopped it, where the solve without that contact had failed."""
    h, speed, mu, steps = 0.002, 2.5, 0.5, 60
    tiles = (
        f'<geom {MESH} pos="{0.2 * i - 0.1} {0.2 * k - 0.1} -.05" friction="{mu} 0 0"/>'
        for i in (0, 1)
        for k in range(4)
    )
    assets = f'<mesh name="tile" vertex="{TILE}"/><mesh name="prism" vertex="{prism(sides)}"/>'
    body = free(f'<geom type="mesh" mesh="prism" friction="{mu} 0 0"/>', "0 0 .025")
    beside = np.linspace(5e-5, 1.5e-4, 21)
    sim = BatchSim(scene(h, *tiles, body, assets=assets), len(beside))
    sim.qpos[:, 0] = beside
    sim.qvel[:, 1] = speed
    for k in range(1, steps + 1):
        assert np.all(sim.step() == Status.solved)
        np.testing.assert_allclose(sim.qvel[:, 1], speed - mu * G * h * k, rtol=1e-6)


def test_round_meshes_push_one_another():
    """On a plane: of their corners, all as low but for rounding, those of one side were left."""
    h, steps, least_mu = 0.002, 30, 1e-5  # MuJoCo has no less friction
    assets = f'<mesh name="prism" vertex="{prism(24, 0.5)}"/>'
    body = free('<geom type="mesh" mesh="prism" friction="0 0 0"/>', "0 0 .025")
    floor = '<geom type="plane" size="0 0 1" friction="0 0 0"/>'
    rng = np.random.default_rng(0)
    speed, gap = 10 ** rng.uniform(-4, -2, 64), 10 ** rng.uniform(-12, -7, 64)
    sim = BatchSim(scene(h, floor, body, body, assets=assets), 64)
    sim.qpos[:, 0] = rng.uniform(-0.1, 0.1, 64)
    sim.qpos[:, 7] = sim.qpos[:, 0] + 0.1 * np.cos(np.pi / 24) + gap
    sim.qvel[:, 0] = speed
    for _ in range(steps):
        assert np.all(sim.step() == Status.solved)
    velocity = sim.qvel.reshape(64, 2, 6)[:, :, :3]
    expected = np.zeros((64, 2, 3))
    expected[:, :, 0] = (speed / 2 - least_mu * G * h * steps)[:, None]
    np.testing.assert_allclose(velocity, expected, atol=1e-7)
