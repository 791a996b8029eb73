"""Malicious problem files: one clear line, or problems that satisfy the rules of the layout."""

import random
from pathlib import Path

import h5py
import numpy as np
import pytest
from fclib_files import write_global, write_local
from file_problems import contact_problem
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from stickslip import Status, files
from stickslip.files import answer, judge
from stickslip.files.isolated import isolated

SETTINGS = settings(max_examples=200, deadline=None, derandomize=True)

ODD_VALUES = st.one_of(
    hnp.arrays(
        st.sampled_from(
            [np.float64, np.float32, np.int8, np.uint64, np.bool_, np.complex128, "S3"]
        ),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=12),
    ),
    st.sampled_from([np.nan, np.inf, -np.inf, 1e308, -1, 2**40, "text", b"bytes", "ünïcode"]),
    st.just(h5py.Empty("f8")),
    st.just(h5py.SoftLink("/nowhere")),
    st.just(h5py.ExternalLink("nowhere.h5", "/x")),
    st.just("a group"),
    st.none(),
)
PLACES = st.sampled_from(
    [f"problems/one/{key}" for key in ("W", "b", "mu", "dims", "lo", "hi", "R", "r")]
    + [f"problems/lcp/{key}" for key in ("M", "q", "lo", "hi", "findex", "z")]
    + ["problems/one", "problems/lcp", "problems", "solutions/one", "solutions/one/r", "solutions"]
    + ["problems/new", "solutions/new", "fclib_local", "fclib_global_rolling"]
)
ATTRIBUTES = st.sampled_from(
    ["kind", "n_free", "n_nonneg", "n_box", "law", "level", "status", "tolerance", "residual"]
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


def good_file(path: Path) -> Path:
    solution = files.StoredSolution(np.zeros(10), "not_converged", 1.0, 3, "pgs", "convex", 1e-9)
    one = contact_problem(0, "one", (3, 3), R=np.ones(10), stored=solution)
    bounds = {"lo": -np.ones(3), "hi": np.ones(3), "findex": np.array([-1, 0, 0])}
    z = files.StoredSolution(np.zeros(3))
    lcp = files.ComplementarityProblem(
        "lcp", np.eye(3), np.ones(3), "boxed_lcp", **bounds, stored=z
    )
    files.write(path, [one, lcp], {"one": solution})
    return path


def put(file: h5py.File, place: str, value) -> None:
    if place in file:
        del file[place]
    if value is None:
        return
    if isinstance(value, str) and value == "a group":
        file.create_group(place)
    else:
        file[place] = value


def read_or_refused(path):
    """Reads, solves and judges; an error must be one line that names the file."""
    refusal = None
    try:
        file = files.read(path)
    except files.FileError as error:
        refusal = str(error)
    if refusal is not None:
        assert_one_clear_line(refusal, path)
        return
    contacts = [p for p in file.problems if isinstance(p, files.ContactProblem)]
    for told in answer.solve(contacts):
        assert np.isfinite(told.solution.values).all()
        assert told.solution.status in Status.__members__
    for check in judge.check(file):
        assert not np.isnan(check.residual)


@SETTINGS
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(PLACES, ODD_VALUES)
def test_odd_datasets(folder, place, value):
    path = good_file(folder / "datasets.h5")
    with h5py.File(path, "a") as file:
        put(file, place, value)
    read_or_refused(path)


@SETTINGS
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(st.sampled_from(["problems/one", "problems/lcp", "solutions/one"]), ATTRIBUTES, ODD_VALUES)
def test_odd_attributes(folder, place, key, value):
    path = good_file(folder / "attributes.h5")
    with h5py.File(path, "a") as file:
        if value is None:
            file[place].attrs.pop(key, None)
        elif not isinstance(value, h5py.SoftLink | h5py.ExternalLink):
            file[place].attrs[key] = value
    read_or_refused(path)


@SETTINGS
@given(
    st.sampled_from(["M/m", "M/n", "M/nz", "M/i", "M/p", "M/x", "H/nz", "H/i", "H/x", "H", "M"]),
    st.one_of(ODD_VALUES, hnp.arrays(np.int32, (1,), elements=st.integers(-3, 9))),
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_odd_sparse_matrices(folder, place, value):
    pytest.importorskip("scipy")
    path = folder / "sparse.h5"
    H = np.ones((4, 3))
    write_global(path, M=np.eye(4), H=H, f=np.ones(4), w=np.zeros(3), mu=np.ones(1))
    with h5py.File(path, "a") as file:
        put(file, f"fclib_global/{place}", value)
    read_or_refused(path)


@SETTINGS
@given(st.floats(0, 1, exclude_max=True))
def test_truncated(folder, share):
    whole = good_file(folder / "whole.h5").read_bytes()
    path = folder / "cut.h5"
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(files.FileError):
        files.read(path)
    read_or_refused(path)


def assert_one_clear_line(refusal, path):
    assert refusal.startswith(str(path))
    assert len(refusal.splitlines()) == 1
    assert len(refusal) < 400


def damaged(source: Path, folder: Path, count: int) -> list[Path]:
    """Copies with a few bytes of the metadata changed."""
    whole = source.read_bytes()
    made = []
    for seed in range(count):
        rng = random.Random(seed)
        content = bytearray(whole)
        for _ in range(8):
            content[rng.randrange(4000)] = rng.randrange(256)
        made.append(folder / f"{source.stem}{seed}.h5")
        made[-1].write_bytes(content)
    return made


def test_damaged_bytes_end_in_one_line_whatever_hdf5_does(folder):
    """Some crash HDF5, which is why the commands read in a separate process."""
    local = folder / "local.h5"
    write_local(local, np.eye(3), np.zeros(3), np.ones(1))
    for source in (good_file(folder / "good.h5"), local):
        for path in damaged(source, folder, 6):
            try:
                told = isolated(path, files.read, path).path
            except files.FileError as error:
                told = str(error)
            assert_one_clear_line(told, path)


NAN = [
    ("problems/one/W", (1, 2), "problem 'one': W[1, 2]: expected a finite number, got nan"),
    ("problems/one/mu", (0,), "problem 'one': mu[0]: expected a finite number, got nan"),
    ("problems/one/lo", (0,), "problem 'one': lo[0]: expected a finite number, got nan"),
    ("problems/lcp/q", (2,), "problem 'lcp': q[2]: expected a finite number, got nan"),
    ("solutions/one/r", (3,), "solution 'one': r[3]: expected a finite number, got nan"),
]


@pytest.mark.parametrize(("place", "index", "message"), NAN)
def test_nan_is_named(folder, place, index, message):
    path = good_file(folder / "nan.h5")
    with h5py.File(path, "a") as file:
        file[place][index] = np.nan
    with pytest.raises(files.FileError) as caught:
        files.read(path)
    assert str(caught.value) == f"{path}: {message}"


WRONG = [
    ("problems/one/W", np.eye(9), "problem 'one': W: expected shape (10, 10), got (9, 9)"),
    ("problems/one/b", np.ones((10, 1)), "problem 'one': b: expected a vector, got shape (10, 1)"),
    ("problems/one/dims", [3, 5], "problem 'one': dims: expected 3, 4 or 6, got 5"),
    ("problems/one/dims", [3, 4], "problem 'one': dims: expected a sum of 6, the rows"),
    ("problems/one/mu", [0.5, 0.5], "problem 'one': mu: expected shape (4,), got (2,)"),
    ("problems/one/R", ["a"] * 10, "problem 'one': R: expected numbers, got object"),
    ("problems/lcp/findex", [1, 2, 3], "problem 'lcp': findex: expected -1, or another row from 0"),
    ("problems/lcp/findex", [-1, 1, 0], "problem 'lcp': findex: expected -1, or another row from"),
    ("problems/lcp/findex", [0.5, 1, 2], "problem 'lcp': findex: expected integers, got float64"),
    ("solutions/two", "a group", "solution 'two': name: expected that of a problem, got 'two'"),
    ("problems", None, "content: expected the group problems, fclib_local or fclib_global"),
]


@pytest.mark.parametrize(("place", "value", "message"), WRONG)
def test_wrong_shapes_and_types_are_named(folder, place, value, message):
    path = good_file(folder / "wrong.h5")
    with h5py.File(path, "a") as file:
        put(file, place, value)
    with pytest.raises(files.FileError) as caught:
        files.read(path)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_a_huge_matrix_is_refused_before_it_is_read(folder):
    with h5py.File(folder / "huge.h5", "w") as file:
        group = file.create_group("problems/huge")
        group.attrs["kind"] = "lcp"
        group.create_dataset("M", (10**6, 10**6), "f8", chunks=(100, 100))
        group.create_dataset("q", (10**6,), "f8", chunks=(100,))
    with pytest.raises(files.FileError, match="q: expected at most 10000 numbers, got 1000000"):
        files.read(folder / "huge.h5")
