"""Describes the machine and the sources of a report: `python bench/machine.py` prints it."""

import json
import os
import platform
import re
import shutil
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / "gpu-bundle" / "programs" / "built.json"  # of scripts/gpu/bundle.sh


def output_of(*command: str) -> list[str]:
    """Lines that a command prints; none if it cannot run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []


def first_line_of(*command: str) -> str:
    return next(iter(output_of(*command)), "").strip()


def describe_machine() -> dict:
    gpu = first_line_of("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    cpu = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    commit = first_line_of("git", "rev-parse", "--verify", "--quiet", "HEAD")
    return {
        "gpu": gpu or None,
        "cpu": cpu[1] if cpu else platform.processor(),
        "cores": os.cpu_count() or 1,
        "system": platform.platform(),
        "compiler": first_line_of("g++", "--version"),
        "nvcc": shutil.which("nvcc") and first_line_of("sh", "-c", "nvcc --version | grep release"),
        "python": platform.python_version(),
        "commit": commit or built_from().get("commit", "unknown"),
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def built_from() -> dict:
    """Commit and compilers of the programs that were carried here; empty if there are none."""
    if not BUILT.exists():
        return {}
    built = json.loads(BUILT.read_text())
    return {key: built[key] for key in ("commit", "changed_since_commit", "compiler", "nvcc")}


def changed_files() -> list[str]:
    """Sources that differ from the commit in the report."""
    command = ["git", "status", "--porcelain", "--", "include", "kernels", "src", "cmake"]
    return [line[3:] for line in output_of(*command) if line[:2] != "??"]


def machine_name(machine: dict) -> str:
    """Name of a machine's folder of results: its GPU, else its processor."""
    return re.sub(r"\W+", "-", (machine["gpu"] or machine["cpu"]).split(",")[0]).lower()


if __name__ == "__main__":
    print(json.dumps(describe_machine() | {"changed_since_commit": changed_files()}, indent=1))
