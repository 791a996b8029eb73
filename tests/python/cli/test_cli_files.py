"""The commands `stickslip solve`, `check` and `dump`."""

import json
import subprocess
import sys

import h5py
import numpy as np
import pytest
import sim_models
from command_line import call
from fclib_files import write_local
from file_problems import contact_problem

import stickslip
from stickslip import files
from stickslip.files import answer
from stickslip.files.isolated import isolated

pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.fixture
def path(tmp_path):
    """A file of three problems, one of them with bad input."""
    some = [contact_problem(i, f"number {i}", (3,) * i) for i in (1, 2)]
    some.append(contact_problem(3, "bad [red]", (3,), mu=np.array([-1.0, -1.0])))
    files.write(tmp_path / "some.h5", some)
    return tmp_path / "some.h5"


def test_solve_prints_a_table_and_a_summary(path):
    shown = call("solve", path)
    assert shown.exit_code == 0, shown.output
    for text in ("number 1", "number 2", "bad [red]", "contact", "coulomb", "newton", "bad_input"):
        assert text in shown.stdout
    assert "3 problems: 2 solved, 1 bad_input; worst residual inf" in shown.stdout


def test_solve_as_json(path):
    record = json.loads(call("solve", path, "--json", "--law", "convex", "--solver", "pgs").stdout)
    assert record["status"] == {"bad_input": 1, "solved": 2}
    bad, one, two = record["problems"]
    assert (bad["name"], bad["status"], bad["residual"]) == ("bad [red]", "bad_input", "inf")
    assert (one["rows"], two["rows"]) == (7, 10)
    for told in (one, two):
        assert told["residual"] <= told["tolerance"]
        assert (told["law"], told["solver"], told["kind"]) == ("convex", "pgs", "contact")


def test_out_holds_problems_and_solutions(path, tmp_path):
    with h5py.File(path, "a") as file:
        file.attrs["licence"] = file["problems/number 1"].attrs["licence"] = "ours"
    before = path.read_bytes()
    shown = call("solve", path, "--out", tmp_path / "new" / "out.h5")
    assert shown.exit_code == 0, shown.output
    assert path.read_bytes() == before
    out = files.read(tmp_path / "new" / "out.h5")
    for told in answer.solve(files.read(path).problems):
        stored = out.solutions[told.problem.name]
        assert stored.values.tobytes() == told.solution.values.tobytes()
        assert stored.status == told.solution.status
        assert stored.residual == told.solution.residual
    with h5py.File(tmp_path / "new" / "out.h5") as file:
        assert file.attrs["licence"] == file["problems/number 1"].attrs["licence"] == "ours"
    assert [p.name for p in tmp_path.iterdir()].count("out.h5") == 0
    assert call("check", tmp_path / "new" / "out.h5").exit_code == 0


def test_out_may_be_the_file_itself(path):
    for law in ("box", "convex"):
        assert call("solve", path, "--law", law, "--out", path).exit_code == 0
        assert files.read(path).solutions["number 2"].law == law
    assert [p.name for p in path.parent.iterdir()] == ["some.h5"]


def test_check_finds_a_wrong_verdict(path):
    call("solve", path, "--out", path)
    shown = call("check", path)
    assert shown.exit_code == 0, shown.output
    assert "3 stored solutions, 0 with a wrong status" in shown.stdout
    with h5py.File(path, "a") as file:
        file["solutions/number 2/r"][1] += 1e-3
    shown = call("check", path)
    assert shown.exit_code == 1
    assert "WRONG" in shown.stdout
    assert "1 with a wrong status" in shown.stdout
    record = json.loads(call("check", path, "--json").stdout)
    assert record["wrong"] == 1
    assert [s["name"] for s in record["solutions"] if not s["solved"]] == ["bad [red]", "number 2"]
    assert call("check", path, "--tol", "1").exit_code == 0


def test_fclib_to_our_layout(tmp_path):
    pytest.importorskip("scipy")
    write_local(tmp_path / "f.hdf5", np.eye(3), np.array([-1.0, 0.1, 0]), np.array([0.5]))
    shown = call("solve", tmp_path / "f.hdf5", "--out", tmp_path / "ours.h5")
    assert shown.exit_code == 0, shown.output
    ours = files.read(tmp_path / "ours.h5")
    assert ours.problems[0].kind == "contact"
    np.testing.assert_allclose(ours.solutions["f"].values, [1, -0.1, 0], atol=1e-9)
    assert call("check", tmp_path / "ours.h5").exit_code == 0


@pytest.fixture
def lcp_path(tmp_path):
    M, q = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0])
    files.write(tmp_path / "lcp.h5", [files.ComplementarityProblem("pair", M, q)])
    return tmp_path / "lcp.h5"


def test_complementarity_problems_without_a_solver_are_refused(lcp_path, monkeypatch):
    monkeypatch.delattr(stickslip, "solve_lcp", raising=False)
    shown = call("solve", lcp_path)
    assert shown.exit_code == 2
    assert "problem 'pair': kind: expected contact or fc3d" in shown.stderr
    assert len(shown.stderr.splitlines()) == 1


def test_complementarity_problems_go_to_solve_lcp(lcp_path, monkeypatch):
    class Result:
        z, residual, status = np.array([4 / 3, 7 / 3]), 1e-16, stickslip.Status.solved
        iterations, method = 2, "lemke"

    def solve_lcp(M, q, n_free, **absent):
        assert (M.shape, q.tolist(), n_free) == ((2, 2), [-5, -6], 0)
        assert absent == dict.fromkeys(("lo", "hi", "findex", "tol"))
        return Result()

    monkeypatch.setattr(stickslip, "solve_lcp", solve_lcp, raising=False)
    shown = call("solve", lcp_path, "--out", lcp_path)
    assert shown.exit_code == 0, shown.output
    assert "lemke" in shown.stdout
    assert call("check", lcp_path).exit_code == 0


def test_dump_and_replay(tmp_path):
    model = tmp_path / "scene.xml"
    model.write_text(sim_models.TUMBLING)
    common = ("dump", model, "--envs", 3, "--steps", 90, "--out", "d.h5")
    for options in ((), ("--env", 1), ("--env", 2, "--law", "convex")):
        shown = call(*common, *options)
        assert shown.exit_code == 0, shown.output
        assert "wrote d.h5: problem env" in shown.output
    dumped = files.read("d.h5").problems
    assert len(dumped) == 3
    assert [p.law for p in dumped].count("convex") == 1
    assert call("solve", "d.h5", "--out", "d.h5").exit_code == 0
    solved = files.read("d.h5")
    for problem in solved.problems:
        replay = solved.solutions[problem.name]
        assert replay.values.tobytes() == problem.stored.values.tobytes()
        # The residual of a problem solved without W is recomputed with W: other rounding
        # (docs/files.md).
        rounding = 1e-6 * replay.tolerance if problem.law == "convex" else 0.0
        assert abs(replay.residual - problem.stored.residual) <= rounding
    assert call("check", "d.h5").exit_code == 0


def test_run_dumps_the_worst(tmp_path):
    model = tmp_path / "scene.xml"
    model.write_text(sim_models.TUMBLING)
    common = ("run", model, "--envs", 2, "--steps", 60, "--out", "out")
    shown = call(*common, "--dump", "worst.h5")
    assert shown.exit_code == 0, shown.output
    worst = json.loads((tmp_path / "out" / "run.json").read_text())["worst"]
    (problem,) = files.read("worst.h5").problems
    assert problem.name == f"env{worst['environment']}_step{worst['step'] + 1}"
    assert problem.stored.residual == worst["residual"]
    assert problem.rows == worst["rows"]


MISUSE = [
    (["solve", "FILE", "--tol", "-1"], "tol: expected a number > 0"),
    (["solve", "FILE", "--law", "mujoco"], "mujoco"),
    (["solve", "FILE", "--law", "box", "--solver", "lemke"], "law: expected one of"),
    (["solve", "FILE", "--threads", "100000"], "threads: expected at most"),
    (["solve"], "FILE"),
    (["check", "FILE", "--tol", "0"], "tol: expected a number > 0"),
    (["dump", "MODEL", "--env", "3", "--envs", "3"], "--env: expected at most 2, got 3"),
    (["dump", "MODEL", "--law", "mujoco"], "--law: expected one whose problems are solved here"),
    (["run", "MODEL", "--law", "mujoco", "--dump", "x.h5"], "--dump: expected a law"),
    (["dump", "MODEL", "--steps", "1", "--envs", "1", "--out", "some.h5/x"], "some.h5/x"),
]


@pytest.mark.parametrize(("arguments", "message"), MISUSE)
def test_misuse(path, arguments, message, tmp_path):
    model = tmp_path / "scene.xml"
    model.write_text(sim_models.TUMBLING)
    names = {"FILE": path, "MODEL": model}
    shown = call(*[names.get(a, a) for a in arguments])
    assert shown.exit_code == 2
    assert message in shown.output
    assert "Traceback" not in shown.output


def test_unreadable_files_and_places(path, tmp_path):
    (tmp_path / "noise.h5").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "cut.h5").write_bytes(path.read_bytes()[:3000])
    (tmp_path / "empty.h5").write_bytes(b"")
    for command in ("solve", "check"):
        for name in ("noise.h5", "cut.h5", "empty.h5", "missing.h5", str(tmp_path)):
            shown = call(command, name)
            assert shown.exit_code == 1, (name, shown.output)
            assert shown.stderr.startswith(f"stickslip: {name}: ")
            assert len(shown.stderr.splitlines()) == 1
    shown = call("solve", path, "--out", path / "below.h5")
    assert shown.exit_code == 1
    assert shown.stderr.startswith("stickslip: --out: ")


def test_as_installed(path):
    command = [sys.executable, "-m", "stickslip.cli", "solve", path, "--out", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "2 solved, 1 bad_input" in done.stdout


def test_a_reader_that_dies_takes_nobody_along(path):
    import os

    with pytest.raises(files.FileError, match=r"some\.h5: damaged: HDF5 crashed on it"):
        isolated(path, os.abort)
    assert len(isolated(path, files.read, path).problems) == 3
