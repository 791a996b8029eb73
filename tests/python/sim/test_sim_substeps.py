"""Several steps in one call, and fields of mjData kept for all environments."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from sim_models import cramped, model_path

from stickslip import BatchSim, Status

FIELDS = (
    *("xpos", "xquat", "xmat", "xipos", "ximat", "geom_xpos", "geom_xmat", "site_xpos"),
    *("site_xmat", "subtree_com", "cinert", "cvel", "cacc", "cfrc_int", "cfrc_ext", "ten_length"),
    *("ten_velocity", "actuator_force", "qfrc_bias", "qfrc_passive", "qfrc_actuator"),
)


@pytest.mark.parametrize("law", ["mujoco", "convex", "coulomb"])
@pytest.mark.parametrize("threads", [1, 2])
def test_several_steps_at_once_are_as_many_steps(law: str, threads: int) -> None:
    path = model_path("ant")
    integrator = "implicitfast" if law == "coulomb" else "model"
    options = {"law": law, "integrator": integrator, "threads": threads, "fields": FIELDS}
    once, each = BatchSim(path, 5, **options), BatchSim(path, 5, **options)
    rng = np.random.default_rng(0)
    for sim in (once, each):
        sim.qpos[:, 2] = [0.3, 0.5, 0.7, 1.0, 2.0]
    for step in range(40):
        ctrl = rng.uniform(-1, 1, once.ctrl.shape)
        if step == 20:
            once.qvel[3] = each.qvel[3] = np.nan
        once.step(ctrl, 5)
        status, residual, iterations = np.zeros(5, int), np.full(5, np.nan), np.zeros(5, int)
        for i in range(5):
            status = np.maximum(status, each.step(None if i else ctrl))
            residual = np.fmax(residual, each.residual)
            iterations += each.iterations
        np.testing.assert_array_equal(once.state, each.state)
        np.testing.assert_array_equal(once.status, status)
        np.testing.assert_array_equal(once.residual, residual)
        np.testing.assert_array_equal(once.iterations, iterations)
        np.testing.assert_array_equal(once.failures, each.failures)
        assert (status[3] == Status.bad_input) == (step == 20)
        for name in FIELDS:
            np.testing.assert_array_equal(once.field(name), each.field(name))
    assert once.timings()["steps"] == 200
    np.testing.assert_array_equal(once.failures, [0, 0, 0, 1, 0])


@pytest.mark.parametrize("law", ["mujoco", "coulomb"])
@pytest.mark.parametrize("autoreset", ["enable", "disable"])
def test_a_lack_of_memory_ends_one_of_several_steps(law: str, autoreset: str) -> None:
    """Environments that fall on the floor stop where contacts would need more memory."""
    model = cramped(6000).replace(
        "<worldbody>", f'<option><flag autoreset="{autoreset}"/></option><worldbody>'
    )
    once, each = (BatchSim(model, 3, law=law, threads=1) for _ in range(2))
    for sim in (once, each):
        sim.qpos[:, 2] = 0.12, 0.15, 0.5
    for _ in range(4):
        once.step(substeps=5)
        status = np.zeros(3, int)
        for _ in range(5):
            status = np.maximum(status, each.step())
        np.testing.assert_array_equal(once.state, each.state)
        np.testing.assert_array_equal(once.status, status)
        assert once.statistics == each.statistics
    assert list(once.status) == [Status.over_capacity, Status.over_capacity, Status.solved]
    assert not once.failures.any()
    assert once.qpos[2, 2] < 0.5 - 0.15  # 20 steps of 10 ms


@pytest.mark.parametrize("name", ["humanoid", "ant"])
def test_fields_are_mujocos(name: str) -> None:
    path = model_path(name)
    model = mujoco.MjModel.from_xml_path(str(path))
    sim = BatchSim(path, 3, law="mujoco", fields=(*FIELDS, "qfrc_constraint"))
    rng = np.random.default_rng(1)
    datas = [mujoco.MjData(model) for _ in range(3)]
    touched = 0.0
    for _ in range(100):
        ctrl = rng.uniform(-1, 1, (3, model.nu))
        sim.step(ctrl, 2)
        for e, data in enumerate(datas):
            data.ctrl[:] = ctrl[e]
            mujoco.mj_step(model, data, 2)
            mujoco.mj_rnePostConstraint(model, data)
            for field in (*FIELDS, "qfrc_constraint"):
                np.testing.assert_array_equal(sim.field(field)[e], getattr(data, field))
            touched = max(touched, np.abs(data.cfrc_ext).max())
    assert touched > 1  # N: feet were on the ground


@pytest.mark.parametrize("law", ["mujoco", "coulomb"])
def test_forward_poses_the_state_as_it_is(law: str) -> None:
    path = model_path("humanoid")
    model = mujoco.MjModel.from_xml_path(str(path))
    sim = BatchSim(path, 4, law=law, integrator="implicitfast", fields=FIELDS)
    sim.step(np.ones(model.nu), 200)
    sim.reset(np.array([True, True, False, False]))
    sim.qpos[:2, 7:] += 0.1
    sim.qvel[:2] = 0.2
    before = {name: sim.field(name).copy() for name in FIELDS}
    state = sim.state.copy()
    sim.forward(np.array([True, False, False, False]))
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = sim.qpos[0], sim.qvel[0]
    mujoco.mj_forward(model, data)
    for name in FIELDS:
        np.testing.assert_array_equal(sim.field(name)[0], getattr(data, name))
        np.testing.assert_array_equal(sim.field(name)[1:], before[name][1:])
    np.testing.assert_array_equal(sim.state[1:], state[1:])
    np.testing.assert_array_equal(sim.qpos[0], data.qpos)
    if law == "mujoco":
        np.testing.assert_array_equal(sim.qacc[0], data.qacc_warmstart)


def test_every_failure_under_mujocos_law_is_told() -> None:
    sim = BatchSim(model_path("ant"), 2, law="mujoco", threads=1)
    for step in range(3):
        sim.qvel[0] = np.nan
        status = sim.step()
        assert list(status) == [Status.bad_input, Status.solved], step
    np.testing.assert_array_equal(sim.failures, [3, 0])


def test_numbers_that_explode_within_a_runge_kutta_step_are_told() -> None:
    """MuJoCo checks the accelerations of the first stage only."""
    text = """<mujoco><option integrator="RK4" timestep=".1" gravity="0 0 0"/><worldbody>
      <body><joint name="j" type="slide" damping="-1e5"/><geom size=".1" mass="1e-3"/></body>
      </worldbody></mujoco>"""
    sim = BatchSim(text, 1, law="mujoco")
    sim.qvel[:] = 1.0
    model, found = mujoco.MjModel.from_xml_string(text), []
    data = mujoco.MjData(model)
    data.qvel[:] = 1.0
    mujoco.mj_step(model, data)
    assert np.abs(data.qpos).max() > 1e10 or not np.isfinite(data.qpos).all()
    found.append(sim.step()[0])
    assert found == [Status.bad_input]
    assert (sim.qpos == 0).all()


def test_wrong_fields_and_substeps_are_refused() -> None:
    path = model_path("hopper")
    with pytest.raises(ValueError, match=r"fields: expected names among xpos, .*, got nothing"):
        BatchSim(path, 1, fields=["nothing"])
    for name in ("qpos", "qacc", "sensordata", "time"):
        with pytest.raises(ValueError, match=f"fields: .* got {name}: use sim.{name}$"):
            BatchSim(path, 1, fields=[name])
        assert hasattr(BatchSim, name)
    sim = BatchSim(path, 1, law="mujoco", fields=["xpos"])
    with pytest.raises(ValueError, match="field: expected one of those kept, got cvel"):
        sim.field("cvel")
    with pytest.raises(ValueError, match="substeps"):
        sim.step(substeps=0)
