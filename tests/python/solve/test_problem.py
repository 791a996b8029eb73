"""Problem: what the functions take as W, b, mu and rows, as one object with the same results."""

import numpy as np
import pytest
from problems import random_batch

import stickslip
from stickslip import Problem, SolveOptions, Status, files

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
    impulses = np.atleast_2d(solution.impulse)
    for each, impulse, counts in zip(stored, impulses, problem.counts, strict=True):
        assert (each.law, each.counts) == ("pyramid", tuple(counts))
        again = stickslip.solve(**each.arguments, law=each.law)
        np.testing.assert_array_equal(again.impulse, impulse[: each.rows])


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
    with pytest.raises(ValueError, match="got more in environment 0"):
        files.write("nowhere.h5", over)
