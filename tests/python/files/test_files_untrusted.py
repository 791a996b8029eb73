"""Untrusted files: they cause no other file to be read, no excessive use of memory and no output to
the terminal, and their statements are verified."""

import dataclasses
import json

import h5py
import numpy as np
import pytest
from command_line import call
from file_problems import contact_problem
from hostile_files import ELSEWHERE, ESCAPES, TOO_LARGE, add, external_storage, write_plain
from test_files_fuzz import assert_one_clear_line

from stickslip import files
from stickslip.files import judge

pytestmark = pytest.mark.usefixtures("elsewhere")


def refusal(path):
    with pytest.raises(files.FileError) as caught:
        files.read(path)
    assert_one_clear_line(str(caught.value), path)
    return str(caught.value)


@pytest.mark.parametrize("make", ELSEWHERE, ids=lambda make: make.__name__)
def test_no_other_file_is_read(make, tmp_path):
    """`secret` has the requested contents, so only an explicit check prevents its use."""
    secret, path = write_plain(tmp_path / "secret.h5"), tmp_path / "f.h5"
    with h5py.File(secret, "a") as file:
        file["problems/p/r"] = np.zeros(3)
        file["fclib_local/W/m"] = [3]
    with h5py.File(path, "w") as file:
        make(file, secret)
    assert ELSEWHERE[make] in refusal(path)


def test_no_other_file_is_copied(tmp_path):
    secret, path = write_plain(tmp_path / "secret.h5"), tmp_path / "f.h5"
    with h5py.File(path, "w") as file:
        external_storage(file, secret)
    shown = call("solve", path, "--out", "out.h5")
    assert shown.exit_code == 1
    assert f"f.h5: problem 'p': {ELSEWHERE[external_storage]}" in shown.stderr
    assert not (tmp_path / "out.h5").exists()


def test_no_other_file_is_written(tmp_path):
    other = write_plain(tmp_path / "other.h5")
    before = other.read_bytes()
    for place in ("problems", "solutions"):
        path = tmp_path / f"{place}.h5"
        with h5py.File(path, "w") as file:
            file[place] = h5py.ExternalLink(str(other), "problems")
        problems = [contact_problem(0, "p")] if place == "problems" else []
        solutions = {} if problems else {"p": files.StoredSolution(np.zeros(3))}
        with pytest.raises(files.FileError, match=f"{place}: expected a part of this file"):
            files.write(path, problems, solutions, append=True)
        assert other.read_bytes() == before


@pytest.mark.parametrize("make", TOO_LARGE, ids=lambda make: make.__name__)
def test_sizes_are_refused_before_memory_is_taken(make, tmp_path):
    with h5py.File(tmp_path / "f.h5", "w") as file:
        make(file)
    assert TOO_LARGE[make] in refusal(tmp_path / "f.h5")


def test_what_compresses_well_is_read(tmp_path):
    W = np.zeros((999, 999))
    files.write(tmp_path / "f.h5", [files.ComplementarityProblem("p", W, np.ones(999))])
    assert (tmp_path / "f.h5").stat().st_size < W.nbytes / 100
    (back,) = files.read(tmp_path / "f.h5").problems
    np.testing.assert_array_equal(back.M, W)


def test_what_could_not_be_read_is_not_written(tmp_path):
    long = files.StoredSolution(np.zeros(17), solver="s" * 201)
    for some, solutions in (
        ([contact_problem(0, "n" * 201)], {}),
        ([contact_problem(0, stored=long)], {}),
        ([contact_problem(0)], {"one": long}),
    ):
        with pytest.raises(files.FileError, match="200 characters"):
            files.write(tmp_path / "x.h5", some, solutions)
    assert not (tmp_path / "x.h5").exists()


@pytest.mark.parametrize(
    ("key", "place", "value"),
    [
        ("W", r"W\[16, 16\]", np.nan),
        ("b", r"b\[16\]", np.inf),
        ("mu", r"mu\[9\]", -np.inf),
        ("lo", r"lo\[0\]", np.nan),
        ("hi", r"hi\[0\]", np.nan),
        ("R", r"R\[16\]", np.inf),
        ("warm_start", r"warm_start\[16\]", np.nan),
        ("values", r"values\[16\]", np.inf),
        ("certificate", r"certificate\[16\]", np.nan),
        ("residual", "residual", np.nan),
        ("tolerance", "tolerance", np.nan),
    ],
)
def test_numbers_that_could_not_be_read_are_not_written(key, place, value, tmp_path):
    rows = dict.fromkeys(("R", "warm_start"), np.zeros(17))
    problem = contact_problem(0, **rows)
    solution = files.StoredSolution(
        np.zeros(17), residual=0.0, tolerance=1.0, certificate=np.zeros(17)
    )
    owner = problem if hasattr(problem, key) else solution
    array = np.array(getattr(owner, key))
    array.flat[-1] = value
    bad = dataclasses.replace(owner, **{key: array if array.ndim else float(array)})
    told = f"{place}: expected a finite number, got {value}"
    if owner is problem:
        ways = {"problem 'one'": ([bad], {})}
    else:
        stored = dataclasses.replace(problem, stored=bad)
        ways = {"problem 'one'": ([stored], {}), "solution 'one'": ([problem], {"one": bad})}
    for what, arguments in ways.items():
        with pytest.raises(files.FileError, match=f"x\\.h5: {what}: {told}"):
            files.write(tmp_path / "x.h5", *arguments)
    assert not (tmp_path / "x.h5").exists()


@pytest.mark.parametrize(
    ("some", "message"),
    [
        ({"law": "glue"}, "problem 'one': law: expected one of coulomb, .* got 'glue'"),
        ({"level": "jerk"}, "problem 'one': level: expected one of velocity, .* got 'jerk'"),
        ({"W": "text"}, "problem 'one': W: expected numbers, got <U4"),
    ],
)
def test_words_that_could_not_be_read_are_not_written(some, message, tmp_path):
    with pytest.raises(files.FileError, match=message):
        files.write(tmp_path / "x.h5", [contact_problem(0, **some)])
    assert not (tmp_path / "x.h5").exists()


def test_a_solution_of_no_problem_is_not_written(tmp_path):
    path, zero = tmp_path / "x.h5", files.StoredSolution(np.zeros(17))
    files.write(path, [contact_problem(0)])
    before = path.read_bytes()
    with pytest.raises(files.FileError, match=r"solutions: expected names of problems, got 'two'"):
        files.write(path, (), {"two": zero}, append=True)
    assert path.read_bytes() == before
    for wrong, told in (
        (zero, "solutions: expected StoredSolutions by name, .* got a StoredSolution"),
        ({"one": np.zeros(17)}, r"solutions\['one'\]: expected a StoredSolution, got a ndarray"),
    ):
        with pytest.raises(TypeError, match=told):
            files.write(path, (), wrong, append=True)


def assert_harmless(shown):
    """No control characters except line ends; the name is shown completely."""
    text = shown.stdout + shown.stderr
    assert {c for c in text if not c.isprintable()} <= {"\n"}
    return text


def test_names_say_nothing_to_the_terminal(tmp_path):
    name = ESCAPES.replace("/", "|")  # HDF5 names cannot contain it
    with h5py.File(tmp_path / "f.h5", "w") as file:
        group = add(file, name, r=np.zeros(3))
        group.attrs["status"] = ESCAPES
        file.create_group(f"solutions/{name}")["r"] = np.zeros(3)
    for command in ("solve", "check"):
        shown = call(command, "f.h5")
        assert shown.exit_code == 0, shown.output
        text = assert_harmless(shown)
        assert r"p\x1b[31m\x1b]0;title\x07\x9b" in text
        assert "[red]x" in text
    (tmp_path / name).write_bytes((tmp_path / "f.h5").read_bytes())
    for command in (("solve", name, "--out", name + "2"), ("check", name)):
        shown = call(*command)
        assert shown.exit_code == 0, shown.output
        assert_harmless(shown)


def status(file):
    file["problems/p"].attrs["law"] = ESCAPES


def stranger(file):
    file.create_group(f"solutions/{ESCAPES.replace('/', '|')}")


def content(file):
    file.move("problems", ESCAPES.replace("/", "|"))


def target(file):
    del file["problems/p/W"]
    file["problems/p/W"] = h5py.SoftLink(ESCAPES)


def slash(file):
    """A name that HDF5 would read as a path, made manually."""
    file["problems/p#q"] = h5py.SoftLink("/x")


@pytest.mark.parametrize("spoil", [status, stranger, content, target, slash])
def test_refusals_say_nothing_to_the_terminal(spoil, tmp_path):
    path = write_plain(tmp_path / "f.h5")
    with h5py.File(path, "a") as file:
        spoil(file)
    path.write_bytes(path.read_bytes().replace(b"p#q", b"p/q"))
    refusal(path)
    shown = call("check", path)
    assert shown.exit_code == 1
    assert_harmless(shown)


def write_answer(r, **verdict):
    with h5py.File("f.h5", "w") as file:
        add(file, r=np.array(r, float)).attrs.update(status="solved", **verdict)


@pytest.mark.parametrize("speed", [1.0, 1e-4])
@pytest.mark.parametrize("stored", [np.inf, 1e300, 1.0, 0.1, 2e-3, -1.0, -np.inf, np.nan])
def test_tolerances_are_not_believed(stored, speed):
    """With r = 0 the box continues to fall."""
    r = files.StoredSolution(np.zeros(3), "solved", tolerance=stored)
    dims, b = np.array([3], np.int32), np.array([-speed, 0, 0])
    problem = files.ContactProblem("p", np.eye(3), b, np.ones(2), dims)
    (told,) = judge.check(files.ProblemFile("", [problem], {"p": r}))
    assert told.limit_from == ("cap" if stored > 0 else "default")
    assert told.limit < told.residual
    assert told.residual == pytest.approx(speed)
    assert told.wrong
    good = dataclasses.replace(r, values=-b)
    (told,) = judge.check(files.ProblemFile("", [problem], {"p": good}))
    assert told.solved


@pytest.mark.parametrize("stored", [np.inf, -1.0])
def test_what_is_not_believed_is_said(stored):
    write_answer([0, 0, 0], tolerance=stored, residual=0.0)
    shown = call("check", "f.h5")
    assert shown.exit_code == 1
    for text in ("WRONG", "1 with a wrong status", "its residual 0 is not true"):
        assert text in shown.stdout
    assert f"p (problem): its limit {stored:g} is not believed" in shown.stdout
    (told,) = json.loads(call("check", "f.h5", "--json").stdout)["solutions"]
    assert told["stored_tolerance"] in (stored, str(stored))
    assert told["limit_from"] == ("default" if stored < 0 else "cap")
    assert (told["solved"], told["wrong"]) == (False, True)
    assert call("check", "f.h5", "--tol", 2).exit_code == 0


def test_the_limit_in_use_is_said():
    for verdict, limit_from in (({"tolerance": 1e-6}, "file"), ({}, "default")):
        write_answer([1, 0, 0], **verdict)
        shown = call("check", "f.h5")
        assert shown.exit_code == 0
        assert f" {limit_from} " in shown.stdout
        assert "not believed" not in shown.stdout


@pytest.mark.parametrize("says", ["solved", "Solved", " SOLVED ", np.bytes_("solved")])
def test_a_claim_is_a_claim_however_it_is_written(says):
    with h5py.File("f.h5", "w") as file:
        add(file, r=np.zeros(3)).attrs["status"] = says
    (told,) = judge.check(files.read("f.h5"))
    assert told.wrong


def test_no_limit_is_so_large_that_infinity_is_solved():
    with h5py.File("f.h5", "w") as file:
        add(file, b=np.full(3, 1e308), r=np.full(3, 1e308)).attrs["status"] = "solved"
    (told,) = judge.check(files.read("f.h5"), tol=1e300)
    assert told.wrong
