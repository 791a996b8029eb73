"""What pip and CMake are told: extras, the version of MuJoCo, source distribution, summary."""

import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import mujoco
import pytest
from typer.testing import CliRunner

from stickslip.cli import app

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TEXTS = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "python").rglob("*.py")]


def test_the_extras_that_texts_name_exist():
    texts = "\n".join(path.read_text() for path in TEXTS)
    named = set(re.findall(r"pip install \S*\[([\w,]+)\]", texts))
    assert named == set(re.findall(r'pip install "\.\[(\w+)\]"', texts))
    assert {"view", "rl", "gallery"} <= named <= set(PYPROJECT["project"]["optional-dependencies"])


@pytest.mark.parametrize(
    ("command", "module", "extra"),
    [
        ("view ant", "mjviser", "view"),
        ("train stickslip/Ant-v5 --out run", "torch", "rl"),
        ("gallery --variations 2 pendulum --out page", "markdown_it", "gallery"),
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


def test_one_version_of_mujoco():
    """Built with, required, asked for in messages, and installed here."""
    required = [*PYPROJECT["build-system"]["requires"], *PYPROJECT["project"]["dependencies"]]
    pins = [text for text in required if text.startswith("mujoco")]
    for name in ("python/stickslip/__init__.py", "src/mujoco/model.cpp", "scripts/gpu_wheels.txt"):
        found = re.findall(r"mujoco(?:-core|-studio)?==[\d.]+", (ROOT / name).read_text())
        assert found, name
        pins += found
    cmake = (ROOT / "cmake/FindMuJoCo.cmake").read_text()
    pins += re.findall(r"set\(MuJoCo_VERSION ([\d.]+)\)", cmake)
    versions = [re.sub(r"^mujoco(-core|-studio)?==", "", pin) for pin in pins]
    assert len(versions) >= 6
    assert set(versions) == {mujoco.__version__}, pins


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
    assert lines.rstrip(")\n") in project  # which also links stickslip::rigid


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
        "stickslip::rigid: left out, Eigen 3.4 was not found (Debian: libeigen3-dev)",
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
