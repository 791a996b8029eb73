"""The part profile: what the kernels do with their time, by Nsight Compute."""

import csv
import io
import lzma
import re
import shutil
from collections.abc import Iterable

from part import DRY, Part

# A kernel is run again for each pass that a section needs. InstructionStats and SourceCounters are
# left out: they change the machine code of the whole program, which takes longer than all others.
SECTIONS = ["SpeedOfLight", "Occupancy", "WarpStateStats", "SchedulerStats",
            "MemoryWorkloadAnalysis", "LaunchStats"]  # fmt: skip
METRICS = [  # hardware counters alone
    "gpu__time_duration.sum",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
    "smsp__inst_executed.sum",
    "smsp__inst_executed_pipe_fp64.sum",
    "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "sm__warps_active.avg.per_cycle_active",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "smsp__inst_executed_op_shared_ld.sum",
    "smsp__inst_executed_op_shared_st.sum",
    "l1tex__t_sector_hit_rate.pct",
    "lts__t_sector_hit_rate.pct",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "smsp__inst_executed_op_local.sum",
    "launch__shared_mem_config_size",
    # Instructions: lines from the cache of a multiprocessor, and from that which a cluster of them
    # shares, and how long the latter is busy.
    "sm__icc_requests.sum",
    "sm__icc_requests_lookup_hit.sum",
    "sm__icc_requests_lookup_miss_tag_miss.sum",
    "gcc__cache_requests_type_instruction.sum",
    "gcc__cycles_active.sum",
    "gcc__cycles_elapsed.sum",
]
KEPT = re.compile(
    r"smsp__average_warps_issue_stalled_\w+_per_issue_active\.ratio"
    r"|launch__registers_per_thread|launch__occupancy_limit_\w+|"
    + "|".join(map(re.escape, METRICS))
)
STALLS = "group:smsp__pcsamp_warp_stall_reasons"
CASES = [  # rows, environments; the most important first
    ("coulomb_auto_double", 24, 8192),
    ("coulomb_auto_double", 12, 16384),
    ("coulomb_auto_double", 24, 132),  # one warp on each multiprocessor: what is not contention
    ("coulomb_auto_double", 48, 4096),
    ("pyramid_lemke_double", 24, 8192),
    ("convex_newton_double", 24, 8192),
    ("coulomb_pgs50_double", 24, 8192),
    ("coulomb_auto_double", 96, 1056),
    ("pyramid_lemke_double", 12, 16384),
    ("coulomb_auto_float", 24, 8192),
]
FIRST = 4  # of these; then the stalls by instruction, then the others
STEP_LIMIT = 20.0  # s
FILE_LIMIT = 15 << 20  # bytes of such a file
SHOWN = {  # column: metric
    "us": "gpu__time_duration.sum",
    "lanes": "smsp__thread_inst_executed_per_inst_executed.ratio",
    "Minst": "smsp__inst_executed.sum",
    "issue %": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "fp64 %": "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active",
    "warps": "sm__warps_active.avg.per_cycle_active",
    "conflicts M": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "wavefronts M": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "code M": "gcc__cache_requests_type_instruction.sum",
    "code busy": "gcc__cycles_active.sum",
}


def ncu() -> list:
    """Nsight Compute on what a program puts in the profiler's range, in base units: times in ns,
    and counts whole whatever their size."""
    program = shutil.which("ncu") or "/usr/local/cuda/bin/ncu"
    return [program, "--profile-from-start", "off", "--clock-control", "none",
            "--target-processes", "all", "--print-units", "base"]  # fmt: skip


def number(text: str) -> float | str:
    """A value as ncu prints it, with commas between thousands; text that is no number as it is."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return text


def kernel_name(signature: str) -> str:
    """A kernel without its arguments, which begin at the first bracket outside < >."""
    depth = 0
    for i, char in enumerate(signature):
        depth += (char == "<") - (char == ">")
        if char == "(" and depth == 0 and i > 0:
            return signature[:i].strip()
    return signature


def launches_of(text: str) -> list[dict]:
    """The launches of ncu's raw page as CSV, the longest first, with the metrics that are used."""
    begin = text.find('"ID"')
    lines = [line for line in text[max(0, begin) :].splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(io.StringIO("\n".join(lines)))) if begin >= 0 else []
    launches = []
    for row in rows[1:]:  # the first has units
        launch: dict = {"kernel": kernel_name(row.get("Kernel Name") or ""),
                        "grid": row.get("Grid Size"), "block": row.get("Block Size")}  # fmt: skip
        launch |= {k: number(v) for k, v in row.items() if k and v and KEPT.fullmatch(k)}
        launches.append(launch)
    return sorted(launches, key=lambda launch: -float(launch.get(SHOWN["us"], 0.0)))


def sampled_rows(text: str) -> str:
    """The lines of ncu's source page with samples, and its header; all if they are not as expected.
    The sampler's columns are those of its metrics, and those that say "Samples"."""
    lines = text.splitlines(keepends=True)
    header = next((i for i, line in enumerate(lines) if line.startswith('"') and "Source" in line
                   and ("amples" in line or "pcsamp" in line)), None)  # fmt: skip
    if header is None:
        return text
    names = next(csv.reader([lines[header]]))
    columns = [i for i, name in enumerate(names) if "pcsamp" in name or "amples" in name]

    def has_samples(line: str) -> bool:
        cells = next(csv.reader([line]), [])
        values = (number(cells[i]) for i in columns if i < len(cells))
        return any(isinstance(value, float) and value > 0 for value in values)

    kept = [line for line in lines[header + 1 :] if line.startswith('"') and has_samples(line)]
    return "".join([lines[header], *kept]) if kept else text


def profile_case(part: Part, case: str, rows: int, envs: int) -> dict | None:
    """Counters of rung 0 of the largest class, which is launched first and takes most of the time:
    other launches cost ncu as much."""
    step = f"{case} {rows} x{envs}"
    sections = [word for section in SECTIONS for word in ("--section", section)]
    command = [*ncu(), "-k", "regex:(solve|convex|lcp)_kernel", "--launch-count", 1, *sections,
               "--metrics", ",".join(METRICS), "--csv", "--page", "raw"]  # fmt: skip
    solve = [part.program("stickslip_gpu_speed"), "solve", case, rows, envs]
    text = part.run(step, [*command, *solve], STEP_LIMIT)
    launches = launches_of(text or "")
    part.add(step, envs=envs, launches=launches)
    if text is not None and not launches:
        part.fail(step, "no launches")
    return launches[0] if launches else None


def stalls_by_instruction(part: Part, rows: int, envs: int) -> None:
    """Samples of the program counter of rung 0."""
    step = f"{rows} rows by instruction"
    case = CASES[0][0]
    command = [*ncu(), "-k", "regex:solve_kernel", "--launch-count", 1, "--metrics", STALLS,
               "--page", "source", "--csv"]  # fmt: skip
    solve = [part.program("stickslip_gpu_speed"), "solve", case, rows, envs]
    text = part.run(step, [*command, *solve], STEP_LIMIT)
    if text is None:
        return
    packed = lzma.compress(sampled_rows(text).encode())
    if len(packed) > FILE_LIMIT:
        part.store(step, f"failed ({len(packed) >> 20} MiB)")
        return
    name = f"instructions_{rows}.csv.xz"
    (part.out / name).write_bytes(packed)
    part.add(step, lines=text.count("\n"), file=name)


def all_kernels(part: Part) -> None:
    """All kernels of a solve with their times alone: what lists, sorts and empty launches cost."""
    step = "all kernels of a solve"
    command = [*ncu(), "--metrics", SHOWN["us"], "--csv", "--page", "raw"]
    solve = [part.program("stickslip_gpu_speed"), "solve", "coulomb_auto_double", 24, 16384]
    text = part.run(step, [*command, *solve], STEP_LIMIT)
    part.add(step, launches=launches_of(text or ""))


def show(table: Iterable[tuple[str, dict]]) -> None:
    print(f"{'':36}" + "".join(f"{column:>13}" for column in SHOWN))
    for name, launch in table:
        values = {c: launch.get(m, "-") for c, m in SHOWN.items()}
        for column in ("us", "Minst", "conflicts M", "wavefronts M", "code M"):
            if isinstance(values[column], float):
                values[column] /= 1e3 if column == "us" else 1e6
        elapsed = launch.get("gcc__cycles_elapsed.sum")
        if isinstance(values["code busy"], float) and isinstance(elapsed, float):
            values["code busy"] /= elapsed
        cells = (f"{v:13,.2f}" if isinstance(v, float) else f"{v:>13}" for v in values.values())
        print(f"{name:36}" + "".join(cells))


def profile(part: Part) -> None:
    """Occupancy, issue, stalls, fp64, shared memory and caches of each case."""
    if DRY:  # the same program, without the profiler
        for case, rows, _ in CASES[:2]:
            solve = [part.program("stickslip_gpu_speed"), "solve", case, rows, 16]
            part.run(f"{case} {rows}", solve, 60)
        return
    table = []
    for i, (case, rows, envs) in enumerate(CASES):
        if i == FIRST:
            stalls_by_instruction(part, 24, 8192)
            stalls_by_instruction(part, 12, 16384)
            stalls_by_instruction(part, 96, 528)
        longest = profile_case(part, case, rows, envs)
        if longest:
            table.append((f"{case} {rows} x{envs}", longest))
    all_kernels(part)
    show(table)
