"""Environments of different models in one batch."""

import copy
import pickle

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
    sim.state[...] = state
    steps(sim, seed=1)
    after = sim.qpos.copy()
    other.state[...] = state
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
