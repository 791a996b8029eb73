"""The parts with the C++ tests: smoke (does anything run), bits (those of the CPU), sanitizer."""

import json
import re
import shutil
import time
from concurrent.futures import ThreadPoolExecutor

from part import DRY, JOBS, UNPACKED, Part, lines_of_json, say

SMOKE = {  # filters of test_gpu
    "calls": "Calls.*:Lists.*",
    "families": "*Families*/box_coulomb_auto_*:*Families*/stack_coulomb_auto_float64",
    "laws": "*Launch.has_the_bits_of_the_cpu/*",
    "large": "*Large*/coulomb_auto_*",
    "lcp": "*LcpLaunch*",
    "gradients": "*Derivatives*",
}
# What `nvidia-smi` is asked: clocks and limits explain times that differ from one run to the next.
ASKED = ("name,driver_version,pstate,clocks.sm,clocks.mem,clocks.max.sm,memory.total,memory.used,"
         "ecc.mode.current,mig.mode.current,power.limit,temperature.gpu,compute_mode")  # fmt: skip


def smoke(part: Part) -> None:
    """Device, loading of code, small solves, a capture as the first call of a process."""
    if not DRY:
        told = part.run("nvidia-smi", ["nvidia-smi", f"--query-gpu={ASKED}", "--format=csv"], 15)
        part.add("nvidia-smi", values=(told or "").splitlines())
    text = part.run("probe", [part.program("stickslip_gpu_probe")], 30)
    if text is not None:
        values = json.loads(text[text.index("{\n") : text.rindex("}") + 1])
        differ = values["operations_that_differ_from_the_cpu"]
        wrong = any(count for counts in differ.values() for count in counts.values())
        part.store("probe", "failed (operations differ)" if wrong else "passed", values=values)
    speed = part.program("stickslip_gpu_speed")
    for step, lines, variables in (
        ("info", None, {}),
        ("info, eager", 1, {"CUDA_MODULE_LOADING": "EAGER"}),
    ):
        part.run(step, [speed, "info", "96"], 30, **variables)
        part.add_values(step, lines_of_json(part.printed[step])[:lines])
    part.run("capture", [speed, "capture"], 20)
    for name, chosen in SMOKE.items():
        run_tests(part, name, chosen, count=5 if DRY else 20, limit=20)


def run_tests(
    part: Part, step: str, chosen: str, count: int, limit: float, shard: tuple[int, int] = (0, 1)
) -> bool:
    """Tests of test_gpu: how many there were, and the names of those that failed. All skipped, or
    none found, is a failure."""
    report = UNPACKED / f"report-{part.name}-{step}.json".replace(" ", "-")
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    command = [part.program("test_gpu"), f"--gtest_filter={chosen}", "--gtest_brief=1",
               f"--gtest_output=json:{report}"]  # fmt: skip
    text = part.run(step, command, limit, STICKSLIP_TEST_COUNT=count, GTEST_SHARD_INDEX=shard[0],
                    GTEST_TOTAL_SHARDS=shard[1])  # fmt: skip
    found = counts_of(json.loads(report.read_text()) if report.exists() else {})
    part.add(step, count=count, **found)
    if text is not None and found["skipped"] == found["tests"]:
        part.fail(step, "nothing ran")
        return False
    return text is not None


def counts_of(report: dict) -> dict:
    """Numbers of GoogleTest's report, and the names of the tests that failed."""
    tests = [(suite["name"], test) for suite in report.get("testsuites", [])
             for test in suite["testsuite"]]  # fmt: skip
    failed = [f"{suite}.{test['name']}" for suite, test in tests if "failures" in test]
    skipped = sum(test.get("result") == "SKIPPED" for _, test in tests)
    return {"tests": len(tests), "failures": len(failed), "skipped": skipped, "failed": failed}


def bits(part: Part) -> None:
    """All tests, with more and more problems each; then many mixed problems in the time that is
    left. The CPU's side takes most of the time, so there is a process for each core."""
    others = "-*Soak*:*instruction_sets*:*Large*"  # Large needs gigabytes: alone, afterwards
    for_soak = 0.4 * part.limit
    for count in (2,) if DRY else (8, 30, 150, 600, 2400):
        limit = part.left() - for_soak
        if limit < 15:
            break
        start = time.monotonic()

        def run_shard(i: int, count: int = count, limit: float = limit) -> bool:
            return run_tests(part, f"count {count} shard {i}", others, count, limit, (i, JOBS))

        with ThreadPoolExecutor(JOBS) as pool:
            passed = list(pool.map(run_shard, range(JOBS)))
        taken = time.monotonic() - start
        say(f"bits: {count} problems per test: {sum(passed)} of {JOBS} shards passed "
            f"({taken:.0f} s)")  # fmt: skip
        if not all(passed) or 4 * taken > part.left() - for_soak:
            break
    run_tests(part, "large", "*Large*:*ManyRows*", 20, min(25.0, part.left() - 10))
    soak(part)


def soak(part: Part) -> None:
    """Mixed problems in double and mixed precision, one in a hundred poisoned: `problems` of each
    solved twice on the GPU, in two orders of the batch, and compared with the CPU."""
    for count in (50,) if DRY else (10_000, 50_000, 200_000, 500_000, 1_000_000):
        start = time.monotonic()
        step = f"soak {count}"
        if part.left() < 10 or not run_tests(part, step, "*Soak*", count, part.left()):
            break
        part.add(step, problems=count * part.steps[step]["tests"])
        if 4.5 * (time.monotonic() - start) > part.left():
            break


TOOLS = {  # of compute-sanitizer: tests of test_gpu
    "memcheck": "Calls.*:Lists.*:*Families*/box_coulomb_auto_*:*Large*/coulomb_auto_float64",
    "racecheck": "*Launch.has_the_bits_of_the_cpu/coulomb_auto_*:*Launch.has_the_bits_of_the_cpu/"
    "convex_auto_float64:*Launch.has_the_bits_of_the_cpu/pyramid_auto_float64",
    "initcheck": "*Launch.has_the_bits_of_the_cpu/coulomb_auto_*:Calls.a_replay*:Calls.matrices*",
    "synccheck": "*Launch.has_the_bits_of_the_cpu/*_auto_float64:*LcpLaunch.has_the*",
}


def sanitizer(part: Part) -> None:
    """compute-sanitizer's tools side by side, on few problems. First a program that loads only the
    kernels it launches: a workspace touches all of them, and the tools change each one's code."""
    program = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"

    def check(tool: str) -> None:
        command = [program, "--tool", tool]
        command += ["--error-exitcode", "9", "--print-limit", "20"]
        if DRY:
            command = []
        count = 2 if DRY else 8
        for step, words in {
            f"{tool} of rung 0": [part.program("stickslip_gpu_speed"), "lanes", "60"],
            tool: [part.program("test_gpu"), f"--gtest_filter={TOOLS[tool]}", "--gtest_brief=1"],
        }.items():
            part.run(step, [*command, *words], part.left(), GPU_CHECK_DRY=1,
                     STICKSLIP_TEST_COUNT=count)  # fmt: skip
            told = re.findall(r"=+ ((?:ERROR|RACECHECK) SUMMARY:.*)", part.printed[step])
            part.add(step, summary=told)

    with ThreadPoolExecutor(len(TOOLS)) as pool:
        list(pool.map(check, TOOLS))
