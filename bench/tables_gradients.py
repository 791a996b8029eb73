"""Tables of the accuracy and the cost of derivatives, also of other programs."""

import statistics

from table_text import number, percent, table

COUNTED = ("problems", "solved", "valid", "kink", "not_unique", "compared", "undecided", "wrong",
           "kink_compared", "kink_wrong", "not_unique_compared", "not_unique_wrong")  # fmt: skip


def gradients(report: dict, law: str) -> str:
    """Statuses and errors by compliance and family; all robots in one row."""
    groups: dict[tuple[str, str], list[dict]] = {}
    for r in report["results"]:
        if r["law"] == law:
            groups.setdefault((r["compliance"], r["case"].split("/")[0]), []).append(r)
    rows = []
    for (compliance, family), cells in groups.items():
        sums = {key: sum(r[key] for r in cells) for key in COUNTED}
        medians = [r["median"] for r in cells if r["median"] is not None]
        largest = [r["largest"] for r in cells if r["largest"] is not None]
        flags = [f"{100 * sums[key] / sums['solved']:.1f} %"
                 for key in ("valid", "kink", "not_unique")]  # fmt: skip
        solved = f"{sums['solved']:,} of {sums['problems']:,}"
        rows.append([f"{compliance}, {family}", solved, *flags,
                     f"{min(medians):.0e} to {max(medians):.0e}", f"{max(largest):.0e}",
                     str(sums["wrong"]), str(sums["undecided"]),
                     *(f"{sums[f'{key}_wrong']} of {sums[f'{key}_compared']}"
                       for key in ("kink", "not_unique"))])  # fmt: skip
    header = ["compliance, family", "solved", "valid", "kink", "not unique", "median error",
              "largest", "wrong", "undecided", "wrong kinks",
              "wrong, not unique"]  # fmt: skip
    return table(header, rows)


def gradient_costs(report: dict, law: str) -> str:
    """vjp / solve by compliance and family, medians over the sizes: after the solve, and in the
    same call."""
    groups: dict[tuple[str, str], list[dict]] = {}
    for r in report["results"]:
        _, its_law, compliance, family, _ = r["name"].split("/")
        if its_law == law:
            groups.setdefault((compliance, family), []).append(r)
            groups.setdefault((compliance, "all"), []).append(r)
    rows = []
    for (compliance, family), cells in sorted(groups.items(), key=lambda g: g[0][1] == "all"):
        words = {"R0": "R = 0", "R1e-3": "R = 1e-3 W_nn"}
        ratios = [statistics.median(r[key] for r in cells)
                  for key in ("after_of_means", "after_median", "together_of_means",
                              "together_median")]  # fmt: skip
        rows.append([f"{words[compliance]}, {family}", *(f"{x:.2f}" for x in ratios)])
    header = ["compliance, family", "after: means", "medians", "in one call: means", "medians"]
    return table(header, rows)


def step_gradients(report: dict) -> str:
    """Microseconds of a step and of its derivatives, and how many of them are valid."""
    times = ("step", "ctrl", "ctrl_qvel", "all", "body_mass")
    rows = [[f"{r['model']}, {r['law']}", str(r["nu"]), str(r["nv"]),
             *(number(r[key]) for key in times), percent(r["valid"]), percent(r["qpos_valid"])]
            for r in report["results"]]  # fmt: skip
    header = ["model, law", "nu", "nv", "step", "by ctrl", "ctrl, qvel", "all three", "body_mass",
              "valid", "by qpos"]  # fmt: skip
    return table(header, rows)


FLOOR = 1e-9  # smaller derivatives of the scenes are zero
SAME = 1e-2  # differences with two steps that disagree by more say nothing


def error(row: dict) -> float | None:
    """Relative to the difference that is nearer; None where the differences disagree."""
    coarse, fine = row["numeric"]
    size = max(abs(coarse), abs(fine), FLOOR)
    if max(size, abs(row["value"])) <= FLOOR:
        return 0.0
    if abs(coarse - fine) > SAME * size:
        return None
    return min(abs(row["value"] - x) for x in (coarse, fine)) / size


def scene(rows: list[dict]) -> str:
    """The largest error of the derivatives of a scene, and what the program says of them."""
    asked = [r for r in rows if "refused" not in r]
    if not asked:
        return "–"
    if any(r["value"] is None for r in asked):
        return "NaN"
    errors = [error(r) for r in asked]
    known = [e for e in errors if e is not None]
    text = f"{max(known):.0e}" if any(known) else "0" if known else ""
    if len(known) < len(errors):
        text += f" {len(errors) - len(known)} undecided"
    says = {r["says"] for r in asked} - {""}
    return f"{text} {', '.join(sorted(says))}".strip()


def gradient_peers(report: dict) -> str:
    """The largest error in each scene, the derivative of the push, and the time of a step."""
    programs: dict[str, list[dict]] = {}
    for r in report["results"]:
        programs.setdefault(r["program"], []).append(r)
    scenes = ["slides", "turns", "sticks", "falls", "lands", "lands aside", "pushed"]
    rows = []
    for program, found in programs.items():
        if "missing" in found[0]:
            rows.append([program, *["not installed"] * (len(scenes) + 3)])
            continue
        of = {name: [r for r in found if r["scene"] == name] for name in scenes}
        push = of["pushed"][0]["value"]
        value = "NaN" if push is None else "0" if abs(push) < FLOOR else f"{push:.1e}"
        by_mu = all("refused" not in r for r in found if r["by"] == "mu")
        time = statistics.median(r["us"] for r in of["slides"] if "us" in r)
        rows.append([program, *(scene(of[name]) for name in scenes), value,
                     "yes" if by_mu else "no", f"{time:,.0f}"])  # fmt: skip
    return table(["", *scenes, "dx/dF, pushed", "by μ", "µs"], rows)


def gradient_programs(report: dict) -> str:
    """Versions and settings."""
    about = {r["program"]: r["about"] for r in report["results"] if "about" in r}
    return table(["", "versions and settings"], [list(pair) for pair in about.items()])
