"""Tables of what solves cost a GPU by the emulator's counts, and of the least times these allow.
`python bench/tables_gpu.py GPU.json` shows measured times (bench/run.py --only gpu) beside these.
"""

import json
import re
import sys
from pathlib import Path

from table_text import number, percent, ratio, table

RESULTS = Path(__file__).resolve().parent / "results"
COUNTS = RESULTS / "emulated" / "gpu_counts.json"

CASES = {
    "coulomb_auto_double": "`coulomb`, double",
    "coulomb_auto_mixed": "`coulomb`, mixed",
    "convex_newton_double": "`convex`, Newton, double",
    "pyramid_lemke_double": "`pyramid`, Lemke, double",
    "coulomb_pgs50_double": "`coulomb`, 50 sweeps, double",
    "coulomb_pgs_double": "`coulomb`, sweeps to tolerance, double",
}
SORTED_ENVS = 64  # run_gpu_counts.py
PROCESSORS, CLOCK = 132, 1.7e9  # H100 SXM and H200; a guess of the clock under load
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


def gpu_floors(report: dict) -> str:
    """On an H100 / on an H200, if they differ."""
    return cells(report, lambda result: " / ".join(
        dict.fromkeys(largest_floor(result, gpu)[1] for gpu in BANDWIDTH)))  # fmt: skip


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
    """ns per environment of a large batch, and the share solved where that is not all. Cases that
    the report beside this one, together.json, has too are its."""
    found = timed(report)
    for later in RESULTS.glob(f"{report['folder']}/together.json"):
        found |= timed(json.loads(later.read_text()))
    sizes = sorted({rows for _, rows, envs in found if envs == LARGE})

    def text(r: dict | None) -> str:
        if r is None:
            return "–"
        return number(r["ns_per_env"]) + ("" if r["solved"] == 1 else f" ({percent(r['solved'])})")

    rows = [[name, *(text(found.get((case, n, LARGE))) for n in sizes)]
            for case, name in MEASURED.items()
            if any((case, n, LARGE) in found for n in sizes)]  # fmt: skip
    return table(["per environment", *(f"{n} rows" for n in sizes)], rows)


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


if __name__ == "__main__":
    print(gpu_predicted(json.loads(Path(sys.argv[1]).read_text())), end="")
