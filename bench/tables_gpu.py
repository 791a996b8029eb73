"""Tables of what solves cost a GPU by the emulator's counts, and of the least times these allow.
`python bench/tables_gpu.py GPU.json` shows measured times (bench/run.py --only gpu) beside these.
"""

import json
import re
import sys
from pathlib import Path

from table_text import number, percent, ratio, table

COUNTS = Path(__file__).resolve().parent / "results" / "emulated" / "gpu_counts.json"

CASES = {
    "coulomb_auto_double": "`coulomb`, double",
    "coulomb_auto_mixed": "`coulomb`, mixed",
    "convex_newton_double": "`convex`, Newton, double",
    "pyramid_lemke_double": "`pyramid`, Lemke, double",
    "coulomb_pgs50_double": "`coulomb`, 50 sweeps, double",
    "coulomb_pgs_double": "`coulomb`, sweeps to tolerance, double",
}
SORTED_ENVS = 64  # run_gpu_counts.py
# Warps for which the registers of a multiprocessor of sm_90 suffice (ptxas): up to 255 per thread,
# Lemke's method up to 168 in shared memory.
RESIDENT = {case: 12 if "lemke" in case else 8 for case in CASES}
PROCESSORS, CLOCK = 132, 1.7e9  # H100 SXM and H200; a guess of the clock under load
CLOCK_MEASURED = 1.98e9  # under these loads (bench/gpu_probe.cu, Nsight Compute)
BANDWIDTH = {"H100": 3.35e12, "H200": 4.8e12}  # bytes/s
# Per multiprocessor and cycle: instructions of warps, those in double (64 lanes), transactions.
ISSUED, DOUBLES, TRANSACTIONS = 4, 2, 1


def counted(report: dict) -> dict[tuple, dict]:
    """By case and rows: the few problems that every case has."""
    few = (r for r in report["results"] if r.get("envs") != SORTED_ENVS and "lanes" not in r)
    return {(r["case"], r["rows"]): r for r in few if r["case"] in CASES}


def cells(report: dict, text) -> str:
    found = counted(report)
    sizes = sorted({rows for _, rows in found})
    rows = [[name, *(text(found[case, n]) if (case, n) in found else "–" for n in sizes)]
            for case, name in CASES.items()]  # fmt: skip
    return table(["per environment", *(f"{n} rows" for n in sizes)], rows)


def thousands(count: float) -> str:
    return f"{count / 1e3:,.1f}k" if count < 1e5 else f"{count / 1e3:,.0f}k"


def gpu_counts(report: dict) -> str:
    """Instructions of warps, with the lanes at work; transactions per access to shared memory."""
    return cells(report, lambda r: f"{thousands(r['warp_instructions'])} "
                 f"({r['active_lanes']:.0f}); {r['transactions_per_access']:.1f}")  # fmt: skip


def gpu_piles(report: dict) -> str:
    """Piles that begin without W, and with it: instructions of warps, with the lanes at work,
    barriers, sectors of global memory."""
    names = {"piles_sparse": "without W", "piles_dense": "with W, given"}
    rows = [[names[r["case"]], str(r["rows"]), f"{thousands(r['warp_instructions'])} "
             f"({r['active_lanes']:.0f})", thousands(r["barriers"]), thousands(r["global_sectors"])]
            for r in report["results"] if r["case"] in names]  # fmt: skip
    return table(["per environment", "rows", "warp instructions (lanes)", "barriers",
                  "global sectors"], rows)  # fmt: skip


def gpu_sorted(report: dict) -> str:
    """Instructions of warps, with the lanes at work, of the first solve of a batch and a second."""
    found = {(r["case"], r["rows"], r["solve"]): r for r in report["results"]
             if r.get("envs") == SORTED_ENVS}  # fmt: skip

    def text(r: dict) -> str:
        return f"{thousands(r['warp_instructions'])} ({r['active_lanes']:.0f})"

    rows = [[CASES[case], str(n), text(r), text(found[case, n, 2])]
            for (case, n, solve), r in found.items() if solve == 1]  # fmt: skip
    return table(["per environment", "rows", "first solve", "second solve"], rows) if rows else ""


def gpu_groups(report: dict) -> str:
    """Rung 0 with groups of each size: instructions of warps, and those over the warps that a
    multiprocessor holds. The plan's choice is bold."""
    found = {(r["case"], r["rows"], r["lanes"]): r for r in report["results"] if "lanes" in r}
    chosen = {key: int(r["group"]) for key, r in counted(report).items()}
    lanes = sorted({key[2] for key in found})

    def text(case: str, rows: int, n: int) -> str:
        if (case, rows, n) not in found:
            return "–"
        r = found[case, rows, n]
        warps = min(r["warps_by_shared_memory"], RESIDENT[case])
        entry = f"{thousands(r['warp_instructions'])} / {warps} = " + thousands(
            r["warp_instructions"] / warps
        )
        return f"**{entry}**" if chosen[case, rows] == n else entry

    rows = [[CASES[case], str(n), *(text(case, n, k) for k in lanes)]
            for case, n in dict.fromkeys(key[:2] for key in found)]  # fmt: skip
    return table(["per environment", "rows", *(f"{n} lanes" for n in lanes)], rows)


def floors_of(result: dict, gpu: str) -> dict[str, float]:
    """The least time in ns that each resource of a GPU needs for one environment."""
    doubles = (result["fma_double"] + result["other_double"] + result["div_sqrt"]) / result[
        "active_lanes"
    ]
    cycles = {"issue": result["warp_instructions"] / ISSUED, "fp64": doubles / DOUBLES,
              "shared": result["shared_transactions"] / TRANSACTIONS}  # fmt: skip
    times = {name: 1e9 * count / (PROCESSORS * CLOCK) for name, count in cycles.items()}
    return times | {"memory": 1e9 * 32 * result["global_sectors"] / BANDWIDTH[gpu]}


def largest_floor(result: dict, gpu: str) -> tuple[float, str]:
    """The largest of these times; also as text, with what needs it."""
    floors = floors_of(result, gpu)
    binds = max(floors, key=floors.get)
    return floors[binds], f"{number(floors[binds])} ({binds})"


def gpu_floors(report: dict, gpu: str) -> str:
    return cells(report, lambda result: largest_floor(result, gpu)[1])


def gpu_predicted(report: dict) -> str:
    """Times of `stack` measured on a GPU, beside the least that the counts allow: ns per
    environment of a large batch."""
    found = counted(json.loads(COUNTS.read_text()))
    gpu = "H200" if "H200" in report["machine"]["gpu"] else "H100"
    rows = []
    for result in report["results"]:
        match = re.fullmatch(r"gpu/(\w+)/(\w+)/(\w+)/stack/p:(\d+)", result["name"])
        known = found.get(("_".join(match.groups()[:3]), 3 * int(match[4]))) if match else None
        if known is None:
            continue
        least, text = largest_floor(known, gpu)
        measured = 1e3 * result["us"]
        rows.append([CASES[known["case"]], str(known["rows"]), number(measured), text,
                     ratio(measured / least)])  # fmt: skip
    return table(["", "rows", "measured, ns", "least, ns", "measured / least"], rows)


# Measured: reports of the parts of scripts/gpu/check.py.
LARGE = 16384  # environments
MEASURED = CASES | {
    "coulomb_auto_float": "`coulomb`, data in float",
    "coulomb_pgs50_float": "`coulomb`, 50 sweeps, data in float",
    "pyramid_lemke_float": "`pyramid`, Lemke, data in float",
}


def timed(report: dict) -> dict[tuple, dict]:
    """Times of the part `speed`, by case, rows and environments."""
    return {(r["case"], r["rows"], r["envs"]): r for r in report["steps"]["time"]["values"]
            if "us" in r}  # fmt: skip


def gpu_machine(report: dict) -> str:
    """The card with its driver, command, sources and date of a report."""
    m = report["machine"]
    return (f"`make gpu-check PARTS={report['part']}`: {m['gpu']}; commit `{m['commit'][:7]}`, "
            f"{m['date'][:10]}.\n")  # fmt: skip


def gpu_speed(report: dict) -> str:
    """ns per environment of a large batch, and the share solved where that is not all."""
    found = timed(report)
    sizes = sorted({rows for _, rows, envs in found if envs == LARGE})

    def text(r: dict | None) -> str:
        if r is None:
            return "–"
        return number(r["ns_per_env"]) + ("" if r["solved"] == 1 else f" ({percent(r['solved'])})")

    rows = [[name, *(text(found.get((case, n, LARGE))) for n in sizes)]
            for case, name in MEASURED.items()
            if any((case, n, LARGE) in found for n in sizes)]  # fmt: skip
    return table(["per environment", *(f"{n} rows" for n in sizes)], rows)


def gpu_batches(report: dict) -> str:
    """Microseconds of a solve of few environments and of many, `coulomb` in double."""
    found = {key[1:]: r for key, r in timed(report).items() if key[0] == "coulomb_auto_double"}
    sizes = sorted({envs for _, envs in found})
    rows = [[str(n), *(number(found[n, envs]["us"]) if (n, envs) in found else "–"
                       for envs in sizes)]
            for n in sorted({rows for rows, _ in found})]  # fmt: skip
    return table(["rows", *(f"{envs:,}" for envs in sizes)], rows)


def gpu_lanes(report: dict) -> str:
    """Rung 0 with groups of each size, unsorted: ns per environment, the least bold."""
    found = report["steps"]["lanes"]["values"]
    sizes = sorted({int(lanes) for r in found for lanes in r["ns_per_env"]})

    def text(times: dict, lanes: int) -> str:
        ns = times.get(str(lanes), -1.0)
        least = min(t for t in times.values() if t > 0.0)
        return "–" if ns < 0.0 else f"**{number(ns)}**" if ns == least else number(ns)

    rows = [[CASES[r["case"]], str(r["rows"]), *(text(r["ns_per_env"], n) for n in sizes)]
            for r in found if max(r["ns_per_env"].values()) > 0.0]  # fmt: skip
    return table(["per environment", "rows", *(f"{n} lanes" for n in sizes)], rows)


def gpu_engines(report: dict) -> str:
    """Whole steps of robots in mujoco_warp: ms, and how many times those of its own step."""
    found = [r for r in report["steps"]["steps"]["values"] if "ms_per_step" in r]
    own = {(r["robot"], r["worlds"]): r for r in found if r["step"] == "mujoco_warp"}
    rows = [[r["robot"], f"{r['worlds']:,}", f"`{r['step']}`", number(r["ms_per_step"]),
             ratio(r["ms_per_step"] / own[r["robot"], r["worlds"]]["ms_per_step"]),
             ", ".join(f"{k} {n:,}" for k, n in r["status"].items()) if "status" in r else "–"]
            for r in found]  # fmt: skip
    return table(["robot", "worlds", "step", "ms", "ratio", "status"], rows)


def cycles_of(known: dict, measured: dict) -> float:
    """Cycles of a warp for each of its instructions: what a card took for the instructions that the
    emulator counted, with the warps that a multiprocessor holds."""
    warps = min(known["warps_by_shared_memory"], RESIDENT[known["case"]])
    cycles = 1e-9 * measured["ns_per_env"] * PROCESSORS * CLOCK_MEASURED
    return cycles * warps / known["warp_instructions"]


def gpu_cycles(report: dict) -> str:
    """A model of time: cycles per instruction and resident warp."""
    counts, found = counted(json.loads(COUNTS.read_text())), timed(report)
    sizes = sorted({rows for _, rows in counts})

    def text(case: str, n: int) -> str:
        key = case, n, LARGE
        return number(cycles_of(counts[case, n], found[key])) if key in found else "–"

    rows = [[name, *(text(case, n) if (case, n) in counts else "–" for n in sizes)]
            for case, name in CASES.items()]  # fmt: skip
    return table(["cycles", *(f"{n} rows" for n in sizes)], rows)


if __name__ == "__main__":
    print(gpu_predicted(json.loads(Path(sys.argv[1]).read_text())), end="")
