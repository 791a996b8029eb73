"""What pip and CMake are told: extras, the range of MuJoCo, source distribution, summary."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import stickslip
from stickslip._src import mujoco_part
from stickslip.cli import app

ROOT = Path(__file__).resolve().parents[3]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
TEXTS = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "python").rglob("*.py")]
CMAKE_FILES_WITH_RANGE = ("FindMuJoCo.cmake", "StickslipDependencies.cmake")


def test_the_extras_that_texts_name_exist():
    texts = "\n".join(path.read_text() for path in TEXTS)
    named = set(re.findall(r"pip install \S*\[([\w,]+)\]", texts))
    quoted = re.findall(r'pip install "(?:\.|dist/FILE\.whl)\[(\w+)\]"', texts)
    assert named == set(quoted)
    assert {"mujoco", "view", "rl"} <= named <= set(EXTRAS)


@pytest.mark.parametrize(
    ("command", "module", "extra"),
    [
        ("view ant", "mjviser", "view"),
        ("train stickslip/Ant-v5 --out run", "torch", "rl"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(command, module, extra, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    for name in [name for name in sys.modules if name.startswith("stickslip.rl")]:
        monkeypatch.delitem(sys.modules, name)
    shown = CliRunner().invoke(app, command.split())
    assert shown.exit_code == 2, shown.output
    assert module in shown.output
    assert f'pip install ".[{extra}]"' in shown.output


def test_one_range_of_mujoco():
    """Built with, required, and asked for in messages; its series are those that are built for."""
    required = [*PYPROJECT["build-system"]["requires"], *EXTRAS["mujoco"]]
    ranges = [text for text in required if text.startswith("mujoco")]
    cmake = [(ROOT / "cmake" / name).read_text() for name in CMAKE_FILES_WITH_RANGE]
    ranges += [found for text in cmake for found in re.findall(r"mujoco>=[\d.,<]+", text)]
    assert len(ranges) == 2 + len(CMAKE_FILES_WITH_RANGE)
    assert {*ranges, mujoco_part.WANTED} == {"mujoco>=3.17,<4.1"}
    (known,) = re.findall(r"set\(MuJoCo_KNOWN_SERIES ([\w ]+)\)", cmake[0])
    assert sorted(known.split()) == sorted(mujoco_part.SERIES) == ["3_17", "4_0"]


def test_wheels_are_built_with_headers_of_the_jax_that_they_want():
    """Only wheels, and only where scripts/wheel.sh asks for it: jaxlib is large."""
    overrides = PYPROJECT["tool"]["scikit-build"]["overrides"]
    (found,) = [each for each in overrides if "requires" in each.get("build", {})]
    variable = "STICKSLIP_JAX_HEADERS"
    assert found["if"] == {"state": "wheel", "env": {variable: True}}
    (headers,), (extra,) = found["build"]["requires"], EXTRAS["jax"]
    assert headers.removeprefix("jaxlib") == extra.removeprefix("jax")
    assert f"export {variable}=1" in (ROOT / "scripts/wheel.sh").read_text()


def test_the_source_distribution_is_what_git_has(tmp_path, monkeypatch):
    build = pytest.importorskip("scikit_build_core.build")
    git = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(git, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a clone")
    monkeypatch.chdir(ROOT)
    with tarfile.open(tmp_path / build.build_sdist(str(tmp_path))) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    excluded = (".ci/", "bench/results/")
    wanted = {
        name
        for name in listed.stdout.split("\0")
        if name and not name.startswith(excluded) and (ROOT / name).exists()
    }
    assert packed - {"PKG-INFO"} == wanted


def test_the_project_in_the_readme_is_the_one_that_is_tested():
    project = (ROOT / "tests/consumer/CMakeLists.txt").read_text()
    (lines,) = re.findall(r"```cmake\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(lines.splitlines()) == 3
    assert lines in project


def configure(tmp_path, *options):
    command = ["cmake", "-S", ROOT, "-B", tmp_path, "-DSTICKSLIP_CUDA=OFF", *options]
    return subprocess.run(command, capture_output=True, text=True)


def test_cmake_says_what_is_left_out(tmp_path):
    options = "-DSTICKSLIP_TESTS=OFF", "-DSTICKSLIP_BENCH=OFF", "-DSTICKSLIP_MUJOCO=OFF"
    without = "-DCMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON", f"-DSTICKSLIP_BUNDLE={tmp_path}"
    shown = configure(tmp_path, *options, *without)
    assert shown.returncode == 0, shown.stderr
    summary = shown.stdout.partition("stickslip 0.")[2]
    assert re.findall(r"^--   (.*)", summary, re.MULTILINE) == [
        "stickslip::stickslip",
        "CUDA: left out, STICKSLIP_CUDA=OFF",
        "MuJoCo front end: left out, STICKSLIP_MUJOCO=OFF",
        "Python package: left out, STICKSLIP_PYTHON=OFF",
        "tests: left out, STICKSLIP_TESTS=OFF",
    ]


def test_tests_without_eigen_are_refused(tmp_path):
    without = "-DCMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON", f"-DSTICKSLIP_BUNDLE={tmp_path}"
    shown = configure(tmp_path, *without)
    assert shown.returncode != 0
    assert "-DSTICKSLIP_TESTS=OFF" in shown.stderr


WITHOUT = """
import sys
from importlib import metadata

for name in ("mujoco", "gymnasium"):
    sys.modules[name] = None
import numpy as np
import stickslip, stickslip.cli, stickslip.files

assert stickslip.__file__.startswith(sys.argv[1]), stickslip.__file__
W, b = np.eye(3), np.array([-1.0, 0.2, 0.0])
np.testing.assert_allclose(stickslip.solve(W, b, 0.5).impulse, [1, -0.2, 0], atol=1e-8)
bound = stickslip.BoundSolver(W=W[None], b=b, mu=0.5)
np.testing.assert_allclose(bound().impulse, [[1, -0.2, 0]], atol=1e-8)
from stickslip import info
print(info.facts()["MuJoCo"])
try:
    stickslip.BatchSim("<mujoco/>")
except ImportError as error:
    print(error)
"""


def test_what_needs_no_mujoco_works_without_it(tmp_path):
    """The files of a wheel, in a folder without libmujoco beside it."""
    shutil.copytree(ROOT / "python/stickslip", tmp_path / "stickslip")
    for module in Path(stickslip._core.__file__).parent.glob("*.so"):
        shutil.copy(module, tmp_path / "stickslip")
    # The finder of the editable installation would come first.
    start = "import sys; sys.meta_path[:] = [f for f in sys.meta_path if 'editable' not in repr(f)]"
    done = subprocess.run(
        [sys.executable, "-c", start + WITHOUT, tmp_path],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    info, error = done.stdout.splitlines()
    assert info.startswith("not available: BatchSim needs MuJoCo in the same environment")
    assert error.startswith("BatchSim needs MuJoCo in the same environment")
    assert "pip install 'mujoco>=3.17,<4.1' (installed: " in error


MAPPED = """
import stickslip
from stickslip import info
print(*{line.split()[-1] for line in open("/proc/self/maps") if "libstickslip" in line})
print(info.facts()["CUDA"])
"""


def import_beside(folder: Path, **environment: str) -> tuple[list[str], str, str]:
    """Imports the package with a folder on its path: the libraries that are loaded, what `stickslip
    info` says of CUDA, and what went to stderr."""
    done = subprocess.run(
        [sys.executable, "-c", MAPPED],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(folder), **environment},
    )
    libraries, cuda = done.stdout.splitlines()
    return libraries.split(), cuda, done.stderr


OWN = Path(stickslip._core.__file__).parent / "libstickslip.so"


def plugin_in(folder: Path) -> Path:
    """An empty package stickslip_cuda13; returns the path of its library."""
    (folder / "stickslip_cuda13").mkdir()
    (folder / "stickslip_cuda13/__init__.py").touch()
    return folder / "stickslip_cuda13/libstickslip.so"


def test_the_library_of_a_plugin_replaces_the_one_of_the_package(tmp_path):
    shutil.copy(OWN, plugin_in(tmp_path))
    libraries, _, errors = import_beside(tmp_path)
    assert libraries == [str(tmp_path / "stickslip_cuda13/libstickslip.so")]
    assert not errors


@pytest.mark.parametrize("content", [None, b"", b"\x7fELF", "another name"])
def test_a_plugin_that_does_not_serve_is_told_of(tmp_path, content):
    library = plugin_in(tmp_path)
    if isinstance(content, bytes):
        library.write_bytes(content)
    elif content:
        shutil.copy(OWN, library.with_name("libstickslip-0.0.9-01234567.so"))
    libraries, cuda, errors = import_beside(tmp_path)
    assert libraries == [str(OWN)]
    assert "RuntimeWarning: stickslip_cuda13 is not used" in errors
    assert "stickslip_cuda13 is not used, it is not of this version and build" in cuda


def test_the_own_library_comes_before_those_on_the_library_path(tmp_path):
    (tmp_path / OWN.name).touch()
    libraries, _, errors = import_beside(tmp_path, LD_LIBRARY_PATH=str(tmp_path))
    assert libraries == [str(OWN)]
    assert not errors


def test_the_extra_for_gpus_is_of_the_same_version():
    text = (ROOT / "pyproject.toml").read_text()
    assert f'cuda13 = ["stickslip-cuda13=={stickslip.__version__}"]' in text
