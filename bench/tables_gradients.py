"""Tables of the accuracy and the cost of derivatives, also of other programs."""

import statistics

from table_text import number, percent, table

COUNTED = ("problems", "solved", "valid", "kink", "not_unique", "compared", "undecided", "wrong",
           "kink_compared", "kink_wrong", "not_unique_compared", "not_unique_wrong")  # fmt: skip


def gradient_groups(report: dict) -> dict[tuple[str, str], list[dict]]:
    """Results by law and compliance."""
    groups: dict[tuple[str, str], list[dict]] = {}
    for r in report["results"]:
        groups.setdefault((r["law"], r["compliance"]), []).append(r)
    return dict(sorted(groups.items(), key=lambda group: group[0][0] == "convex"))


def gradients(report: dict) -> str:
    """Errors by law and compliance."""
    rows = []
    for (law, compliance), cells in gradient_groups(report).items():
        sums = {key: sum(r[key] for r in cells) for key in COUNTED}
        medians = [r["median"] for r in cells if r["median"] is not None]
        largest = [r["largest"] for r in cells if r["largest"] is not None]
        rows.append([f"{law}, {compliance}", f"{sums['solved']:,} of {sums['problems']:,}",
                     f"{min(medians):.0e} to {max(medians):.0e}", f"{max(largest):.0e}",
                     str(sums["wrong"]), str(sums["undecided"]),
                     *(f"{sums[f'{key}_wrong']} of {sums[f'{key}_compared']}"
                       for key in ("kink", "not_unique"))])  # fmt: skip
    return table(["law, compliance", "solved", "median errors", "largest", "wrong", "undecided",
                  "wrong kinks", "wrong, not unique"], rows)  # fmt: skip


def gradient_statuses(report: dict) -> str:
    """Shares of the solved problems that are valid (not unique) by family; all robots in one."""
    families = list(dict.fromkeys(r["case"].split("/")[0] for r in report["results"]))
    rows = []
    for (law, compliance), cells in gradient_groups(report).items():
        row = [f"{law}, {compliance}"]
        for family in families:
            of = [r for r in cells if r["case"].split("/")[0] == family]
            valid, vague = (100 * sum(r[key] for r in of) / sum(r["solved"] for r in of)
                            for key in ("valid", "not_unique"))  # fmt: skip
            row.append(f"{valid:.1f}" + (f" ({vague:.1f})" if vague else ""))
        rows.append(row)
    return table(["law, compliance", *families], rows)


def gradient_costs(report: dict) -> str:
    """vjp / solve by law and compliance, medians over families and sizes, least and largest of the
    families in brackets: after the solve, and in the same call."""
    words = {"R0": "R = 0", "R1e-3": "R = 1e-3 W_nn"}
    groups: dict[str, dict[str, list[dict]]] = {}
    for r in report["results"]:
        _, law, compliance, family, _ = r["name"].split("/")
        for name in (f"{law}, {words[compliance]}", f"both, {words[compliance]}", "all"):
            groups.setdefault(name, {}).setdefault(family, []).append(r)
    rows = []
    for name, families in sorted(groups.items(), key=lambda g: g[0].split(",")[0], reverse=True):
        row = [name]
        for key in ("after_of_means", "after_median", "together_of_means", "together_median"):
            of = [statistics.median(r[key] for r in cells) for cells in families.values()]
            every = statistics.median(r[key] for cells in families.values() for r in cells)
            row.append(f"{every:.2f} ({min(of):.2f}–{max(of):.2f})")
        rows.append(row)
    return table(["law, compliance", "after: means", "medians", "in one call: means", "medians"],
                 rows)  # fmt: skip


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
    """Versions and settings; programs with the same in one row."""
    programs: dict[str, list[str]] = {}
    for r in report["results"]:
        if "about" in r:
            programs.setdefault(r["about"], []).append(r["program"])
    rows = [["; ".join(dict.fromkeys(names)), about] for about, names in programs.items()]
    return table(["", "versions and settings"], rows)
