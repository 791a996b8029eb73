"""Steps whose solve fails: the answer is the best that is known."""

import json
from pathlib import Path

import numpy as np

import stickslip
from stickslip import BatchSim, SolveOptions, Status


def test_a_second_try_from_rest_does_not_worsen_the_answer():
    """A solve that fails from the last step's impulses is repeated from rest; the better stays."""
    box = (
        '<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .1"><freejoint/>'
        '<geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>'
    )
    resting = BatchSim(box, 1)
    for _ in range(20):
        resting.step()
    nothing = SolveOptions(max_work=1.0, atol=0.0, rtol=0.0)  # and nothing is good enough
    residuals = []
    for warm_start in (True, False):
        sim = BatchSim(box, 1, options=nothing, warm_start=warm_start)
        sim.qpos[:], sim.qvel[:] = resting.qpos, resting.qvel
        if warm_start:
            sim.state[:] = resting.state
        assert sim.step()[0] == Status.not_converged
        residuals.append(float(sim.residual[0]))
    assert residuals[0] <= 1e-9 < residuals[1]


def test_the_answer_of_a_failed_solve_is_no_worse_than_zero_impulses():
    """Nine contacts of condim 6 and rank 7: impulses of 10^10 N s had less residual but for their
    rounding errors. Zero impulses solve the problem to 1.1e-7 m/s; the interior point finds a
    solution of 32 N s."""
    given = json.loads((Path(__file__).parents[1] / "data" / "singular_step.json").read_text())
    sim = BatchSim(given["xml"], 1, threads=1, options=SolveOptions(max_rung=0))
    sim.qpos[0], sim.qvel[0] = given["qpos"], given["qvel"]
    before = sim.qvel.copy()
    sim.step()
    p = sim.problem(0)
    keys = ("R", "dims", "n_free", "n_nonneg")
    rows = {key: p[key] for key in keys}
    problem = p["W"], p["b"], p["mu"]
    zero = float(stickslip.residual(*problem, np.zeros_like(p["b"]), **rows))
    assert sim.residual[0] <= 1.01 * zero
    assert np.abs(p["impulse"]).max() < 1.0
    assert np.abs(sim.qvel - before).max() < 0.2
    first = stickslip.solve(*problem, **rows, options=SolveOptions(max_rung=0))
    assert first.residual <= 1.01 * zero
    assert np.abs(first.impulse).max() < 1.0
    for thorough in (False, True):
        options = SolveOptions(thorough=thorough)
        answer = stickslip.solve(*problem, **rows, options=options)
        assert answer.status == Status.solved
        assert answer.residual <= 1.01 * zero
        assert stickslip.residual(*problem, answer.impulse, **rows) == answer.residual
        assert np.abs(answer.impulse).max() < 100.0
