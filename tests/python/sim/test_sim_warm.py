"""Solves that start from the impulses of the previous step: assignment and cost."""

import mujoco
import numpy as np
import pytest
from sim_models import MACHINE, STATE, TUMBLING, model_path, slope, spinning_disc, stack

from stickslip import Status, residual
from stickslip._src.sim import BatchSim

RIGID = ("coulomb", "box", "frictionless")
TWO_BOXES = """<mujoco><option timestep="0.002" integrator="implicitfast"/>
  <worldbody><geom type="plane" size="5 5 .1"/>
    <body pos="-1 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
    <body pos="1 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="3"/></body>
  </worldbody></mujoco>"""


def steps(sim, count):
    for _ in range(count):
        sim.step()


def test_a_resting_contact_starts_from_its_last_impulse():
    sim = BatchSim(slope(0.3, 0.8), 2)
    sim.step()
    assert not sim.problem(0)["warm_start"].any()  # nothing is known yet
    last = sim.problem(0)["impulse"]
    assert last[0] > 0
    sim.step()
    np.testing.assert_allclose(sim.problem(0)["warm_start"], last, rtol=1e-9, atol=1e-12)


def test_piles_remember_all_of_their_contacts():
    """A pile has many more contacts than a robot; with room for 16, most of it started at rest."""
    sim = BatchSim(stack(6), 1)
    steps(sim, 2)
    assert len(sim.contacts(0)) == 24
    assert sim.problem(0)["warm_start"].reshape(24, 3).any(axis=1).all()


def test_bodies_remember_many_contacts():
    """A compound body may have 32 contacts; with room for 16, half of them started at rest."""
    feet = "".join(
        f'<geom type="box" size=".02 .02 .02" pos="{0.1 * x} {0.1 * y} 0"/>'
        for x in range(4)
        for y in range(2)
    )
    sim = BatchSim(
        '<mujoco><worldbody><geom type="plane" size="5 5 .1"/>'
        f'<body pos="0 0 .02"><freejoint/>{feet}</body></worldbody></mujoco>',
        1,
    )
    steps(sim, 2)
    assert len(sim.contacts(0)) == 32
    assert sim.problem(0)["warm_start"].reshape(32, 3).any(axis=1).all()


def test_a_contact_without_force_takes_no_neighbours():
    """Two points of one pair, of which the second in MuJoCo's order carries all of the load."""
    sim = BatchSim(
        """<mujoco><option timestep="0.002"/><worldbody>
          <geom type="box" size="1 1 .1" pos="0 0 -.1"/>
          <body pos="0 0 .1"><freejoint/><geom type="box" size=".3 .05 .1"/></body>
        </worldbody></mujoco>""",
        1,
    )
    for step in range(30):
        sim.qfrc_applied[0, 4] = 0.9 * 9.81 * sim.model.body_mass[1] * 0.3  # nearly tips over
        sim.step()
        problem = sim.problem(0)
        start = problem["warm_start"].reshape(-1, 3)[:, 0]
        force = problem["impulse"].reshape(-1, 3)[:, 0]
        if step > 3:
            np.testing.assert_allclose(start, force, atol=0.1 * force.max())
    assert force.min() < 0.2 * force.max()


def test_contacts_are_known_by_their_bodies_not_by_their_number():
    sim = BatchSim(TWO_BOXES, 1)
    steps(sim, 2)
    last = sim.problem(0)["impulse"].reshape(8, 3)
    owner = np.array([max(c["geoms"]) for c in sim.contacts(0)])
    sim.qpos[0, 2] = 1.0  # the first box flies
    sim.step()
    assert {max(c["geoms"]) for c in sim.contacts(0)} == {2}
    start = sim.problem(0)["warm_start"].reshape(4, 3)
    np.testing.assert_allclose(start, last[owner == 2], rtol=1e-9, atol=1e-12)
    sim.qpos[0, 2] = 0.1  # it returns, with four new contacts before the others
    sim.step()
    start = sim.problem(0)["warm_start"].reshape(8, 3)
    owner = np.array([max(c["geoms"]) for c in sim.contacts(0)])
    assert not start[owner == 1].any()
    assert start[owner == 2].any(axis=1).all()


def world_forces(sim, which):
    """Forces by the contact's position."""
    rows = sim.problem(0)[which].reshape(-1, 3)
    return {
        tuple(c["position"].round(6)): c["frame"].T @ r
        for c, r in zip(sim.contacts(0), rows, strict=True)
    }


def test_contacts_of_a_pair_are_known_by_their_position():
    """A box with its mass off centre makes a quarter turn: its corners come in another order."""
    text = slope(0.2, 0.9).replace('size=".1 .1 .05"/>', 'size=".1 .1 .05" mass="1"/>')
    weight = '<geom type="sphere" size=".01" pos=".08 .03 0" mass="5"/></body>'
    sim = BatchSim(text.replace("</body>", weight), 1)
    steps(sim, 3)
    last = world_forces(sim, "impulse")
    sim.qpos[0, 3:7] = [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]
    sim.qvel[:] = 0
    sim.step()
    start = world_forces(sim, "warm_start")
    assert start.keys() == last.keys()
    assert len(start) == 4
    for position in start:
        np.testing.assert_allclose(start[position], last[position], rtol=1e-6, atol=1e-9)


def test_impulses_do_not_turn_with_the_frame_of_a_contact():
    """Two boxes, pressed together and sheared, are turned together."""
    box = '<body pos="0 0 {}"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>'
    text = f"""<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody>
      {box.format(0)}{box.format(0.2)}</worldbody></mujoco>"""
    sim = BatchSim(text, 1)
    sim.qfrc_applied[0, [0, 2, 6, 8]] = [0.3, 9.0, -0.3, -9.0]
    steps(sim, 2)
    last = sum(world_forces(sim, "impulse").values())
    assert np.linalg.norm(last[:2]) > 1e-4
    tilt = 0.4  # about the axis (1, 1, 0)
    quat = np.array([np.cos(tilt / 2), *(np.sin(tilt / 2) * np.array([1, 1, 0]) / np.sqrt(2))])
    up = np.zeros(3)
    mujoco.mju_rotVecQuat(up, np.array([0.0, 0.0, 0.2]), quat)
    sim.qpos[0] = [0, 0, 0, *quat, *up, *quat]
    sim.step()
    start = world_forces(sim, "warm_start")
    assert len(start) == 4
    np.testing.assert_allclose(sum(start.values()), last, rtol=1e-9, atol=1e-12)


def test_other_rows_are_known_by_type_and_id():
    """Equality, limit and friction of joints; the limit comes and goes."""
    sim = BatchSim(MACHINE, 1)
    sim.qpos[0, [2, 4]] = 3.0  # the ball is far away
    sim.qfrc_applied[0, 8:10] = [0.3, 0.2]
    steps(sim, 3)
    sim.qpos[0, 1] = 1.5
    sim.step()
    p = sim.problem(0)
    assert (p["n_free"], p["n_nonneg"], p["n_box"]) == (3, 1, 1)
    last = p["impulse"]
    assert (last != 0).all()
    sim.qpos[0, 1] = 0.0
    sim.step()
    assert sim.problem(0)["n_nonneg"] == 0
    np.testing.assert_array_equal(sim.problem(0)["warm_start"], last[[0, 1, 2, 4]])
    sim.qpos[0, 1] = 1.5
    last = sim.problem(0)["impulse"]
    sim.step()
    np.testing.assert_array_equal(sim.problem(0)["warm_start"], [*last[:3], 0, last[3]])


def both_are_right(one, other, env, law, tol):
    """Exact Coulomb friction may have several solutions: then both solve the same problem."""
    p, q = one.problem(env), other.problem(env)
    given = ("W", "b", "mu", "R", "dims", "lo", "hi", "n_free", "n_nonneg")
    for name in given:
        np.testing.assert_array_equal(p[name], q[name])
    problem = {name: p[name] for name in given}
    for impulse in (p["impulse"], q["impulse"]):
        assert residual(r=impulse, law=law, **problem) <= tol * (1 + np.abs(p["b"]).max())


@pytest.mark.parametrize("model", [TUMBLING, MACHINE, spinning_disc(0.01, "Euler")])
@pytest.mark.parametrize("law", RIGID)
def test_the_answer_is_the_same_to_the_tolerance(law, model):
    """From the same states, with and without impulses of the last step."""
    warm, cold = (BatchSim(model, 4, law=law, tol=1e-11, warm_start=on) for on in (True, False))
    rng = np.random.default_rng(2)
    size, choices = cold.state.shape[1], 0
    for _ in range(60):
        warm.qfrc_applied[:] = rng.normal(size=warm.qfrc_applied.shape)
        cold.state[:] = warm.state[:, :size]
        warm.step()
        cold.step()
        assert (warm.status == cold.status).all()
        for env in range(4):
            if np.allclose(warm.qvel[env], cold.qvel[env], rtol=1e-6, atol=1e-8):
                continue
            both_are_right(warm, cold, env, law, 1e-11)
            choices += 1
    assert choices <= (5 if law in ("coulomb", "box") else 0)


def test_it_pays():
    warm, cold = (BatchSim(stack(4), 1, warm_start=on) for on in (True, False))
    count = {warm: 0, cold: 0}
    for sim in count:
        for _ in range(50):
            assert sim.step()[0] == Status.solved
            count[sim] += sim.iterations[0]
    assert count[warm] < count[cold]


def test_a_bad_start_costs_no_solution():
    sim = BatchSim(stack(3), 2)
    steps(sim, 5)
    mujocos = mujoco.mj_stateSize(mujoco.MjModel.from_xml_string(stack(3)), STATE)
    rng = np.random.default_rng(0)
    for scale in (1e-6, 1.0, 1e6, 1e12):
        kept = sim.state[1, mujocos:]
        kept[2:] *= 1 + scale * rng.normal(size=kept[2:].shape)
        assert (sim.step() == Status.solved).all()
    for nonsense in (-1.0, 1e300, np.nan):  # as the stored count
        sim.state[1, mujocos : mujocos + 2] = nonsense
        assert (sim.step() == Status.solved).all()
        assert not sim.problem(1)["warm_start"].any()


def test_reset_and_switched_off():
    sim = BatchSim(stack(2), 3)
    steps(sim, 3)
    sim.reset(np.array([False, True, False]))
    sim.step()
    assert not sim.problem(1)["warm_start"].any()
    assert sim.problem(2)["warm_start"].any()

    off = BatchSim(stack(2), 3, warm_start=False)
    steps(off, 3)
    assert not off.problem(0)["warm_start"].any()
    assert off.state.shape[1] < sim.state.shape[1]


def test_the_models_own_userdata_stays_its_own():
    text = stack(1).replace("<worldbody>", '<size nuserdata="3"/><worldbody>')
    model = mujoco.MjModel.from_xml_string(text)
    before = mujoco.mj_stateSize(model, STATE) - 3
    sim = BatchSim(text, 2)
    sim.state[:, before : before + 3] = [1.0, 2.0, 3.0]
    steps(sim, 4)
    assert sim.problem(0)["warm_start"].any()
    np.testing.assert_array_equal(sim.state[1, before : before + 3], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("name", ["ant", "humanoid"])
def test_recovery_begins_at_the_solution(name):
    """So it takes two or three Newton steps. (It took 4.5 and 5.4 iterations, also sweeps.)"""
    taken, recoveries = [], 0
    for tolerance in (1e-6, 1.0):  # m; the second recovers nothing
        options = {"integrator": "implicitfast", "position_tolerance": tolerance}
        sim = BatchSim(model_path(name), 32, **options)
        rng, count = np.random.default_rng(0), 0
        for _ in range(300):
            sim.ctrl[:] = rng.uniform(-1, 1, sim.ctrl.shape)
            sim.step()
            count += sim.iterations.sum()
        taken.append(count)
        recoveries = max(recoveries, sim.statistics["repositioned"])
    assert recoveries > 500
    assert taken[0] - taken[1] < 3 * recoveries
