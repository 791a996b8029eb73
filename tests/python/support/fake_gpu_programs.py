"""The programs of the GPU checks as fakes that print what the real ones do, in miniature: named by
the link through which this file is run. FAKE_GPU names what goes wrong."""

import json
import os
import sys
from pathlib import Path

WRONG = os.environ.get("FAKE_GPU", "")
PROBE = {"name": "a GPU", "operations_that_differ_from_the_cpu": {"double": {"add": 0}}}


def test_gpu(options: dict[str, str]) -> int:
    """GoogleTest with two tests; the second may be skipped, with the first, or fail."""
    result = "SKIPPED" if WRONG == "skips" else "COMPLETED"
    tests: list[dict] = [{"name": name, "result": result} for name in ("one", "two")]
    if WRONG == "fails":
        tests[1]["failures"] = [{"failure": "bits differ"}]
    report = {"tests": 2, "testsuites": [{"name": "Suite", "testsuite": tests}]}
    if "--gtest_output" in options:
        Path(options["--gtest_output"].removeprefix("json:")).write_text(json.dumps(report))
    return WRONG == "fails"


def stickslip_gpu_probe(_: dict[str, str]) -> int:
    if WRONG == "no gpu":
        print("stickslip_gpu_probe: no GPU: no CUDA-capable device", file=sys.stderr)
        return 3
    print(json.dumps(PROBE, indent=2))
    return 0


def stickslip_gpu_speed(_: dict[str, str]) -> int:
    case = {"case": "coulomb_auto_double", "rows": 12}
    times = {"envs": 8, "ns_per_env": 50.0, "solved": 1.0, "cpu_ns_per_env": 400.0,
             "different_bits": int(WRONG == "other bits")}  # fmt: skip
    lines = {"info": {"device": "a GPU"}, "time": case | times,
             "lanes": case | {"ns_per_env": {"8": 50.0}}}  # fmt: skip
    if sys.argv[1] in lines:
        print(json.dumps(lines[sys.argv[1]]))
    return 0


def stickslip_bench(options: dict[str, str]) -> int:
    run = {"run_type": "iteration", "run_name": "gpu/copy", "items_per_second": 1e6}
    Path(options["--benchmark_out"]).write_text(json.dumps({"benchmarks": [run]}))
    return 0


if __name__ == "__main__":
    given = dict(word.split("=", 1) for word in sys.argv[1:] if "=" in word)
    sys.exit(globals()[Path(sys.argv[0]).name](given))
