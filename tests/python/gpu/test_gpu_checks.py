"""scripts/gpu: `make gpu-bundle` and `make gpu-check`, without a GPU, on fakes of the programs."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from gpu_modules import FOLDER, PROGRAMS, ROOT, load

README = FOLDER / "README.md"
COMMAND = re.compile(r"scripts/gpu/check\.py((?: +[a-z]+(?:=\d+)?)+)|PARTS=\"([^\"]+)\"")
CARD = """"ID","Kernel Name","Block Size","Grid Size","device__attribute_architecture",\
"gpu__time_duration.sum","launch__registers_per_thread",\
"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"
"","","","","","ns","register/thread",""
"0","void solve_kernel<double, 2, WarpGroup<8>>(ProblemBatch<T3>, Ladder)","(32, 1, 1)",\
"(792, 1, 1)","384","3,904","232","3.06"
"1","void lcp_kernel<double>(int)","(32, 1, 1)","(9, 1, 1)","384","844,896","168","1.50"
"""


@pytest.fixture
def check(tmp_path):
    """Runs parts on the fakes; returns the finished process and the reports by part."""
    bin_folder = tmp_path / "programs" / "bin"
    bin_folder.mkdir(parents=True)
    fakes = Path(__file__).parents[1] / "support" / "fake_gpu_programs.py"
    for name in PROGRAMS:
        program = bin_folder / name
        program.write_text(f"#!{sys.executable}\n{fakes.read_text()}")
        program.chmod(0o755)

    def run(*parts: str, wrong: str = ""):
        settings = {"GPU_CHECK_DRY": "1", "GPU_CHECK_PROGRAMS": str(tmp_path / "programs"),
                    "OUT": str(tmp_path / "out"), "FAKE_GPU": wrong,
                    "TMPDIR": str(tmp_path)}  # fmt: skip
        command = [sys.executable, FOLDER / "check.py", *parts]
        done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True,
                              timeout=120)  # fmt: skip
        return done, {file.stem: json.loads(file.read_text())
                      for file in (tmp_path / "out").glob("*.json")}  # fmt: skip

    return run


def no_driver() -> bool:
    probe = "import ctypes; ctypes.CDLL('libcuda.so.1')"
    found = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=False)
    return found.returncode != 0


@pytest.mark.skipif(not no_driver(), reason="a driver is here: a GPU may answer")
@pytest.mark.parametrize("parts", [[], ["smoke=5", "bits"]])
def test_without_a_driver_it_says_so_at_once(parts):
    command = [sys.executable, FOLDER / "check.py", *parts]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 3
    assert "no GPU answers here: no NVIDIA driver here" in done.stdout


def test_without_a_gpu_the_programs_say_so(check):
    done, reports = check("smoke", wrong="no gpu")
    assert done.returncode == 3
    assert "no GPU answers here: stickslip_gpu_probe: no GPU" in done.stdout
    assert not reports


@pytest.mark.parametrize("parts", [["anything"], ["smoke=soon"]])
def test_a_part_that_does_not_exist_ends_with_the_help(parts, check):
    done, _ = check(*parts)
    assert done.returncode == 2
    assert "PART[=SECONDS]" in done.stdout


def test_all_cpp_parts_pass_on_programs_that_do(check):
    parts = ("smoke", "speed", "lanes", "bench", "profile", "sanitizer", "bits")
    done, reports = check(*parts)
    assert done.returncode == 0, done.stdout
    assert set(parts) | {"gpu"} == set(reports)
    for name, report in reports.items():
        assert {"gpu", "commit", "date"} <= set(report["machine"]), name
    (timed,) = reports["speed"]["steps"]["time"]["values"]
    assert timed["measured_over_least"] > 1
    assert list(reports["bits"]["steps"])[-1].startswith("soak")
    assert reports["bits"]["steps"]["soak 50"]["problems"] == 100


@pytest.mark.parametrize(
    ("part", "wrong", "failed"),
    [
        ("bits", "skips", "bits: soak 50"),
        ("smoke", "skips", "smoke: calls"),
        ("bits", "fails", "bits: large"),
        ("speed", "other bits", "speed: bits"),
        ("engines", "", "engines: "),
        ("python", "", "python: "),
        ("training", "", "training: "),
    ],
)
def test_what_fails_or_does_not_run_is_named(part, wrong, failed, check):
    done, _ = check(part, wrong=wrong)
    assert done.returncode == 1, done.stdout
    assert failed in done.stdout.splitlines()[-1]


def test_tests_that_failed_are_named_in_the_report(check):
    _, reports = check("smoke", wrong="fails")
    assert reports["smoke"]["steps"]["lcp"]["failed"] == ["Suite.two"]


def test_of_a_profile_only_what_is_used_is_kept():
    profiler = load("profiler")
    longest, other = profiler.launches_of(f"==PROF== Connected\n{CARD}")
    assert longest["kernel"] == "void lcp_kernel<double>"
    assert other == {
        "kernel": "void solve_kernel<double, 2, WarpGroup<8>>",
        "grid": "(792, 1, 1)",
        "block": "(32, 1, 1)",
        "gpu__time_duration.sum": 3904.0,
        "launch__registers_per_thread": 232.0,
        "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio": 3.06,
    }
    assert profiler.launches_of("==ERROR== no counters") == []


def test_nothing_that_changes_the_machine_code_is_profiled():
    profiler = load("profiler")
    assert not [name for name in profiler.METRICS if name.startswith(("sass__", "derived__"))]
    assert not {"InstructionStats", "SourceCounters"} & set(profiler.SECTIONS)


def test_only_instructions_with_samples_are_kept():
    sampled_rows = load("profiler").sampled_rows
    header, idle, busy = (
        '"#","Source","# Samples"\n',
        '"1","FADD","0"\n',
        '"2","FMUL, R","1,002"\n',
    )
    assert sampled_rows(f"==PROF== x\n{header}{idle}{busy}") == header + busy
    assert sampled_rows("something else\n") == "something else\n"


@pytest.mark.parametrize(
    ("text", "passed"),
    [("...\n2 passed, 3 skipped in 1.20s", 2), ("s\n3 skipped in 0.1s", 0), ("killed", 0)],
)
def test_the_last_line_of_pytest_is_understood(text, passed):
    assert load("python_parts").outcome(text)["passed"] == passed


def test_pages_name_the_parts_that_there_are():
    parts = load("check").PARTS
    text = README.read_text()
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|", text, re.M)
    assert [(name, int(seconds)) for name, seconds in rows] == [
        (name, seconds) for name, (_, seconds) in parts.items()
    ]
    pages = [README, ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    told = [word.split("=")[0] for page in pages for found in COMMAND.findall(page.read_text())
            for word in " ".join(found).split()]  # fmt: skip
    assert told
    assert set(told) <= set(parts)
