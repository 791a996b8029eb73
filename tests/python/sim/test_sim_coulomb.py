"""Exact Coulomb friction in BatchSim: closed forms, rest without drift, the law after the step."""

import numpy as np
import pytest
from sim_models import PLANE, TUMBLING, free, model_path, run, scene, slope, spinning_disc, stack

from stickslip import Status
from stickslip._src.sim import BatchSim

EXACT = 1e-12
INTEGRATORS = ("euler", "implicitfast")


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_block_slides_down_a_slope(integrator):
    angle, mu = 0.5, 0.3
    sim = BatchSim(slope(angle, mu), tol=EXACT, integrator=integrator)
    acceleration = 9.81 * (np.sin(angle) - mu * np.cos(angle))
    h, steps = sim.timestep, 500
    for k in range(1, steps + 1):
        assert sim.step()[0] == Status.solved
        assert abs(sim.qvel[0, 0] - k * h * acceleration) <= 1e-10
    # Semi-implicit Euler: x = h² a Σk.
    distance = h * h * acceleration * steps * (steps + 1) / 2
    np.testing.assert_allclose(sim.qpos[0], [distance, 0, 0.05, 1, 0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(sim.qvel[0, 1:], 0, atol=1e-10)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_block_sticks_on_a_slope(integrator):
    sim = BatchSim(slope(0.5, 0.8), tol=EXACT, integrator=integrator)
    start = sim.qpos.copy()
    run(sim, 500)
    np.testing.assert_allclose(sim.qvel, 0, atol=1e-11)
    np.testing.assert_allclose(sim.qpos, start, atol=1e-11)
    # The contacts carry the weight, and friction prevents sliding: 8 kg at 9.81 m/s².
    weight = 1000 * 0.2 * 0.2 * 0.1 * 9.81 * np.array([np.cos(0.5), np.sin(0.5)])
    contacts = sim.contacts(0)
    total = sum(c["frame"].T @ c["force"][:3] for c in contacts)
    sign = 1 if contacts[0]["frame"][0, 2] > 0 else -1
    np.testing.assert_allclose(sign * total, [-weight[1], 0, weight[0]], atol=1e-7)
    for c in contacts:
        assert np.hypot(*c["force"][1:3]) <= 0.8 * c["force"][0] + 1e-9


def test_box_below_the_friction_angle_does_not_creep():
    mu = 0.5
    angle = np.arctan(mu) * 0.999
    exact = BatchSim(slope(angle, mu), tol=EXACT)
    soft = BatchSim(slope(angle, mu), law="mujoco")
    run(exact, 500)
    for _ in range(500):
        soft.step()
    assert np.abs(exact.qvel).max() <= 1e-9
    assert soft.qvel[0, 0] > 1e-4  # MuJoCo's soft contact slides down slowly


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_torsional_friction_stops_a_spinning_disc(integrator):
    mu = 0.01  # m
    sim = BatchSim(spinning_disc(mu, "Euler"), tol=EXACT, integrator=integrator)
    sim.qvel[0, 5] = 5.0
    slowdown = mu * 2 * 9.81 / 0.01  # rad/s²: μ m g / I
    for k in range(1, 300):
        assert sim.step()[0] == Status.solved
        assert abs(sim.qvel[0, 5] - max(0.0, 5.0 - slowdown * k * sim.timestep)) <= 1e-10
    assert np.abs(sim.qvel).max() <= 1e-11


@pytest.mark.parametrize("condim", [4, 6])
@pytest.mark.parametrize("torsion", [1e-3, 0.005, 0.5])
@pytest.mark.parametrize("shape", ["box", "sphere"])
def test_torsional_friction_without_that_of_sliding(shape, torsion, condim):
    """What spins stops, each contact point braking with its share, and what slides goes on."""
    friction = f'condim="{condim}" friction="0 {torsion} 0"'
    sim = BatchSim(f"""<mujoco><option timestep=".002"/><worldbody>
      <geom type="plane" size="5 5 .1" {friction}/><body pos="0 0 .1"><freejoint/>
      <geom type="{shape}" size=".1 .1 .1" mass="2" {friction}/></body></worldbody></mujoco>""")
    inertia = sim.model.body_inertia[1, 2]
    sim.qvel[0, [0, 5]] = [0.5, 2.0]
    for k in range(1, 200):
        assert sim.step()[0] == Status.solved
        expected = max(0.0, 2.0 - torsion * 2 * 9.81 / inertia * k * 0.002)
        assert sim.qvel[0, 5] == pytest.approx(expected, abs=1e-7)
    assert sim.qvel[0, 0] == pytest.approx(0.5, abs=1e-7)


@pytest.mark.parametrize("friction", ["0 0 0.01", "0 0 0.5", "0 0.01 0.5", "0.5 0 0.01"])
def test_friction_of_rolling_without_others(friction):
    own = f'condim="6" friction="{friction}"'
    sim = BatchSim(
        f"""<mujoco><option timestep=".002"/><worldbody>
      <geom type="plane" size="5 5 .1" {own}/><body pos="0 0 .1"><freejoint/>
      <geom type="sphere" size=".1" mass="2" {own}/></body></worldbody></mujoco>""",
        3,
    )
    sim.qvel[:] = np.random.default_rng(0).normal(size=(3, 6)) * [1, 1, 0, 3, 3, 3]
    for _ in range(100):
        assert (sim.step() == Status.solved).all()


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_four_stacked_boxes_rest_for_ten_seconds(integrator):
    sim = BatchSim(stack(4), tol=EXACT, integrator=integrator)
    start = sim.qpos.copy()
    run(sim, round(10 / sim.timestep))
    assert sim.num_contacts[0] >= 16  # four faces; tilts by rounding give MuJoCo more points
    assert np.abs(sim.qpos - start).max() <= 1e-6


def law_violation(sim, env, v_before):
    """Largest violation of De Saxcé's conditions by the velocities after MuJoCo's integrator, and
    the number of closed contacts."""
    p = sim.problem(env)
    r, mu, J = p["impulse"], p["mu"], p["J"]
    v_free = v_before + sim.timestep * p["a_free"]
    u = J @ sim.qvel[env] + p["b"] - J @ v_free
    row, worst, closed = p["n_free"] + p["n_nonneg"] + p["n_box"], 0.0, 0
    for dim in p["dims"]:
        normal, tangent = row, slice(row + 1, row + dim)
        coefficients, mu = mu[: dim - 1], mu[dim - 1 :]
        rn, un = r[normal], u[normal]
        rt, ut = r[tangent] / coefficients, u[tangent] * coefficients
        worst = max(worst, -un, -rn, abs(un * rn), np.linalg.norm(rt) - rn)
        # Friction opposes the slip with its full magnitude: û·r̂ = -|û| r_n.
        worst = max(worst, abs(ut @ rt + np.linalg.norm(ut) * rn))
        closed += rn > 1e-9
        row += dim
    return worst, closed


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", ["tumbling", "ant", "half_cheetah", "dm_quadruped"])
def test_velocities_after_the_step_satisfy_the_law(name, integrator):
    model = TUMBLING if name == "tumbling" else model_path(name)
    sim = BatchSim(model, 4, integrator=integrator, tol=EXACT)
    rng = np.random.default_rng(2)
    sim.qvel[:] = rng.normal(size=sim.qvel.shape) * (3 if name == "tumbling" else 0.1)
    judged = 0
    for _ in range(150):
        before = sim.qvel.copy()
        status = sim.step(rng.uniform(-1, 1, sim.ctrl.shape))
        assert (status != Status.bad_input).all()
        for env in np.flatnonzero(status == Status.solved):
            violation, closed = law_violation(sim, env, before[env])
            assert violation <= 1e-9
            judged += closed
    assert judged > 100


def test_restitution_returns_the_approach_velocity():
    ball = """<mujoco><option timestep="0.001"/><worldbody><geom type="plane" size="5 5 .1"/>
      <body pos="0 0 .1"><freejoint/><geom type="sphere" size=".1"/></body></worldbody></mujoco>"""
    sim = BatchSim(ball, restitution=0.5)
    sim.qvel[0, 2] = -2.0
    sim.qpos[0, 2] -= 1e-9  # certainly touching
    sim.step()
    np.testing.assert_allclose(sim.qvel[0, 2], 1.0, atol=1e-9)


def test_a_coin_that_spins_down_does_not_sink():
    """Its rim approaches the floor in every step, so penetration must be recovered."""
    coin = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="5 5 .1"/>
      <body pos="0 0 .05" euler="75 0 0"><freejoint/>
        <geom type="cylinder" size=".05 .003" friction=".3 0 0"/></body></worldbody></mujoco>"""
    sim = BatchSim(coin)
    sim.qvel[0, 3:] = [10, 0, 30]
    for _ in range(1000):
        sim.step()
        deepest = min([c["gap"] for c in sim.contacts(0)], default=0.0)
        assert deepest > -1e-3


def test_compliance_softens_the_normal():
    rigid, soft = (BatchSim(stack(1), compliance=c) for c in (0.0, 0.01))
    rigid.step()
    soft.step()
    problem = soft.problem(0)
    r, n = problem["impulse"], slice(0, None, 3)
    u = problem["W"] @ r + problem["b"]
    assert r[n].min() > 0
    np.testing.assert_allclose(u[n], -0.01 * r[n], atol=1e-9)
    assert soft.qvel[0, 2] < rigid.qvel[0, 2] - 1e-6


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_ball_that_falls_through_a_fluid_ends_on_the_floor(integrator):
    """Drag on a free body is a part of the integrator's matrix: the solve must use the same."""
    ball = free('<geom type="sphere" size=".1"/>', "0 0 .101")
    water = scene(0.004, PLANE, ball).replace("<option", '<option density="1000"')
    sim = BatchSim(water, tol=EXACT, integrator=integrator)
    sim.qvel[0, 2] = -3
    run(sim, 1)
    np.testing.assert_allclose(sim.qpos[0, 2], 0.1, atol=1e-12)
    np.testing.assert_allclose(sim.qvel[0, 2], -0.25, atol=1e-10)
