"""Tables of environments and of trained policies."""

from table_text import number, table


def environments(report: dict) -> str:
    """Microseconds per environment and step (ratio to ours with MuJoCo's law)."""
    found = {(r["env"], r["envs"], r["contestant"]): r for r in report["results"]}
    contestants = dict.fromkeys(r["contestant"] for r in report["results"])
    rows = []
    for env, envs in dict.fromkeys(key[:2] for key in found):
        cells = [found.get((env, envs, contestant)) for contestant in contestants]
        texts = [f"{number(c['us'])} ({c['ratio']:.2f})" if c else "–" for c in cells]
        rows.append([f"{env}, {envs:,}", *texts])
    return table(["µs (ratio)", *contestants], rows)


def training(report: dict) -> str:
    """Returns of the last 100 episodes over steps, and of the trained policy by law."""
    marks = (0.5, 1, 2.5)  # million steps
    played = list(report["results"][0]["played"])
    rows = []
    for r in report["results"]:
        curve, row = r["curve"], [f"{r['env']}, {r['law']}", str(r["seed"])]
        for millions in marks:
            before = [p for p in curve if p["steps"] <= 1e6 * millions]
            row.append(f"{before[-1]['return']:,.0f}")
        end = curve[-1]
        row.append(
            f"{end['return']:,.0f} ({end['steps'] / 1e6:.1f} M, {end['seconds'] / 60:.0f} min)"
        )
        row += [f"{r['played'][name]['return']:,.0f} ± {r['played'][name]['deviation']:,.0f}"
                for name in played]  # fmt: skip
        rows.append(row)
    return table(["", "seed", *(f"{m} M" for m in marks), "end", *played], rows)


def gaits(report: dict) -> str:
    """How policies run, by the laws of training and of evaluation: means over the seeds."""
    played: dict[tuple[str, str, str], list[dict]] = {}
    for r in report["results"]:
        for name, gait in r["played"].items():
            played.setdefault((r["env"], r["law"], name), []).append(gait)
    rows = []
    for names, found in played.items():
        means = {key: sum(gait[key] for gait in found) / len(found) for key in found[0]}
        least = min(gait["gap_least"] for gait in found)
        rows.append([*names, f"{means['speed']:.2f}", f"{means['length']:,.0f}",
                     f"{means['height']:.2f}", f"{1e3 * means['gap_mean']:+.1f}",
                     f"{1e3 * least:+.1f}"])  # fmt: skip
    columns = ["speed, m/s", "steps", "height at the end, m", "gap of loaded contacts, mm", "least"]
    return table(["", "trained under", "played under", *columns], rows)
