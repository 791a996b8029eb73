"""Contacts that are springs and dampers."""

import mujoco
import numpy as np
import pytest
from contact_model_scenes import GEOMS, G, H, after, ball, balls_in_a_box, thrown, tuples

from stickslip import BatchSim, Status

SPRINGS = [(1e2, 0.0), (1e3, 0.0), (1e3, 5.0), (1e4, 200.0), (1e6, 10.0), (50.0, 1e3)]


@pytest.mark.parametrize(("k", "c"), SPRINGS)
@pytest.mark.parametrize("law", ["coulomb", "pyramid", "box", "frictionless"])
def test_a_ball_on_a_spring_takes_steps_of_backward_euler(k, c, law):
    """r = max(0, -h k (gap + h v) - h c v'), v' from the moment of touch on."""
    sim = BatchSim(
        ball(gravity=G, mass=2.0, stiffness={"geom ball": k}, damping={"geom ball": c}), law=law
    )
    sim.qpos[:, 2] = z = 0.1 + 0.01
    v = 0.0
    for _ in range(600):
        sim.step()
        gap, free = z - 0.1, v - H * G
        pressing = -H * (H * k + c) * (free + gap / (H if gap > 0 else H + c / k))
        r = max(0.0, pressing / (1 + H * (H * k + c) / 2.0))
        v = free + r / 2.0
        z += H * v
        np.testing.assert_allclose([sim.qpos[0, 2], sim.qvel[0, 2]], [z, v], atol=1e-8)


@pytest.mark.parametrize("k", [1e3, 1e5])
@pytest.mark.parametrize(("shape", "points"), [('type="sphere" size=".1"', 1),
                                           ('type="box" size=".1 .1 .1"', 4)])  # fmt: skip
def test_a_body_at_rest_is_as_deep_as_its_weight_presses(k, shape, points):
    model = f"""<mujoco><option timestep="{H}"/>
      {tuples(stiffness={"geom body": k}, damping={"geom body": 2 * np.sqrt(k)})}<worldbody>
      <geom type="plane" size="1 1 .1"/><body pos="0 0 .1"><freejoint/>
      <geom name="body" mass="2" {shape}/></body></worldbody></mujoco>"""
    sim = BatchSim(model)
    sim.step(substeps=3000)
    assert 0.1 - sim.qpos[0, 2] == pytest.approx(2 * G / (points * k), rel=1e-6)
    assert abs(sim.qvel).max() < 1e-9


def test_springs_of_two_geoms_are_in_series():
    sim = BatchSim(ball(gravity=G, stiffness={"geom ball": 3e3, "geom floor": 6e3},
                        damping={"geom ball": 90.0, "geom floor": 90.0}))  # fmt: skip
    sim.step(substeps=5000)
    assert 0.1 - sim.qpos[0, 2] == pytest.approx(G / 2e3, rel=1e-6)
    alone = BatchSim(ball(gravity=G, stiffness={"geom ball": 2e3}, damping={"geom ball": 50.0}))
    alone.step(substeps=5000)
    for s in (sim, alone):
        s.reset()
        s.step(substeps=40)
    np.testing.assert_allclose(sim.qpos, alone.qpos, rtol=1e-12)  # 90 (4/9 + 1/9) = 50


@pytest.mark.parametrize("c", [0.0, 3.0, 20.0])
def test_a_spring_returns_what_the_differential_equation_does(c):
    """m z'' = -k z - c z' until the force is zero; here by steps 1000 times smaller."""
    h, k, speed = 1e-5, 1e4, 1.0
    sim = BatchSim(ball(h, stiffness={"geom ball": k}, damping={"geom ball": c}))
    sim.qvel[:, 2] = -speed
    sim.step(substeps=6000)
    z, v, fine = 0.0, -speed, 1e-7
    while v < 0 or k * z + c * v < 0:
        v -= fine * (k * z + c * v)
        z += fine * v
    assert sim.qvel[0, 2] == pytest.approx(v, rel=3e-3)


def slope_with(k, c, mu, angle, **options):
    gravity = f"{G * np.sin(angle)} 0 {-G * np.cos(angle)}"
    model = f"""<mujoco><option timestep=".002" gravity="{gravity}"/>
      {tuples(stiffness={"geom box": k}, damping={"geom box": c})}<worldbody>
      <geom type="plane" size="9 9 .1" friction="{mu}"/><body pos="0 0 .05"><freejoint/>
      <geom name="box" type="box" size=".2 .1 .05" friction="{mu}" mass="1"/></body>
      </worldbody></mujoco>"""
    return BatchSim(model, **options)


def test_friction_on_springs_is_exact():
    sim = slope_with(1e4, 100.0, 0.5, np.arctan(0.499))
    sim.step(substeps=1000)
    at = sim.qpos[0, 0]
    sim.step(substeps=2000)
    assert abs(sim.qpos[0, 0] - at) < 1e-9  # it does not creep
    sim = slope_with(1e4, 100.0, 0.5, np.arctan(0.6))
    sim.step(substeps=1000)
    v = sim.qvel[0, 0]
    sim.step(substeps=500)
    expected = G * (np.sin(np.arctan(0.6)) - 0.5 * np.cos(np.arctan(0.6)))
    assert sim.qvel[0, 0] - v == pytest.approx(expected, rel=1e-6)


def test_a_rigid_contact_beside_a_soft_one_keeps_its_gap():
    model = f"""<mujoco><option timestep="{H}"/>{tuples(stiffness={"geom soft": 1e3})}<worldbody>
      <geom type="plane" size="1 1 .1"/>
      <body pos="0 0 .1"><freejoint/><geom name="soft" type="box" size=".2 .2 .1" mass="1"/></body>
      <body pos="0 0 .3"><freejoint/><geom name="rigid" type="box" size=".1 .1 .1" mass="1"/></body>
      <body pos="1 0 .099"><freejoint/><geom name="deep" type="sphere" size=".1" mass="1"/></body>
      </worldbody></mujoco>"""
    sim = BatchSim(model)
    sim.vary("geom_damping", [[0, 50, 0, 0]])
    sim.step(substeps=4000)
    soft, rigid, deep = sim.qpos[0, 2], sim.qpos[0, 9], sim.qpos[0, 16]
    # The upper box rests on the soft one: their contact is as soft as that.
    assert 0.1 - soft == pytest.approx(2 * G / 4e3, rel=1e-5)
    assert soft + 0.2 - rigid == pytest.approx(G / 4e3, rel=1e-5)
    assert deep == pytest.approx(0.1, abs=2e-6)  # recovered, as without any spring


@pytest.mark.parametrize("k", [1e-6, 1.0, 1e12])
@pytest.mark.parametrize("c", [0.0, 1e-3, 1e9])
def test_extreme_springs_are_solved(k, c):
    sim, _ = thrown(balls_in_a_box(stiffness={f"geom body{i}": k for i in range(3)},
                                   damping={f"geom body{i}": c for i in range(3)}), 4)  # fmt: skip
    for _ in range(100):
        sim.step()
        assert (sim.status == Status.solved).all()
        assert np.isfinite(sim.qpos).all()


def test_infinite_stiffness_is_rigid():
    sim, steps = thrown(balls_in_a_box(), 3)
    sim.vary("geom_stiffness", np.full((3, len(GEOMS)), np.inf))
    sim.vary("geom_damping", np.full((3, len(GEOMS)), 10.0))
    np.testing.assert_array_equal(after(sim, steps), after(*thrown(balls_in_a_box(), 3)))


def test_bounces_beside_springs_gain_no_energy():
    stiffness = {"geom body0": 1e4, "geom body1": 3e3}
    e = {"geom body2": 1.0, "geom wall0": 0.9}
    sim, _ = thrown(balls_in_a_box(stiffness=stiffness, restitution=e), 6)
    model = mujoco.MjModel.from_xml_string(balls_in_a_box())
    data = mujoco.MjData(model)

    def energy(k):
        data.qpos[:], data.qvel[:] = sim.qpos[k], sim.qvel[k]
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_energyPos(model, data)
        mujoco.mj_energyVel(model, data)
        return data.energy.sum()

    first = [energy(k) for k in range(6)]
    for _ in range(60):
        sim.step(substeps=10)
        assert all(energy(k) <= first[k] + 1e-6 for k in range(6))


def test_position_iterations_leave_springs_alone():
    model = ball(gravity=G, stiffness={"geom ball": 1e3}, damping={"geom ball": 60.0})
    sim = BatchSim(model, position_iterations=5)
    sim.step(substeps=2000)
    assert 0.1 - sim.qpos[0, 2] == pytest.approx(G / 1e3, rel=1e-6)


def test_steps_on_springs_have_derivatives():
    sim = slope_with(2e3, 30.0, 0.5, 0.3)
    sim.step(substeps=50)
    state = sim.state.copy()
    g = np.random.default_rng(0).normal(size=sim.qvel.shape)
    sim.step()
    gradient = sim.step_vjp(d_qvel=g)
    for i in range(sim.qvel.shape[1]):
        ends = []
        for eps in (1e-6, -1e-6):
            sim.state[...] = state
            sim.qvel[0, i] += eps
            sim.step()
            ends.append((g * sim.qvel).sum())
        assert gradient.qvel[0, i] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=2e-5)


TILES = "".join(
    f'<geom type="box" size=".1 .5 .1" pos="{0.2 * i} 0 -.1" friction="0"/>' for i in range(-3, 25)
)


def sliding(k, more="", push=0.0, speed=0.0, floor=TILES):
    model = f"""<mujoco><option timestep=".002"/>
      {tuples(stiffness={"geom box": k}, damping={"geom box": 20})}<worldbody>{floor}{more}
      <body pos="0 0 .05"><freejoint/>
        <geom name="box" type="box" size=".15 .1 .05" mass="1" friction="0"/></body>
      </worldbody></mujoco>"""
    sim = BatchSim(model)
    sim.qvel[0, 0] = speed
    sim.xfrc_applied[0, 1, 0] = push
    return sim


@pytest.mark.parametrize("k", [1e5, 2e3])
@pytest.mark.parametrize("speed", [2.0, 0.2, 0.05])
def test_level_tiles_are_a_plane_for_a_box_that_is_sunk_in(speed, k):
    sim = sliding(k, speed=speed)
    for _ in range(1000):
        assert sim.step()[0] == Status.solved
    slowed = 1e-5 * G * 2.0  # MuJoCo's least friction, 2 s
    assert sim.qvel[0, 0] == pytest.approx(speed - slowed, rel=1e-3)
    assert abs(sim.qvel[0, 1]) < 1e-6
    assert -2e-3 < sim.qpos[0, 2] - 0.05 < 0


@pytest.mark.parametrize("height", [0.004, 0.1])
@pytest.mark.parametrize("k", [1e5, 2e3])
def test_a_ledge_stops_it_and_a_wall_bears_its_push(k, height):
    """The spring between them is pressed as far as the push asks, by four points."""
    ledge = f'<geom type="box" size=".2 .5 .1" pos="1 0 {height - 0.1}" friction="0"/>'
    sim = sliding(k, ledge, push=0.5, floor='<geom type="plane" size="5 5 .1" friction="0"/>')
    sim.step(substeps=3000)
    assert abs(sim.qvel[0, 0]) < 1e-3
    assert sim.qpos[0, 0] == pytest.approx(0.65 + 0.5 / (4 * k), abs=0.2 / k + 1e-6)
