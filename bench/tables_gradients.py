"""Tables of the accuracy and the cost of derivatives."""

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
