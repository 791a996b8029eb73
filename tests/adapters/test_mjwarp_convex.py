"""Law "convex" against mujoco_warp's own solver, from the same states, and MuJoCo in double."""

import mujoco
import mujoco_warp as mjw
import numpy as np
import pytest
import scenes

from stickslip import mjwarp

ROBOTS = ("ant", "humanoid", "dm_humanoid", "quadruped", "leap", "every row")
# The LEAP hand's cube leaves mujoco_warp's own step with pyramids at infinite speed.
CASES = [
    (name, cone, jacobian)
    for name in ROBOTS
    for cone in (scenes.PYRAMIDAL, scenes.ELLIPTIC)
    for jacobian in (scenes.DENSE, scenes.SPARSE)
    if name != "leap" or cone == scenes.ELLIPTIC
]


@pytest.mark.parametrize(("name", "cone", "jacobian"), CASES)
def test_accelerations_are_those_of_mujoco_warp(name, cone, jacobian):
    model, data = scenes.load_named(name, cone=cone, jacobian=jacobian)
    (m, theirs), (_, ours) = (scenes.put(model, data, nworld=2) for _ in range(2))
    rng, accelerations, forces = np.random.default_rng(0), [], []
    theirs.qvel.assign(rng.normal(0, 0.5, theirs.qvel.shape).astype(np.float32))
    solver = mjwarp.ConstraintSolver(m, ours, law="convex")
    for _ in range(30):
        scenes.drive(rng, theirs)
        scenes.copy_state(ours, theirs)
        mjw.step(m, theirs)
        result = mjwarp.step(m, ours, solver)
        assert not result.status.numpy().any()
        assert (ours.nefc.numpy() == theirs.nefc.numpy()).all()
        accelerations.append(scenes.difference(ours.qacc.numpy(), theirs.qacc.numpy()))
        for w, rows in enumerate(ours.nefc.numpy()):
            ours_, theirs_ = (d.efc.force.numpy()[w, :rows] for d in (ours, theirs))
            forces.append(scenes.difference(ours_, theirs_) if rows else 0.0)
    assert np.median(accelerations) <= 2e-5
    assert np.median(forces) <= 2e-4
    assert max(accelerations) <= 2e-3


def test_the_scene_has_every_type_of_row():
    model, data = scenes.load(scenes.EVERY_ROW)
    m, d = scenes.put(model, data)
    found = set()
    for _ in range(40):
        mjwarp.step(m, d, law="convex")
        found |= set(d.efc.type.numpy()[0, : d.nefc.numpy()[0]].tolist())
    assert found == {0, 1, 2, 3, 4, 5, 7}  # 6: edges of pyramids


@pytest.mark.parametrize("name", ["ant", "quadruped"])
def test_nearer_to_mujoco_in_double_than_mujoco_warp(name):
    model, data = scenes.load_named(name, tolerance=1e-8)
    (m, theirs), (_, ours) = (scenes.put(model, data) for _ in range(2))
    model.opt.tolerance, model.opt.iterations, model.opt.ls_iterations = 0, 200, 200
    rng, of_theirs, of_ours = np.random.default_rng(0), [], []
    for _ in range(60):
        scenes.drive(rng, theirs)
        scenes.copy_state(ours, theirs)
        data.qpos[:], data.qvel[:] = theirs.qpos.numpy()[0], theirs.qvel.numpy()[0]
        data.ctrl[:] = theirs.ctrl.numpy()[0]
        mujoco.mj_forward(model, data)
        mjw.step(m, theirs)
        mjwarp.step(m, ours, law="convex")
        if data.nefc and data.nefc == theirs.nefc.numpy()[0]:
            of_theirs.append(scenes.difference(theirs.qacc.numpy()[0], data.qacc))
            of_ours.append(scenes.difference(ours.qacc.numpy()[0], data.qacc))
    assert len(of_ours) > 20
    assert np.median(of_ours) <= np.median(of_theirs)
    assert max(of_ours) <= max(of_theirs)


def test_forward_is_the_step_without_the_integrator():
    model, data = scenes.load("ant", integrator=scenes.EULER)
    (m, theirs), (_, ours) = (scenes.put(model, data) for _ in range(2))
    mjw.forward(m, theirs)
    result = mjwarp.forward(m, ours, law="convex")
    assert not result.status.numpy().any()
    assert (ours.qpos.numpy() == theirs.qpos.numpy()).all()
    assert scenes.difference(ours.qacc.numpy(), theirs.qacc.numpy()) <= 1e-4


def test_all_results_of_the_solve_fit_together():
    model, data = scenes.load(scenes.EVERY_ROW)
    m, d = scenes.put(model, data)
    result = mjwarp.forward(m, d, law="convex")
    used = d.nefc.numpy()[0]
    rows = result.row.numpy()[0]
    assert sorted(rows[:used]) == list(range(used))
    assert (rows[used:] == -1).all()
    force = d.efc.force.numpy()[0]
    assert np.allclose(force[rows[:used]], result.impulse.numpy()[0, :used])
    smooth, constraint = d.qfrc_smooth.numpy(), d.qfrc_constraint.numpy()
    assert np.allclose(d.efc.Ma.numpy(), smooth + constraint, rtol=1e-6)
    assert (d.qacc_warmstart.numpy() == d.qacc.numpy()).all()
    assert (d.solver_niter.numpy() == result.iterations.numpy()).all()
