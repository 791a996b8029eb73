"""Contact sensors of BatchSim: force, friction and slip between bodies or geoms."""

import numpy as np
import pytest

from stickslip import BatchSim, Status, models

MASS, MU, G = 2.0, 0.4, 9.81
TILT = np.radians(35)  # beyond the friction angle of 22 degrees
BOX = f"""
<mujoco>
  <option timestep="0.002" cone="elliptic" integrator="implicitfast"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1" friction="{MU}"{{tilt}}/>
    <body name="box" pos="0 0 {{z}}"{{tilt}}>
      <freejoint/><geom name="crate" type="box" size=".1 .1 .1" mass="{MASS}" friction="{MU}"/>
    </body>
    <body name="far" pos="3 0 9"><freejoint/><geom name="ball" size=".1" mass="1"/></body>
  </worldbody>
</mujoco>"""
LEVEL = BOX.format(tilt="", z=0.1)
PAIRS = [
    ("box", None),
    ("box", "floor"),
    ("geom:floor", "body:box"),
    ("far", None),
    ("floor", None),
]


def slope(z=0.1):
    normal = np.array([np.sin(TILT), 0, np.cos(TILT)])
    text = BOX.format(tilt=f' euler="0 {np.degrees(TILT)} 0"', z="ZZ")
    return text.replace('pos="0 0 ZZ"', 'pos="{} {} {}"'.format(*(z * normal))), normal


@pytest.mark.parametrize("law", ["coulomb", "convex", "mujoco", "frictionless"])
def test_a_box_at_rest(law):
    sim = BatchSim(LEVEL, 3, law=law, contact_sensors=PAIRS)
    for _ in range(300):
        sim.step()
    weight = np.array([0, 0, MASS * G])
    assert sim.contact_force.shape == (3, 5, 3)
    exact = 1e-7 if law in ("coulomb", "frictionless") else 1e-2
    for sensor, sign in enumerate([1, 1, -1, 0, -1]):
        np.testing.assert_allclose(
            sim.contact_force[:, sensor], [sign * weight] * 3, atol=exact * MASS * G
        )
    np.testing.assert_allclose(sim.contact_friction, 0, atol=exact * MASS * G)
    np.testing.assert_allclose(sim.contact_slip, 0, atol=1e-4)


def test_a_box_that_slides():
    model, normal = slope()
    sim = BatchSim(model, 2, contact_sensors=PAIRS)
    down = np.array([np.cos(TILT), 0, -np.sin(TILT)])
    steps = 100
    for _ in range(steps):
        sim.step()
    pressure = MASS * G * np.cos(TILT)
    speed = 0.002 * steps * G * (np.sin(TILT) - MU * np.cos(TILT))
    friction = -MU * pressure * down
    np.testing.assert_allclose(
        sim.contact_force[0, 1], pressure * normal + friction, rtol=1e-6, atol=1e-9
    )
    np.testing.assert_allclose(sim.contact_friction[0, 1], friction, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(sim.contact_slip[0, 1], speed * down, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(sim.contact_slip[0, 2], -speed * down, rtol=1e-5, atol=1e-9)
    assert (sim.contact_force[:, 3] == 0).all()


def test_they_are_the_sum_of_the_contacts_of_a_robot():
    sim = BatchSim(
        models.find("ant"), 4, integrator="euler", contact_sensors=[("geom:floor", None)]
    )
    rng = np.random.default_rng(0)
    for _ in range(150):
        sim.step(rng.uniform(-1, 1, sim.ctrl.shape))
    pressed = 0
    for env in range(4):
        total = np.zeros(3)
        for contact in sim.contacts(env):
            force = contact["frame"].T @ contact["force"][:3]
            names = [sim.model.geom(int(geom)).name for geom in contact["geoms"]]
            if "floor" in names:
                total += force if names[1] == "floor" else -force
                pressed += 1
        np.testing.assert_allclose(sim.contact_force[env, 0], total, atol=1e-9)
    assert pressed > 4


def test_a_step_that_fails_leaves_zeros_and_the_others_alone():
    sims = [BatchSim(LEVEL, 3, contact_sensors=PAIRS) for _ in range(2)]
    for sim in sims:
        for _ in range(20):
            sim.step()
    sims[1].qvel[1, 0] = np.nan
    assert sims[1].step()[1] == Status.bad_input
    sims[0].step()
    for name in ("contact_force", "contact_friction", "contact_slip"):
        broken, whole = getattr(sims[1], name), getattr(sims[0], name)
        assert (broken[1] == 0).all()
        np.testing.assert_array_equal(broken[[0, 2]], whole[[0, 2]])


def test_contacts_with_a_cloth_count():
    model = """<mujoco><worldbody><body name="box" pos="0 0 .45"><freejoint/>
      <geom name="crate" type="box" size=".1 .1 .1" mass="1"/></body>
      <flexcomp name="cloth" type="grid" count="5 5 1" spacing=".1 .1 .1" pos="0 0 .3" radius=".02"
        dim="2" mass="1"><edge equality="true"/><contact selfcollide="none"/>
        <pin id="0 4 20 24"/></flexcomp></worldbody></mujoco>"""
    sim = BatchSim(model, contact_sensors=[("box", None), ("box", "crate")])
    crate, largest = sim.model.geom("crate").id, 0.0
    for _ in range(60):
        sim.step()
        total = np.zeros(3)
        for contact in sim.contacts(0):
            sign = 1 if contact["geoms"][1] == crate else -1
            total += sign * contact["frame"].T @ contact["force"][:3]
        np.testing.assert_allclose(sim.contact_force[0, 0], total, atol=1e-9)
        largest = max(largest, np.abs(total).max())
    assert largest > 1
    assert (sim.contact_force[0, 1] == 0).all()


def test_copies_have_the_same_sensors():
    import copy

    sim = BatchSim(LEVEL, 1, contact_sensors=[("box", "floor")])
    again = copy.deepcopy(sim)
    sim.step(), again.step()
    np.testing.assert_array_equal(again.contact_force, sim.contact_force)


@pytest.mark.parametrize(
    ("sensors", "error", "message"),
    [
        ([("door", None)], ValueError, "contact_sensors: .* 'door', which the model does not have"),
        ([("box", "geom:box")], ValueError, "'geom:box', which the model does not have"),
        (["box"], TypeError, r"contact_sensors\[0\]: expected a pair of names.*got 'box'"),
        ([("box", "")], TypeError, r"contact_sensors\[0\]: expected a pair of names"),
        (None, TypeError, "contact_sensors: expected a list of pairs, got NoneType"),
        ([("box", None), ("box", 3)], TypeError, r"contact_sensors\[1\]: expected a pair"),
    ],
)
def test_misuse_is_refused_by_name(sensors, error, message):
    with pytest.raises(error, match=message):
        BatchSim(LEVEL, contact_sensors=sensors)


def test_a_name_of_a_body_and_of_another_geom_is_refused():
    model = LEVEL.replace('geom name="ball"', 'geom name="box"')
    with pytest.raises(ValueError, match="'box', which is both: write 'body:' or 'geom:'"):
        BatchSim(model, contact_sensors=[("box", None)])
    BatchSim(model, contact_sensors=[("body:box", "geom:floor")]).step()


@pytest.mark.parametrize("law", ["coulomb", "mujoco"])
def test_means_over_substeps_are_those_of_single_steps(law):
    falls = BOX.format(tilt="", z=0.104)
    whole, single = (BatchSim(falls, 2, law=law, contact_sensors=PAIRS) for _ in range(2))
    for sim in (whole, single):
        sim.qvel[:, 0] = [0.3, -1]
    for _ in range(10):
        whole.step(substeps=5)
        forces, frictions = [], []
        for _ in range(5):
            single.step()
            forces.append(single.contact_force.copy())
            frictions.append(single.contact_friction.copy())
            np.testing.assert_array_equal(single.contact_force_mean, forces[-1])
        np.testing.assert_allclose(whole.contact_force_mean, np.mean(forces, 0), atol=1e-9)
        np.testing.assert_allclose(whole.contact_friction_mean, np.mean(frictions, 0), atol=1e-9)
        np.testing.assert_array_equal(whole.contact_force, forces[-1])
    whole.reset([True, False])
    assert not whole.contact_force_mean[0].any()
    assert whole.contact_force_mean[1].any()


def test_a_mean_counts_failed_steps_as_zero():
    sim = BatchSim(LEVEL, 2, contact_sensors=PAIRS)
    sim.step(substeps=4)
    before = sim.contact_force_mean[1, 0, 2]
    sim.qpos[0] = np.nan
    sim.step(substeps=4)
    assert sim.status[0] == Status.bad_input
    assert 0 < sim.contact_force_mean[0, 0, 2] < 0.9 * before  # the others begin anew
    assert sim.contact_force_mean[1, 0, 2] == pytest.approx(before, rel=1e-6)
