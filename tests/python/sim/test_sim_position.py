"""Gaps at the end of the step: `BatchSim(position_iterations=...)`. MuJoCo's own collision
detection, applied to the states after the steps, is the reference."""

import mujoco
import numpy as np
import pytest
from sim_models import TUMBLING, model_path, same, stack

from stickslip import Status
from stickslip._src.sim import BatchSim

TOLERANCE = 1e-6  # the default
CAPSULE = 'type="capsule" size=".05 .15"'
CUBE = 'type="box" size=".1 .1 .1"'  # isotropic inertia: no gyroscopic torque
FLIGHT = 0.3  # m; contacts are found before tumbling bodies can close them


def scene(geom, h, friction=0.5, height=0.4, integrator="implicitfast"):
    return f"""<mujoco><option timestep="{h}" integrator="{integrator}"/>
      <worldbody><geom type="plane" size="5 5 .1" friction="{friction}"/>
        <body pos="0 0 {height}" euler="20 30 10"><freejoint/>
          <geom {geom} friction="{friction}"/></body>
      </worldbody></mujoco>"""


def tumbling(geom, h, num_envs=32, spin=5, **options):
    sim = BatchSim(scene(geom, h), num_envs, contact_margin=FLIGHT, **options)
    spread = np.array([1, 1, 1, spin, spin, spin])  # m/s, rad/s
    sim.qvel[:] = np.random.default_rng(0).normal(size=sim.qvel.shape) * spread
    return sim


def deepest(model, qpos):
    """Deepest penetration (m) in each state, by MuJoCo."""
    data, depths = mujoco.MjData(model), []
    for q in qpos:
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_collision(model, data)
        depths.append(max([0.0, *(-data.contact.dist)]))
    return np.array(depths)


@pytest.mark.parametrize(("h", "spin"), [(0.005, 10), (0.01, 5), (0.02, 5)])
@pytest.mark.parametrize("geom", [CUBE, CAPSULE], ids=["cube", "capsule"])
def test_no_step_ends_in_penetration(geom, h, spin):
    model = mujoco.MjModel.from_xml_string(scene(geom, h))
    one, many = (tumbling(geom, h, spin=spin, position_iterations=k) for k in (0, 10))
    worst, rounds = 0.0, 0
    for _ in range(round(1.5 / h)):
        one.step()
        worst = max(worst, deepest(model, one.qpos).max())
        many.step()
        depth = deepest(model, many.qpos)
        assert depth.max() <= TOLERANCE
        np.testing.assert_allclose(many.penetration, depth, rtol=0, atol=1e-12)
        assert many.position_rounds.max() <= 10
        rounds += many.position_rounds.sum()
    assert worst > 5 * TOLERANCE  # with one solve per step there is something to correct
    assert rounds > 0


def one_step(h, **options):
    """Penetration after one step of a frictionless capsule with one end at rest on the ground, and
    the expected value: the angular velocity ω moves the centre of that end, at r, by h²/2 (ω × (ω ×
    r))_z. The inertia is isotropic, so that no gyroscopic torque changes ω."""
    ball = '<inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/><geom type="capsule"'
    text = scene(CAPSULE, h, friction=0.0).replace('<geom type="capsule"', ball)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    frame = data.geom_xmat[1].reshape(3, 3)
    end = -0.15 * frame[:, 2] * np.sign(frame[2, 2])
    along = end * [1, 1, 0] / np.linalg.norm(end[:2])
    spin = np.array([0, 0, 40.0]) - 10 * along
    sim = BatchSim(text, tol=1e-12, position_tolerance=1e-13, **options)
    sim.qpos[0, 2] = 0.05 - end[2] - 1e-15
    sim.qvel[0] = [*-np.cross(spin, end - [0, 0, 0.05]), *frame.T @ spin]
    assert sim.step()[0] == Status.solved
    return deepest(model, sim.qpos)[0], -(h**2) / 2 * np.cross(spin, np.cross(spin, end))[2]


def test_one_solve_leaves_the_square_of_the_step():
    for h in (0.002, 0.001, 0.0005):
        depth, expected = one_step(h)
        assert expected > 2e-6
        np.testing.assert_allclose(depth, expected, rtol=h)
        assert one_step(h, position_iterations=20)[0] <= 1e-13 + 1e-15


@pytest.mark.parametrize("integrator", ["euler", "implicitfast"])
def test_energy_grows_by_no_more_than_recovery_lifts(integrator):
    """Positions may move further than the velocities imply. Velocities gain nothing from this,
    except for lifts of 0.1 nm, which is rounding (contact_model.hpp)."""
    sim = tumbling(CUBE, 0.02, 16, 10, position_iterations=10, integrator=integrator, tol=1e-12)
    mass, inertia, lifted = 8.0, 8.0 * 0.04 / 6, 0.0

    def energy():
        v, spin = sim.qvel[:, :3], sim.qvel[:, 3:]
        kinetic = (mass * v * v).sum(1) / 2 + (inertia * spin * spin).sum(1) / 2
        return kinetic + mass * 9.81 * sim.qpos[:, 2]

    for _ in range(100):
        before, z = energy(), sim.qpos[:, 2].copy()
        sim.step()
        lift = mass * 9.81 * (sim.qpos[:, 2] - z - sim.timestep * sim.qvel[:, 2])
        assert (np.abs(lift[sim.position_rounds == 0]) < 1e-9).all()
        assert (energy() - before - lift).max() <= 1e-9 + mass * 9.81 * 1e-10
        lifted += np.maximum(lift, 0.0).sum()
    assert lifted > 1e-3  # J; the bound is active


def test_velocities_are_those_of_the_problem_shown():
    """The position rounds do not change this."""
    sim = tumbling(CUBE, 0.02, 32, 10, position_iterations=10, position_tolerance=1e-9)
    rounds = 0
    for _ in range(60):
        before = sim.qvel.copy()
        sim.step()
        for env in np.flatnonzero(sim.position_rounds):
            p = sim.problem(env)
            v_free = before[env] + sim.timestep * p["a_free"]
            expected = v_free + np.linalg.solve(p["M"], p["J"].T @ p["impulse"])
            np.testing.assert_allclose(sim.qvel[env], expected, atol=1e-9)
            rounds += 1
    assert rounds > 10


def test_bits_do_not_depend_on_threads_or_batch():
    options = {"position_iterations": 5}
    nine = tumbling(CAPSULE, 0.01, 9, threads=3, **options)
    three = tumbling(CAPSULE, 0.01, 3, threads=2, **options)
    one = tumbling(CAPSULE, 0.01, 1, threads=1, **options)
    three.state[:] = nine.state[3:6]
    one.state[:] = nine.state[4]
    for _ in range(150):
        nine.step()
        three.step()
        one.step()
        same(three.penetration.copy(), nine.penetration[3:6].copy())
        assert (one.position_rounds == nine.position_rounds[4]).all()
    same(three.state.copy(), nine.state[3:6].copy())
    same(one.state.copy(), nine.state[4:5].copy())


def test_environments_without_rounds_move_as_with_one_solve():
    """To rounding: with measured gaps nothing is culled, so problems have more rows."""
    one, many = (tumbling(CAPSULE, 0.005, position_iterations=k, tol=1e-12) for k in (0, 5))
    untouched = np.ones(one.num_envs, bool)
    for step in range(200):
        one.step()
        many.step()
        untouched &= many.position_rounds == 0
        for a, b in ((one.qpos, many.qpos), (one.qvel, many.qvel)):
            np.testing.assert_allclose(a[untouched], b[untouched], rtol=0, atol=1e-9)
        if step == 60:
            assert 0 < untouched.sum() < len(untouched)
    assert not untouched.all()


def test_restart_from_a_saved_state_bit_for_bit():
    ant, options = model_path("ant"), {"position_iterations": 5, "integrator": "implicitfast"}
    sim = BatchSim(ant, 4, **options)
    rng = np.random.default_rng(3)
    sim.qvel[:] = rng.normal(size=sim.qvel.shape)
    controls = rng.uniform(-1, 1, (80, *sim.ctrl.shape))
    rounds = 0
    for u in controls[:40]:
        sim.step(u)
    saved = sim.state.copy()
    for u in controls[40:]:
        sim.step(u)
        rounds += sim.position_rounds.sum()
    assert rounds > 0
    other = BatchSim(ant, 4, **options)
    other.state[:] = saved
    for u in controls[40:]:
        other.step(u)
    same(other.state.copy(), sim.state.copy())


@pytest.mark.parametrize("name", ["tumbling", "humanoid", "ant"])
def test_penetration_is_rare_where_one_solve_penetrates_often(name):
    model = TUMBLING if name == "tumbling" else model_path(name)
    depths = []
    for tolerance in (1e9, TOLERANCE):  # m; the first one only measures
        sim = BatchSim(
            model,
            64,
            position_iterations=5,
            position_tolerance=tolerance,
            contact_margin=0.02,
            integrator="implicitfast",
        )
        sim.qvel[:] += np.random.default_rng(0).normal(size=sim.qvel.shape)
        found = []
        for _ in range(150):
            sim.step()
            found.append(sim.penetration.copy())
        depths.append(np.mean(np.array(found) > 1.01 * TOLERANCE))
    assert depths[0] > 5e-3
    assert depths[1] < depths[0] / 3


def test_the_problem_shown_is_that_of_the_velocities():
    """Solved again from its own warm start, it has the same bits for any number of rounds."""
    from stickslip import solve

    sim = tumbling(CUBE, 0.02, 64, position_iterations=10, position_tolerance=1e-9)
    judged = 0
    for _ in range(60):
        sim.step()
        for env in np.flatnonzero(sim.position_rounds):
            p = sim.problem(env)
            again = solve(p["W"], p["b"], p["mu"], warm_start=p["warm_start"])
            same(again.impulse, p["impulse"])
            assert again.residual == sim.residual[env] == p["residual"]
            judged += 1
    assert judged > 10


def test_deep_contacts_recover_as_fast_as_they_may():
    for v_max, h in ((0.1, 0.01), (1.0, 0.01)):
        text = stack(1).replace('timestep="0.002"', f'timestep="{h}"')
        sim = BatchSim(text, position_iterations=5, v_max=v_max)
        sim.qpos[0, 2] -= 0.02
        for k in range(1, 6):
            sim.step()
            depth = max(0.0, 0.02 - k * h * v_max)
            np.testing.assert_allclose(sim.penetration[0], depth, atol=1e-9)
            assert np.abs(sim.qvel).max() < 1e-7


def test_bouncing_contacts_bounce():
    for k in (0, 5):
        sim = tumbling(CUBE, 0.002, 1, position_iterations=k, restitution=0.5, tol=1e-12)
        sim.qpos[0, 2] = 0.1 * np.sqrt(2) - 1e-9  # on an edge
        sim.qpos[0, 3:] = [np.cos(np.pi / 8), np.sin(np.pi / 8), 0, 0]
        sim.qvel[0] = [0, 0, -2, 0, 0, 0]
        sim.step()
        np.testing.assert_allclose(sim.qvel[0, 2], 1.0, atol=1e-6)


def test_nothing_is_measured_without_iterations():
    sim = tumbling(CUBE, 0.01)
    sim.step()
    assert np.isnan(sim.penetration).all()
    assert not sim.position_rounds.any()


@pytest.mark.filterwarnings("ignore:.*not solved:UserWarning")  # law box has only sweeps
@pytest.mark.parametrize("law", ["box", "frictionless", "pyramid"])
def test_other_laws_at_velocity_level(law):
    sim = tumbling(CUBE, 0.02, position_iterations=10, law=law)
    rounds = 0
    for _ in range(75):
        sim.step()
        rounds += sim.position_rounds.sum()
        assert sim.penetration[sim.status == Status.solved].max() <= TOLERANCE
    assert rounds > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"law": "convex"}, "position_iterations: expected 0 with the law convex"),
        ({"law": "mujoco"}, "position_iterations: expected 0 with the law mujoco"),
        ({"compliance": 0.1}, "position_iterations: expected 0 with compliance > 0"),
        ({"position_iterations": -1}, "position_iterations: expected an integer >= 0"),
        ({"position_tolerance": 0.0}, "position_tolerance: expected a number > 0"),
        ({"position_tolerance": float("nan")}, "position_tolerance: expected"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        BatchSim(stack(1), **{"position_iterations": 3, **options})


def test_flexible_bodies_are_refused():
    text = """<mujoco><worldbody><flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1"
      radius=".01" mass="1"><contact selfcollide="none"/></flexcomp></worldbody></mujoco>"""
    with pytest.raises(ValueError, match=r"position_iterations: .*flexible"):
        BatchSim(text, position_iterations=1)
