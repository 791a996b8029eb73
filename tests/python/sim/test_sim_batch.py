"""BatchSim as a batch: independence of environments, reproducible bits, rejected arguments."""

import numpy as np
import pytest
from sim_models import MACHINE, TUMBLING, cramped, model_path, same, slope, stack

from stickslip import Status
from stickslip._src.sim import BatchSim

LAWS = ("coulomb", "box", "frictionless", "convex", "mujoco")


def controls(sim, steps, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (steps, *sim.ctrl.shape))


def run(sim, ctrl):
    for u in ctrl:
        sim.step(u)
    return sim.state.copy()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("model", [TUMBLING, MACHINE], ids=["tumbling", "machine"])
def test_bits_do_not_depend_on_threads_or_batch(model, law):
    one = BatchSim(model, 1, law=law, threads=1)
    three = BatchSim(model, 3, law=law, threads=2)
    nine = BatchSim(model, 9, law=law, threads=3)
    rng = np.random.default_rng(1)
    start = one.state + 0.0
    nine.state[:] = start
    nine.qvel[:] += rng.normal(size=nine.qvel.shape)
    three.state[:] = nine.state[3:6]
    one.state[:] = nine.state[4]
    ctrl = controls(nine, 80)
    end = run(nine, ctrl)
    same(run(three, ctrl[:, 3:6]), end[3:6])
    same(run(one, ctrl[:, 4:5]), end[4:5])
    same(three.sensordata.copy(), nine.sensordata[3:6].copy())
    same(one.residual.copy(), nine.residual[4:5].copy())


@pytest.mark.parametrize("law", LAWS)
def test_restart_from_a_saved_state_bit_for_bit(law):
    sim = BatchSim(MACHINE, 2, law=law)
    ctrl = controls(sim, 60)
    run(sim, ctrl[:30])
    saved = sim.state.copy()
    end = run(sim, ctrl[30:])
    other = BatchSim(MACHINE, 2, law=law)
    other.state[:] = saved
    same(run(other, ctrl[30:]), end)
    sim.state[:] = saved
    same(run(sim, ctrl[30:]), end)


def test_reset_by_mask():
    sim = BatchSim(stack(2), 3)
    start = sim.qpos.copy()
    sim.qvel[:, 0] = 1.0
    run(sim, controls(sim, 5))
    moved = sim.qpos.copy()
    assert (moved != start).any(axis=1).all()
    sim.reset(np.array([True, False, True]))
    same(sim.qpos[[0, 2]].copy(), start[[0, 2]])
    same(sim.qpos[1:2].copy(), moved[1:2])
    assert sim.time.tolist() == [0, 5 * sim.timestep, 0]
    sim.reset()
    same(sim.qpos.copy(), start)
    assert not sim.num_contacts.any()
    with pytest.raises(ValueError, match="key: the model has 0 keyframes, got 2"):
        sim.reset(key=2)
    with pytest.raises(ValueError, match=r"mask: expected shape \(3,\), got \(2,\)"):
        sim.reset(np.array([True, False]))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("what", ["qpos", "qvel", "qfrc_applied"])
def test_nan_in_one_environment_harms_nobody(law, what):
    sim, clean = (BatchSim(MACHINE, 4, law=law) for _ in range(2))
    ctrl = controls(sim, 20)
    run(sim, ctrl[:10])
    run(clean, ctrl[:10])
    getattr(sim, what)[2, 0] = np.nan
    status = sim.step(ctrl[10])
    clean.step(ctrl[10])
    others = [0, 1, 3]
    assert status[2] == Status.bad_input
    assert (status[others] == Status.solved).all()
    assert sim.failures.tolist() == [0, 0, 1, 0]
    assert np.isfinite(sim.qpos).all()
    run(sim, ctrl[11:])
    same(sim.state[others].copy(), run(clean, ctrl[11:])[others])
    assert sim.status[2] == Status.solved  # the environment continues from the initial state


@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_failed_environment_stays_where_it_is_without_autoreset(law):
    text = MACHINE.replace("<worldbody>", "", 1).replace(
        "<option", '<option integrator="implicitfast"', 1
    )
    text = text.replace(
        'timestep="0.004"/>', 'timestep="0.004"><flag autoreset="disable"/></option><worldbody>'
    )
    sim = BatchSim(text, 2, law=law)
    run(sim, controls(sim, 5))
    before = sim.qpos.copy()
    sim.qfrc_applied[1, 0] = np.inf
    assert sim.step()[1] == Status.bad_input
    same(sim.qpos[1:].copy(), before[1:])
    assert np.isinf(sim.residual[1])
    sim.qfrc_applied[1] = 0
    assert (sim.step() == Status.solved).all()
    assert sim.time[0] > sim.time[1]


def test_convex_runge_kutta_failure_restores_the_beginning_of_the_step():
    text = TUMBLING.replace(
        'timestep="0.005"/>',
        'timestep="0.005" integrator="RK4"><flag autoreset="disable"/></option>',
    )
    sim = BatchSim(text, 2, law="convex")
    sim.qfrc_applied[1, 3:5] = 1e7  # finite accelerations in the first stage, not in the second
    before = sim.qpos.copy()
    assert sim.step().tolist() == [Status.solved, Status.bad_input]
    same(sim.qpos[1:].copy(), before[1:])


@pytest.mark.parametrize("law", LAWS)
def test_contacts_that_mujoco_leaves_out_are_told(law):
    sim = BatchSim(cramped(4000), 2, law=law)
    sim.qpos[:, 2] = 0.1005, 0.5
    seen = [sim.step().copy() for _ in range(5)]
    assert seen[-1][0] == Status.over_capacity
    assert (np.array(seen)[:, 1] == Status.solved).all()


@pytest.mark.parametrize("law", LAWS)
def test_a_lack_of_memory_keeps_that_environment_where_it_is(law):
    sim, ample = (BatchSim(cramped(memory), 2, law=law) for memory in (6000, 10**6))
    for s in (sim, ample):
        s.qpos[:, 2] = 0.1005, 0.5
    told = 0
    for _ in range(8):
        before = sim.state.copy()
        sim.step()
        ample.step()
        same(sim.state[1].copy(), ample.state[1].copy())
        assert sim.status.tolist()[1:] == ample.status.tolist()[1:] == [Status.solved]
        if sim.status[0] == Status.over_capacity:
            told += 1
            same(sim.state[0].copy(), before[0])
    assert told > 2
    assert sim.failures.tolist() == [0, 0]  # failures counts only bad numbers


def test_models_that_do_not_load(tmp_path):
    with pytest.raises(ValueError, match=r"model: no such file: .*absent\.xml"):
        BatchSim(tmp_path / "absent.xml")
    with pytest.raises(ValueError, match="model: not a file"):
        BatchSim(tmp_path)
    for name, content in {
        "empty.xml": b"",
        "noise.xml": bytes(range(256)),
        "open.xml": b"<mujoco><worldbody>",
        "wrong.xml": b"<mujoco><worldbody><geom size='1' type='tesseract'/></worldbody></mujoco>",
        "massless.xml": b"<mujoco><worldbody><body><freejoint/></body></worldbody></mujoco>",
        "deep.xml": b"<mujoco>" + b"<body>" * 500,
        "missing.urdf": b"<robot name='r'><link name='l'><collision><geometry>"
        b"<mesh filename='no.stl'/></geometry></collision></link></robot>",
        "empty.mjb": b"",
        "noise.mjb": b"\x13" * 4096,
    }.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=r"model: cannot load .*: \S+"):
            BatchSim(tmp_path / name)
    with pytest.raises(TypeError, match=r"model: expected a path, MJCF text, .*, got int"):
        BatchSim(3)


def test_what_cannot_be_recomposed_is_refused_by_name():
    def with_option(option, flag=""):
        return (
            stack(1)
            .replace("<option", f"<option {option}")
            .replace('integrator="implicitfast"', "")
            .replace("/>", f"><flag {flag}/></option>" if flag else "/>", 1)
        )

    discrete = with_option('integrator="discrete"')
    for law in ("coulomb", "convex"):
        with pytest.raises(ValueError, match=r"integrator 'discrete' .* law='mujoco'"):
            BatchSim(discrete, law=law)
        with pytest.raises(ValueError, match="'sleep'"):
            BatchSim(with_option("", 'sleep="enable"'), law=law)
    BatchSim(discrete, law="mujoco").step()
    implicit = with_option('integrator="implicit"')
    with pytest.raises(ValueError, match=r"'implicit' .* integrator='implicitfast'"):
        BatchSim(implicit)
    BatchSim(implicit, law="convex").step()
    with pytest.raises(ValueError, match=r"integrator: expected model, .* got heun"):
        BatchSim(stack(1), integrator="heun")


def test_runge_kutta_becomes_implicitfast_with_one_warning():
    rk4 = stack(1).replace("implicitfast", "RK4")
    with pytest.warns(UserWarning, match="RK4") as said:
        sim = BatchSim(rk4, 2)
    assert len(said) == 1
    assert sim.integrator == "implicitfast"
    assert BatchSim(rk4, integrator="euler").integrator == "euler"


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("num_envs", 0, "num_envs: expected an integer >= 1"),
        ("restitution", 1.5, "restitution: expected a number in"),
        ("v_rest", -1.0, "v_rest: expected"),
        ("v_max", float("nan"), "v_max: expected"),
        ("compliance", -1.0, "compliance: expected"),
        ("contact_margin", -1e-3, "contact_margin: expected"),
        ("law", "sticky", "law: expected"),
        ("tol", -1.0, "tol: expected"),
    ],
)
def test_wrong_options(option, value, message):
    with pytest.raises(ValueError, match=message):
        BatchSim(stack(1), **{option: value})


def test_wrong_controls():
    sim = BatchSim(MACHINE, 2)
    with pytest.raises(ValueError, match=r"ctrl: expected shape \(2, 2\) or \(2,\), got \(3,\)"):
        sim.step(np.zeros(3))
    with pytest.raises(TypeError, match="ctrl: expected an array of numbers"):
        sim.step(np.array(["a", "b"]))


def test_urdf_loads(tmp_path):
    path = tmp_path / "ball.urdf"
    path.write_text("""<robot name="r"><link name="base"/>
      <link name="arm"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0"
        ixz="0" iyz="0"/></inertial>
        <collision><geometry><sphere radius=".1"/></geometry></collision>
      </link><joint name="j" type="revolute"><parent link="base"/><child link="arm"/>
        <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="9" velocity="9"/></joint></robot>""")
    sim = BatchSim(path)
    sim.qvel[:] = 10
    for _ in range(200):
        assert sim.step()[0] == Status.solved
    assert abs(sim.qpos[0, 0]) < 1.1  # the limit holds


def test_contacts_and_timings():
    sim = BatchSim(slope(0.0, 0.5), 2)
    assert sim.contacts(0) == []
    sim.step()
    contacts = sim.contacts(1)
    assert len(contacts) == sim.num_contacts[1] == 4
    force = sum(c["force"][0] for c in contacts)
    np.testing.assert_allclose(force, 4 * 9.81, rtol=1e-9)
    for c in contacts:
        np.testing.assert_allclose(np.abs(c["position"]), [0.1, 0.1, 0], atol=1e-12)
        np.testing.assert_allclose(c["frame"] @ c["frame"].T, np.eye(3), atol=1e-12)
        assert c["geoms"] == (0, 1)
        assert c["dim"] == 3
    timings = sim.timings()
    assert timings.pop("steps") == 1
    assert all(seconds > 0 for seconds in timings.values())
    with pytest.raises(IndexError, match=r"env: expected 0 \.\.\. 1, got 2"):
        sim.contacts(2)


def test_growing_problems_keep_their_bits():
    """A batch whose problems outgrow the buffers has the same result as one with enough room."""
    few, many = BatchSim(stack(5), 1), BatchSim(stack(5), 1)
    many.step()
    many.reset()
    same(run(few, controls(few, 5)), run(many, controls(many, 5)))
    problem = few.problem(0)
    u = problem["W"] @ problem["impulse"] + problem["b"]
    assert len(u) == few.num_rows[0] == 60
    assert u[::3].min() >= -1e-8


def test_ant_runs_with_every_law():
    for law in LAWS:
        sim = BatchSim(model_path("ant"), 8, law=law, integrator="implicitfast")
        for u in controls(sim, 50):
            assert (sim.step(u) != Status.bad_input).all()
        assert np.isfinite(sim.qpos).all()
