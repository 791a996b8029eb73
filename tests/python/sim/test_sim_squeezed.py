"""Rows of boxes between plates that close: no impulses solve this, softened ones hold them."""

import numpy as np
import pytest

import stickslip
from stickslip import BatchSim, SolveOptions, Status

STEP = 0.002


def row(count: int) -> str:
    """Boxes of 0.1 m side by side, touching, 0.5 m above the floor, between two plates."""
    plate = '<body mocap="true" pos="{} 0 .5"><geom type="box" size=".02 .1 .1"/></body>'
    box = '<body pos="{} 0 .5"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body>'
    bodies = [box.format(0.1 * i) for i in range(count)]
    plates = [plate.format(x) for x in (-0.07, 0.1 * (count - 1) + 0.07)]
    return f"""<mujoco><option timestep="{STEP}"/><default><geom friction=".8 .01 .001"/></default>
      <worldbody><geom type="plane" size="9 9 1"/>{"".join(bodies + plates)}</worldbody></mujoco>"""


def close(sim: BatchSim, speed: float, envs: slice = slice(None)) -> None:
    sim.mocap_pos[envs, 0, 0] += speed * STEP
    sim.mocap_pos[envs, 1, 0] -= speed * STEP


def squeezed(count: int, steps: int) -> BatchSim:
    sim = BatchSim(row(count), 1)
    for step in range(steps):
        if step > 5:
            close(sim, 0.01)
        sim.step()
    return sim


@pytest.mark.parametrize("count", [1, 2, 4, 5, 6, 8])
def test_squeezed_rows_are_held(count):
    """Rows of 5 and more got zero impulses: Newton's method from rest ended there."""
    sim = squeezed(count, 100)
    assert sim.status[0] in (Status.infeasible, Status.not_converged)
    fallen = 0.5 - sim.qpos[0].reshape(count, 7)[:, 2]
    free_fall = 0.5 * 9.81 * (100 * STEP) ** 2
    assert fallen.max() < 0.13 * free_fall


@pytest.mark.parametrize("count", [3, 5, 8, 12])
def test_the_softened_answer_solves_softened_contacts(count):
    """The answer is the solution with the compliance 1e-2 W_nn, also where a simulation asks."""
    p = squeezed(count, 16).problem(0)
    given = {key: p[key] for key in ("W", "b", "mu", "dims", "n_free", "n_nonneg")}
    normals = np.diag(p["W"]).reshape(-1, 3)[:, :1]
    soft = p["R"] + np.repeat(0.01 * normals, 3, axis=1).ravel()
    softened = stickslip.solve(**given, R=soft)
    assert softened.ok
    size = np.abs(softened.impulse).max()
    assert size > 0.01
    for thorough in (True, False):
        answer = stickslip.solve(**given, R=p["R"], options=SolveOptions(thorough=thorough))
        assert not answer.ok
        np.testing.assert_allclose(answer.impulse, softened.impulse, atol=1e-3 * size)


def test_solves_that_fail_again_and_again_get_less_work():
    """All but those of which the number is a power of two; the number is part of the state."""
    sim = BatchSim(row(5), 2)
    other = BatchSim(row(5), 2)
    iterations = []
    for step in range(24):
        if step > 5:
            close(sim, 0.01, slice(1))
        other.state[:] = sim.state
        sim.step()
        other.mocap_pos[:] = sim.mocap_pos
        other.step()
        np.testing.assert_array_equal(sim.state, other.state)
        assert sim.status[1] == Status.solved
        iterations.append(int(sim.iterations[0]) if sim.status[0] != Status.solved else 0)
    failures = [n for n in iterations if n > 0]
    full = [n for i, n in enumerate(failures) if i < 3 or i in (4, 8)]
    less = [n for i, n in enumerate(failures) if not (i < 3 or i in (4, 8))]
    assert len(less) >= 8
    assert 4 * np.mean(less) < np.mean(full[1:])
