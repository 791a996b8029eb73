"""Reports of BatchSim on its steps; a failure affects only its own environment."""

import json
import subprocess
import sys
import warnings

import mujoco
import numpy as np
import pytest
from sim_models import MACHINE, model_path, pile, same

from stickslip import SolveOptions, Status, models
from stickslip._src.sim import BatchSim

LAWS = ("coulomb", "box", "frictionless", "convex", "mujoco")
STAY = MACHINE.replace(
    '<option timestep="0.004"/>',
    '<option timestep="0.004"><flag autoreset="disable"/></option>',
)


def tumbling(num_envs, **options):
    sim = BatchSim(pile(0.01), num_envs, **options)
    sim.qvel[:] = np.random.default_rng(0).normal(size=(9, sim.qvel.shape[1]))[:num_envs]
    return sim


@pytest.mark.parametrize("law", ["coulomb", "box", "frictionless"])
def test_second_solves_ghosts_and_recovery_depend_on_nothing_else(law):
    """An environment has the same bits alone as among nine; so does a restart."""
    one = tumbling(1, law=law, threads=1)
    nine = [tumbling(9, law=law, threads=threads) for threads in (1, 2)]
    one.state[0] = nine[0].state[7]
    for sim in (one, *nine):
        sim.step(substeps=50)
    saved = nine[0].state.copy()
    for sim in (one, *nine):
        sim.step(substeps=50)
    same(nine[0].state.copy(), nine[1].state.copy())
    same(one.state.copy(), nine[0].state[7:8].copy())
    counts = nine[0].statistics
    assert counts == nine[1].statistics
    for what in ("ghosts", "repositioned", "culled", "second_solves"):
        assert counts[what] > 0 or (law, what) == ("frictionless", "ghosts"), what

    again = tumbling(9, law=law)
    again.state[:] = saved[::-1]  # and in another place
    for _ in range(50):
        again.step()
    same(again.state.copy(), nine[0].state[::-1].copy())


def steps_in(statistics):
    return sum(statistics[status.name] for status in Status)


def test_statistics_count_every_step_of_every_environment_once():
    sim = BatchSim(model_path("ant"), 4, integrator="implicitfast")
    rng = np.random.default_rng(0)
    for _ in range(50):
        sim.step(rng.uniform(-1, 1, sim.ctrl.shape), substeps=2)
    sim.qvel[2] = np.nan
    assert sim.step().tolist() == [0, 0, Status.bad_input, 0]
    counts = sim.statistics
    assert steps_in(counts) == 4 * (2 * 50 + 1)
    assert counts["bad_input"] == 1
    assert sum(counts["rungs"]) <= counts["solved"]
    for e in range(4):
        sim.contacts(e)
        sim.problem(e)
    sim.forward()
    sim.reset(np.array([True, False, False, False]))
    assert sim.statistics == counts
    sim.step()
    assert steps_in(sim.statistics) == 4 * (2 * 50 + 2)


def test_statistics_tell_what_a_step_took():
    """A ball at rest 1 mm above the floor is hit by another and pushed to the floor; then it
    penetrates the floor, leaves it, and flies."""
    text = """<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody>
      <geom type="plane" size="5 5 .1"/>
      <body pos="0 0 .051"><freejoint/><geom type="sphere" size=".05"/></body>
      <body pos="0 0 .156"><freejoint/><geom type="sphere" size=".05"/></body>
    </worldbody></mujoco>"""
    sim = BatchSim(text)

    def step_from(z, v):
        before = sim.statistics
        sim.qpos[0, [2, 9]], sim.qvel[0, [2, 8]] = z, v
        sim.step()
        after = sim.statistics
        return {k for k in before if k != "rungs" and after[k] > before[k]}

    assert step_from([0.051, 0.156], [0, -10]) == {"solved", "second_solves", "taken_in"}
    assert step_from([0.049, 1.0], [0, 0]) == {"solved", "second_solves", "repositioned"}
    assert step_from([0.051, 1.0], [1, 0]) == {"solved", "culled"}
    assert step_from([0.2, 1.0], [0, 0]) == {"solved"}


def test_one_warning_when_more_than_one_step_in_a_hundred_fails():
    sim = BatchSim(STAY, 50)
    controls = np.zeros((50, 2))
    controls[0, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(19):  # 950 steps: too few
            assert sim.step(controls)[0] == Status.bad_input
    with pytest.warns(UserWarning, match=r"2\.0% .* not solved, most of those bad_input") as said:
        sim.step(controls, substeps=30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.step(controls, substeps=30)
    assert len(said) == 1
    assert said[0].filename == __file__


def test_no_warning_when_few_steps_fail():
    sim = BatchSim(STAY, 100)
    controls = np.zeros((100, 2))
    controls[0, 0] = np.nan  # 1 %, but not more
    for _ in range(20):
        sim.step(controls)
    assert sim.statistics["bad_input"] == 20


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("autoreset", [True, False])
@pytest.mark.parametrize("law", LAWS)
def test_bad_controls_concern_one_environment(law, autoreset, bad):
    """MuJoCo would replace all its controls by zeros."""
    sim, clean = (BatchSim(MACHINE if autoreset else STAY, 3, law=law, threads=2) for _ in range(2))
    rng = np.random.default_rng(0)
    others = [0, 2]
    for step in range(20):
        controls = rng.uniform(-1, 1, sim.ctrl.shape)
        clean.step(controls)
        before = sim.qpos[1].copy()
        if step == 10:
            controls[1, 1] = bad
        status = sim.step(controls)
        assert (status == Status.bad_input).tolist() == [False, step == 10, False]
        same(sim.qpos[others].copy(), clean.qpos[others].copy())
        same(sim.qvel[others].copy(), clean.qvel[others].copy())
        if step == 10:
            same(sim.qpos[1].copy(), np.tile(BatchSim(MACHINE).qpos[0], 1) if autoreset else before)
    assert sim.failures.tolist() == [0, 1, 0]
    assert np.isfinite(sim.qpos).all()


@pytest.mark.parametrize("law", ["coulomb", "convex", "mujoco"])
@pytest.mark.parametrize("timestep", ["0", "-1", "nan"])
def test_time_steps_that_are_none_are_refused(timestep, law, tmp_path):
    text = MACHINE.replace('timestep="0.004"', f'timestep="{timestep}"')
    with pytest.raises(ValueError, match="timestep: expected a finite number > 0"):
        BatchSim(text, law=law)
    model = mujoco.MjModel.from_xml_string(MACHINE)
    model.opt.timestep = float(timestep)
    mujoco.mj_saveModel(model, str(tmp_path / "model.mjb"))
    with pytest.raises(ValueError, match="timestep: expected a finite number > 0"):
        BatchSim(tmp_path / "model.mjb", law=law)


def crowd(memory):
    balls = "".join(
        f'<body pos="{0.17 * (i % 7)} {0.17 * (i // 7)} .079"><freejoint/>'
        '<geom type="sphere" size=".08" mass="1"/></body>'
        for i in range(50)
    )
    return f"""<mujoco>{memory}<option timestep="0.005" cone="elliptic"/>
      <worldbody><geom type="plane" size="5 5 .1"/>{balls}</worldbody></mujoco>"""


RUN_ALL = """
import json, sys
from stickslip import SolveOptions, Status, models
from stickslip._src.sim import BatchSim

for law in sys.argv[2:]:
    sim = BatchSim(sys.argv[1], 2, law=law)
    before = sim.qpos.copy()
    seen = {Status(s).name for _ in range(20) for s in sim.step()}
    print(json.dumps([law, sorted(seen), bool((sim.qpos == before).all())]), flush=True)
"""


@pytest.mark.parametrize(("memory", "stays"), [("40K", True), ("100K", False)])
def test_too_little_memory_ends_no_process(memory, stays):
    """Steps that took more memory than the model fixes are reported; those that could not be made
    do not change the environment's state."""
    model = crowd(f'<size memory="{memory}"/>')
    command = [sys.executable, "-W", "ignore", "-c", RUN_ALL, model, *LAWS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    assert [law for law, *_ in told] == list(LAWS)
    for law, statuses, stayed in told:
        assert statuses == ["over_capacity"], law
        assert stayed or not stays, law


@pytest.mark.parametrize("law", LAWS)
def test_memory_grows_where_the_model_does_not_fix_it(law, tmp_path):
    """A compiled model has an initial size, here too small, but fixes nothing."""
    path = str(tmp_path / "crowd.mjb")
    mujoco.mj_saveModel(mujoco.MjModel.from_xml_string(crowd('<size memory="40K"/>')), path)
    small, ample = BatchSim(path, 3, law=law, threads=2), BatchSim(crowd(""), 3, law=law)
    for sim in (small, ample):
        sim.qvel[:] = np.random.default_rng(0).normal(size=sim.qvel.shape)
        for _ in range(10):
            assert (sim.step() == Status.solved).all()
    same(small.state.copy(), ample.state.copy())


# Nothing can be lifted here, and what a failed solve has lost may be a negative rounding error.
def test_an_overlap_that_cannot_part_stays_finite():
    slot = """<mujoco><option timestep="0.01"/><worldbody>
      <geom type="box" size=".05 1 1" pos="-.1 0 0"/><geom type="box" size=".05 1 1" pos=".1 0 0"/>
      <body><joint type="slide" axis="1 0 0"/><geom type="sphere" size=".06" mass="1"/></body>
      </worldbody></mujoco>"""
    sim, rng = BatchSim(slot, 64), np.random.default_rng(0)
    sim.qvel[:] = rng.normal(size=(64, 1)) * 3
    sim.qpos[:] += np.random.default_rng(1).normal(size=(64, 1)) * 0.002
    for _ in range(150):
        assert (sim.step() != Status.bad_input).all()
        assert np.isfinite(sim.qpos).all()


def test_the_default_budget_solves_with_the_bits_of_a_thorough_one():
    model = pile(0.01)
    kinds = {"default": None, "quick": False, "thorough": True}
    sims = {
        name: BatchSim(model, 4, options=None if value is None else SolveOptions(thorough=value))
        for name, value in kinds.items()
    }
    sims["thorough"].qvel[:] = 0.5 * np.random.default_rng(0).normal(size=(4, 36))
    for _ in range(60):
        for name in ("default", "quick"):
            sims[name].state[:] = sims["thorough"].state
        for sim in sims.values():
            sim.step()
        np.testing.assert_array_equal(sims["default"].state, sims["quick"].state)
        solved = {name: sim.status == Status.solved for name, sim in sims.items()}
        same = solved["default"]
        assert solved["thorough"][same].all()
        np.testing.assert_array_equal(sims["default"].state[same], sims["thorough"].state[same])


@pytest.mark.parametrize("seed", [3, 5, 9, 10])
@pytest.mark.parametrize("speed", [1e3, 1e4, 1e5, 1e6])
def test_absurd_speeds_make_no_large_problems(speed, seed):
    """Everything may meet everything within the step: 900 rows and more, seconds for all. What has
    fallen into itself has up to 400."""
    path = models.find("go1")
    sims = [BatchSim(path, 3, integrator="implicitfast", threads=1) for _ in range(2)]
    for sim in sims:
        sim.step()
    sims[0].qvel[0] = speed * np.random.default_rng(seed).normal(size=sims[0].qvel.shape[1])
    for _ in range(20):
        for sim in sims:
            sim.step()
        assert sims[0].num_rows.max() < 500
    assert np.array_equal(sims[0].qpos[1:], sims[1].qpos[1:])
    assert np.all(np.isfinite(sims[0].qpos))
