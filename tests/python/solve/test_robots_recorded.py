"""scripts/record_robots.py gives the problems of tests/data/robots again, bit for bit."""

import importlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import h5py
import numpy as np
import pytest
import robots

from stickslip import files

INSTANTS = 2  # of twelve


@pytest.fixture(scope="module")
def recorder():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).resolve().parents[3] / "scripts"))
        return importlib.import_module("record_robots")


def installed(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return "nothing"


# One of each package.
@pytest.mark.parametrize("robot", ["ant", "dm_quadruped", "panda", "op3"])
def test_problems_are_recorded_again_to_the_same_bits(recorder, robot, tmp_path, monkeypatch):
    with h5py.File(robots.FILES[robot]) as file:
        attributes = dict(file.attrs)
    for package, wanted in (
        (attributes["package"], attributes["package_version"]),
        ("mujoco", attributes["mujoco"]),
    ):
        if installed(package) != wanted:
            pytest.skip(f"needs {package} {wanted}; installed: {installed(package)}")
    assert recorder.source(robot) == attributes
    monkeypatch.chdir(tmp_path)  # MuJoCo may write a log
    again = {problem.name: problem for problem in recorder.candidates(robot, INSTANTS)}
    compared = 0
    for stored in files.read(robots.FILES[robot]).problems:
        if int(stored.name[:2]) >= INSTANTS:
            continue
        problem = again[stored.name]
        for key in ("W", "b", "mu", "dims", "lo", "hi", "R"):
            ours, theirs = getattr(problem, key), getattr(stored, key)
            np.testing.assert_array_equal(ours, theirs, err_msg=f"{stored.name}: {key}")
        assert problem.counts == stored.counts
        assert (problem.law, problem.level) == (stored.law, stored.level)
        compared += 1
    assert compared > 0


def test_every_robot_has_its_file_and_the_page_their_sizes(recorder):
    assert set(robots.FILES) == set(recorder.ROBOTS)
    page = (robots.FOLDER / "README.md").read_text()
    assert page == recorder.README.format(table=recorder.table())
    stored = sum(path.stat().st_size for path in robots.FILES.values())
    assert stored <= 3_000_000  # bytes
