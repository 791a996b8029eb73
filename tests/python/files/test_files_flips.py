"""Damaged bits: no crash, no hang, and no solved verdict that a recomputation contradicts."""

import random
from pathlib import Path

import h5py
import numpy as np
import pytest
from fclib_files import write_global, write_local
from file_problems import contact_problem
from oracle import oracle
from readers import read_all
from test_files_fuzz import assert_one_clear_line

from stickslip import files
from stickslip.files import answer, judge
from stickslip.files.isolated import isolated

COPIES, TOGETHER = 150, 50  # of each file; read by one process


def write_ours(path, **how):
    """Solved problems of all kinds, with verdicts."""
    some = [contact_problem(1, "one", (3, 3)), contact_problem(2, "two", (4,), law="convex")]
    M, q = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0])
    box = {"lo": -np.ones(2), "hi": np.ones(2), "findex": np.array([-1, 0])}
    some += [
        files.ComplementarityProblem("lcp", M, q),
        files.ComplementarityProblem("mixed", M, q, "mlcp", n_free=1),
        files.ComplementarityProblem("boxed", M, q, "boxed_lcp", **box),
    ]
    files.write(path, some, {a.problem.name: a.solution for a in answer.solve(some)})
    if how:
        whole = path.read_bytes()
        path.with_suffix(".old").write_bytes(whole)
        with h5py.File(path.with_suffix(".old")) as old, h5py.File(path, "w", **how) as new:
            for key in old:
                old.copy(key, new)


def write_ours_with_checksums(path):
    write_ours(path, libver="latest")


def write_fclib_local(path):
    W, q = np.diag([1.0, 2.0, 3.0]), np.array([-1.0, 0.1, 0])
    write_local(path, W, q, np.array([0.5]))
    with h5py.File(path, "a") as file:
        file["solution/r"] = [1.0, -0.05, 0.0]


def write_fclib_global(path):
    H, w = np.eye(4, 3), np.array([-1.0, 0.1, 0])
    write_global(path, M=np.eye(4), H=H, f=np.ones(4), w=w, mu=np.ones(1))


def flipped(source, seed):
    """A copy with 1 to 8 changed bits, mostly early, where the metadata are, or truncated."""
    rng, content = random.Random(seed), bytearray(source.read_bytes())
    for _ in range(rng.choice((1, 2, 8))):
        end = rng.choice((400, 4000, len(content)))
        content[rng.randrange(min(end, len(content)))] ^= 1 << rng.randrange(8)
    if rng.random() < 0.1:
        del content[rng.randrange(len(content)) :]
    path = source.with_name(f"{source.stem}{seed}.h5")
    path.write_bytes(content)
    return path


def read_many(paths):
    """The contents of each file, or the error. If the process dies, reads halves."""
    try:
        return isolated(paths[0], read_all, paths)
    except files.FileError as error:
        if len(paths) == 1:
            return [error]
        middle = len(paths) // 2
        return read_many(paths[:middle]) + read_many(paths[middle:])


def natural_residual(problem, z):
    """max |z - mid(lo, z - w, hi)|; for free rows |w|."""
    w = problem.M @ z + problem.q
    lo = np.zeros(len(z)) if problem.lo is None else problem.lo
    hi = np.full(len(z), np.inf) if problem.hi is None else problem.hi
    if problem.findex is not None:
        scale = np.where(problem.findex >= 0, np.maximum(0, z[problem.findex]), 1)
        lo, hi = lo * scale, hi * scale
    lo[: problem.n_free], hi[: problem.n_free] = -np.inf, np.inf
    return np.abs(z - np.clip(z - w, lo, hi)).max(initial=0.0)


def recomputed(problem, solution, law):
    if isinstance(problem, files.ComplementarityProblem):
        return natural_residual(problem, solution.values)
    one = answer.ragged([problem])
    one.pop("warm_start", None)
    return oracle(one, solution.values[None], law)[0]


def assert_confirmed(problem, solution, law, limit):
    matrix = problem.M if isinstance(problem, files.ComplementarityProblem) else problem.W
    terms = np.abs(matrix) @ np.abs(solution.values)
    rounding = 1e-14 * (problem.scale + terms.max(initial=0.0))
    assert recomputed(problem, solution, law) <= limit + rounding, problem.name


def judge_all(file):
    """The number of stored and new solutions that are called solved, each confirmed."""
    solved = 0
    for check in judge.check(file):
        problem = next(p for p in file.problems if p.name == check.name)
        stored = problem.stored if check.where == "problem" else file.solutions[check.name]
        cap = max(1e-9 * (1 + problem.scale), 1e-5 + 1e-3 * problem.scale)
        assert check.limit <= cap
        if check.solved:
            assert_confirmed(problem, stored, check.law, check.limit)
            solved += 1
    for told in answer.solve(file.problems):
        if told.solution.status == "solved":
            limit = 1e-9 * (1 + told.problem.scale)
            assert_confirmed(told.problem, told.solution, told.solution.law, limit)
            solved += 1
    return solved


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "write", [write_ours, write_ours_with_checksums, write_fclib_local, write_fclib_global]
)
def test_flipped_bits(write, tmp_path):
    pytest.importorskip("scipy")
    source = tmp_path / "f.h5"
    write(source)
    whole = judge_all(files.read(source))
    assert whole > 0
    paths = [flipped(source, seed) for seed in range(COPIES)]
    refused = solved = 0
    for first in range(0, COPIES, TOGETHER):
        some: list[Path] = paths[first : first + TOGETHER]
        for path, told in zip(some, read_many(some), strict=True):
            if isinstance(told, files.FileError):
                assert_one_clear_line(str(told), path)
                refused += 1
            else:
                solved += judge_all(told)
    assert refused > COPIES // 10
    assert solved > 0
