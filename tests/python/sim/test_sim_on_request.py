"""Contacts and problems of the latest step: they are recomputed on request, and must be those of
the step even if the state has changed since."""

import mujoco
import numpy as np
import pytest
from sim_models import MACHINE, TUMBLING, stack

from stickslip import Status
from stickslip._src.sim import BatchSim

LAWS = ("coulomb", "box", "convex", "mujoco")
RUNGE_KUTTA = TUMBLING.replace("<option", '<option integrator="RK4"')


def seen(sim):
    """The complete contents of contacts and problems, as bytes."""
    looks = [sim.contacts(e) for e in range(sim.num_envs)]
    if sim.law != "mujoco":
        looks += [[sim.problem(e)] for e in range(sim.num_envs)]
    values = [value for look in looks for part in look for value in part.values()]
    return [np.asarray(value).tobytes() for value in values]


def tumble(sim, steps, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        sim.qfrc_applied[:] = rng.normal(size=sim.qfrc_applied.shape)
        sim.step()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("model", [TUMBLING, RUNGE_KUTTA], ids=["euler", "rk4"])
@pytest.mark.filterwarnings("ignore:integrator RK4 has stages")
def test_looking_is_of_the_latest_step_and_changes_nothing(law, model):
    options = {"position_iterations": 3, "contact_margin": 0.05} if law == "coulomb" else {}
    looked, left = (BatchSim(model, 5, law=law, threads=2, **options) for _ in range(2))
    for sim in (looked, left):
        tumble(sim, 70)
    assert (looked.num_contacts > 0).sum() >= 3
    first = seen(looked)
    verdict = looked.status.copy(), looked.residual.copy(), looked.iterations.copy()
    saved = looked.state.copy()
    looked.state[:] = 0.1 * np.random.default_rng(1).normal(size=saved.shape)
    assert seen(looked) == first
    for before, after in zip(
        verdict, (looked.status, looked.residual, looked.iterations), strict=True
    ):
        np.testing.assert_array_equal(before, after)
    looked.state[:] = saved
    for sim in (looked, left):
        tumble(sim, 20, seed=2)
    np.testing.assert_array_equal(looked.state, left.state)


def test_every_environment_has_its_own():
    """Forces carry the weight of each environment's own body."""
    sim = BatchSim(stack(1), 3)
    masses = np.array([1.0, 2.0, 5.0])
    sim.vary("body_mass", np.stack([0 * masses, masses], axis=1))
    for _ in range(20):
        sim.step()
    for env in (2, 0, 1):
        force = sum(c["force"][0] for c in sim.contacts(env))
        np.testing.assert_allclose(force, masses[env] * 9.81, rtol=1e-7)
        p = sim.problem(env)
        np.testing.assert_allclose(np.diag(p["M"])[:3], masses[env])
        assert p["status"] == Status.solved


def test_there_is_nothing_to_see_without_a_step():
    sim = BatchSim(stack(1), 2)
    assert sim.contacts(0) == []
    assert sim.problem(0)["W"].shape == (0, 0)
    sim.step()
    assert len(sim.contacts(0)) == 4
    sim.reset(np.array([True, False]))
    assert sim.contacts(0) == []
    assert len(sim.contacts(1)) == 4
    sim.vary("body_mass", np.ones((2, 2)))  # the step cannot be repeated: the model has changed
    assert sim.contacts(1) == []
    assert sim.problem(1)["W"].shape == (0, 0)
    sim.step()
    assert len(sim.contacts(1)) == 4


def test_a_failed_environment_shows_no_neighbours_problem():
    sim = BatchSim(stack(2), 3, threads=1)
    sim.step()
    sim.qpos[1, 0] = np.nan
    assert sim.step().tolist() == [Status.solved, Status.bad_input, Status.solved]
    assert sim.contacts(1) == []
    assert len(sim.problem(0)["b"]) == sim.num_rows[0] > 0
    assert sim.problem(1)["b"].shape == (0,)


def test_sleeping_bodies_keep_their_data():
    """MuJoCo's sleep state is in data that are not part of the state."""
    text = stack(2).replace("/>", '><flag sleep="enable"/></option>', 1)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    sim = BatchSim(text, 3, law="mujoco", threads=2)
    for step in range(400):
        if step == 300:
            data.qvel[0] = sim.qvel[1, 0] = 0.5
        mujoco.mj_step(model, data)
        sim.step()
        np.testing.assert_array_equal(sim.qpos[1], data.qpos)
        if step == 250:
            assert data.ntree_awake == 0
            assert [c["gap"] for c in sim.contacts(1)] == list(data.contact.dist)


def test_machine_with_every_kind_of_row():
    sim = BatchSim(MACHINE, 3, law="coulomb", threads=2)
    tumble(sim, 60)
    for env in range(3):
        p = sim.problem(env)
        assert p["residual"] == sim.residual[env]
        assert len(p["b"]) == sim.num_rows[env]
        assert len(sim.contacts(env)) == sim.num_contacts[env]
