"""Writes the tables of the documentation from the reports of bench/run.py.

    python bench/tables.py             rewrites them, in every page of docs/
    python bench/tables.py --check     exits with 1 if a page differs from the reports

In a page, these lines enclose a table:

    <!-- table: MACHINE/REPORT KIND [ARGUMENT ...] -->
    <!-- end -->

MACHINE/REPORT is a file of bench/results without .json (MACHINE may be a pattern, for reports of
future machines), KIND a function of this file or of a tables_*.py.
"""

import json
import re
import sys
from pathlib import Path

from table_text import number, percent, ratio, table, times
from tables_gpu import (
    gpu_counts,
    gpu_engines,
    gpu_floors,
    gpu_lanes,
    gpu_machine,
    gpu_piles,
    gpu_predicted,
    gpu_sorted,
    gpu_speed,
)
from tables_gradients import (
    gradient_costs,
    gradient_peers,
    gradient_programs,
    gradient_statuses,
    gradients,
    step_gradients,
)
from tables_learning import environments, gaits, training

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results"
BLOCK = re.compile(r"(<!-- table: (\S+) (\w+)([^>]*) -->\n\n)(.*?)(<!-- end -->)", re.S)
SIZES = [1, 2, 4, 8, 16, 32]
FAMILIES = ["box", "boxrest", "cage", "stack", "stackrest", "stackheavy"]


def by_name(report: dict) -> dict[str, dict]:
    return {result["name"]: result for result in report["results"]}


def machine(report: dict) -> str:
    """The machine, command, sources and date of a report."""
    m = report["machine"]
    where = m["gpu"] or f"{m['cpu']}, {m['cores']} virtual cores"
    isa = f", {m['isa']}" if "isa" in m else ""
    load = f"load {m['load_before']:.1f} before" if "load_before" in m else "load not recorded"
    command = "make gpu-check" if m["gpu"] else f"python bench/run.py --only {report['name']}"
    made = f"commit `{m['commit'][:7]}`, {m['date'][:10]}, {load}"
    return f"`{command}`: {where}{isa}; {m['compiler']}; {made}.\n"


def solvers(report: dict, setup: str) -> str:
    """Microseconds per problem: median (mean); the share solved, if below 1, unless fixed."""
    found = by_name(report)
    rows = []
    for family in FAMILIES:
        row = [family]
        for p in SIZES:
            cell = found.get(f"solve/{setup}/{family}/p:{p}")
            text = f"{number(cell['us_median'])} ({number(cell['us'])})" if cell else "–"
            if cell and cell["solved"] < 1 and "pgs" not in setup:
                text += f" {percent(cell['solved'])}"
            row.append(text)
        rows.append(row)
    return table(["family", *(f"p = {p}" for p in SIZES)], rows)


def setups(report: dict) -> str:
    """Medians over the problems, or means of batches: least and largest of the families."""
    found, rows = by_name(report), []
    cases = [("convex/auto/double", "us_median"), ("pyramid/lemke/double", "us_median")]
    cases += [(f"coulomb/pgs50/{data}", key) for data in ("double", "float")
              for key in ("us_median", "us")]  # fmt: skip
    for setup, key in cases:
        row = [f"`{setup}`" + (", 16 at a time" if key == "us" else "")]
        for p in SIZES:
            names = [f"solve/{setup}/{family}/p:{p}" for family in FAMILIES]
            cells = [found[name] for name in names if name in found]
            values = [cell[key] for cell in cells]
            least = min((c["solved"] for c in cells if "pgs" not in setup), default=1.0)
            row.append(f"{number(min(values))}–{number(max(values))}"
                       + (f" {percent(least)}" if least < 1 else ""))  # fmt: skip
        rows.append(row)
    return table(["", *(f"p = {p}" for p in SIZES)], rows)


def robots(report: dict) -> str:
    """Microseconds: median / 95 % / largest, and the share solved, if below 1."""
    found = by_name(report)
    quantiles = {"coulomb/auto/double": ("median", "p95", "max"), "coulomb/auto/mixed": ("median",),
                 "convex/auto/double": ("median", "p95", "max")}  # fmt: skip
    rows = []
    for robot in sorted({name.rsplit("/", 1)[1] for name in found}):
        row = [robot]
        for column, keys in quantiles.items():
            cell = found[f"robots/{column}/{robot}"]
            solved = f", {percent(cell['solved'])}" if cell["solved"] < 1 else ""
            row.append(times(cell, *keys) + solved)
        rows.append(row)
    return table(["robot", *quantiles], rows)


def rungs(report: dict) -> str:
    """The rungs of the solved problems, and the share solved of all: double / mixed, if they
    differ."""
    kinds: dict[str, dict[str, list[dict]]] = {}
    for r in report["results"]:
        _, _, _, precision, family, case = r["name"].split("/")
        if family == "robots":
            kind = case if case == "aloha_pot" else "13 robots"
        elif family in FAMILIES:
            kind = "six families, p = 32" if case == "p:32" else "six families, p ≤ 16"
        else:
            kind = family
        kinds.setdefault(kind, {}).setdefault(precision, []).append(r)
    keys = ["rung0", "rung1", "rung2", "rung3"]
    rows = []
    for kind, by_precision in kinds.items():
        columns = []
        for cells in by_precision.values():
            mean = {key: sum(cell[key] for cell in cells) for key in ["solved", *keys]}
            shares = [mean[key] / mean["solved"] for key in keys]
            columns.append([*shares[:2], shares[2] + shares[3], mean["solved"] / len(cells)])
        texts = ([f"{100 * share:.2f} %" for share in pair] for pair in zip(*columns, strict=True))
        rows.append([kind, *(" / ".join(dict.fromkeys(pair)) for pair in texts)])
    return table(["", "rung 0", "rung 1", "rungs 2, 3", "solved"], rows)


def piles(report: dict) -> str:
    """Steps of piles: shares solved, milliseconds of a step."""
    share = {"solved": "solved", "by rung 0": "solved_by_rung0"}
    values = {"median ms": "ms_50", "p90": "ms_90", "p99": "ms_99", "max": "ms_100",
              "solves": "solves_per_step", "ms each": "ms_per_solve_50"}  # fmt: skip
    rows = [[r["pile"], number(r["rows_median"]), *(f"{100 * r[k]:.2f} %" for k in share.values()),
             *(number(r[key]) for key in values.values())] for r in report["results"]]  # fmt: skip
    head = ["pile", "rows", *share, *values]
    return table(head, rows)


def plain(report: dict) -> str:
    rows = [[r["name"], number(r["us"]), f"{number(r['us_min'])} – {number(r['us_max_of_runs'])}"]
            for r in report["results"]]  # fmt: skip
    return table(["", "µs each", "range of runs"], rows)


def scaling(report: dict) -> str:
    found = {}
    for result in report["results"]:
        match = re.match(r"scaling/(\w+)/envs:(\d+)/threads:(\d+)", result["name"])
        found[match[1], int(match[3]), int(match[2])] = result["us"]
    sizes = sorted({key[2] for key in found})
    rows = [[f"{where}, {threads} threads" if threads else where,
             *(number(found[where, threads, size]) for size in sizes)]
            for where, threads in dict.fromkeys(key[:2] for key in found)]  # fmt: skip
    return table(["µs per environment; batch of", *(f"{size:,}" for size in sizes)], rows)


def models(report: dict) -> str:
    """Whole steps under coulomb on one thread, by stage; from rest, without a warm start, too."""
    found = {(r["model"], r["law"]): r for r in report["results"] if r["threads"] == 1}
    rows = []
    for model in dict.fromkeys(key[0] for key in found):
        cold, r = (found[model, law] for law in ("coulomb cold", "coulomb"))
        both = [f"{number(r[key])} ({number(cold[key])})"
                for key in ("wall", "solve", "iterations")]  # fmt: skip
        if min(r["solved"], cold["solved"]) < 1:
            both[0] += f" {percent(r['solved'])} ({percent(cold['solved'])})"
        rest = [number(r[stage]) for stage in ("gather", "delassus")]
        rows.append([model, number(r["rows"]), *both, number(r["mujoco"]), *rest,
                     number(r["apply"] + r["scatter"])])  # fmt: skip
    return table(["model", "rows", "wall (cold)", "solve", "iterations", "mujoco", "gather",
                  "delassus", "apply, scatter"], rows)  # fmt: skip


def unknown_models(report: dict) -> str:
    """Whole steps of models that nothing was tuned on."""
    counts = ["dofs", "contacts", "rows", "unsolved"]
    rows = [[f"{r['name']} ({r['from']})", *(str(r[k]) for k in counts),
             *(number(r[k]) for k in ("us_median", "slowest", "ratio"))]
            for r in report["results"]]  # fmt: skip
    names = ["model", "dofs", "contacts", "rows", "not solved"]
    return table([*names, "median, µs", "longest / median", "/ `mjb_step`"], rows)


def steps(report: dict) -> str:
    """Whole steps / mjb_step, medians over the rounds: one thread / all."""
    found = {(r["model"], r["law"], r["threads"]): r for r in report["results"]}
    laws = ("mujoco", "convex", "coulomb")
    rows = [[model, number(found[model, "mjb_step", 1]["wall"]),
             *(" / ".join(f"{found[model, law, n]['ratio_median']:.2f}" for n in (1, "all"))
               for law in laws)]
            for model in dict.fromkeys(r["model"] for r in report["results"])]  # fmt: skip
    return table(["", "`mjb_step`, µs", *laws], rows)


def robot_steps(report: dict) -> str:
    """The solver's part of a step / MuJoCo's Newton on the same states: median (mean)."""
    found = {(r["model"], r["solver"]): r for r in report["results"]}
    rows = []
    for model in dict.fromkeys(key[0] for key in found):
        newton, *ours = (found[model, name] for name in ("mujoco", "convex", "coulomb"))
        texts = [f"{r['ratio_median']:.2f} ({r['ratio_of_means']:.2f})" for r in ours]
        rows.append([model, number(newton["rows"]), times(newton, "median", "mean", "max"),
                     times(ours[0], "median", "mean", "max"), *texts,
                     percent(ours[1]["solved"])])  # fmt: skip
    header = ["", "rows", "MuJoCo, µs", "convex, µs", "convex", "coulomb", "coulomb solved"]
    return table(header, rows)


def claims(result: dict) -> str:
    """Wrong claims of success, and the largest residual among them."""
    worst = result["worst_claimed"]
    return f"{result['claimed_not_solved']}" + (f" (up to {float(worst):.0e})" if worst else "")


def of_peers(report: dict, case: str) -> dict[str, dict]:
    return {r["solver"]: r for r in report["results"] if r["case"] == case}


def peers_by_size(report: dict, cases: str, what: str) -> str:
    """Share solved, and times (ratio to our first solver; 95 %) or wrong claims, by p."""
    sizes = [4, 8, 16]
    found = [of_peers(report, cases.format(p)) for p in sizes]
    told = {
        "times": lambda r: (f"{number(r['us_median'])} ({ratio(r['ratio_median'])}×; "
                            f"{number(r['us_p95'])})"),
        "claims": claims,
    }[what]  # fmt: skip
    rows = [[f"`{solver}`", *(f"{percent(f[solver]['solved'])}; {told(f[solver])}" for f in found)]
            for solver in found[0]]  # fmt: skip
    return table(["solver", *(f"p = {p}" for p in sizes)], rows)


def peers(report: dict, case: str) -> str:
    rows = [[f"`{solver}`", f"{r['problems']:,}", percent(r["solved"]),
             times(r, "median", "p95", "p99.9", "max"),
             f"{ratio(r['ratio_median'])} ({ratio(r['ratio_min'])})", claims(r),
             str(r["solved_not_claimed"]), str(r["not_finite"])]
            for solver, r in of_peers(report, case).items()]  # fmt: skip
    return table(["solver", "problems", "solved", "µs median / 95 % / 99.9 % / max",
                  "ratio (least)", "claims, not solved", "solved, not claimed", "not finite"],
                 rows)  # fmt: skip


KINDS = {f.__name__: f for f in (machine, solvers, setups, robots, rungs, piles, plain, scaling,
                                 models, unknown_models, steps, robot_steps,
                                 environments, training, gaits,
                                 peers_by_size, peers, gradients, gradient_costs,
                                 gradient_peers, gradient_programs, gradient_statuses,
                                 step_gradients,
                                 gpu_counts, gpu_floors, gpu_predicted,
                                 gpu_piles, gpu_sorted, gpu_machine, gpu_speed, gpu_lanes,
                                 gpu_engines)}  # fmt: skip


def block(match: re.Match) -> str:
    """One table of a page, from the reports."""
    begin, reports, kind, arguments, _, end = match.groups()
    files = sorted(RESULTS.glob(f"{reports}.json"))
    found = [json.loads(f.read_text()) | {"name": f.stem, "folder": f.parent.name} for f in files]
    texts = [KINDS[kind](report, *arguments.split()) for report in found]
    return begin + ("\n".join(texts) or "Not measured yet.\n") + "\n" + end


def main() -> int:
    stale = []
    for page in sorted((ROOT / "docs").rglob("*.md")):
        old = page.read_text()
        new = BLOCK.sub(block, old)
        if new == old:
            continue
        stale.append(page)
        if "--check" not in sys.argv[1:]:
            page.write_text(new)
    for page in stale:
        print(f"tables: {page.relative_to(ROOT)} differed from bench/results")
    return 1 if stale and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
