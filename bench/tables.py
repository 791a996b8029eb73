"""Prints reports of bench/run.py as the Markdown tables of docs/performance.md.

python bench/tables.py bench/results/<machine>
"""

import json
import re
import sys
from pathlib import Path

SIZES = [1, 2, 4, 8, 16, 32]
FAMILIES = ["box", "boxrest", "cage", "stack", "stackrest", "stackheavy"]


def table(header: list[str], rows: list[list[str]]) -> None:
    for line in [header, ["---"] * len(header), *rows]:
        print("| " + " | ".join(line) + " |")
    print()


def number(value: float) -> str:
    """Three digits, or one decimal below 10."""
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def by_name(results: list[dict]) -> dict[str, dict]:
    return {result["name"]: result for result in results}


def solvers(results: list[dict]) -> None:
    found = by_name(results)
    setups = dict.fromkeys(name.split("/", 1)[1].rsplit("/", 2)[0] for name in found)
    for setup in setups:
        print(f"**{setup}**: µs per problem, median (mean); share solved where below 100 %\n")
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
        table(["family", *(f"p = {p}" for p in SIZES)], rows)


def compare(results: list[dict]) -> None:
    for law in ("coulomb", "pyramid"):
        found = {r["case"]: r for r in results if r.get("law", "coulomb") == law}
        if not found:
            continue
        print(f"`{law}`, ours / prototype, of the medians over 100 problems; ", end="")
        print("median of 11 rounds (least)\n")
        rows = []
        for family in FAMILIES:
            cells = [found.get(f"{family}/p:{p}") for p in SIZES[1:]]
            texts = [f"{c['ratio_median']:.2f} ({c['ratio_min']:.2f})" if c else "–" for c in cells]
            rows.append([family, *texts])
        table(["family", *(f"p = {p}" for p in SIZES[1:])], rows)


def robots(results: list[dict]) -> None:
    print("µs per problem: median / 95 % / largest, each alone on one core; share solved\n")
    found = by_name(results)
    columns = ["coulomb/auto/double", "coulomb/auto/mixed", "convex/auto/double"]
    rows = []
    for robot in sorted({name.rsplit("/", 1)[1] for name in found}):
        row = [robot]
        for column in columns:
            cell = found[f"robots/{column}/{robot}"]
            times = " / ".join(number(cell[key]) for key in ("us_median", "us_p95", "us_max"))
            row.append(f"{times}, {percent(cell['solved'])}")
        rows.append(row)
    table(["robot", *columns], rows)


def rungs(results: list[dict]) -> None:
    print("Of the problems that are solved, on which rung; and the share solved of all\n")
    kinds: dict[str, list[dict]] = {}
    for r in results:
        _, _, _, precision, family, case = r["name"].split("/")
        if family == "robots":
            kind = case if case == "aloha_pot" else "13 robots"
        elif family in FAMILIES:
            kind = "six families, p = 32" if case == "p:32" else "six families, p ≤ 16"
        else:
            kind = family
        kinds.setdefault(f"{kind}, {precision}", []).append(r)
    keys = ["solved", *(f"rung{i}" for i in range(5))]
    rows = []
    for kind, cells in kinds.items():
        mean = {key: sum(cell[key] for cell in cells) / len(cells) for key in keys}
        shares = [f"{100 * mean[key] / mean['solved']:.2f} %" for key in keys[1:]]
        rows.append([kind, *shares, f"{100 * mean['solved']:.2f} %"])
    table(["", *(f"rung {i}" for i in range(5)), "solved"], rows)


def plain(results: list[dict]) -> None:
    rows = [[r["name"], number(r["us"]), f"{number(r['us_min'])} – {number(r['us_max_of_runs'])}"]
            for r in results]  # fmt: skip
    table(["", "µs each", "range of runs"], rows)


def scaling(results: list[dict]) -> None:
    times = {}
    for result in results:
        match = re.match(r"scaling/(\w+)/envs:(\d+)/threads:(\d+)", result["name"])
        times[match[1], int(match[3]), int(match[2])] = result["us"]
    sizes = sorted({key[2] for key in times})
    rows = [[f"{where}, {threads} threads" if threads else where,
             *(number(times[where, threads, size]) for size in sizes)]
            for where, threads in dict.fromkeys(key[:2] for key in times)]  # fmt: skip
    table(["µs per environment; batch of", *(f"{size:,}" for size in sizes)], rows)


def models(results: list[dict]) -> None:
    stages = ["wall", "mujoco", "solve", "overhead", "gather", "delassus", "apply", "scatter"]
    rows = [[f"{r['model']}, {r['law']}, {r['threads']}", number(r["rows"]), percent(r["solved"]),
             *(number(r[stage]) for stage in stages)] for r in results]  # fmt: skip
    table(["model, law, threads", "rows", "solved", *stages], rows)


def peers(results: list[dict]) -> None:
    """Times are over the problems, ratios to our first solver."""
    for case in dict.fromkeys(result["case"] for result in results):
        print(f"**{case}**\n")
        rows = []
        for r in (result for result in results if result["case"] == case):
            us = " / ".join(number(r[f"us_{key}"]) for key in ("median", "p95", "p99.9", "max"))
            lies = str(r["claimed_not_solved"])
            if r["worst_claimed"] is not None:
                lies += f" ({float(r['worst_claimed']):.0e})"
            rows.append([r["solver"], str(r["problems"]), percent(r["solved"]), us,
                         f"{r['ratio_median']:.2f} ({r['ratio_min']:.2f})", lies,
                         str(r["solved_not_claimed"]), str(r["not_finite"])])  # fmt: skip
        table(["solver", "problems", "solved", "µs median / 95 % / 99.9 % / max", "ratio (least)",
               "claims, not solved (worst)", "solved, not claimed", "NaN"], rows)  # fmt: skip


def main() -> None:
    folder = Path(sys.argv[1])
    kinds = {"solvers": solvers, "compare": compare, "robots": robots, "rungs": rungs,
             "delassus": plain, "scaling": scaling, "models": models, "gpu": plain,
             "peers": peers}  # fmt: skip
    for kind, show in kinds.items():
        path = folder / f"{kind}.json"
        if path.exists():
            print(f"### {kind}\n")
            show(json.loads(path.read_text())["results"])


if __name__ == "__main__":
    main()
