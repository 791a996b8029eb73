"""Friction by the axes of a geom."""

import numpy as np
import pytest
from contact_model_scenes import G, tuples

from stickslip import BatchSim, Status

LONG, ACROSS = 0.2, 0.5


def block(angle=0.0, h=1e-3, num_envs=1, floor="", law="coulomb", shape="box", **axes):
    """A block that is turned by `angle` about the vertical."""
    of_block = axes or {"friction_x": LONG, "friction_y": ACROSS}
    given = {name: {"geom block": mu} for name, mu in of_block.items()}
    model = f"""<mujoco><option timestep="{h}"/>{tuples(**given)}<worldbody>
      <geom name="floor" type="plane" size="9 9 .1" friction="1" {floor}/>
      <body pos="0 0 .1" euler="0 0 {np.degrees(angle)}"><freejoint/>
        <geom name="block" type="{shape}" size=".1 .1 .1" mass="2" friction=".3"/></body>
      </worldbody></mujoco>"""
    return BatchSim(model, num_envs, law=law)


def forces(along):
    """N, of most dissipation in the ellipse: f_k = -N mu_k^2 u_k / |mu u|, for 2 kg."""
    u = np.array([np.cos(along), np.sin(along)])
    mu = np.array([LONG, ACROSS])
    return -2 * G * mu**2 * u / np.linalg.norm(mu * u)


@pytest.mark.parametrize("angle", [0.0, 0.7, np.pi / 2, 2.5])
@pytest.mark.parametrize("along", [0.0, 0.4, np.pi / 2, 2.0, 4.0])
def test_the_force_is_that_of_most_dissipation(angle, along):
    sim = block(angle, h=1e-5)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    sim.qvel[0, :2] = before = turn @ [2 * np.cos(along), 2 * np.sin(along)]
    assert sim.step()[0] == Status.solved
    change = 2 * (sim.qvel[0, :2] - before) / 1e-5
    np.testing.assert_allclose(change, turn @ forces(along), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("angle", [0.0, 0.7, 2.0])
def test_it_holds_inside_of_the_ellipse(angle):
    along = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    edge = 2 * G * np.stack([LONG * np.cos(along), ACROSS * np.sin(along)], axis=1)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    for share, slides in ((0.999, False), (1.01, True)):
        sim = block(angle, num_envs=16)
        sim.xfrc_applied[:, 1, :2] = share * edge @ turn.T
        sim.xfrc_applied[:, 1, 3] = 0.1 * sim.xfrc_applied[:, 1, 1]  # at the floor
        sim.xfrc_applied[:, 1, 4] = -0.1 * sim.xfrc_applied[:, 1, 0]
        sim.step(substeps=200)
        speed = np.linalg.norm(sim.qvel[:, :2], axis=1)
        assert (speed > 1e-3).all() if slides else speed.max() < 1e-8


def test_equal_axes_are_friction_without_axes():
    sim = block(0.3, friction_x=0.4, friction_y=0.4, friction_z=0.4)
    plain = block(0.3, friction_x=0.4, friction_y=0.4, friction_z=0.4)
    plain.vary("geom_friction", [[1, 0.005, 1e-4, 0.4, 0.005, 1e-4]])
    sim.qvel[0, :2] = plain.qvel[0, :2] = [1.0, 0.5]
    for each in (sim, plain):
        each.step(substeps=100)
    speed = np.hypot(1, 0.5) - 0.1 * 0.4 * G
    np.testing.assert_allclose(np.linalg.norm(sim.qvel[0, :2]), speed, rtol=1e-9)
    np.testing.assert_allclose(sim.qvel, plain.qvel, atol=1e-12)


@pytest.mark.parametrize("law", ["coulomb", "pyramid", "box"])
def test_a_blade_slides_freely_along_and_not_across(law):
    sim = block(friction_x=0.0, friction_y=0.8, law=law)
    sim.qvel[0, 0] = 1.0
    sim.xfrc_applied[0, 1, 1] = 0.5 * 2 * G
    sim.xfrc_applied[0, 1, 3] = 0.05 * 2 * G
    for _ in range(300):
        assert sim.step()[0] == Status.solved
    assert sim.qvel[0, 0] == pytest.approx(1.0, abs=1e-9)
    assert abs(sim.qvel[0, 1]) < 1e-8
    assert {tuple(np.round(c["friction"][:2], 9)) for c in sim.contacts(0)} == {(1e-5, 0.8)}


def test_a_wheel_that_grips_along_its_axis_alone_tows_without_skid():
    """A cylinder lying on a slope: along its axis (z) it holds, across it rolls, or slides."""
    model = f"""<mujoco><option timestep="1e-3" gravity="2 3 -9.81"/>
      {
        tuples(
            friction_x={"geom wheel": 0},
            friction_y={"geom wheel": 0},
            friction_z={"geom wheel": 0.5},
        )
    }<worldbody>
      <geom type="plane" size="9 9 .1"/><body pos="0 0 .1" euler="90 0 0"><freejoint/>
      <geom name="wheel" type="cylinder" size=".1 .05" mass="1"/></body></worldbody></mujoco>"""
    sim = BatchSim(model)
    sim.step(substeps=500)
    assert sim.qvel[0, 0] == pytest.approx(2 * 0.5, rel=1e-6)  # nothing drives it round
    assert abs(sim.qvel[0, 1]) < 1e-8
    assert abs(sim.qvel[0, 3:]).max() < 1e-6


def test_of_two_geoms_with_axes_priority_decides():
    numbers = {"geom block": 0.2, "geom floor": 0.6}
    for priority, mu in ((0, 0.6), (1, 0.6), (-1, 0.2)):  # the floor is the first
        model = f"""<mujoco><option timestep="1e-3"/>{tuples(friction_x=numbers)}<worldbody>
          <geom name="floor" type="plane" size="9 9 .1" priority="{priority}"/>
          <body pos="0 0 .1"><freejoint/><geom name="block" type="box" size=".1 .1 .1"/></body>
          </worldbody></mujoco>"""
        sim = BatchSim(model)
        sim.qvel[0, 0] = 2.0
        sim.step(substeps=100)
        assert sim.qvel[0, 0] == pytest.approx(2 - 0.1 * mu * G, rel=1e-6)


def test_a_geom_of_higher_priority_without_axes_has_its_friction():
    sim = block(floor='priority="1"')  # friction 1
    sim.qvel[0, 0] = 2.0
    sim.step(substeps=100)
    assert sim.qvel[0, 0] == pytest.approx(2 - 0.1 * G, rel=1e-6)


def test_pairs_keep_their_friction():
    text = f"""<mujoco><option timestep="1e-3"/>{tuples(friction_x={"geom block": 0.2})}<worldbody>
      <geom name="floor" type="plane" size="9 9 .1"/><body pos="0 0 .1"><freejoint/>
      <geom name="block" type="box" size=".1 .1 .1"/></body></worldbody><contact>
      <pair geom1="floor" geom2="block" condim="3" friction=".7 .7 0 0 0"/></contact></mujoco>"""
    sim = BatchSim(text)
    sim.qvel[0, 0] = 2.0
    sim.step(substeps=100)
    assert sim.qvel[0, 0] == pytest.approx(2 - 0.1 * 0.7 * G, rel=1e-6)


def test_pairs_have_none():
    text = """<mujoco><custom><tuple name="stickslip_friction_x">
      <element objtype="pair" objname="p" prm=".5"/></tuple></custom><worldbody>
      <geom name="a" type="plane" size="1 1 1"/>
      <body pos="0 0 1"><freejoint/><geom name="b" size=".1"/></body></worldbody>
      <contact><pair name="p" geom1="a" geom2="b"/></contact></mujoco>"""
    with pytest.raises(ValueError, match=r"friction_x: .* geoms or materials, got pair 'p'"):
        BatchSim(text)


def test_varied_axes_may_be_none():
    sim = block(num_envs=2)
    sim.vary("geom_friction_x", [[np.nan, 0.3], [np.nan, np.nan]])
    sim.vary("geom_friction_y", [[np.nan, np.nan], [np.nan, np.nan]])
    sim.qvel[:, 0] = 2.0
    sim.step(substeps=100)
    np.testing.assert_allclose(sim.qvel[:, 0], 2 - 0.1 * G * np.array([0.3, 1.0]), rtol=1e-6)


@pytest.mark.parametrize(("along", "across"), [(1e-3, 1.0), (1e-4, 1.0), (1e-5, 1), (1e-2, 10.0)])
@pytest.mark.parametrize("shape", ["sphere", "box"])
def test_very_different_coefficients_are_solved(along, across, shape):
    sim = block(shape=shape, friction_x=along, friction_y=across, friction_z=across)
    sim.qvel[0, :2] = [1.0, 0.3]
    for _ in range(50):
        assert sim.step()[0] == Status.solved
        assert sim.iterations[0] < 1000  # no search of the later rungs
