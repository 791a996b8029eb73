"""Problems that a simulation dumps: they replay to the same bits."""

import h5py
import numpy as np
import pytest
import sim_models

import stickslip
from stickslip import files
from stickslip.files import answer, judge


@pytest.mark.parametrize("law", ["coulomb", "convex", "box", "frictionless"])
@pytest.mark.parametrize("scene", ["TUMBLING", "MACHINE"])
@pytest.mark.parametrize("options", [{}, {"precision": "mixed"}, {"solver": "pgs", "tol": 1e-6}])
def test_a_dumped_problem_replays_to_the_same_bits(law, scene, options, tmp_path):
    sim = stickslip.BatchSim(getattr(sim_models, scene), 3, law=law, **options)
    sim.qvel[...] = np.random.default_rng(0).normal(size=sim.qvel.shape)
    path = tmp_path / "dump.h5"
    for step in range(1, 121):
        sim.step()
        if step in (60, 90, 120):
            assert sim.dump(step // 30 - 2, path) == path
    sim.dump(0, path, name="mine")
    stored = files.read(path).problems
    assert [p.name for p in stored] == ["env0_step60", "env1_step90", "env2_step120", "mine"]
    level = "acceleration" if law == "convex" else "velocity"
    posed = [problem for problem in stored if problem.rows]  # the others have no contact
    assert len(posed) >= 3
    nv = sim.qvel.shape[1]
    for told in answer.solve(posed, **options):
        was = told.problem.stored
        assert (told.problem.law, told.problem.level) == (law, level)
        assert told.solution.values.tobytes() == was.values.tobytes()
        keys = ["status", "residual", "iterations", "solver", "tolerance"]
        if law == "convex" and "solver" not in options and told.problem.rows >= nv:
            assert was.solver == "newton"  # solved without W; the replay starts from that solution
            assert told.solution.iterations == 0
            assert max(told.solution.residual, was.residual) <= was.tolerance
            keys = ["status", "tolerance"]
        for key in keys:
            assert getattr(told.solution, key) == getattr(was, key), key
    last = stored[-1].stored
    assert last.status == stickslip.Status(sim.status[0]).name
    assert last.residual == sim.residual[0]


def test_a_dumped_pyramid_keeps_its_directions(tmp_path):
    options = stickslip.SolveOptions(directions=16)
    sim = stickslip.BatchSim(sim_models.TUMBLING, 1, law="pyramid", options=options)
    path = tmp_path / "dump.h5"
    sim.qvel[...] = np.random.default_rng(0).normal(size=sim.qvel.shape)
    for _ in range(90):
        sim.step()
    sim.dump(0, path)
    file = files.read(path)
    (problem,) = file.problems
    assert problem.directions == 16
    assert problem.rows > 0
    assert answer.solve([problem])[0].solution.values.tobytes() == problem.stored.values.tobytes()
    assert not any(check.wrong for check in judge.check(file))
    with h5py.File(path, "r+") as changed:
        changed["problems"][problem.name].attrs["directions"] = 5
    with pytest.raises(files.FileError, match=r"directions: expected 4, 8, 16, 32 or 64, got 5"):
        files.read(path)


def test_a_dump_keeps_how_its_start_was_selected(tmp_path):
    sim = stickslip.BatchSim(sim_models.TUMBLING, 1)
    path = tmp_path / "dump.h5"
    for _ in range(400):
        sim.step()
    sim.dump(0, path, name="mine")
    (problem,) = files.read(path).problems
    assert problem.start_selected == sim.problem(0)["start_selected"] > 0
    with h5py.File(path, "r+") as changed:
        changed["problems"]["mine"].attrs["start_selected"] = 3
    with pytest.raises(files.FileError, match="start_selected: expected an integer from 0 to 2"):
        files.read(path)


def test_dumping_what_has_no_problem(tmp_path):
    sim = stickslip.BatchSim(sim_models.TUMBLING, 1, law="mujoco")
    sim.step()
    with pytest.raises(ValueError, match="law: expected one whose problems are solved here"):
        sim.dump(0, tmp_path / "x.h5")
    sim = stickslip.BatchSim("<mujoco/>", 1)
    sim.step()
    (problem,) = files.read(sim.dump(0, tmp_path / "empty.h5")).problems
    assert problem.rows == 0
    (told,) = answer.solve([problem])
    assert told.solution.status == "solved"
    with pytest.raises(IndexError):
        sim.dump(1, tmp_path / "empty.h5")
