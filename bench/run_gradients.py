"""Derivatives of solves beside central differences, with their validity.

    python bench/run_gradients.py [OUT.json] [--count 100]

A loss of the velocities of bodies is differentiated along random changes of b, W, mu and R. `wrong`
counts derivatives that are reported as valid and are off by more than 1e-3. Differences are of
re-solves to 1e-15 from the solution, with two steps, h and 16 h: where these disagree by more than
1e-3, or the nearest kink lies between the ends, nothing can be said (`undecided`).
"""

import argparse
import itertools
import json
from pathlib import Path

import gradient_problems as problems
import numpy as np

import stickslip
from stickslip import GradientStatus, SolveOptions

TIGHT = SolveOptions(atol=1e-15, rtol=1e-14, max_rung=0)
STEPS = {"b": 1e-6, "W": 1e-6, "mu": 1e-6, "R": 1e-3}  # R is a thousandth of W or less
LAWS = ("coulomb", "convex")
COMPLIANCE = {  # R / W_nn of the normals and of the tangents
    "none": (0.0, 0.0),
    "normals": (1e-3, 0.0),
    "all rows": (1e-3, 1e-3),
    "all rows 1e-6": (1e-6, 1e-6),
}
SIZES = {**dict.fromkeys(problems.SINGLE, (1, 2, 4, 8, 16)),
         **dict.fromkeys(problems.TOWERS, (4, 8, 16))}  # fmt: skip


def solve(problem: dict, law: str, warm: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Impulses, and whether their residual is 1e-11 of max|b| at most."""
    found = stickslip.solve(**problem, law=law, options=TIGHT, warm_start=warm)
    good = found.residual <= 1e-11 * np.abs(problem["b"]).max(axis=1)
    return found, good


def study(case: dict, law: str) -> dict:
    """Statuses and errors of one batch."""
    problem, loss = case["problem"], case["loss"]
    found, solved = solve(problem, law, None)
    status = np.where(solved, 0, 1).astype(np.int32)
    solution = type(found)(**(vars(found) | {"status": status}))
    first = [problem[key] for key in ("W", "b", "mu")]
    others = {key: value for key, value in problem.items() if key not in ("W", "b", "mu")}
    gradient = stickslip.vjp(*first, solution, d_impulse=loss, law=law, **others)
    least = 1e-3 * np.abs(loss * found.impulse).sum(axis=1)
    errors, clear = [], np.ones(len(loss), bool)
    for name, direction in case["directions"].items():
        exact = (getattr(gradient, name) * direction).reshape(len(loss), -1).sum(axis=1)
        slopes = []
        for h in (STEPS[name], 16 * STEPS[name]):
            ends = []
            for sign in (h, -h):
                moved = problem | {name: problem[name] + sign * direction}
                end, good = solve(moved, law, found.impulse)
                clear &= good
                ends.append((loss * end.impulse).sum(axis=1))
            slopes.append((ends[0] - ends[1]) / (2 * h))
        size = np.maximum(np.abs(slopes[0]), least) + 1e-300
        clear &= np.abs(slopes[0] - slopes[1]) <= 1e-3 * size
        errors.append(np.abs(exact - slopes[0]) / size)
    return summary(gradient, np.array(errors), clear, problem["b"], solved)


def summary(gradient: stickslip.Gradient, errors: np.ndarray, clear: np.ndarray, b: np.ndarray,
            solved: np.ndarray) -> dict:  # fmt: skip
    others = {}  # flagged derivatives: how many of those that can be compared are off
    for status in (GradientStatus.kink, GradientStatus.not_unique):
        told = clear & (gradient.status == status)
        others[f"{status.name}_compared"] = int(told.sum())
        others[f"{status.name}_wrong"] = int((errors[:, told].max(axis=0) > 1e-3).sum())
    clear = clear & (gradient.kink_distance > 1e-4 * np.abs(b).max(axis=1))
    names = [GradientStatus(value).name for value in gradient.status[solved]]
    compared = gradient.ok & clear
    worst = errors[:, compared].max(axis=0)
    return {
        "problems": len(solved),
        "solved": int(solved.sum()),
        **{name: names.count(name) for name in ("valid", "kink", "not_unique", "unsolved")},
        "compared": int(compared.sum()),
        "undecided": int((gradient.ok & ~clear).sum()),
        "median": float(np.median(errors[:, compared])) if compared.any() else None,
        "largest": float(worst.max()) if compared.any() else None,
        "wrong": int((worst > 1e-3).sum()),
        **others,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", type=Path)
    parser.add_argument("--count", type=int, default=100, help="problems of a family and size")
    given = parser.parse_args()
    cases = [f"{name}/p:{p}" for name, sizes in SIZES.items() for p in sizes]
    cases += [f"robots/{file.stem}" for file in sorted(problems.ROBOTS.glob("*.h5"))]
    results = []
    for law, compliance, case in itertools.product(LAWS, COMPLIANCE, cases):
        name, which = case.split("/")
        if name == "robots":
            batch = problems.robot(which, law, COMPLIANCE[compliance])
        else:
            size = int(which.removeprefix("p:"))
            batch = problems.family(name, size, given.count, COMPLIANCE[compliance])
        results.append({"case": case, "law": law, "compliance": compliance} | study(batch, law))
        print(", ".join(f"{key} {value}" for key, value in results[-1].items()), flush=True)
    if given.out:
        given.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
