"""What `make gpu-bundle` packs, and how `make gpu-check` takes it; the programs fit the library."""

import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import threading
from pathlib import Path

import pytest
from gpu_modules import FOLDER, PROGRAMS, ROOT, load

COUNTS_ALONE = {"stickslip_gpu_counts"}  # for the emulator: it times nothing
NVCC = shutil.which("nvcc", path=f"{os.environ['PATH']}:/usr/local/cuda/bin")


def archive_of(files: dict[str, str]) -> bytes:
    """A .tar.xz of these files and their contents."""
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w:xz") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
    return memory.getvalue()


def test_what_was_carried_is_unpacked_once_and_again_when_it_changes(tmp_path, monkeypatch):
    programs = load("programs")
    archive = tmp_path / "programs.tar.xz"
    monkeypatch.setattr(programs, "ARCHIVE", archive)
    monkeypatch.setattr(programs, "UNPACKED", tmp_path / "unpacked")
    monkeypatch.delenv("GPU_CHECK_PROGRAMS", raising=False)
    archive.write_bytes(archive_of({"bin/test_gpu": "old", "bin/gone": ""}))
    program = programs.programs() / "bin" / "test_gpu"
    assert program.read_text() == "old"
    program.write_text("kept")
    programs.programs()
    assert program.read_text() == "kept"
    archive.write_bytes(archive_of({"bin/test_gpu": "new"}))
    programs.programs()
    assert program.read_text() == "new"
    assert not program.with_name("gone").exists()


def test_without_what_was_carried_the_programs_are_built(tmp_path, monkeypatch):
    programs = load("programs")
    cmake = tmp_path / "cmake"
    cmake.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/called\nmkdir -p {tmp_path}/build\n')
    cmake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("GPU_CHECK_PROGRAMS", raising=False)
    monkeypatch.setattr(programs, "ARCHIVE", tmp_path / "none.tar.xz")
    monkeypatch.setattr(programs, "BUILD", tmp_path / "build")
    folder = programs.programs()
    configured, built = (tmp_path / "called").read_text().splitlines()
    assert "-DSTICKSLIP_CUDA=ON" in configured
    assert built.split("--target ")[1].split() == list(PROGRAMS)
    assert {link.name for link in (folder / "bin").iterdir()} == set(PROGRAMS)
    cmake.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(SystemExit, match="the build failed"):
        programs.programs()


def test_engines_come_in_pieces_which_are_kept(tmp_path, monkeypatch):
    engines, part_module = load("engines"), load("part")
    for name in ("BUNDLE", "UNPACKED"):
        monkeypatch.setattr(engines, name, tmp_path / name)
    monkeypatch.setattr(engines, "PIECES", tmp_path / "UNPACKED" / "pieces")
    with (tmp_path / "log.txt").open("w") as log:
        session = part_module.Session(tmp_path, tmp_path, {}, log, threading.Lock())
        part = part_module.Part(session, "engines", 60.0)
        assert not engines.unpacked(part)
        assert part.steps["pieces"]["result"].startswith("not run")
        whole = archive_of({"site/warp.py": "", "models/ant.mjb": "an ant"})
        halves = {1: whole[:100], 2: whole[100:]}
        for number, data in halves.items():
            folder = tmp_path / "BUNDLE" / "engines" / str(number)
            folder.mkdir(parents=True)
            (folder / f"engines.tar.xz.{number}-of-2").write_bytes(data)
            engines.keep_pieces()
            shutil.rmtree(tmp_path / "BUNDLE")  # the next call brings the other
            assert engines.unpacked(part) == (number == 2)
    assert (tmp_path / "UNPACKED" / "engines" / "models" / "ant.mjb").read_text() == "an ant"
    report = json.loads((tmp_path / "engines.json").read_text())
    assert report["steps"]["pieces"]["result"] == "failed (1 of 2 are here: bring the others)"


def test_the_bundle_has_the_programs_that_cmake_builds_and_the_parts_run():
    script = (FOLDER / "bundle.sh").read_text()
    packed = set(re.search(r"^programs=\((.*)\)$", script, re.M)[1].split())
    cmake = (ROOT / "bench" / "CMakeLists.txt").read_text()
    of_gpu = set(re.findall(r"add_executable\((stickslip_gpu_\w+)", cmake)) - COUNTS_ALONE
    assert "add_executable(stickslip_bench " in cmake
    assert "stickslip_test(gpu " in (ROOT / "tests" / "CMakeLists.txt").read_text()
    expected = {f"bench/{name}" for name in {*of_gpu, "stickslip_bench"}} | {"tests/test_gpu"}
    assert packed == expected
    built = load("programs").BUILT
    assert {f"{folder}/{name}" for name, folder in built.items()} == packed
    sources = "".join(file.read_text() for file in FOLDER.glob("*.py"))
    run = set(re.findall(r'part\.program\("(\w+)"\)', sources))
    assert run == set(PROGRAMS) == {path.rsplit("/")[1] for path in packed}


def test_the_script_of_the_bundle_is_valid():
    subprocess.run(["bash", "-n", FOLDER / "bundle.sh"], check=True)


def eigen() -> Path | None:
    prefixes = [*os.environ.get("CMAKE_PREFIX_PATH", "").split(":"), "/usr", "/usr/local"]
    prefixes += [str(p) for p in ROOT.glob(".venv/lib/python3.*/site-packages/cmeel.prefix")]
    folders = [Path(p) / "include" / "eigen3" for p in prefixes if p]
    return next((folder for folder in folders if (folder / "Eigen" / "Core").exists()), None)


@pytest.mark.skipif(NVCC is None, reason="no nvcc here: no headers of CUDA")
@pytest.mark.skipif(eigen() is None, reason="no Eigen here")
@pytest.mark.parametrize("name", ["gpu_speed", "gpu_speed_info", "gpu_counts"])
def test_the_timing_programs_fit_the_library(name):
    """A change of what they call is found without building the kernels."""
    cuda = Path(NVCC).resolve().parents[1] / "include"
    options = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I.", "-Iinclude"]
    command = ["g++", *options, "-isystem", eigen(), "-isystem", cuda, f"bench/{name}.cpp"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.skipif(NVCC is None, reason="no nvcc here")
def test_the_probe_compiles(tmp_path):
    warnings = ["-Werror=all-warnings", "-Xcompiler=-Wall,-Wextra"]
    command = [NVCC, "-std=c++20", *warnings, "-arch=compute_80", "-ptx", "bench/gpu_probe.cu"]
    command += ["-o", tmp_path / "probe.ptx"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
