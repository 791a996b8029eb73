"""Runs all benchmarks and writes one report per kind: `make bench`.

    python bench/run.py [--build build/release] [--out out/bench] [--record] [--min-time 0.1]
                        [--only scaling ...]

--record writes to bench/results/<machine>/ instead; --only runs only these reports. Programs that
were not built, and missing models or data, are named and skipped. Everything except the scaling
over threads and whole steps is pinned to one core; times per problem are CPU times there.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from machine import changed_files, describe_machine, machine_name
from tables import FAMILIES

ROOT = Path(__file__).resolve().parents[1]

REPETITIONS = 3
KINDS = {  # report: (filter of stickslip_bench, pinned to one core)
    "solvers": ("^solve/", True),
    "robots": ("^robots/", True),
    "rungs": ("^rungs/", True),
    "delassus": ("^(delassus|apply_impulse)/", True),
    "gradient_costs": ("^gradients/", True),
    "scaling": ("^scaling/", False),
    "gpu": ("^gpu/", False),
}
RANDOM = [*(f"--family={name}" for name in FAMILIES), "--count=30", "--rounds=5"]
ROBOTS = ["robots/*.h5", "--law=convex", "--rounds=5"]
PEER_RUNS = {  # arguments of bench/compare; a pattern selects files in the data
    **{f"coulomb_p{p}": [*RANDOM, f"--contacts={p}"] for p in (4, 8, 16)},
    **{f"coulomb_p{p}_strict": [*RANDOM, f"--contacts={p}", "--peer-tol=1e-11"]
       for p in (4, 8, 16)},
    **{f"pyramid_p{p}": [*RANDOM, f"--contacts={p}", "--law=pyramid"] for p in (4, 8, 16)},
    "convex_robots": ROBOTS,
    "convex_robots_strict": [*ROBOTS, "--peer-tol=1e-13"],
    "coulomb_fc3d": ["problems/fc3d*.h5", "--rounds=3"],
}  # fmt: skip
COUNTERS = [
    "solved",
    "bytes",
    "floor_us",
    "flops",
    "us_median",
    "us_p95",
    "us_max",
    *(f"rung{i}" for i in range(4)),
    "solve_us",
    "after_of_means",
    "after_median",
    "together_of_means",
    "together_median",
    "valid",
]
SCRIPTS = ["models", "unknown_models", "envs", "piles", "budget", "gradients", "step_gradients",
           "gradient_peers"]  # fmt: skip
EMULATED = {"gpu_counts": [], "gpu_counts_quick": ["--quick"]}  # the same on every machine
LONG = ["training"]  # hours: only on request


def run(command: list, pinned: bool, stdout=None) -> None:
    """Runs a program from the repository root; with `pinned`, on the last core it may use."""
    cores = os.sched_getaffinity(0)
    pin = (lambda: os.sched_setaffinity(0, {max(cores)})) if pinned else None
    words = [str(c) for c in command]
    subprocess.run(words, check=True, cwd=ROOT, preexec_fn=pin, stdout=stdout)


def condense(report: dict) -> list[dict]:
    """One record per benchmark: microseconds per problem, median and range of the repetitions."""
    repetitions: dict[str, list[dict]] = {}
    for entry in report["benchmarks"]:
        if entry["run_type"] == "iteration" and "items_per_second" in entry:
            repetitions.setdefault(entry["run_name"], []).append(entry)
    records = []
    for name, entries in repetitions.items():
        times = [1e6 / entry["items_per_second"] for entry in entries]
        record = {"name": name, "us": statistics.median(times)}
        record |= {"us_min": min(times), "us_max_of_runs": max(times)}
        for counter in COUNTERS:
            if counter in entries[0]:
                record[counter] = statistics.median(entry[counter] for entry in entries)
        records.append({k: v if k == "name" else round(v, 4) for k, v in record.items()})
    return records


def write(path: Path, machine: dict, results: list[dict], **more) -> None:
    """A JSON file with one line per result."""
    lines = ",\n  ".join(json.dumps(result) for result in results)
    head = json.dumps(machine | more, indent=2, ensure_ascii=False).replace("\n", "\n  ")
    path.write_text(f'{{\n  "machine": {head},\n  "results": [\n  {lines}\n  ]\n}}\n')
    print(f"bench: {path} ({len(results)} results)")


def run_google(build: Path, out: Path, machine: dict, min_time: float, only: list[str]) -> None:
    program = build / "bench" / "stickslip_bench"
    if not program.exists():
        print(f"bench: {program} was not built (Google Benchmark missing?), skipped")
        return
    for kind, (chosen, pinned) in KINDS.items():
        if kind not in only:
            continue
        raw = build / f"{kind}.json"
        raw.unlink(missing_ok=True)
        load = os.getloadavg()[0]
        run([program, f"--benchmark_filter={chosen}", f"--benchmark_min_time={min_time}",
             f"--benchmark_repetitions={REPETITIONS}", f"--benchmark_out={raw}",
             "--benchmark_out_format=json"], pinned)  # fmt: skip
        text = raw.read_text() if raw.exists() else ""  # empty if no benchmark matched
        report = json.loads(text or '{"benchmarks": []}')
        context = report.get("context", {})
        facts = {key: context[key] for key in ("isa", "stickslip") if key in context}
        results = condense(report)
        if results:
            write(out / f"{kind}.json", machine, results, load_before=load, **facts)
        else:
            print(f"bench: nothing ran for {kind} (its data, or a GPU, are not here), skipped")


def run_peers(build: Path, out: Path, machine: dict) -> None:
    """`python bench/compare` with all adapters that were built. It pins itself."""
    data = Path(os.environ.get("STICKSLIP_DATA", ROOT.parent / "shared" / "data"))
    environment = os.environ | {"STICKSLIP_COMPARE": str(build / "bench" / "compare")}
    raw, results, facts, load = build / "peers", [], {}, os.getloadavg()[0]
    for case, arguments in PEER_RUNS.items():
        files = [str(f) for a in arguments if "*" in a for f in sorted(data.glob(a))]
        if any("*" in a for a in arguments) and not files:
            print(f"bench: no data for {case} in {data}, skipped")
            continue
        command = [sys.executable, ROOT / "bench" / "compare", *files, "--out", raw,
                   *(a for a in arguments if "*" not in a)]  # fmt: skip
        if subprocess.run([str(c) for c in command], cwd=ROOT, env=environment).returncode:
            print(f"bench: bench/compare was not built or failed, no {case}")
            continue
        report = json.loads((raw / "compare.json").read_text())
        facts = {"about": facts.get("about", {}) | {r["solver"]: r.pop("about")
                                                    for r in report["results"]}}  # fmt: skip
        facts["not_installed"] = report["not_installed"]
        results += [{"case": case, **row} for row in report["results"]]
        (raw / "compare.png").replace(raw / f"{case}.png")
    if results:
        write(out / "peers.json", machine, results, load_before=load, **facts)


ROBOTS_STEPPED = ("ant", "humanoid", "dm_humanoid", "g1", "go2", "spot", "leap", "dm_dog")


def run_robot_steps(build: Path, out: Path, machine: dict) -> None:
    """The solver's part of a step and MuJoCo's Newton, on the robots that are installed."""
    program = build / "bench" / "stickslip_robot_steps"
    if not program.exists():
        print(f"bench: {program} was not built (MuJoCo missing?), no robots' steps")
        return
    try:
        from stickslip import models
    except ImportError:
        print("bench: the Python package is not installed, no robots' steps")
        return
    here = models.available()
    for name in set(ROBOTS_STEPPED) - set(here):
        print(f"bench: {name} is not installed, skipped")
    files = [f"{name}={here[name]}" for name in ROBOTS_STEPPED if name in here]
    load, raw = os.getloadavg()[0], build / "robot_steps.jsonl"
    with open(raw, "w") as file:
        run([program, *files], pinned=True, stdout=file)
    lines = raw.read_text().splitlines()
    write(out / "robot_steps.json", machine, [json.loads(line) for line in lines], load_before=load)


def run_script(kind: str, build: Path, out: Path, machine: dict, *options: str) -> None:
    """bench/run_<kind>.py, which writes its results."""
    load, raw = os.getloadavg()[0], build / f"{kind}.json"
    raw.unlink(missing_ok=True)
    try:
        run(
            [sys.executable, f"bench/run_{kind.removesuffix('_quick')}.py", raw, *options],
            pinned=False,
        )
    except subprocess.CalledProcessError:
        print(f"bench: {kind} failed (what does it need?), no report")
        return
    write(out / f"{kind}.json", machine, json.loads(raw.read_text()), load_before=load)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "bench")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--min-time", type=float, default=0.1)
    reports = [*KINDS, "peers", "robot_steps", *SCRIPTS, *EMULATED]
    parser.add_argument("--only", nargs="+", choices=[*reports, *LONG], default=reports)
    given = parser.parse_args()
    machine = describe_machine()
    machine["changed_since_commit"] = changed_files()
    out = (
        ROOT / "bench" / "results" / machine_name(machine) if given.record else given.out
    ).resolve()
    out.mkdir(parents=True, exist_ok=True)
    build = given.build.resolve()
    run_google(build, out, machine, given.min_time, given.only)
    if "peers" in given.only:
        run_peers(build, out, machine)
    if "robot_steps" in given.only:
        run_robot_steps(build, out, machine)
    for kind in (*SCRIPTS, *LONG):
        if kind in given.only:
            run_script(kind, build, out, machine)
    for kind, options in EMULATED.items():
        if kind in given.only:
            folder = ROOT / "bench" / "results" / "emulated" if given.record else out
            folder.mkdir(parents=True, exist_ok=True)
            run_script(kind, build, folder, machine, *options)


if __name__ == "__main__":
    main()
