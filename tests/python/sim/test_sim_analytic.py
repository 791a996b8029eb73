"""Motions whose formula or end is known."""

import numpy as np
import pytest

pytest.importorskip("mujoco")
from scipy.integrate import solve_ivp

from stickslip import BatchSim, Status

G = 9.81


@pytest.mark.parametrize("h", [0.001, 0.005])
def test_a_ball_that_rolls_on_a_turntable_circles_at_two_sevenths_of_its_speed(h):
    """Of a solid ball, dv/dt = 2/7 Omega x v, wherever it is."""
    turning, radius, v = 3.0, 0.05, np.array([0.2, 0.1])
    xml = f"""<mujoco><option timestep="{h}"/><worldbody>
    <body><joint type="hinge" axis="0 0 1" armature="1e6"/>
      <geom type="cylinder" size="2 .1" pos="0 0 -.1"/></body>
    <body pos=".4 .1 {radius}"><freejoint/><geom type="sphere" size="{radius}"/></body>
    </worldbody></mujoco>"""
    sim = BatchSim(xml, 1)
    slip = turning * np.array([-0.1, 0.4]) - v  # of the table below the ball
    sim.qvel[0] = [turning, *v, 0, slip[1] / radius, -slip[0] / radius, 0]
    time = 1.0
    for _ in range(round(time / h)):
        assert sim.step()[0] == Status.solved
    angle = 2 / 7 * turning * time
    turned = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ v
    assert np.abs(sim.qvel[0, 1:3] - turned).max() < 0.5 * h * np.linalg.norm(v) * turning


@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_a_block_that_a_weight_pulls_over_a_pulley(mu):
    block, weight, h = 2.0, 1.5, 0.002
    xml = f"""<mujoco><option timestep="{h}"/><worldbody>
    <geom type="plane" size="9 9 1" friction="{mu} 0 0"/>
    <body pos="0 0 .1"><joint name="along" type="slide" axis="1 0 0"/>
      <joint type="slide" axis="0 0 1"/>
      <geom type="box" size=".1 .1 .1" mass="{block}" friction="{mu} 0 0"/></body>
    <body pos="5 5 5"><joint name="down" type="slide" axis="0 0 -1"/>
      <geom size=".1" mass="{weight}"/></body></worldbody>
    <equality><joint joint1="along" joint2="down" solref=".004 1" solimp=".9999 .9999 .001"/>
    </equality></mujoco>"""
    sim = BatchSim(xml, 1)
    steps = 250
    for _ in range(steps):
        assert sim.step()[0] == Status.solved
    acceleration = G * (weight - mu * block) / (weight + block)
    assert abs(sim.qvel[0, 0] / (steps * h) - acceleration) < 1e-3 * acceleration


def test_a_peg_falls_into_its_hole():
    clearance, wall = 5e-5, 0.05
    middle = 0.02 + clearance + wall
    walls = "".join(
        f'<geom type="box" size="{wall} {wall} .05" pos="{x} {y} .05"/>'
        for x in (-middle, 0, middle)
        for y in (-middle, 0, middle)
        if x or y
    )
    xml = f"""<mujoco><option timestep=".002"/><worldbody><geom type="plane" size="1 1 1"/>
    {walls}<body pos="2e-5 -3e-5 .142"><freejoint/>
    <geom type="box" size=".02 .02 .04" mass=".2"/></body></worldbody></mujoco>"""
    sim = BatchSim(xml, 1)
    for _ in range(500):
        sim.step()
        assert sim.status[0] == Status.solved
    assert abs(sim.qpos[0, 2] - 0.04) < 2e-6
    assert abs(sim.qpos[0, :2]).max() < 2 * clearance
    assert abs(sim.qvel[0]).max() < 1e-6


@pytest.mark.parametrize("mus", [(0.6, 0.2), (0.3, 0.3)])
def test_sliding_with_two_coefficients_follows_its_equation(mus):
    """Friction dissipates the most: f_i = -N mu_i^2 v_i / sqrt(sum_j mu_j^2 v_j^2)."""
    h, v = 0.0005, np.array([1.0, 0.7])
    xml = f"""<mujoco><option timestep="{h}"/><worldbody>
    <geom name="floor" type="plane" size="9 9 1"/>
    <body pos="0 0 .1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
      <joint type="slide" axis="0 0 1"/><geom name="ball" size=".1"/></body></worldbody>
    <contact><pair geom1="floor" geom2="ball" friction="{mus[0]} {mus[1]} 0 0 0"/></contact>
    </mujoco>"""
    sim = BatchSim(xml, 1)
    sim.qvel[0, :2] = v
    sim.step()
    contact = sim.contacts(0)[0]
    axes = np.reshape(contact["frame"], (3, 3))[1:, :2]  # tangents in the plane
    square = axes.T @ np.diag(np.square(mus)) @ axes

    def equation(_, v):
        return -G * square @ v / np.sqrt(v @ square @ v)

    sim.reset()
    sim.qvel[0, :2] = v
    time = 0.15
    for _ in range(round(time / h)):
        sim.step()
    expected = solve_ivp(equation, (0, time), v, rtol=1e-9, atol=1e-12).y[:, -1]
    assert np.linalg.norm(expected) > 0.2
    assert np.abs(sim.qvel[0, :2] - expected).max() < 1e-3


def test_feet_that_are_dropped_on_an_edge_all_lie_flat_in_the_end():
    size, feet = np.array([0.1, 0.05, 0.015]), 128
    xml = f"""<mujoco><option timestep=".002"/><worldbody><geom type="plane" size="9 9 1"/>
    <body pos="0 0 .2"><freejoint/><geom type="box" size="{" ".join(map(str, size))}"/></body>
    </worldbody></mujoco>"""
    sim = BatchSim(xml, feet)
    rng = np.random.default_rng(0)
    angle, spin = rng.uniform(-0.6, 0.6, (2, feet))
    sim.qpos[:, 3] = np.cos(angle / 2)  # about x or y: an edge lands
    sim.qpos[np.arange(feet), 4 + np.arange(feet) % 2] = np.sin(angle / 2)
    sim.qvel[:, 5] = spin
    solved = 0
    for _ in range(1000):
        solved += int((sim.step() == Status.solved).sum())
    assert solved == 1000 * feet
    assert np.abs(sim.qpos[:, 2] - size[2]).max() < 2e-6
    assert np.abs(sim.qpos[:, 4:6]).max() < 1e-4  # of the quaternion: the tilt
    assert np.abs(sim.qvel).max() < 1e-6
