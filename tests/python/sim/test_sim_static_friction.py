"""Static friction: a larger coefficient for what does not slip."""

import numpy as np
import pytest
from contact_model_scenes import GEOMS, G, after, balls_in_a_box, thrown, tuples

from stickslip import BatchSim

STATIC, SLIDING = 0.6, 0.4


def block(h, more="", gravity=f"0 0 {-G}", v_stribeck=0.01, **options):
    """A block of 1 kg on a floor with both coefficients, between x = 0 and a spring of `more`."""
    model = f"""<mujoco><option timestep="{h}" gravity="{gravity}"/>
      {tuples(static_friction={"geom block": STATIC}, v_stribeck={"geom block": v_stribeck})}
      <worldbody><geom name="floor" type="plane" size="9 9 .1" friction="{SLIDING}"/>
      <body name="block" pos="0 0 .1"><freejoint/>
        <geom name="block" type="box" size=".1 .1 .1" mass="1" friction="{SLIDING}"/></body>
      {more}</worldbody></mujoco>"""
    return BatchSim(model, **options)


@pytest.mark.parametrize("law", ["coulomb", "pyramid", "box"])
def test_a_block_starts_at_the_static_coefficient_and_slides_with_the_other(law):
    angle = np.linspace(0, 2 * np.pi, 8, endpoint=False) if law == "coulomb" else [0.0, np.pi]
    for share, slides in ((0.999, False), (1.001, True)):
        sim = block(2e-3, num_envs=len(angle), law=law)
        force = share * STATIC * G
        sim.xfrc_applied[:, 1, 0] = force * np.cos(angle)
        sim.xfrc_applied[:, 1, 1] = force * np.sin(angle)
        sim.xfrc_applied[:, 1, 3:5] = 0.1 * np.stack([np.sin(angle), -np.cos(angle)], 1) * force
        sim.step(substeps=500)
        speed = np.hypot(*sim.qvel[:, :2].T)
        if not slides:
            assert speed.max() < 1e-8
            continue
        assert speed.min() > 0.1
        sim.step(substeps=100)
        gained = np.hypot(*sim.qvel[:, :2].T) - speed
        np.testing.assert_allclose(gained, 0.2 * (force - SLIDING * G), rtol=1e-6)


def test_what_slides_stops_and_then_holds():
    sim = block(1e-3, gravity=f"{0.5 * G} 0 {-G}")  # between both coefficients
    sim.step(substeps=200)
    assert abs(sim.qvel).max() < 1e-8
    sim.qvel[0, 0] = 0.2  # it does not stop: sliding, it is pulled by more than it is held
    sim.step(substeps=200)
    assert sim.qvel[0, 0] == pytest.approx(0.2 + 0.2 * (0.5 - SLIDING) * G, rel=1e-6)
    sim.qvel[0, 0] = -0.2  # up the slope it stops, and holds
    sim.step(substeps=200)
    assert abs(sim.qvel).max() < 1e-8


def test_stick_slip():
    """A block on a belt of speed v, held by a spring: until k x = mu_s N it sticks, then it slips
    back, a harmonic motion about mu_k N / k, until it has the belt's speed again."""
    h, k, v = 1e-4, 40.0, 0.05
    model = f"""<mujoco><option timestep="{h}" gravity="0 0 {-G}"/>
      {tuples(static_friction={"geom block": STATIC}, v_stribeck={"geom block": 1e-5})}
      <worldbody><geom type="plane" size="9 9 .1" friction="{SLIDING}" surfacevel="{v} 0 0 0 0 0"/>
      <body pos="0 0 .1"><joint name="x" type="slide" axis="1 0 0" stiffness="{k}"/>
        <joint name="z" type="slide" axis="0 0 1"/>
        <geom name="block" type="box" size=".1 .1 .1" mass="1" friction="{SLIDING}"/></body>
      </worldbody></mujoco>"""
    sim = BatchSim(model)
    x, t = [], []
    for _ in range(60000):
        sim.step()
        x.append(sim.qpos[0, 0])
        t.append(sim.time[0])
    x = np.array(x)
    w, drop = np.sqrt(k), (STATIC - SLIDING) * G / k
    amplitude = np.hypot(drop, v / w)
    middle = SLIDING * G / k
    late = x[20000:]
    assert late.max() == pytest.approx(middle + amplitude, rel=2e-3)
    assert late.min() == pytest.approx(middle - amplitude, rel=2e-2)
    # It sticks from -drop to +drop about the middle; the slip is the rest of the ellipse.
    stick, slip = 2 * drop / v, (np.pi + 2 * np.arctan(v / (w * drop))) / w
    tops = [i for i in range(20000, 59999) if x[i - 1] < x[i] >= x[i + 1]]
    periods = np.diff([t[i] for i in tops if x[i] > middle + 0.9 * amplitude])
    assert np.median(periods) == pytest.approx(stick + slip, rel=1e-2)


@pytest.mark.parametrize("static", [0.0, 0.2, SLIDING])
def test_no_larger_coefficient_changes_no_bits(static):
    model = balls_in_a_box(static_friction={f"geom {name}": static for name in GEOMS})
    plain = after(*thrown(balls_in_a_box(), 4))
    if static < 0.3:  # of the bodies: 0.2, 0.5, 0.8; of the others 1
        np.testing.assert_array_equal(after(*thrown(model, 4)), plain)


@pytest.mark.parametrize("sliding", [(0.2, 0.6), (0.6, 0.2), (0.0, 0.6), (0.2, 0.2), (0.5, 0.6)])
def test_of_two_coefficients_each_is_the_static_one_where_that_is_larger(sliding):
    model = f"""<mujoco>{tuples(static_friction={"pair p": 0.4})}<worldbody>
      <geom name="floor" type="plane" size="9 9 .1"/><body pos="0 0 .1"><freejoint/>
      <geom name="block" type="box" size=".1 .1 .1" mass="1"/></body></worldbody><contact>
      <pair name="p" geom1="floor" geom2="block" condim="3"
        friction="{sliding[0]} {sliding[1]} 0 0 0"/></contact></mujoco>"""
    sim = BatchSim(model, 4)
    frame = None
    for share, slides in ((0.999, False), (1.01, True)):
        sim.reset()
        sim.step()
        frame = np.array(sim.contacts(0)[0]["frame"])
        limits = np.maximum(sliding, 0.4)
        for env, (axis, sign) in enumerate([(0, 1), (0, -1), (1, 1), (1, -1)]):
            force = sign * share * limits[axis] * G * frame[1 + axis]
            sim.xfrc_applied[env, 1, :3] = force
            sim.xfrc_applied[env, 1, 3:] = np.cross([0, 0, -0.1], force)  # at the floor
        sim.step(substeps=200)
        speed = np.linalg.norm(sim.qvel[:, :2], axis=1)
        assert (speed > 1e-3).all() if slides else speed.max() < 1e-8


def test_contacts_tell_the_coefficient_that_they_have():
    sim = block(2e-3)
    sim.step()
    assert {tuple(c["friction"][:2]) for c in sim.contacts(0)} == {(STATIC, STATIC)}
    sim.qvel[0, 0] = 1.0
    sim.step()
    assert {tuple(c["friction"][:2]) for c in sim.contacts(0)} == {(SLIDING, SLIDING)}
    sim.qvel[0] = [0.005, 0, 0, 0, 0, 0]
    sim.step()
    half = SLIDING + (STATIC - SLIDING) * 0.75**2
    np.testing.assert_allclose([c["friction"][:2] for c in sim.contacts(0)], half, rtol=1e-6)


def test_steps_in_the_fall_have_derivatives():
    """The coefficient of a step depends on the velocity before it."""
    sim = block(2e-3, v_stribeck=0.1)
    sim.step(substeps=20)
    sim.qvel[0, 0] = 0.05
    state = sim.state.copy()
    sim.step()
    gradient = sim.step_vjp(d_qvel=np.eye(6)[:1])
    ends = []
    for eps in (1e-7, -1e-7):
        sim.state[...] = state
        sim.qvel[0, 0] += eps
        sim.step()
        ends.append(sim.qvel[0, 0])
    assert gradient.qvel[0, 0] == pytest.approx((ends[0] - ends[1]) / 2e-7, rel=1e-4)


def test_wheels_do_not_slip_where_they_roll():
    """The point of contact is at rest: the static coefficient holds it."""
    model = f"""<mujoco><option timestep="1e-3" gravity="{G * np.sin(1.0)} 0 {-G * np.cos(1.0)}"/>
      {tuples(static_friction={"geom wheel": 0.6})}<worldbody>
      <geom type="plane" size="99 99 .1" friction=".3"/><body pos="0 0 .1"><freejoint/>
      <geom name="wheel" type="sphere" size=".1" friction=".3"/></body></worldbody></mujoco>"""
    sim = BatchSim(model)
    sim.step(substeps=500)  # needs 2/7 tan(1) = 0.445
    np.testing.assert_allclose(sim.qvel[0, 0], 0.1 * sim.qvel[0, 4], atol=1e-7)
    assert sim.qvel[0, 0] == pytest.approx(5 / 7 * G * np.sin(1.0) * 0.5, rel=1e-6)
