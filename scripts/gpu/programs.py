"""The programs of the checks: unpacked from what was carried here, else built here."""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

from part import BUNDLE, JOBS, ROOT, UNPACKED, say

ARCHIVE = BUNDLE / "programs" / "programs.tar.xz"
BUILD = ROOT / "build" / "gpu-check"
BUILT = {  # program: its folder in the build
    "test_gpu": "tests",
    "stickslip_bench": "bench",
    "stickslip_gpu_speed": "bench",
    "stickslip_gpu_probe": "bench",
}


def programs() -> Path:
    """The folder with bin/, lib/ and, if the Python package was carried, site/."""
    if "GPU_CHECK_PROGRAMS" in os.environ:
        return Path(os.environ["GPU_CHECK_PROGRAMS"]).resolve()
    return unpack() if ARCHIVE.exists() else build()


def unpack() -> Path:
    """Once per archive, since the temporary folder may outlive this command."""
    folder, mark = UNPACKED / "programs", UNPACKED / "programs.sha256"
    digest = hashlib.sha256(ARCHIVE.read_bytes()).hexdigest()
    if mark.exists() and mark.read_text() == digest:
        return folder
    start = time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if shutil.which("xz"):  # faster than Python's
        subprocess.run(["tar", "-xJf", ARCHIVE, "-C", folder], check=True)
    else:
        with tarfile.open(ARCHIVE) as tar:
            tar.extractall(folder, filter="data")
    mark.write_text(digest)
    say(f"unpacked in {time.monotonic() - start:.0f} s")
    return folder


def build() -> Path:
    """For the GPU that is here, without the Python package: `make setup` has built that."""
    say(f"no programs in gpu-bundle/ (make gpu-bundle): building in {BUILD}, which takes minutes")
    for command in (
        ["cmake", "-S", ".", "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
         "-DSTICKSLIP_CUDA=ON", "-DSTICKSLIP_PYTHON=OFF", "-DSTICKSLIP_MUJOCO=OFF"],
        ["cmake", "--build", BUILD, "--parallel", JOBS, "--target", *BUILT],
    ):  # fmt: skip
        try:
            done = subprocess.run([*map(str, command)], cwd=ROOT, check=False)
        except OSError as error:
            sys.exit(f"gpu-check: cannot build: {error}")
        if done.returncode:
            sys.exit("gpu-check: the build failed")
    (BUILD / "bin").mkdir(exist_ok=True)
    for name, folder in BUILT.items():
        link = BUILD / "bin" / name
        link.unlink(missing_ok=True)
        link.symlink_to(BUILD / folder / name)
    return BUILD
