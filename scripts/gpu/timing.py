"""The parts that time: speed (solves beside the least times that counts allow), lanes, bench."""

import json
import sys

from part import DRY, ROOT, UNPACKED, Part, lines_of_json

sys.path.append(str(ROOT / "bench"))

from tables_gpu import BANDWIDTH, COUNTS, counted, floors_of


def beside_the_least(result: dict, known: dict | None, gpu: str) -> dict:
    """A time with the least that the emulator's counts allow, and what needs it."""
    if known is None or "ns_per_env" not in result:
        return result
    floors = floors_of(known, gpu)
    binds = max(floors, key=floors.get)
    ratio = round(result["ns_per_env"] / floors[binds], 2)
    return result | {
        "least_ns": round(floors[binds], 1),
        "binds": binds,
        "measured_over_least": ratio,
    }


def speed(part: Part) -> None:
    """Times of solves by events on the device, and environments with other bits than the CPU's."""
    limit = 5 if DRY else part.limit - 20
    chosen = "12" if DRY else ""
    part.run("time", [part.program("stickslip_gpu_speed"), "time", limit, chosen], limit + 20)
    counts = counted(json.loads(COUNTS.read_text()))
    card = part.session.machine["gpu"] or ""
    gpu = next((name for name in BANDWIDTH if name in card), "H100")
    results = [beside_the_least(r, counts.get((r["case"], r["rows"])), gpu)
               for r in lines_of_json(part.printed["time"])]  # fmt: skip
    part.add_values("time", results)
    print(f"{'case':24} rows   envs    ns/env  least (binds)   x   solved  CPU ns  differ")
    for r in results:
        if "error" in r:
            print(f"{r['case']:24} {r['rows']:4} {r['error'][:90]}")
            continue
        print(f"{r['case']:24} {r['rows']:4} {r['envs']:6} {r['ns_per_env']:9.1f} "
              f"{r.get('least_ns', '-'):>7} {r.get('binds', ''):7} "
              f"{r.get('measured_over_least', '-'):>5} {r['solved']:.4f} "
              f"{r['cpu_ns_per_env']:8.0f} {r['different_bits']:4}")  # fmt: skip
    wrong = [f"{r['case']} {r['rows']}" for r in results if r.get("different_bits")]
    refused = [f"{r['case']} {r['rows']}" for r in results if "error" in r]
    part.store("bits", "failed" if wrong else "passed", different=wrong)
    if refused:
        part.store("cases", "failed", errors=refused)


def lanes(part: Part) -> None:
    """Rung 0 with groups of every size: whether src/cuda/plan.hpp chooses the fastest."""
    limit = 5 if DRY else part.limit - 8
    part.run("lanes", [part.program("stickslip_gpu_speed"), "lanes", limit])
    results = lines_of_json(part.printed["lanes"])
    part.add_values("lanes", results)
    for r in results:
        print(f"{r['case']:24} {r['rows']:4}  ns per environment by lanes: {r['ns_per_env']}")


def bench(part: Part) -> None:
    """The project's own report of a GPU (gpu.json), and its times beside the least ones."""
    build = UNPACKED / "bench-build"
    link = build / "bench" / "stickslip_bench"
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(part.program("stickslip_bench"))
    report = part.out / "gpu.json"
    report.unlink(missing_ok=True)
    command = [sys.executable, "bench/run.py", "--build", build, "--out", part.out]
    part.run("report", [*command, "--min-time", "0.02", "--only", "gpu"])
    if DRY:
        return
    if report.exists():
        print(part.run("tables", [sys.executable, "bench/tables_gpu.py", report], 20) or "")
    else:
        part.store("gpu.json", "failed (nothing ran)")
