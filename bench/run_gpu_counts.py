"""Counts what a solve costs a GPU, on an emulator: warp instructions, lanes, barriers, memory.

    python bench/run_gpu_counts.py OUT [--quick] [--only CASE ...] [--rows N ...] [--check]

`scripts/gpu_emulate.sh counts` builds the program with the optimisations of a release, on a CUDA
runtime that interprets PTX: ptxas has not seen these instructions, and no count is a time. Means
per environment, of 16 problems of the family `stack`. Where groups share a warp, also of 64: of the
first solve (`solve` 1), and of a second one, whose lists are sorted by the work of the first. Also
rung 0 alone with groups of 8, 32, 64 and 128 lanes (`lanes`), in the order of the batch, from which
src/cuda/plan.hpp chooses; not of two cases that tell nothing more. And of 4 piles of 200 and 320
rows that begin without W (`piles_sparse`) or have it (`piles_dense`).

--quick: only the 16 problems, up to 24 rows, and the piles, with the kernels of
`scripts/gpu_emulate.sh quick`, which compile faster: they need more instructions, and only tell
whether a change has added some.
--check compares instructions, barriers and transactions with those stored, if they are of the same
nvcc, and fails if one has grown by more than 5 % or is not stored.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from machine import describe_machine

ROOT = Path(__file__).resolve().parents[1]
CASES = ["coulomb_auto_double", "coulomb_auto_mixed", "convex_newton_double",
         "pyramid_lemke_double", "coulomb_pgs50_double", "coulomb_pgs_double"]  # fmt: skip
ROWS = [12, 24, 48, 96]
QUICK_ROWS = ROWS[:2]
LONG = ("coulomb_pgs_double", 96)  # many minutes, and no other code than with 48 rows
ENVS = 16
# Of narrow groups (kernels/gpu/gpu_kernels.hpp): their neighbours in a warp matter.
SORTED = [*((case, 12) for case in CASES), ("coulomb_pgs50_double", 24), ("coulomb_pgs_double", 24)]
SORTED_ENVS = 64
PILES, PILE_ROWS, PILE_ENVS = ["piles_sparse", "piles_dense"], [200, 320], 4
LANES = [8, 32, 64, 128]
GROUPED = [case for case in CASES if case not in ("coulomb_auto_mixed", "coulomb_pgs_double")]
NO_GROUP = 3  # gpu_counts.cpp
LITTLE = 0.01  # of the instructions of the largest launch
SLACK = 1.05
SHARED = 228 * 1024  # bytes of a multiprocessor of sm_90; 1 kB of each block is the system's
KEYS = ["case", "rows", "envs", "solve", "lanes"]
MEANS = ["warp_instructions", "barriers", "shared_accesses", "shared_transactions",
         "global_sectors", "local_accesses", "fma_double", "fma_float", "other_double",
         "div_sqrt"]  # fmt: skip


def natural_seed(launch: int) -> int:
    """The emulator's seed with which that launch of a run has schedule 0: lanes that diverged come
    together as soon as the program lets them, as on a GPU. Other schedules tear them apart, to find
    races. A launch's schedule is seed * 1000003 + its number, modulo 2^64."""
    return -launch * pow(1000003, -1, 2**64) % 2**64


def launches_of(program: Path, case: list, natural: int) -> list[dict]:
    """All launches of a run; `natural`: the number of the one with the natural schedule."""
    with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as report:
        # One multiprocessor: 16 environments are then planned as a large batch is.
        settings = {"GPU_EMULATOR_REPORT": report.name, "GPU_EMULATOR_CHECK": "none",
                    "GPU_EMULATOR_PROCESSORS": "1",
                    "GPU_EMULATOR_SEED": str(natural_seed(natural))}  # fmt: skip
        subprocess.run([program, *map(str, case)], check=True,
                       env=os.environ | settings, stdout=subprocess.DEVNULL)  # fmt: skip
        return [json.loads(line) for line in report]


def count(program: Path, name: str, rows: int, envs: int = ENVS, solve: int = 1) -> dict:
    """Each launch of a solve that matters is counted in a run of its own."""
    case = [name, rows, envs, solve]
    launches = launches_of(program, case, 0)
    begin = len(launches) // solve * (solve - 1)
    solves = [i for i in range(begin, len(launches))
              if re.search("(solve|sparse)_kernel", launches[i]["kernel"])]  # fmt: skip
    lists = sum(launches[i]["warp_instructions"] for i in range(begin, len(launches))
                if i not in solves)  # fmt: skip
    largest = max(launches[i]["warp_instructions"] for i in solves)
    for i in solves:
        if launches[i]["warp_instructions"] > LITTLE * largest:
            launches[i] = launches_of(program, case, i)[i]
    return {"case": name, "rows": rows, "envs": envs, "solve": solve,
            "list_instructions": round(lists / envs, 1),
            **of_launches([launches[i] for i in solves], envs)}  # fmt: skip


def of_launches(launches: list[dict], envs: int) -> dict:
    """Means per environment; shape of the launch that costs most."""
    sums = {key: sum(launch[key] for launch in launches) for key in [*MEANS, "lane_instructions"]}
    main = max(launches, key=lambda launch: launch["warp_instructions"])
    threads = main["block"][0]
    shared = main["dynamic_shared"] + main["static_shared"]
    return {
        **{key: round(sums[key] / envs, 1) for key in MEANS},
        "active_lanes": round(sums["lane_instructions"] / sums["warp_instructions"], 2),
        "transactions_per_access": round(
            sums["shared_transactions"] / max(1, sums["shared_accesses"]), 3
        ),
        "group": main["kernel"].split("Group<")[1].split(">")[0],  # its lanes
        "block_threads": threads,
        "block_shared_bytes": shared,
        "warps_by_shared_memory": SHARED // (shared + 1024) * (threads // 32),
    }


def count_groups(program: Path, name: str, rows: int, lanes: int) -> dict | None:
    """One launch with groups of so many lanes; None if there is no such kernel, or no room."""
    try:
        (launch,) = launches_of(program, [name, rows, ENVS, 1, lanes], 0)
    except subprocess.CalledProcessError as error:
        if error.returncode != NO_GROUP:
            raise
        return None
    return {"case": name, "rows": rows, "lanes": lanes, **of_launches([launch], ENVS)}


def check(results: list[dict], table: Path) -> bool:
    def key_of(r: dict) -> tuple:
        return r["case"], r["rows"], r.get("envs", ENVS), r.get("solve", 1), r.get("lanes", 0)

    stored = json.loads(table.read_text())
    if describe_machine()["nvcc"] != stored["machine"]["nvcc"]:
        print(f"counts: those in {table} are of {stored['machine']['nvcc']}: not compared")
        return True
    known = {key_of(r): r for r in stored["results"]}
    good = True
    for result in results:
        before = known.get(key_of(result), {})
        for key in ("warp_instructions", "shared_transactions", "barriers"):
            if key not in before or result[key] > SLACK * before[key]:
                good = False
                where = ", ".join(f"{k} {result[k]}" for k in KEYS if k in result)
                print(f"{where}: {key} {result[key]:.0f}, {before.get(key, 'none')} in {table}")
    print(f"counts: {len(results)} compared with {table.name}{'' if good else ': more'}")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", choices=CASES + PILES, default=CASES + PILES)
    parser.add_argument("--rows", nargs="+", type=int, choices=ROWS + PILE_ROWS)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    rows = given.rows or (QUICK_ROWS if given.quick else ROWS)
    folder, table = (("emulated-quick", "gpu_counts_quick") if given.quick else
                     ("emulated", "gpu_counts"))  # fmt: skip
    program = ROOT / "build" / folder / "bench" / "stickslip_gpu_counts"
    wanted = [(case, n) for n in rows for case in given.only
              if case in CASES and n in ROWS and (case, n) != LONG]  # fmt: skip
    groups = []
    if not given.quick:
        groups = [(*w, lanes) for w in wanted if w[0] in GROUPED for lanes in LANES]
        wanted += [(*case, SORTED_ENVS, solve) for case in SORTED if case in wanted
                   for solve in (1, 2)]  # fmt: skip
    rows = [n for n in given.rows or PILE_ROWS if n in PILE_ROWS]
    wanted += [(case, n, PILE_ENVS) for case in given.only if case in PILES for n in rows]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda w: count(program, *w), wanted))
        results += filter(None, pool.map(lambda w: count_groups(program, *w), groups))
    given.out.write_text(json.dumps(results))
    stored = ROOT / "bench" / "results" / "emulated" / f"{table}.json"
    return 0 if not given.check or check(results, stored) else 1


if __name__ == "__main__":
    sys.exit(main())
