"""How `stickslip view` draws contacts, arrows for the forces and cones that contain them, and
where it puts bodies."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from sim_models import slope

from stickslip import BatchSim
from stickslip._src.run import Controller
from stickslip.cli.cones import cones, limited
from stickslip.cli.view import Show

GRAVITY, MASS = 9.81, 4.0  # m/s², kg


def shown(sim, scale=1.0, **options):
    contacts = sim.contacts(0)
    assert contacts
    return cones(contacts, scale, **options), [c for c in contacts if c["force"][0] > 0]


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
        assert drawn.slides[i] == (reach > radius[0] * (1 - 1e-6))
    assert all(drawn.slides) == slides  # at rest, forces are not unique: some may reach the rim
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


@pytest.mark.parametrize(
    ("law", "limit"), [("coulomb", [0.3, 0.4]), ("pyramid", [0.25, 0.25]), ("box", [0.5, 0.1])]
)
def test_friction_slides_at_the_limit_of_its_law(law, limit):
    order = limited(law, pyramidal=False)
    contact = {"position": np.zeros(3), "frame": np.eye(3), "geoms": (0, 1), "dim": 3}
    contact |= {"friction": np.array([0.5, 0.5])}
    for part, slides in ((0.999, False), (1.0, True)):
        force = np.array([1.0, part * limit[0], part * limit[1], 0, 0, 0])
        assert cones([contact | {"force": force}], 1.0, order=order).slides == [slides]


def test_without_friction_all_slides():
    sim = BatchSim(slope(0.2, mu=0.5), 1, law="frictionless")
    sim.step(substeps=20)
    drawn, _ = shown(sim, order=limited("frictionless", pyramidal=False))
    assert drawn.slides.all()
    assert not drawn.size[:, :2].any()


FLOOR = """<mujoco><worldbody><geom type="box" size="2 2 .1" pos="0 0 -.1"/>
  <body pos="0 0 .1"><freejoint/><geom type="capsule" size=".1 .2" zaxis="1 0 0"/></body>
  <body name="hand" mocap="true" pos="0 1 1"><geom size=".1"/></body></worldbody></mujoco>"""


def show(model, envs=1):
    sim, plain = BatchSim(model, envs), mujoco.MjModel.from_xml_string(model)
    return Show(sim, plain, Controller(plain, envs, "zero", 0))


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
    np.testing.assert_array_equal(scene.positions[:, 2], [[0, 1, 1], [0.5, 0.6, 0.7]])
    np.testing.assert_array_equal(scene.mocap[0][:, 0], scene.positions[:, 2])
    np.testing.assert_array_equal(scene.mocap[1][:, 0], [[1, 0, 0, 0]] * 2)


def test_the_camera_sees_all_that_moves():
    view = show(FLOOR)  # the hand is 1 m above and beside the capsule
    assert view.radius == pytest.approx(np.hypot(1, 0.9) + 0.1)
