"""Boxes that fill the row between two walls, and are pushed: whatever closes and opens, their
impulses are the least that the problem allows (docs/mathematics.md §9)."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("mujoco")
import stickslip
from stickslip import BatchSim, Selected, Status

HALF = 0.05  # m


def row(boxes: int, squeeze: float) -> str:
    """They would need `squeeze`, in m, more room than there is."""
    apart = 2 * HALF - squeeze / boxes
    bodies = "".join(
        f'<body pos="{(i - (boxes - 1) / 2) * apart} 0 {HALF}"><freejoint/>'
        f'<geom type="box" size="{HALF} {HALF} {HALF}" mass="{0.2 + 0.1 * i}"/></body>'
        for i in range(boxes)
    )
    room = boxes * HALF - squeeze / 2
    walls = "".join(
        f'<geom type="box" size=".02 .2 .2" pos="{side * (room + 0.02)} 0 .2"/>' for side in (-1, 1)
    )
    return (
        '<mujoco><option timestep=".002"/><default><geom friction=".6"/></default>'
        f'<worldbody><geom type="plane" size="3 3 .1"/>{walls}{bodies}</worldbody></mujoco>'
    )


def metric(problem: dict[str, Any]) -> np.ndarray:
    """D of the selection."""
    W, dims = problem["W"], problem["dims"]
    D = np.diag(W).copy()
    first = len(W) - int(dims.sum())
    for dim in dims:
        D[first : first + dim] = W[first, first]
        first += dim
    return D


def nearly_rigid(problem: dict[str, Any]) -> np.ndarray:
    """The impulses of contacts that yield by 1e-6 D: nothing is to be selected then."""
    keys = ("W", "b", "mu", "dims", "n_free", "n_nonneg")
    given = {key: problem[key] for key in keys}
    start = None
    for soft in (1e-2, 1e-4, 1e-6):
        R = problem["R"] + soft * metric(problem)
        start = stickslip.solve(**given, R=R, warm_start=start, threads=1).impulse
    return start


def has_least(problem: dict[str, Any]) -> bool:
    D, least = metric(problem), nearly_rigid(problem)
    return bool(D @ problem["impulse"] ** 2 <= 1.01 * (D @ least**2))


@pytest.mark.parametrize(("boxes", "squeeze"), [(3, 0.0), (3, 1e-6), (5, 0.0)])
def test_wedged_boxes_press_no_more_than_they_must(boxes, squeeze):
    """Steps with other impulses all say that they are not selected. (Before proximal points were
    solved for, 14, 11 and 20 of 150, by up to ten times the norm.)"""
    found, seeds = 0, 6
    for seed in range(seeds):
        sim = BatchSim(row(boxes, squeeze), 1, threads=1)
        random = np.random.default_rng(seed)
        for step in range(150):
            dof, push = random.integers(6 * boxes), random.normal() * 0.02
            if step % 10 == 0:
                sim.qvel[0, dof] += push
            assert sim.step()[0] == Status.solved
            problem = sim.problem(0)
            if len(problem["b"]) == 0 or has_least(problem):
                continue
            assert problem["selected"] == Selected.no, step
            found += 1
    assert found <= 0.03 * 150 * seeds
