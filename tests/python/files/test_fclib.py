"""FCLIB files are read without changes."""

import h5py
import numpy as np
import pytest
from fclib_files import write_global, write_local
from file_problems import PILES

from stickslip import files
from stickslip.files import answer, judge

pytest.importorskip("scipy")
FORMS = ("csr", "csc", "triplets")


def mechanism(seed, contacts=3, bilateral=2):
    """M, H, G, f, w, b, mu of bodies with a sparse Jacobian."""
    rng = np.random.default_rng(seed)
    ndof = 3 * contacts + bilateral + 4
    half = rng.normal(size=(ndof, ndof)) * (rng.uniform(size=(ndof, ndof)) < 0.3)
    H = rng.normal(size=(ndof, 3 * contacts)) * (rng.uniform(size=(ndof, 3 * contacts)) < 0.6)
    return {
        "M": half @ half.T + np.eye(ndof),
        "H": H,
        "G": rng.normal(size=(ndof, bilateral)),
        "f": rng.normal(size=ndof),
        "w": rng.normal(size=3 * contacts),
        "b": rng.normal(size=bilateral),
        "mu": rng.uniform(0.2, 0.9, contacts),
    }


@pytest.mark.parametrize("form", FORMS)
def test_local(form, tmp_path):
    p = mechanism(0)
    W = p["H"].T @ p["H"]
    W[0, 5] = 0.25  # W is used as given, even if it is not symmetric
    write_local(tmp_path / "drop.hdf5", W, p["w"], p["mu"], form)
    (problem,) = files.read(tmp_path / "drop.hdf5").problems
    assert (problem.name, problem.kind, problem.law) == ("drop", "fclib", "coulomb")
    np.testing.assert_array_equal(problem.W, W)
    np.testing.assert_array_equal(problem.b, p["w"])
    np.testing.assert_array_equal(problem.mu, np.repeat(p["mu"], 2))
    assert problem.counts == (0, 0, 0, 3)


@pytest.mark.parametrize("form", FORMS)
def test_global(form, tmp_path):
    p = mechanism(1)
    del p["G"], p["b"]
    write_global(tmp_path / "pile.hdf5", form, **p)
    (problem,) = files.read(tmp_path / "pile.hdf5").problems
    inverse = np.linalg.inv(p["M"])
    np.testing.assert_allclose(problem.W, p["H"].T @ inverse @ p["H"], atol=1e-12)
    np.testing.assert_allclose(problem.b, p["H"].T @ inverse @ p["f"] + p["w"], atol=1e-12)


def test_bilateral_constraints_are_free_rows_in_both_forms(tmp_path):
    p = mechanism(2)
    write_global(tmp_path / "global.hdf5", **p)
    inverse = np.linalg.inv(p["M"])
    G, H = p["G"], p["H"]
    bilateral = {"V": H.T @ inverse @ G, "R": G.T @ inverse @ G}
    s, q = G.T @ inverse @ p["f"] + p["b"], H.T @ inverse @ p["f"] + p["w"]
    write_local(tmp_path / "local.hdf5", H.T @ inverse @ H, q, p["mu"], **bilateral, s=s)
    answers = []
    for name in ("global", "local"):
        (problem,) = files.read(tmp_path / f"{name}.hdf5").problems
        assert problem.counts == (2, 0, 0, 3)
        answers += answer.solve([problem])
    first, second = (a.solution for a in answers)
    assert first.status == second.status == "solved"
    np.testing.assert_allclose(first.values, second.values, atol=1e-8)
    # The equations of the format.
    lam, r = first.values[:2], first.values[2:]
    v = inverse @ (H @ r + G @ lam + p["f"])
    np.testing.assert_allclose(G.T @ v + p["b"], 0, atol=1e-8)
    u = (H.T @ v + p["w"]).reshape(-1, 3)
    assert u[:, 0].min() >= -1e-8
    assert np.all(np.hypot(*r.reshape(-1, 3)[:, 1:].T) <= p["mu"] * r[::3] + 1e-8)
    assert np.abs(u[:, 0] * r[::3]).max() <= 1e-8


def test_entries_with_one_place_add_up(tmp_path):
    write_local(tmp_path / "f.hdf5", np.eye(3), np.zeros(3), np.ones(1), "triplets")
    with h5py.File(tmp_path / "f.hdf5", "a") as file:
        W = file["fclib_local/W"]
        W["i"][2] = W["p"][2] = 1
    (problem,) = files.read(tmp_path / "f.hdf5").problems
    np.testing.assert_array_equal(problem.W, np.diag([1.0, 2.0, 0.0]))


def test_its_solutions_are_judged(tmp_path):
    write_local(tmp_path / "f.hdf5", np.eye(3), np.array([-1.0, 0.1, 0]), np.array([0.5]))
    with h5py.File(tmp_path / "f.hdf5", "a") as file:
        file["solution/r"] = [1.0, -0.1, 0.0]
    (check,) = judge.check(files.read(tmp_path / "f.hdf5"))
    assert check.solved
    assert check.stored_status is None


def edit(key, value):
    def apply(file):
        del file[key]
        if value is not None:
            file[key] = value

    return apply


REFUSALS = [
    (edit("fclib_local/spacedim", [2]), "fclib_local: spacedim: expected 3, got 2: only 3D"),
    (edit("fclib_local/spacedim", None), "fclib_local: spacedim: expected a dataset, got nothing"),
    (edit("fclib_local/W/nz", [-3]), "fclib_local/W: nz: expected an integer from -2 to"),
    (edit("fclib_local/W/m", [4]), "fclib_local/W: m, n: expected (3, 3), got (4, 3)"),
    (edit("fclib_local/W/p", [0, 2, 1, 3]), "fclib_local/W: p: expected numbers that begin with 0"),
    (edit("fclib_local/W/p", [0, 1, 2]), "fclib_local/W: p: expected shape (4,), got (3,)"),
    (edit("fclib_local/W/p", [0, 1, 2, 9]), "fclib_local/W: x: expected at least 9 numbers, got 3"),
    (edit("fclib_local/W/i", [0, 1, 3]), "fclib_local/W: i: expected 0 ... 2, got 3"),
    (edit("fclib_local/W/i", [0, 1, -1]), "fclib_local/W: i: expected 0 ... 2, got -1"),
    (edit("fclib_local/W/x", [1, np.nan, 1]), "fclib_local/W: x[1]: expected a finite number"),
    (edit("fclib_local/vectors/q", np.zeros(4)), "q: expected a multiple of 3 numbers, got 4"),
    (edit("fclib_local/vectors/mu", np.ones(2)), "mu: expected shape (1,), got (2,)"),
    (edit("fclib_local/vectors", None), "fclib_local: vectors: expected a group, got nothing"),
]


@pytest.mark.parametrize(("change", "message"), REFUSALS)
def test_refusals(change, message, tmp_path):
    path = tmp_path / "f.hdf5"
    write_local(path, np.eye(3), np.zeros(3), np.ones(1))
    with h5py.File(path, "a") as file:
        change(file)
    with pytest.raises(files.FileError) as caught:
        files.read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_refusals_of_global_problems(tmp_path):
    p = mechanism(3)
    singular = {**p, "M": np.zeros_like(p["M"])}
    write_global(tmp_path / "f.hdf5", **singular)
    with pytest.raises(files.FileError, match=r"fclib_global/M: .*singular"):
        files.read(tmp_path / "f.hdf5")
    with h5py.File(tmp_path / "rolling.hdf5", "w") as file:
        file.create_group("fclib_global_rolling")
    with pytest.raises(files.FileError, match="got fclib_global_rolling"):
        files.read(tmp_path / "rolling.hdf5")


@pytest.mark.parametrize("which", PILES)
def test_the_same_numbers_as_the_collection_of_problems(which, tmp_path):
    """Others' problems were condensed from FCLIB files; rewritten, all are the same."""
    for problem in files.read(PILES[which]).problems[:6]:
        target = tmp_path / f"{problem.name}.hdf5"
        write_local(target, problem.W, problem.b, problem.mu[::2])
        (back,) = files.read(target).problems
        assert back.name == problem.name
        np.testing.assert_array_equal(back.W, problem.W)
