"""Problem files: reading returns what was written; a replay of a dump has the same bits."""

import collections
import dataclasses

import h5py
import lcp_families
import numpy as np
import pytest
import robots
from file_problems import PILES, contact_problem
from oracle import assert_bounds

import stickslip
from stickslip import files
from stickslip.files import answer, judge


def assert_same(first, second):
    """Problems or solutions, field by field."""
    for field in dataclasses.fields(first):
        a, b = getattr(first, field.name), getattr(second, field.name)
        if isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, b, err_msg=field.name)
        elif isinstance(a, files.StoredSolution):
            assert_same(a, b)
        elif field.name != "notes":
            assert a == b, field.name


def test_what_is_written_is_read(tmp_path):
    rng = np.random.default_rng(1)
    solution = files.StoredSolution(
        rng.normal(size=17), "solved", 1e-12, 70_000, "newton", "convex", 1e-9
    )
    contact = contact_problem(
        R=rng.uniform(size=17), warm_start=rng.normal(size=17), law="convex", level="acceleration"
    )
    contact = dataclasses.replace(contact, stored=solution)
    M, q = rng.normal(size=(5, 5)), rng.normal(size=5)
    lcp = files.ComplementarityProblem("lcp", M, q)
    z = files.StoredSolution(rng.uniform(size=5), iterations=3)
    mlcp = files.ComplementarityProblem("mixed", M, q, "mlcp", n_free=2, stored=z)
    bounds = {"lo": -np.ones(5), "hi": np.full(5, np.inf), "findex": np.array([-1, 0, 0, 4, -1])}
    boxed = files.ComplementarityProblem("boxed", M, q, "boxed_lcp", **bounds)
    written = [contact, lcp, mlcp, boxed, contact_problem(2, "bare", dims=())]
    path = tmp_path / "all.h5"
    files.write(path, written, {"one": solution, "boxed": z})
    back = files.read(path)
    assert back.path == str(path)
    by_name = {problem.name: problem for problem in back.problems}
    assert list(by_name) == sorted(problem.name for problem in written)
    for problem in written:
        assert_same(problem, by_name[problem.name])
    assert_same(back.solutions["one"], solution)
    assert_same(back.solutions["boxed"], z)


def test_appending_keeps_the_others_and_replaces_namesakes(tmp_path):
    path = tmp_path / "two.h5"
    files.write(path, [contact_problem(0, "a"), contact_problem(1, "b")])
    files.write(path, [contact_problem(2, "b")], append=True)
    a, b = files.read(path).problems
    assert_same(a, contact_problem(0, "a"))
    assert_same(b, contact_problem(2, "b"))
    files.write(path, [contact_problem(3, "c")])
    assert [p.name for p in files.read(path).problems] == ["c"]


def test_a_replaced_problem_takes_its_solution_along(tmp_path):
    path = tmp_path / "two.h5"
    zero = files.StoredSolution(np.zeros(17))
    files.write(path, [contact_problem(0, "a"), contact_problem(1, "b")], {"a": zero, "b": zero})
    files.write(path, [contact_problem(0, "a", dims=(3,))], append=True)
    assert list(files.read(path).solutions) == ["b"]


def test_names_that_hdf5_lacks_are_refused_before_anything_is_written(tmp_path):
    for name in ("", ".", "a/b"):
        with pytest.raises(files.FileError, match=r"x\.h5: name: expected a text without '/'"):
            files.write(tmp_path / "x.h5", [contact_problem(0, name)])
    assert not (tmp_path / "x.h5").exists()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: files.write(3.5, []), "path: expected a path, got float"),
        (lambda: files.read(3), "path: expected a path, got int"),
        (lambda: files.write("x.h5", 3), "problems: expected a stickslip.Problem, .* got a int"),
        (lambda: answer.solve(3), "problems: expected ContactProblems and .* got a int"),
        (lambda: answer.solve(["a.h5"]), "problems: expected ContactProblems and .* got a str"),
        (lambda: judge.check("a.h5"), "file: expected a ProblemFile, got str"),
        (lambda: judge.check(files.ProblemFile("", []), "x"), "tol: expected a number, got str"),
        (lambda: judge.check(files.ProblemFile("", []), -1), "tol: expected a number > 0, got -1"),
    ],
)
def test_arguments_of_another_type(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_numbers_and_texts_may_come_with_axes(tmp_path):
    """MATLAB writes attributes in this form."""
    path = tmp_path / "axes.h5"
    files.write(path, [contact_problem(0, law="convex")])
    with h5py.File(path, "a") as file:
        attributes = file["problems/one"].attrs
        attributes["n_free"], attributes["law"] = np.array([[1]]), np.array([b"convex"])
    assert_same(files.read(path).problems[0], contact_problem(0, law="convex"))


def test_fc3d_and_missing_dims(tmp_path):
    W, q = np.diag([1.0, 2.0, 3.0] * 2), np.array([-1.0, 0.5, 0, 1, 0, 0])
    with h5py.File(tmp_path / "f.h5", "w") as file:
        for kind, right, mu in (("fc3d", "q", [0.1, 0.2]), ("contact", "b", [0.1, 0.1, 0.2, 0.2])):
            group = file.create_group(f"problems/{kind}")
            group.attrs["kind"] = kind
            group.update({"W": W, right: q, "mu": mu})
    contact, fc3d = files.read(tmp_path / "f.h5").problems
    assert fc3d.kind == "fc3d"
    for key in ("W", "b", "mu", "dims", "counts", "scale"):
        np.testing.assert_array_equal(getattr(contact, key), getattr(fc3d, key))
    (first, second) = answer.solve([contact, fc3d])
    assert first.solution.status == "solved"
    np.testing.assert_array_equal(first.solution.values, second.solution.values)


@pytest.mark.parametrize("law", ["coulomb", "convex", "box", "frictionless"])
def test_a_file_is_solved_as_its_problems_one_by_one(law):
    shapes = [(), (3,), (3, 3), (4,), (6, 3), (3,) * 6, (3,) * 12]
    some = [contact_problem(i, str(i), dims) for i, dims in enumerate(shapes)]
    some[2] = dataclasses.replace(some[2], R=np.full(10, 0.1))
    some[3] = dataclasses.replace(some[3], warm_start=np.full(8, 0.1))
    answers = answer.solve(some, law=law)
    assert [a.problem.name for a in answers] == [p.name for p in some]
    for problem, told in zip(some, answers, strict=True):
        alone = stickslip.solve(**problem.arguments, law=law, warm_start=problem.warm_start)
        assert told.solution.values.tobytes() == alone.impulse.tobytes()
        assert told.solution.status == alone.status.name
        assert told.solution.residual == alone.residual
        assert told.solution.law == law
    solutions = {a.problem.name: a.solution for a in answers}
    checks = judge.check(files.ProblemFile("memory", some, solutions))
    assert [c.residual for c in checks] == [a.solution.residual for a in answers]
    assert not any(c.wrong for c in checks)


def test_each_problem_has_its_own_law():
    laws = ("convex", "coulomb", None, "box")
    some = [contact_problem(5, str(i), (3, 3), law=law) for i, law in enumerate(laws)]
    told = [a.solution for a in answer.solve(some)]
    assert [s.law for s in told] == ["convex", "coulomb", "coulomb", "box"]
    np.testing.assert_array_equal(told[1].values, told[2].values)
    assert not np.array_equal(told[0].values, told[1].values)


def test_check_finds_what_is_not_solved():
    problem = contact_problem(3, dims=(3, 3))
    (told,) = answer.solve([problem])
    good = told.solution
    spoilt = dataclasses.replace(good, values=good.values * 1.001)
    honest = dataclasses.replace(spoilt, status="not_converged")
    silent = dataclasses.replace(spoilt, status=None)
    wrong = []
    for solution in (good, spoilt, honest, silent):
        (check,) = judge.check(files.ProblemFile("", [problem], {"one": solution}))
        assert check.solved == (solution is good)
        wrong.append(check.wrong)
    assert wrong == [False, True, False, False]
    loose = dataclasses.replace(spoilt, tolerance=1.0)
    file = files.ProblemFile("", [problem], {"one": loose})
    assert not judge.check(file)[0].wrong
    assert judge.check(file, tol=1e-9)[0].wrong


def test_residual_of_complementarity_problems():
    M, q = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0])
    z = np.array([4 / 3, 7 / 3])
    lcp = files.ComplementarityProblem("", M, q)
    assert judge.complementarity_residual(lcp, z) <= 2e-14  # the measure includes a rounding bound
    assert judge.complementarity_residual(lcp, np.array([2.5, 1.0])) == pytest.approx(1.5)
    mixed = files.ComplementarityProblem("", M, -q, "mlcp", n_free=2)
    assert judge.complementarity_residual(mixed, -z) <= 2e-14
    assert judge.complementarity_residual(lcp, np.array([np.nan, 0])) == np.inf
    # A normal row pressed by 1, with friction up to half of it against 3: it slides.
    findex, hi = np.array([-1, 0]), np.array([np.inf, 0.5])
    box = {"lo": np.array([0, -0.5]), "hi": hi, "findex": findex}
    boxed = files.ComplementarityProblem("", np.eye(2), np.array([-1.0, 3.0]), "boxed_lcp", **box)
    assert judge.complementarity_residual(boxed, np.array([1.0, -0.5])) <= 1e-14
    assert judge.complementarity_residual(boxed, np.array([1.0, -1.0])) == pytest.approx(0.5)


@pytest.mark.parametrize("robot", robots.NAMES)
def test_robots_files(robot):
    file = files.read(robots.path_of(robot))
    assert not any(c.wrong for c in judge.check(file))
    answers = answer.solve(file.problems)
    solved = judged(answers)
    named = collections.Counter(a.solution.law for a in answers)
    extra = {"coulomb": 100, "convex": 100}
    assert named == (extra if robot.startswith("extra_") else {"coulomb": 11, "convex": 4})
    for told, good in zip(answers, solved, strict=True):
        assert good or told.solution.law == "coulomb"


def judged(answers):
    """Asserts that no verdict is wrong by the oracle; returns whether each problem is solved."""
    solved = []
    for told in answers:
        problem, solution = told.problem, told.solution
        one = answer.ragged([problem])
        one.pop("warm_start", None)
        reported = np.array([solution.residual])
        assert_bounds(one, solution.values[None], solution.law, reported)
        solved.append(solution.status == "solved")
        assert solved[-1] == (solution.residual <= solution.tolerance), problem.name
    return solved


@pytest.mark.parametrize("which", PILES)
def test_problems_of_piles(which):
    rows, least = {"ours": (369, 16), "extra": (858, 21)}[which]
    file = files.read(PILES[which])
    assert all(c.solved for c in judge.check(file))  # the solutions published by others
    answers = answer.solve(file.problems)
    solved = judged(answers)
    assert max(a.problem.rows for a in answers) == rows
    assert sum(solved) >= least


@pytest.mark.parametrize("collection", lcp_families.COLLECTIONS)
def test_complementarity_problems_of_others(collection, tmp_path):
    files.write(tmp_path / "all.h5", lcp_families.load(collection))
    file = files.read(tmp_path / "all.h5")
    answers = answer.solve(file.problems)
    solutions = {a.problem.name: a.solution for a in answers}
    checks = judge.check(files.ProblemFile("", file.problems, solutions))
    assert not any(c.wrong for c in checks)
    for told in answers:  # if none is stored, there is none
        solvable = told.problem.stored is not None
        assert (told.solution.status == "solved") == solvable, told.problem.name
    for problem in file.problems:
        if problem.stored is not None:
            z = problem.stored.values
            rounding = 1e-13 * np.abs(problem.M).sum(axis=1).max() * np.abs(z).max(initial=0)
            residual = judge.complementarity_residual(problem, z)
            assert residual <= 1e-10 * (1 + problem.scale) + rounding, problem.name
