"""Contacts whose normal nothing moves: a body on a slide stands on a floor that it cannot leave.
Any normal impulse satisfies such a contact, and no large one belongs to a solution."""

import numpy as np
import pytest

pytest.importorskip("mujoco")
from stickslip import BatchSim, Status

HALF = 0.05  # m
WEIGHT = 9.81  # N, of one box


def row_with_a_slide(boxes: int = 5) -> str:
    """Boxes between two walls, the middle one on a slide along the row, with a motor."""
    middle = boxes // 2
    bodies = "".join(
        f'<body name="b{i}" pos="{2 * HALF * (i - middle)} 0 {HALF}">'
        + (
            '<joint name="slide" type="slide" axis="1 0 0" damping="1"/>'
            if i == middle
            else "<freejoint/>"
        )
        + f'<geom type="box" size="{HALF} {HALF} {HALF}" mass="1"/></body>'
        for i in range(boxes)
    )
    walls = "".join(
        f'<geom type="box" size=".05 .5 .5" pos="{side * (boxes * HALF + 0.05)} 0 .5"/>'
        for side in (-1, 1)
    )
    return (
        '<mujoco><option timestep=".002" integrator="implicitfast"/>'
        '<default><geom friction=".6 .005 .0001"/></default>'
        f'<worldbody><geom type="plane" size="5 5 1"/>{walls}{bodies}</worldbody>'
        '<actuator><motor joint="slide"/></actuator></mujoco>'
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_pushes_are_answered_by_forces_of_their_size(seed):
    """Up to 10^10 N before contacts that nothing moves were scaled by their tangents."""
    sim = BatchSim(row_with_a_slide(), 1, threads=1)
    sim.ctrl[:] = 2 * WEIGHT
    pushes = 10.0 * np.random.default_rng(seed).normal(size=(2, 3))
    largest = 0.0
    for step in range(120):
        if step == 40:
            for name, push in zip(("b0", "b3"), pushes, strict=True):
                sim.xfrc_applied[0, sim.model.body(name).id, :3] = push
        assert sim.step()[0] == Status.solved
        problem = sim.problem(0)
        largest = max(largest, float(np.abs(problem["impulse"]).max()) / sim.timestep)
    assert (np.diag(problem["W"]) == 0.0).any()  # the case that is meant
    assert largest < 100 * 5 * WEIGHT
