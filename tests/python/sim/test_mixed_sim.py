"""Environments of different models in one batch."""

import copy
import os
import pickle
import signal
import threading
import time

import mujoco
import numpy as np
import pytest

from stickslip import BatchSim, MixedBatchSim, Status

SHAPES = {
    "ball": 'type="sphere" size=".05"',
    "brick": 'type="box" size=".08 .04 .03"',
    "can": 'type="cylinder" size=".04 .06"',
}


def scene(shape, more=""):
    """A pusher and an object."""
    return f"""<mujoco><option timestep=".004"/><worldbody><geom type="plane" size="5 5 .1"/>
      <body pos="-.2 0 .05"><joint name="x" type="slide" axis="1 0 0" damping="5"/>
        <geom type="box" size=".02 .1 .04" mass=".3"/></body>
      <body name="object" pos="0 0 .1"><freejoint/><geom {shape} mass=".2"/>{more}</body>
      </worldbody><actuator><motor joint="x" gear="3"/></actuator></mujoco>"""


MODELS = [scene(shape) for shape in SHAPES.values()]
LARGER = scene(
    SHAPES["brick"],
    '<body pos=".12 0 0"><joint axis="0 1 0"/><geom size=".03" mass=".05"/></body>',
)


def steps(sim, count=60, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        sim.step(rng.uniform(0, 1, sim.ctrl.shape))
    return sim


@pytest.mark.parametrize("law", ["coulomb", "convex", "mujoco"])
def test_environments_have_the_bits_that_they_have_alone(law):
    mixed = steps(MixedBatchSim(MODELS, 7, law=law, threads=2))
    for env in range(7):
        alone = BatchSim(MODELS[env % 3], law=law)
        rng = np.random.default_rng(0)
        for _ in range(60):
            alone.step(rng.uniform(0, 1, mixed.ctrl.shape)[env])
        np.testing.assert_array_equal(mixed.qpos[env], alone.qpos[0])
        np.testing.assert_array_equal(mixed.state[env], alone.state[0])
        assert mixed.status[env] == alone.status[0]
        assert mixed.num_contacts[env] == alone.num_contacts[0]


@pytest.mark.parametrize("threads", [1, 3])
def test_the_same_bits_for_any_order_and_number_of_threads(threads):
    sim = steps(MixedBatchSim(MODELS, 6))
    order = [2, 0, 1]
    other = MixedBatchSim([MODELS[i] for i in order], 6, threads=threads)
    rng = np.random.default_rng(0)
    place = [order.index(i % 3) + 3 * (i // 3) for i in range(6)]  # of environment i in `other`
    for _ in range(60):
        ctrl = np.zeros((6, 1))
        ctrl[place] = rng.uniform(0, 1, (6, 1))
        other.step(ctrl)
    np.testing.assert_array_equal(sim.qpos, other.qpos[place])


def test_what_is_written_takes_effect_and_what_is_not_stays():
    sim, other = MixedBatchSim(MODELS, 3), MixedBatchSim(MODELS, 3)
    sim.qvel[1, 1] = 2.0
    other.parts[1].qvel[0, 1] = 2.0
    for each in (steps(sim), steps(other)):
        assert each.qpos[1, 1] > 0.05
    np.testing.assert_array_equal(sim.qpos, other.qpos)
    state = sim.state.copy()
    steps(sim, seed=1)
    sim.state = state
    steps(sim, seed=1)
    after = sim.qpos.copy()
    other.state = state
    np.testing.assert_array_equal(steps(other, seed=1).qpos, after)


def test_models_of_different_sizes():
    sim = MixedBatchSim([MODELS[0], LARGER, MODELS[1]])
    assert sim.qpos.shape == (3, 9)
    assert sim.qvel.shape == (3, 8)
    steps(sim)
    assert not sim.qpos[[0, 2], 8].any()
    assert sim.qpos[1, 8] != 0
    part, number = sim.part_of(1)
    np.testing.assert_array_equal(part.qpos[number], sim.qpos[1])
    sim.qpos[0, 8] = 9.0  # it has no such coordinate
    steps(sim)
    assert np.isfinite(sim.qpos).all()


def test_resets_by_mask():
    sim = steps(MixedBatchSim(MODELS, 6))
    before = sim.qpos.copy()
    begin = MixedBatchSim(MODELS, 6).qpos
    sim.reset([False, True, False, False, True, True])
    np.testing.assert_array_equal(sim.qpos[[1, 4, 5]], begin[[1, 4, 5]])
    np.testing.assert_array_equal(sim.qpos[[0, 2, 3]], before[[0, 2, 3]])
    sim.reset([0])
    np.testing.assert_array_equal(sim.qpos[0], begin[0])
    with pytest.raises(IndexError, match=r"mask: expected 0 \.\.\. 5, got 6"):
        sim.reset([6])


def test_one_bad_environment_harms_no_other():
    sim, other = steps(MixedBatchSim(MODELS, 6)), steps(MixedBatchSim(MODELS, 6))
    sim.qvel[2] = np.nan
    steps(sim, 1)
    assert sim.status[2] == Status.bad_input
    steps(other, 1)
    rest = [0, 1, 3, 4, 5]
    np.testing.assert_array_equal(sim.qpos[rest], other.qpos[rest])
    assert sim.failures.tolist() == [0, 0, 1, 0, 0, 0]


def test_sensors_fields_and_variation():
    pairs = [("object", None)]
    sim = MixedBatchSim(MODELS, 6, fields=["xpos"], contact_sensors=pairs)
    mass = np.linspace(0.1, 0.6, 6)
    sim.vary("body_mass", np.stack([np.zeros(6), np.full(6, 0.3), mass], axis=1))
    steps(sim, 300)
    np.testing.assert_allclose(sim.contact_force[:, 0, 2], 9.81 * mass, rtol=0.05)
    np.testing.assert_allclose(sim.field("xpos")[:, 2], sim.qpos[:, 1:4], atol=0.01)
    assert len(sim.contacts(4)) == sim.num_contacts[4]
    assert sim.problem(4)["b"].size == sim.num_rows[4]
    assert sim.data(3).qpos.tolist() == sim.qpos[3].tolist()


def test_copies():
    sim = steps(MixedBatchSim(MODELS, 5))
    sim.qvel[0, 1] = 1.0  # not stepped yet
    twins = [copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))]
    steps(sim)
    for twin in twins:
        np.testing.assert_array_equal(steps(twin).qpos, sim.qpos)


def test_one_model_by_any_name_is_one_part():
    model = mujoco.MjModel.from_xml_string(MODELS[0])
    assert len(MixedBatchSim([model, MODELS[1], model, MODELS[1]]).parts) == 2
    assert len(MixedBatchSim(["ant", "humanoid"], 4, integrator="implicitfast").parts) == 2


def test_wrong_arguments():
    for wrong in (MODELS[0], [], None):
        with pytest.raises(TypeError, match="models: expected a sequence of models"):
            MixedBatchSim(wrong)
    with pytest.raises(ValueError, match=r"models\[1\]: model"):
        MixedBatchSim([MODELS[0], "<mujoco><nonsense/></mujoco>"])
    with pytest.raises(TypeError, match=r"models\[2\]: model: expected a path"):
        MixedBatchSim([*MODELS[:2], 3])
    sim = MixedBatchSim(MODELS)
    with pytest.raises(AttributeError, match="MixedBatchSim has no attribute 'qpso'"):
        _ = sim.qpso
    with pytest.raises(ValueError, match="ctrl: expected shape"):
        sim.step(np.zeros((2, 1)))
    with pytest.raises(IndexError, match=r"env: expected 0 \.\.\. 2, got 3"):
        sim.contacts(3)
    with pytest.raises(ValueError, match="values: expected shape"):
        sim.vary("body_mass", np.zeros((2, 3)))


def test_models_with_different_time_steps():
    sim = MixedBatchSim([MODELS[0], MODELS[1].replace(".004", ".002")])
    with pytest.raises(ValueError, match="timestep: the models differ"):
        _ = sim.timestep
    assert MixedBatchSim(MODELS).timestep == 0.004


def test_the_state_that_is_assigned_is_the_one_that_is_read():
    sim = MixedBatchSim([MODELS[0], LARGER], 4)
    saved, height = sim.state, sim.qpos[0, 3]
    steps(sim, 20)
    assert sim.qpos[0, 3] != height
    sim.qvel[0, 0] = 5.0  # and then:
    sim.state = saved
    assert sim.qpos[0, 3] == height
    assert sim.qvel[0, 0] == 0
    np.testing.assert_array_equal(sim.state, saved)
    with pytest.raises(ValueError, match="state: expected shape"):
        sim.state = saved[:2]


def test_arrays_are_not_assigned():
    sim = MixedBatchSim(MODELS)
    with pytest.raises(AttributeError, match=r"write into the array, qvel\[\.\.\.\]"):
        sim.qvel = np.zeros((3, 7))
    with pytest.raises(AttributeError, match="no attribute 'qpso'"):
        sim.qpso = 1


def test_keyframes_that_a_chosen_model_lacks():
    key = "<keyframe><key qpos='.1 0 0 .3 1 0 0 0'/></keyframe></mujoco>"
    sim = steps(MixedBatchSim([MODELS[0].replace("</mujoco>", key), MODELS[1]], 4))
    sim.reset([0, 2], key=0)
    assert sim.qpos[[0, 2], 3].tolist() == [0.3, 0.3]
    before = sim.qpos.copy()
    with pytest.raises(ValueError, match="key: the model of environment 1 has 0 keyframes, got 0"):
        sim.reset(key=0)
    np.testing.assert_array_equal(sim.qpos, before)


def test_ctrl_c_ends_all_parts_between_their_steps():
    sim = MixedBatchSim(MODELS, 6, threads=2)
    sim.step()
    saved = sim.state
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        sim.step(substeps=10**7)
    assert time.monotonic() - start < 10
    done = sim.time.copy()
    time.sleep(0.1)
    np.testing.assert_array_equal([part.time[0] for part in sim.parts], done[:3])
    sim.state = saved
    twin = MixedBatchSim(MODELS, 6)
    twin.state = saved
    np.testing.assert_array_equal(steps(sim, 5).qpos, steps(twin, 5).qpos)


def test_a_call_during_another_is_refused_as_a_whole():
    sim = MixedBatchSim(MODELS, 3, threads=1)
    other = threading.Thread(target=lambda: sim.step(substeps=20000))
    other.start()
    time.sleep(0.05)
    if other.is_alive():
        with pytest.raises(RuntimeError, match="MixedBatchSim: a call is under way"):
            sim.step()
    other.join()
    assert len(set(sim.time.round(6))) == 1
