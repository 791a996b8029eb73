"""Contacts that are found ahead do not touch: they have no part in adhesion, sensors and counts
before they close, and act where they close, however large the gap was before."""

import numpy as np
import pytest

pytest.importorskip("mujoco")
from stickslip import BatchSim, Status

G = 9.81

CUP = """<mujoco><option timestep="{h}"/><worldbody>
<body name="cup" pos="0 0 {z}"><joint type="slide" axis="0 0 1" armature="100"/>
 <geom type="box" size=".05 .05 .05" mass="1" gravcomp="1" {adhesion}/></body>
<geom name="floor" type="plane" size="1 1 .1"/>
<body name="load" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass=".5"/></body>
</worldbody>{actuator}</mujoco>"""
ACTUATOR = '<actuator><adhesion body="cup" ctrlrange="0 1" gain="1000"/></actuator>'


@pytest.mark.parametrize("actuated", [True, False])
@pytest.mark.parametrize("gap", [1e-5, 1e-3, 1e-2])
def test_nothing_adheres_across_a_gap(actuated, gap):
    xml = CUP.format(
        h=0.01,
        z=0.25 + gap,
        adhesion="" if actuated else 'adhesion="1000"',
        actuator=ACTUATOR if actuated else "",
    ).replace('gravcomp="1"', "")
    sim = BatchSim(xml.replace("<body name", '<body gravcomp="1" name', 1), 1)
    for _ in range(50):
        sim.step(np.ones((1, 1)) if actuated else None)
    load = sim.model.joint(1).qposadr[0]
    assert abs(sim.qpos[0, load + 2] - 0.1) < 1e-6  # stays on the floor


@pytest.mark.parametrize("actuated", [True, False])
def test_what_touches_adheres(actuated):
    xml = CUP.format(
        h=0.005,
        z=0.25,
        adhesion="" if actuated else 'adhesion="5"',
        actuator=ACTUATOR if actuated else "",
    ).replace('armature="100"', 'damping="0"')
    xml = xml.replace('gravcomp="1"', "")
    sim = BatchSim(xml, 1, contact_sensors=[("load", "cup")])
    for _ in range(20):
        sim.step(np.ones((1, 1)) if actuated else None)
    sim.qvel[0, 0] = 0.0
    cup = sim.model.body("cup").id
    sim.xfrc_applied[0, cup, 2] = 1.5 * G + 0.15
    for _ in range(100):
        sim.step(np.ones((1, 1)) if actuated else None)
    load = sim.model.joint(1).qposadr[0]
    assert sim.qpos[0, load + 2] > 0.105
    if not actuated:  # tension: the cup pulls the load up by its weight and acceleration
        assert abs(sim.contact_force[0, 0, 2] - 0.5 * (G + 0.1)) < 1e-3


HANGING = """<mujoco><option timestep=".002"/><worldbody>
<geom name="lid" type="box" size=".2 .2 .02" pos="0 0 .12" gap=".005"/>
<body pos="0 0 .05"><freejoint/>
 <geom name="held" type="{t}" size=".05 .05 .05" mass="1" adhesion="20" gap=".005" margin=".002"/>
</body></worldbody>{pair}</mujoco>"""
PAIR = '<contact><pair geom1="lid" geom2="held" gap=".01" margin=".002" adhesion="20"/></contact>'


@pytest.mark.parametrize("pair", ["", PAIR])
@pytest.mark.parametrize("shape", ["sphere", "ellipsoid", "box"])
def test_what_is_within_the_gap_of_the_model_adheres_as_under_mujocos_law(shape, pair):
    """Without touching, at any distance up to the gap, and no farther; rigid contacts with all of
    the geom's adhesion."""
    distances = np.array([0.003, 0.005, 0.009, 0.0115, 0.0125, 0.02])
    for law in ("coulomb", "mujoco"):
        sim = BatchSim(HANGING.format(t=shape, pair=pair), len(distances), law=law)
        sim.qpos[:, 2] = 0.05 - distances
        sim.step()
        pull = sim.qvel[:, 2] / 0.002 + G  # N
        assert (pull[:4] > 1).all()
        assert (np.abs(pull[4:]) < 1e-9).all()
        if law == "coulomb":
            np.testing.assert_allclose(pull[:4], 80 if shape == "box" else 20, atol=1e-6)


FALLING = """<mujoco><option timestep="{h}"/><worldbody>
<geom name="floor" type="plane" size="9 9 1"/><site name="pad" type="box" size="9 9 .01"/>
<body name="ball" pos="0 0 {z}"><freejoint/><geom name="ball" type="{t}" size=".1 .1 .1" mass="2"/>
 <site name="skin" type="sphere" size=".18"/></body></worldbody>
<sensor><touch site="skin"/><contact geom1="ball" num="4" data="found pos"/></sensor></mujoco>"""


@pytest.mark.parametrize("shape", ["sphere", "box"])
def test_sensors_and_counts_see_what_touches(shape):
    h, z = 0.01, 0.1 + 0.05
    sim = BatchSim(FALLING.format(h=h, z=z, t=shape), 1)
    sim.qvel[0, 2] = -4.9  # closes in the second step
    sim.step()
    assert sim.num_contacts[0] == 0
    assert np.all(sim.sensordata == 0)
    ahead = sim.contacts(0)
    assert not any(contact["active"] for contact in ahead)
    sim.step()
    count = 4 if shape == "box" else 1
    assert sim.num_contacts[0] == count
    contacts = [contact for contact in sim.contacts(0) if contact["active"]]
    assert len(contacts) == count
    assert abs(np.array([c["position"][2] for c in contacts])).max() < 1e-9  # on the floor
    impulse = h * sum(contact["force"][0] for contact in contacts)
    assert abs(h * sim.sensordata[0, 0] - impulse) < 1e-9  # of the touch sensor
    assert impulse > 2 * 4.9
    assert sim.sensordata[0, 1] == count  # found


@pytest.mark.parametrize("upper_first", [True, False])
def test_touch_sensors_of_both_bodies_see_an_impact(upper_first):
    """Their zones are thin; between them is the gap in which MuJoCo places the contact's point."""
    upper = """<body pos="0 0 {z}"><freejoint/><geom type="sphere" size=".1" mass="2"/>
     <site name="upper" type="sphere" size=".101"/></body>"""
    lower = """<body pos="0 0 .1"><freejoint/><geom type="box" size=".3 .3 .1" mass="5"/>
     <site name="lower" type="box" size=".3 .3 .001" pos="0 0 .1"/></body>"""
    bodies = upper + lower if upper_first else lower + upper
    xml = f"""<mujoco><option timestep=".01"/><worldbody><geom type="plane" size="9 9 1"/>
    {bodies}</worldbody><sensor><touch site="upper"/><touch site="lower" cutoff="{{cutoff}}"/>
    </sensor></mujoco>"""
    for cutoff in (0, 100):
        sim = BatchSim(xml.format(z=0.3 + 0.02, cutoff=cutoff), 1)
        sim.qvel[0, 2 if upper_first else 8] = -4.9
        sim.step()
        force = sum(c["force"][0] for c in sim.contacts(0) if abs(c["position"][2] - 0.2) < 1e-6)
        assert force > 2 * (4.9 - 0.02 / 0.01) / 0.01  # closes, and no more
        limited = min(force, cutoff) if cutoff else force
        assert np.allclose(sim.sensordata[0], [force, limited], rtol=1e-12)


@pytest.mark.parametrize("h", [0.001, 0.02])
@pytest.mark.parametrize("partner", ["floor", "ball"])
def test_an_oblique_impact_gives_the_right_spin(h, partner):
    """A ball that lands and sticks has the contact's velocity zero: 2/7 of the slip goes into spin;
    of two equal balls, each gets half of that."""
    other = (
        '<geom type="plane" size="9 9 1"/>'
        if partner == "floor"
        else '<body pos="0 0 -.1"><freejoint/><geom type="sphere" size=".1" mass="2" friction="9"/>'
        "</body>"
    )
    xml = f"""<mujoco><option timestep="{h}" gravity="0 0 0"/><worldbody>{other}
    <body pos="{{x}} 0 {{z}}"><freejoint/>
     <geom type="sphere" size=".1" mass="2" friction="9"/></body>
    </worldbody></mujoco>"""
    gap, down, side = 0.7 * h * 5, 5.0, 1.0
    sim = BatchSim(xml.format(x=0, z=0.1 + gap), 1)
    at = 0 if partner == "floor" else 6
    sim.qvel[0, at : at + 3] = [side, 0, -down]
    assert sim.step()[0] == Status.solved
    # Impulse along x: m_eff (-side), with 1/m_eff = 7/2 (1/m) for each ball that moves.
    moving = 1 if partner == "floor" else 2
    dv = -side * 2 / 7 / moving
    assert abs(sim.qvel[0, at] - (side + dv)) < 2e-3
    assert abs(sim.qvel[0, at + 4] - (-dv * 2.5 / 0.1)) < 0.05  # spin: 5/2 dv / radius
    if partner == "ball":
        assert abs(sim.qvel[0, 4] - (-dv * 2.5 / 0.1)) < 0.05


def test_slip_is_relative_to_moving_surfaces():
    xml = """<mujoco><option timestep="0.002"/><worldbody>
    <geom name="belt" type="box" size="9 1 .1" pos="0 0 -.1" {surface}/>
    <body name="crate" pos=".5 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
    </worldbody></mujoco>"""
    sim = BatchSim(
        xml.format(surface='surfacevel=".8 0 0 0 0 0"'), 1, contact_sensors=[("crate", "belt")]
    )
    sim.step()
    assert abs(sim.contact_slip[0, 0] - [sim.qvel[0, 0] - 0.8, 0, 0]).max() < 1e-9
    for _ in range(300):
        sim.step()
    assert abs(sim.qvel[0, 0] - 0.8) < 1e-9
    assert abs(sim.contact_slip).max() < 1e-9


@pytest.mark.parametrize("law", ["coulomb", "convex", "mujoco"])
def test_arrays_hold_the_contacts_of_all(law):
    sim = BatchSim(FALLING.format(h=0.005, z=0.11, t="box"), 5, law=law)
    sim.qpos[:, 2] += 0.02 * np.arange(5)
    for _ in range(14):
        sim.step()
    arrays = sim.contact_arrays()
    assert set(arrays["count"]) >= {0, 4}
    assert np.array_equal(arrays["active"].sum(axis=1), sim.num_contacts)
    for env in range(5):
        contacts = sim.contacts(env)
        assert len(contacts) == arrays["count"][env]
        for k, contact in enumerate(contacts):
            for name in ("position", "frame", "force", "gap", "dim", "geoms", "active"):
                assert np.array_equal(arrays[name][env, k], contact[name])
        assert not arrays["active"][env, len(contacts) :].any()
