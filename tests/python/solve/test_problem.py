"""Problem: what the functions take as W, b, mu and rows, as one object with the same results."""

import subprocess
import sys
from copy import deepcopy

import numpy as np
import pytest
from problems import random_batch

import stickslip
from stickslip import Problem, SolveOptions, Status, files
from stickslip.files import judge

ROWS = {"n_free": 1, "n_nonneg": 2, "n_box": 1}
COUNTS = np.array([[1, 2, 1, 3], [0, 0, 0, 0], [1, 0, 1, 2], [0, 2, 0, 1]])


def contacts():
    return random_batch(1)


def all_rows():
    return random_batch(2, **ROWS) | {"R": np.full(13, 1e-3)}


def ragged():
    args = random_batch(3, num_envs=4, **ROWS)
    return args | {"n_free": 0, "n_nonneg": 0, "dims": [3, 3, 3], "counts": COUNTS}


def alone():
    return {name: value[0] for name, value in contacts().items() if np.ndim(value)}


ARGUMENTS = pytest.mark.parametrize("arguments", [contacts, all_rows, ragged, alone])


def same(found, expected):
    assert type(found) is type(expected)
    for name, value in vars(expected).items():
        np.testing.assert_array_equal(getattr(found, name), value, err_msg=name)


@ARGUMENTS
@pytest.mark.parametrize("law", ["coulomb", "pyramid"])
def test_its_methods_are_the_functions(arguments, law):
    args = arguments()
    problem, rng = Problem(**args, law=law), np.random.default_rng(4)
    solution = problem.solve(tol=1e-10, certificates=True)
    same(solution, stickslip.solve(**args, law=law, tol=1e-10, certificates=True))
    assert np.all(solution.status == Status.solved)
    r = rng.normal(size=solution.impulse.shape)
    found = problem.residual(r, details=True)
    same(found, stickslip.residual(**args, law=law, r=r, details=True))
    np.testing.assert_array_equal(problem.residual(r), found.residual)
    holds = stickslip.certificate_holds(**args, law=law, certificate=r)
    np.testing.assert_array_equal(problem.certificate_holds(r), holds)
    rest = {"solution": solution, "law": law, "tol": 1e-10}
    loss = {"d_impulse": r, "d_velocity": 2 * r}
    same(problem.vjp(solution, tol=1e-10, **loss), stickslip.vjp(**args, **rest, **loss))
    change = {"db": r, "dmu": 0.5, "dR": 1e-3 * np.abs(r)}
    same(problem.jvp(solution, tol=1e-10, **change), stickslip.jvp(**args, **rest, **change))


def test_it_has_the_arrays_that_were_given():
    args = all_rows()
    problem = Problem(**args, law="box")
    for name in ("W", "b"):
        assert np.shares_memory(getattr(problem, name), args[name])
    assert repr(problem) == "Problem(8 environments of up to 13 rows, law box)"
    assert (len(problem), problem.law.name) == (8, "box")
    np.testing.assert_array_equal(problem.counts, np.tile([1, 2, 1, 3], (8, 1)))
    np.testing.assert_array_equal(problem.dims, np.full((8, 3), 3))
    np.testing.assert_array_equal(problem.mu, np.repeat(args["mu"], 2, axis=1))
    before = problem.solve().impulse
    args["b"][:] *= 2
    after = stickslip.solve(**args, law="box").impulse
    assert (before != after).any()
    np.testing.assert_array_equal(problem.solve().impulse, after)


@ARGUMENTS
def test_files_have_its_environments(arguments, tmp_path):
    problem = Problem(**arguments(), law="pyramid")
    path = tmp_path / "problems.h5"
    files.write(path, problem)
    solution, stored = problem.solve(), files.read(path).problems
    assert [each.name for each in stored] == [f"env{e}" for e in range(len(problem))]
    impulses, all_counts = np.atleast_2d(solution.impulse), np.atleast_2d(problem.counts)
    for each, impulse, counts in zip(stored, impulses, all_counts, strict=True):
        assert (each.law, each.counts) == ("pyramid", tuple(counts))
        again = stickslip.solve(**each.arguments, law=each.law)
        np.testing.assert_array_equal(again.impulse, impulse[: each.rows])


@ARGUMENTS
@pytest.mark.parametrize(
    ("dtype", "precision"), [("float64", "float64"), ("float64", "float32"), ("float32", "float64")]
)
def test_files_have_its_solution(arguments, dtype, precision, tmp_path):
    args = arguments()
    floats = {name: value.astype(dtype) for name, value in args.items()
              if getattr(value, "dtype", None) == np.float64}  # fmt: skip
    problem = Problem(**args | floats)
    solution = problem.solve(precision=precision)
    path = tmp_path / "problems.h5"
    files.write(path, problem, solution)
    file = files.read(path)
    impulses, statuses = np.atleast_2d(solution.impulse), np.atleast_1d(solution.status)
    for each, impulse, status in zip(file.problems, impulses, statuses, strict=True):
        stored = file.solutions[each.name]
        np.testing.assert_array_equal(stored.values, impulse[: each.rows])
        assert stored.status == Status(status).name
    checks = judge.check(file)
    assert all(check.solved for check in checks)  # in float32 too, whose tolerance is larger
    assert [check.residual for check in checks] == [check.stored_residual for check in checks]
    measured = problem.residual(solution.impulse)
    assert [check.residual for check in checks] == np.atleast_1d(measured).tolist()


def test_files_have_the_proof_that_there_is_no_solution(tmp_path):
    W, b = np.zeros((2, 3, 3)), np.zeros((2, 3))
    W[0], b[1, 0] = np.eye(3), -1.0
    problem = Problem(W, b, 0.5)
    files.write(tmp_path / "two.h5", problem, problem.solve(certificates=True))
    solved, infeasible = judge.check(files.read(tmp_path / "two.h5"))
    assert solved.solved
    assert (infeasible.stored_status, infeasible.certificate) == ("infeasible", "proves")


def test_two_batches_in_one_file(tmp_path):
    path = tmp_path / "two.h5"
    first, second = Problem(**contacts()), Problem(**random_batch(5, num_envs=12))
    files.write(path, first, first.solve())
    for again in (first, second):  # env0 is not env00, but who could tell them apart?
        with pytest.raises(files.FileError, match=r"name: expected another .* env0 .* got 'env'"):
            files.write(path, again, append=True)
    files.write(path, second, second.solve(), append=True, name="shaken")
    stored = files.read(path)
    names = [f"env{e}" for e in range(8)] + [f"shaken{e:02}" for e in range(12)]
    assert [each.name for each in stored.problems] == names
    assert list(stored.solutions) == names


def test_what_it_refuses():
    args = contacts()
    for wrong, message in (
        ({"law": "glue"}, "law: expected one of"),
        ({"mu": np.ones((8, 4))}, "mu: expected shape"),
        ({"b": args["b"][:, :4]}, "b: expected shape"),
        ({"n_free": -1}, "n_free"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            Problem(**args | wrong)
    problem = Problem(**args, law="box")
    with pytest.raises(ValueError, match=r"law: expected one of .* with solver 'lemke'"):
        problem.solve(solver="lemke")
    with pytest.raises(TypeError, match="options: expected SolveOptions"):
        problem.vjp(problem.solve(), options=3)
    with pytest.raises(ValueError, match=r"warm_start: expected shape"):
        problem.solve(warm_start=np.zeros((8, 2)), options=SolveOptions())
    over = Problem(**ragged() | {"counts": COUNTS + 9})
    with pytest.raises(ValueError, match=r"counts: expected at most 13 rows, got .* environment 0"):
        files.write("nowhere.h5", over)
    bad = args["b"].copy()
    bad[3, 1] = np.nan
    told = r"nowhere\.h5: problem 'env3': b\[1\]: expected a finite number, got nan"
    with pytest.raises(files.FileError, match=told):
        files.write("nowhere.h5", Problem(**args | {"b": bad}))
    with pytest.raises(TypeError, match=r"problems: expected a stickslip.Problem.* got a Problem"):
        files.write("nowhere.h5", [problem, problem])
    solution = problem.solve()
    with pytest.raises(ValueError, match=r"solutions\.impulse: expected shape .*, got \(9,\)"):
        files.write("nowhere.h5", problem, solution.one())
    with pytest.raises(TypeError, match=r"solutions: expected .* got a Solution"):
        files.write("nowhere.h5", [], solution)


def test_one_problem_has_no_environment_axis():
    args = alone()
    problem = Problem(**args)
    assert repr(problem) == f"Problem({args['b'].size} rows, law coulomb)"
    assert len(problem) == 1
    np.testing.assert_array_equal(problem.W, args["W"])
    np.testing.assert_array_equal(problem.b, args["b"])
    assert (problem.dims.ndim, problem.counts.ndim, problem.mu.ndim) == (1, 1, 1)


@ARGUMENTS
def test_a_deep_copy_is_a_problem_of_its_own(arguments):
    args = arguments()
    problem = Problem(**args)
    copy, expected = deepcopy(problem), problem.solve()
    args["b"][:] = 7.0
    same(copy.solve(), expected)


def test_the_directions_of_its_pyramid(tmp_path):
    args = contacts()
    problem = Problem(**args, law="pyramid", directions=8)
    options = SolveOptions(directions=8)
    solution = problem.solve()
    same(solution, stickslip.solve(**args, law="pyramid", options=options))
    assert (solution.impulse != Problem(**args, law="pyramid").solve().impulse).any()
    found = stickslip.residual(**args, law="pyramid", directions=8, r=solution.impulse)
    np.testing.assert_array_equal(problem.residual(solution.impulse), found)
    loss = {"d_impulse": np.ones_like(solution.impulse)}
    given = {"law": "pyramid", "options": options, "solution": solution}
    same(problem.vjp(solution, **loss), stickslip.vjp(**args, **given, **loss))
    files.write(tmp_path / "problems.h5", problem)
    assert {each.directions for each in files.read(tmp_path / "problems.h5").problems} == {8}
    with pytest.raises(ValueError, match=r"options.directions: expected 4, as the problem has"):
        Problem(**args, law="pyramid").solve(options=options)


def test_a_derivative_takes_the_options_of_its_solve():
    args = contacts()
    options = SolveOptions(fixed_sweeps=True, max_sweeps=50)
    problem = Problem(**args)
    solution = problem.solve(solver="pgs", options=options)
    loss = {"d_impulse": np.ones_like(solution.impulse)}
    found = problem.vjp(solution, options=options, **loss)
    same(found, problem.vjp(solution, options=SolveOptions(max_sweeps=50), **loss))
    same(found, stickslip.vjp(**args, solution=solution, options=options, **loss))


def test_the_package_shows_its_modules():
    program = "import stickslip; print(stickslip.files.write.__name__, dir(stickslip))"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert shown.stdout.startswith("write [")
    names = shown.stdout
    assert "'Problem'" in names
    assert "'files'" in names
    assert "'_interrupt'" not in names
