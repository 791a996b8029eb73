"""Builds stickslip without a network and checks it on this machine's GPU: `make gpu-check`.

Uses gpu-bundle/ (made by `make gpu-bundle` on a machine with a network), g++, nvcc, cmake, ninja.
Runs all C++ tests; on the GPU: the bits of the CPU, of solves, mechanisms and replayed CUDA graphs,
a soak test of a million mixed problems (half in double, half in mixed precision) of which one in a
hundred is poisoned, compute-sanitizer, and arrays of torch and CuPy; the Python tests; and the
benchmarks, with their floors, beside what the emulator's counts predict. Each part has a time
limit. Writes summary.json and the programs' own reports to $OUT or bench/results/<machine>/. A part
that this machine cannot run is "not run", with the reason. Without a GPU it reports this and runs
the rest. Exits with 1 if a part failed.
"""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUNDLE = ROOT / "gpu-bundle"
BUILD = ROOT / "build" / "gpu-check"
SITE = BUILD / "site"  # Python packages only for this check
JOBS = os.cpu_count() or 1
TIME_LIMIT = 525  # s, in total: the call takes less than nine minutes


def output_of(*command: str) -> str:
    """First line that a command prints; empty if it cannot run."""
    try:
        text = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return next(iter(text.splitlines()), "").strip()


def describe_machine() -> dict:
    gpu = output_of("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    cpu = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    bundled = BUNDLE / "commit.txt"
    commit = output_of("git", "rev-parse", "--verify", "--quiet", "HEAD")
    if not commit and bundled.exists():
        commit = bundled.read_text().split("\n")[0]
    return {
        "gpu": gpu or None,
        "cpu": cpu[1] if cpu else platform.processor(),
        "cores": JOBS,
        "system": platform.platform(),
        "compiler": output_of("g++", "--version"),
        "nvcc": shutil.which("nvcc") and output_of("sh", "-c", "nvcc --version | grep release"),
        "python": platform.python_version(),
        "commit": commit or "unknown",
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def machine_name(machine: dict) -> str:
    """Name of a machine's folder of results: its GPU, else its processor."""
    return re.sub(r"\W+", "-", (machine["gpu"] or machine["cpu"]).split(",")[0]).lower()


class Check:
    """Runs the parts one after another and stores their results."""

    def __init__(self, machine: dict, out: Path) -> None:
        self.machine, self.out = machine, out
        self.parts: dict[str, dict] = {}
        self.deadline = time.monotonic() + TIME_LIMIT
        self.log = (out / "log.txt").open("w")

    def record(self, name: str, result: str, seconds: float = 0.0, **details: object) -> None:
        self.parts[name] = {"result": result, "seconds": round(seconds, 1), **details}
        print(f"gpu-check: {name}: {result} ({seconds:.0f} s)", flush=True)
        summary = {"machine": self.machine, "parts": self.parts}
        (self.out / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")

    def run(
        self, name: str, command: list, limit: float, refusal: str = "", **variables: str
    ) -> str | None:
        """Runs a part; a failure that matches `refusal` is due to the machine: "not run"."""
        start = time.monotonic()
        limit = min(limit, self.deadline - start)
        if limit < 1:
            self.record(name, "not run (no time left)")
            return None
        environment = os.environ | {
            "PYTHONPATH": f"{SITE}",
            "STICKSLIP_DATA": str(BUNDLE / "data"),
            "PYTHONUNBUFFERED": "1",
            **variables,
        }
        try:
            done = subprocess.run(
                [str(word) for word in command], cwd=ROOT, env=environment, timeout=limit,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            )  # fmt: skip
            text, code = done.stdout, done.returncode
        except subprocess.TimeoutExpired as stopped:
            text, code = (stopped.stdout or b"").decode(errors="replace"), f"over {limit:.0f} s"
        seconds = time.monotonic() - start
        self.log.write(f"=== {name}: {command}\n{text}\n")
        self.log.flush()
        if code == 0:
            self.record(name, "passed", seconds, **counts(text))
            return text
        why = re.search(refusal, text) if refusal else None
        if why:
            self.record(name, f"not run ({why[0]})", seconds)
        else:
            print(text[-4000:])
            self.record(name, f"failed ({code})", seconds, **counts(text))
        return None


def counts(text: str) -> dict:
    """Numbers of tests run and skipped, from the reports of ctest, GoogleTest and pytest."""
    patterns = {
        "passed": r"\[  PASSED  \] (\d+) test|out of (\d+)$|(\d+) passed",
        "skipped": r"\[  SKIPPED \] (\d+) test|(\d+) skipped",
        "failed": r"\[  FAILED  \] (\d+) test|, (\d+) tests? failed|(\d+) failed",
    }
    found = {key: re.search(pattern, text, re.M) for key, pattern in patterns.items()}
    result = {key: int(next(filter(None, m.groups()))) for key, m in found.items() if m}
    if "out of" in text and "tests passed" in text:  # the total of ctest
        result["skipped"] = len(re.findall(r"\(Skipped\)$", text, re.M))
        result["passed"] -= result["skipped"] + result.get("failed", 0)
    return result


def build(check: Check) -> bool:
    cuda = "ON" if check.machine["nvcc"] and check.machine["gpu"] else "OFF"
    wheels = sorted(BUNDLE.glob("wheels/*.whl"))
    python = False
    if wheels:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
        target = ["--no-compile", "--upgrade", "--target", SITE]
        refusal = r"No module named pip|is not a supported wheel"
        python = check.run("wheels", [*pip, *target, *wheels], 60, refusal) is not None
    else:
        print("gpu-check: no gpu-bundle/ (make gpu-bundle): no Python parts")
    configure = [
        "cmake", "-S", ".", "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        f"-DSTICKSLIP_CUDA={cuda}",
        "-DCMAKE_CUDA_FLAGS=--split-compile=0",  # compiles kernels of one file in parallel
        f"-DSTICKSLIP_BUNDLE={BUNDLE}", f"-DPython_EXECUTABLE={sys.executable}",
    ]  # fmt: skip
    if python:
        on = ["-DSTICKSLIP_PYTHON=ON", "-DSTICKSLIP_MUJOCO=ON"]
        refusal = r"Could NOT find Python[^\n]*"
        python = check.run("configure", [*configure, *on], 60, refusal) is not None
    if not python:
        off = ["-DSTICKSLIP_PYTHON=OFF", "-DSTICKSLIP_MUJOCO=OFF"]
        if check.run("configure without Python", [*configure, *off], 60) is None:
            return False
    if check.run("build", ["cmake", "--build", BUILD, "--parallel", JOBS], 300) is None:
        return False
    if python:
        install = ["cmake", "--install", BUILD, "--component", "python", "--prefix", SITE]
        if check.run("install", install, 60) is not None:
            shutil.copytree(ROOT / "python" / "stickslip", SITE / "stickslip", dirs_exist_ok=True)
    return True


TOOLS = {  # of compute-sanitizer: the tests of test_gpu to run, and the number of problems
    "memcheck": ("*", 40),
    "racecheck": ("*coulomb_auto_*:*convex_auto_double:*pyramid_auto_double", 10),
    "initcheck": ("*coulomb_auto_*:Calls.a_replay*:Calls.matrices*", 10),
}


def check_gpu(check: Check) -> None:
    """Checks that need a GPU: bits of the CPU, also in graphs; a soak test; compute-sanitizer."""
    if not check.machine["gpu"] or not check.machine["nvcc"]:
        for name in ["launches", "soak", *TOOLS]:
            check.record(name, "not run (no GPU)")
        return
    tests = BUILD / "tests"
    # Solves, mechanisms, captures, replays, simulations.
    check.run("launches", [tests / "test_gpu", "--gtest_filter=-*Soak*:*instruction_sets*"], 180)
    # A million mixed problems, one in a hundred poisoned: twice, in two orders, against the CPU.
    report = f"--gtest_output=json:{check.out / 'soak.json'}"
    soak = [tests / "test_gpu", "--gtest_filter=Soak*", report]
    check.run("soak", soak, 150, STICKSLIP_TEST_COUNT="500000")  # in each of double and mixed
    sanitizer = shutil.which("compute-sanitizer")
    for tool, (chosen, count) in TOOLS.items():
        if not sanitizer:
            check.record(tool, "not run (no compute-sanitizer)")
            continue
        command = [sanitizer, "--tool", tool, "--error-exitcode", "9", tests / "test_gpu"]
        refusal = r"Device not supported|Unable to find injection|not permitted"
        filtered = [*command, f"--gtest_filter={chosen}"]
        check.run(tool, filtered, 60, refusal, STICKSLIP_TEST_COUNT=str(count))


def check_python(check: Check) -> None:
    if not (SITE / "stickslip").exists():
        check.record("python", "not run (no module built)")
        return
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    refusal = r"No module named '?\w+'?"
    check.run("arrays on the GPU", [*pytest, "tests/python/test_bound_gpu.py"], 60, refusal)
    check.run("python", [*pytest, "tests/python"], 120, refusal)


def run_benchmarks(check: Check) -> None:
    if not (BUILD / "bench" / "stickslip_bench").exists():
        check.record("bench", "not run (not built)")
        return
    command = [sys.executable, "bench/run.py", "--build", BUILD, "--out", check.out]
    command += ["--min-time", "0.02", "--only"]
    for report, limit in {"gpu": 120, "scaling": 60, "models": 60, "solvers": 120}.items():
        check.run(f"bench {report}", [*command, report], limit)
    if (check.out / "gpu.json").exists():
        beside = [sys.executable, "bench/tables_gpu.py", check.out / "gpu.json"]
        print(check.run("measured beside predicted", beside, 30) or "", end="")


def main() -> int:
    machine = describe_machine()
    folder = ROOT / "bench" / "results" / machine_name(machine)
    out = Path(os.environ.get("OUT") or folder).resolve()
    out.mkdir(parents=True, exist_ok=True)
    if not machine["gpu"]:
        print("gpu-check: no GPU answers here; the parts that need one are not run")
    print("gpu-check: builds everything first, which takes minutes", flush=True)
    check = Check(machine, out)
    if build(check):
        tests = ["ctest", "--test-dir", BUILD, "--output-on-failure", "-j", JOBS, "-E", "^lint/"]
        check.run("tests", [*tests, "--output-junit", out / "ctest.xml"], 180)
        check_gpu(check)
        check_python(check)
        run_benchmarks(check)
    failed = [part for part, found in check.parts.items() if found["result"].startswith("failed")]
    seconds = sum(part["seconds"] for part in check.parts.values())
    print(f"gpu-check: {'FAILED: ' + ', '.join(failed) if failed else 'done'} in {seconds:.0f} s")
    print(f"gpu-check: see {out / 'summary.json'}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
