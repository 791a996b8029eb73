"""How `stickslip view` draws contacts, arrows for the forces and cones that contain them, and
where it puts bodies and environments."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from sim_models import slope

from stickslip import BatchSim
from stickslip.cli.cones import cones, limited, slip
from stickslip.cli.grid import places, spacing
from stickslip.cli.view import Controlled, Show

GRAVITY, MASS = 9.81, 4.0  # m/s², kg


def slips(sim):
    """m/s, of the contacts of environment 0."""
    data = mujoco.MjData(sim.model)
    data.qpos[:], data.qvel[:] = sim.qpos[0], sim.qvel[0]
    return slip(sim.model, data, sim.contacts(0))


def shown(sim, scale=1.0, **options):
    contacts = sim.contacts(0)
    assert contacts
    return cones(contacts, slips(sim), scale, **options), [c for c in contacts if c["force"][0] > 0]


@pytest.mark.parametrize(("angle", "slides"), [(0.2, False), (0.7, True)])
def test_a_force_that_slides_ends_on_the_rim(angle, slides):
    sim = BatchSim(slope(angle, mu=0.5), 1, law="coulomb")
    for _ in range(50):
        sim.step()
    drawn, contacts = shown(sim, 0.01)
    for i, contact in enumerate(contacts):
        np.testing.assert_array_equal(drawn.tip[i], contact["position"])
        normal, force = contact["frame"][0], drawn.force[i]
        np.testing.assert_array_equal(drawn.axes[i][:, 2], normal)
        assert np.linalg.det(drawn.axes[i]) == pytest.approx(1)
        *radius, height = drawn.size[i]
        assert height == pytest.approx(0.01 * contact["force"][0])
        assert force @ normal == pytest.approx(height)
        assert radius == pytest.approx([0.5 * height] * 2)
        reach = np.linalg.norm(force - height * normal)
        assert reach <= radius[0] * (1 + 1e-6)
        assert drawn.slides[i] == slides  # at rest, some forces may still reach the rim
        assert reach > radius[0] * (1 - 1e-6) or not slides
    total = drawn.force.sum(axis=0) / 0.01
    assert total[2] == pytest.approx(MASS * GRAVITY * np.cos(angle), rel=1e-3)
    if not slides:
        assert total[0] == pytest.approx(-MASS * GRAVITY * np.sin(angle), rel=1e-3)


def test_a_cone_beyond_the_highest_shrinks_with_its_force():
    sim = BatchSim(slope(0.2, mu=0.5), 1)
    for _ in range(50):
        sim.step()
    full, _ = shown(sim)
    highest = full.size[:, 2].max() / 2
    low, _ = shown(sim, highest=highest)
    assert low.size[:, 2].max() == pytest.approx(highest)
    by = low.size[:, 2:] / full.size[:, 2:]
    np.testing.assert_allclose(low.size, by * full.size)
    np.testing.assert_allclose(low.force, by * full.force)


@pytest.mark.parametrize(("law", "slides"), [("coulomb", False), ("frictionless", True)])
def test_only_motion_along_the_contact_is_sliding(law, slides):
    """A box that is pushed just less than friction holds, and one that nothing holds."""
    sim = BatchSim(slope(0.2, mu=0.5), 1, law=law)
    sim.step(substeps=20)
    drawn, _ = shown(sim, order=limited(law, pyramidal=False))
    assert drawn.slides.tolist() == [slides] * len(drawn.tip)
    assert drawn.size[:, :2].any() != slides
    speed = np.linalg.norm(sim.qvel[0, :3])
    np.testing.assert_allclose(slips(sim), speed, atol=1e-4)
    contact = sim.contacts(0)[0] | {"force": np.array([1.0, 0.5, 0, 0, 0, 0])}  # on its cone
    assert contact["friction"][0] == 0.5
    assert cones([contact], np.zeros(1), 1.0).slides.tolist() == [False]


def test_what_rolls_sticks():
    sim = BatchSim(ROLLING, 1, law="coulomb")
    sim.qvel[0, [0, 4]] = 1.0, 10.0  # m/s, rad/s: of a radius of 0.1 m
    sim.step(substeps=20)
    assert sim.qvel[0, 0] == pytest.approx(1.0, abs=0.01)
    drawn, _ = shown(sim)
    assert drawn.slides.tolist() == [False]
    sim.qvel[0, 4] = 0.0
    sim.step()
    assert shown(sim)[0].slides.tolist() == [True]


FLOOR = """<mujoco><worldbody><geom type="box" size="2 2 .1" pos="0 0 -.1"/>
  <body pos="0 0 .1"><freejoint/><geom type="capsule" size=".1 .2" zaxis="1 0 0"/></body>
  <body name="hand" mocap="true" pos="0 1 1"><geom size=".1"/></body></worldbody></mujoco>"""


ROLLING = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/><body pos="0 0 .1">
  <freejoint/><geom size=".1"/></body></worldbody></mujoco>"""


def show(model, envs=1):
    return Show(Controlled(model, envs, "zero", 0))


def test_forces_are_drawn_on_what_moves():
    """The normal points from the capsule to the floor, where the cone would not be seen."""
    view = show(FLOOR)
    for _ in range(20):
        view.step()
    fixed = view.fixed[view.model.geom_bodyid]
    assert fixed.tolist() == [True, False, False]
    hidden, contacts = shown(view.sim)
    drawn, _ = shown(view.sim, fixed=fixed)
    assert (hidden.axes[:, 2, 2] < 0).all(), contacts[0]["geoms"]
    assert (drawn.axes[:, 2, 2] > 0).all()
    assert (drawn.force[:, 2] > 0).all()
    np.testing.assert_allclose(np.linalg.det(drawn.axes), 1)


class Scene:
    """Keeps the poses that mjviser would draw."""

    env_idx = 0

    def update_from_arrays(self, positions, rotations, mocap_pos, mocap_quat, env_idx):
        self.positions, self.mocap = positions, (mocap_pos, mocap_quat)


def test_mocap_bodies_are_where_the_simulation_has_them(monkeypatch):
    view, scene = show(FLOOR, envs=2), Scene()
    monkeypatch.setattr(view, "_draw_contacts", lambda env: None)
    view.sim.mocap_pos[1] = [0.5, 0.6, 0.7]
    view.render(scene)
    beside = view.spacing * places(2)
    np.testing.assert_allclose(scene.positions[:, 2] - beside, [[0, 1, 1], [0.5, 0.6, 0.7]])
    np.testing.assert_array_equal(scene.mocap[0][:, 0], scene.positions[:, 2])
    np.testing.assert_array_equal(scene.mocap[1][:, 0], [[1, 0, 0, 0]] * 2)


def test_the_camera_sees_all_that_moves():
    view = show(FLOOR)  # the hand is 1 m above and beside the capsule
    assert view.radius == pytest.approx(np.hypot(1, 0.9) + 0.1)


def test_environments_stand_on_a_grid_around_the_selected_one(monkeypatch):
    view, scene = show(FLOOR, envs=9), Scene()
    monkeypatch.setattr(view, "_draw_contacts", lambda env: None)
    view.render(scene)
    at = scene.positions[:, 1, :2]
    assert at[0].tolist() == [0, 0]
    apart = np.linalg.norm(at[:, None] - at, axis=2)[~np.eye(9, dtype=bool)]
    assert apart.min() == pytest.approx(view.spacing)
    assert view.spacing > 1.5  # a model is wider than 1 m
    assert np.ptp(at, axis=0) == pytest.approx([2 * view.spacing] * 2)
    monkeypatch.setattr(scene, "env_idx", 5)
    view.render(scene)
    assert scene.positions[5, 1, :2].tolist() == [0, 0]
    np.testing.assert_allclose(scene.positions[:, 1, :2], at - at[5])


@pytest.mark.parametrize("number", [1, 2, 5, 16])
def test_no_place_is_taken_twice_and_the_first_is_the_middle(number):
    found = places(number)
    assert len({tuple(place) for place in found}) == number
    away = np.linalg.norm(found, axis=1)
    assert away[0] == 0
    assert (np.diff(away) >= 0).all()


def test_environments_on_one_terrain_share_it():
    text = """<mujoco><asset><hfield name="hills" nrow="2" ncol="2" size="5 5 1 1"/></asset>
      <worldbody><geom type="hfield" hfield="hills"/><body pos="0 0 2"><freejoint/>
      <geom size=".1"/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    assert spacing(model, mujoco.MjData(model)) == 0
