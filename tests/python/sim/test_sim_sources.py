"""Models as users have them, and copies of simulations."""

import copy
import pickle

import mujoco
import numpy as np
import pytest
import sim_models

from stickslip import BatchSim, Status, models

ASSETS = """<mujoco model="tetra"><asset><mesh name="t" file="t.obj"/></asset><worldbody>
  <geom type="plane" size="2 2 .1"/><body name="t" pos="0 0 .3"><freejoint/>
  <geom type="mesh" mesh="t"/></body></worldbody></mujoco>"""
MESH = b"v 0 0 0\nv .2 0 0\nv 0 .2 0\nv 0 0 .2\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
MOCAP = """<mujoco><worldbody><geom type="plane" size="2 2 .1"/>
  <body name="hand" mocap="true" pos="0 0 1"><geom size=".1"/></body>
  <body pos="0 0 .5"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""


class Stacks(BatchSim):
    def __init__(self, boxes: int) -> None:
        super().__init__(sim_models.stack(boxes))
        self.boxes = boxes


def stepped(sim: BatchSim, steps: int = 40) -> np.ndarray:
    sim.qvel[...] += np.linspace(-0.1, 0.1, sim.qvel.size).reshape(sim.qvel.shape)
    sim.step(substeps=steps)
    return sim.state.copy()


@pytest.mark.parametrize("law", ["coulomb", "convex", "mujoco"])
def test_each_source_gives_the_same_bits(law, tmp_path):
    text = sim_models.stack(3)
    (tmp_path / "stack.xml").write_text(text)
    sources = [
        text,
        str(tmp_path / "stack.xml"),
        tmp_path / "stack.xml",
        mujoco.MjModel.from_xml_string(text),
        mujoco.MjSpec.from_string(text),
    ]
    states = [stepped(BatchSim(source, 2, law=law)) for source in sources]
    assert np.abs(states[0]).max() > 0
    for state in states[1:]:
        np.testing.assert_array_equal(state, states[0])


def test_a_short_name_finds_an_installed_model(tmp_path, monkeypatch):
    path = sim_models.model_path("hopper")
    same = [BatchSim(source, 2, integrator="implicitfast") for source in ("hopper", path)]
    assert (stepped(same[0]) == stepped(same[1])).all()
    with pytest.raises(ValueError, match=r"^model: expected a file .* got 'hoper'. Did you mean"):
        BatchSim("hoper")
    with pytest.raises(ValueError, match=r"^model: no such file: hopper.xml"):
        BatchSim("hopper.xml")
    with pytest.raises(ValueError, match=r"^model: expected a file or a known name"):
        BatchSim("mujoco" * 1000)  # longer than any file's name
    (tmp_path / "hopper").write_text(sim_models.stack(2))  # a file of that name comes first
    monkeypatch.chdir(tmp_path)
    assert BatchSim("hopper").model.nq == 14


def test_assets_come_with_the_model():
    spec = mujoco.MjSpec.from_string(ASSETS, assets={"t.obj": MESH})
    model = mujoco.MjModel.from_xml_string(ASSETS, {"t.obj": MESH})
    a, b = (stepped(BatchSim(source), 300) for source in (spec, model))
    np.testing.assert_array_equal(a, b)
    assert repr(BatchSim(spec)).startswith("BatchSim(tetra, num_envs=1, law='coulomb'")


def test_later_changes_of_the_model_have_no_effect():
    model = mujoco.MjModel.from_xml_string(sim_models.stack(2))
    sim, other = BatchSim(model), BatchSim(model)
    model.opt.gravity[:] = 0
    sim.model.opt.gravity[:] = 0
    np.testing.assert_array_equal(stepped(sim), stepped(other))


def test_other_sources_are_refused_by_type():
    with pytest.raises(TypeError, match=r"model: expected a path, MJCF text, mujoco\.MjModel"):
        BatchSim(3)
    spec = mujoco.MjSpec.from_string(sim_models.stack(2))
    spec.worldbody.add_body(name="light").add_freejoint()
    with pytest.raises(ValueError, match=r"model: cannot compile the MjSpec: .*mass"):
        BatchSim(spec)


def test_names_and_data_are_those_of_mujoco():
    sim = BatchSim(models.find("ant"), 3, integrator="implicitfast")
    sim.step(np.full((3, 8), 0.1), substeps=5)
    assert sim.model.body("torso").id == 1
    for env in range(3):
        data = sim.data(env)
        np.testing.assert_array_equal(data.qpos, sim.qpos[env])
        np.testing.assert_array_equal(data.qvel, sim.qvel[env])
        np.testing.assert_array_equal(data.ctrl, sim.ctrl[env])
        assert data.time == sim.time[env]
    np.testing.assert_allclose(data.body("torso").xpos, sim.qpos[2, :3])
    with pytest.raises(IndexError, match=r"env: expected 0 \.\.\. 2, got 3"):
        sim.data(3)


def test_data_has_the_varied_fields_of_its_environment():
    sim = BatchSim(sim_models.stack(2), 2)
    masses = np.tile(sim.model.body_mass, (2, 1)) * [[1.0], [3.0]]
    sim.vary("body_mass", masses)
    one, two = sim.data(0), sim.data(1)
    np.testing.assert_array_equal(two.model.body_mass, masses[1])
    np.testing.assert_allclose(two.model.body_subtreemass[0], 3 * one.model.body_subtreemass[0])


def test_mocap_bodies_are_moved_by_views():
    sim = BatchSim(MOCAP, 4)
    assert sim.mocap_pos.shape == (4, 1, 3)
    assert sim.mocap_quat.shape == (4, 1, 4)
    np.testing.assert_array_equal(sim.mocap_pos[:, 0], [[0, 0, 1]] * 4)
    sim.mocap_pos[1, 0] = [0, 0, 0.62]  # 0.08 m inside the falling sphere
    sim.step(substeps=50)
    free, pushed = sim.qpos[0, 2], sim.qpos[1, 2]
    assert sim.data(1).xpos[1].tolist() == [0, 0, 0.62]
    assert pushed < free - 1e-3


def copies(sim):
    return copy.deepcopy(sim), copy.copy(sim), pickle.loads(pickle.dumps(sim))


@pytest.mark.parametrize("kind", ["path", "text", "model", "spec"])
def test_copies_step_to_the_same_bits(kind, tmp_path):
    text = sim_models.stack(3)
    (tmp_path / "stack.xml").write_text(text)
    source = {
        "path": tmp_path / "stack.xml",
        "text": text,
        "model": mujoco.MjModel.from_xml_string(text),
        "spec": mujoco.MjSpec.from_string(text),
    }[kind]
    sim = BatchSim(source, 2, restitution=0.5, position_iterations=4)
    sim.vary("geom_friction", np.tile(sim.model.geom_friction, (2, 1, 1)) * 0.7)
    stepped(sim)
    twins = copies(sim)
    expected = stepped(sim)
    for twin in twins:
        assert repr(twin) == repr(sim)
        np.testing.assert_array_equal(stepped(twin), expected)


def test_copies_do_not_need_the_file_of_the_model(tmp_path):
    path = tmp_path / "stack.xml"
    path.write_text(sim_models.stack(3))
    sim = BatchSim(path)
    saved = pickle.dumps(sim)
    path.write_text(sim_models.stack(2))
    expected = stepped(sim)
    path.unlink()
    np.testing.assert_array_equal(stepped(pickle.loads(saved)), expected)
    assert copy.deepcopy(sim).qpos.shape == sim.qpos.shape


def test_copies_of_subclasses_keep_their_attributes():
    twin = copy.deepcopy(Stacks(3))
    assert type(twin) is Stacks
    assert twin.boxes == 3
    assert twin.qpos.shape == (1, 21)


def test_changes_of_the_model_do_not_reach_data():
    sim = BatchSim(sim_models.stack(2))
    sim.model.opt.gravity[:] = 0
    assert sim.data(0).model.opt.gravity[2] == -9.81
    with pytest.raises(AttributeError):
        sim.model = 3


@pytest.mark.parametrize("law", ["coulomb", "convex", "mujoco"])
@pytest.mark.parametrize("name", ["mocap_pos", "mocap_quat", "time"])
def test_what_is_not_finite_is_bad_input(law, name):
    sim = BatchSim(MOCAP, 3, law=law)
    sim.step()
    getattr(sim, name)[1] = np.nan
    sim.step()
    assert sim.status.tolist() == [0, Status.bad_input, 0]
    assert np.isfinite(sim.state).all()
    sim.step()
    assert sim.status.tolist() == [0, 0, 0]


def test_a_failing_simulation_does_not_disturb_its_copy():
    sim = BatchSim(sim_models.stack(3), 2)
    twin = copy.deepcopy(sim)
    sim.qvel[0] = np.nan
    sim.step()
    twin.step()
    assert sim.status[0] != 0
    assert (twin.status == 0).all()
