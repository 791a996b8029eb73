"""Worlds do not disturb each other, and what does not fit is said."""

import gc

import mujoco_warp as mjw
import numpy as np
import pytest
import scenes
import warp as wp

from stickslip import Status, mjwarp
from stickslip.mjwarp import stepping

TWO_BOXES = scenes.BOX_ON_SLOPE.replace(
    "</worldbody>",
    '<body pos="1 0 .0999"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody>',
)


def steps(m, d, number, **options):
    rng = np.random.default_rng(0)
    for _ in range(number):
        scenes.drive(rng, d)
        result = mjwarp.step(m, d, **options)
    return result


def bits(d, result, worlds):
    arrays = (d.qpos, d.qvel, d.qacc, d.efc.force, d.qfrc_constraint, result.residual)
    return [array.numpy()[worlds].tobytes() for array in arrays]


@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_a_world_of_nan_leaves_the_others_bits(law):
    model, data = scenes.load("ant", integrator=scenes.EULER)
    others, found = [0, 1, 3], []
    for poison in (False, True):
        m, d = scenes.put(model, data, nworld=4)
        velocity = np.random.default_rng(1).normal(0, 0.3, d.qvel.shape).astype(np.float32)
        if poison:
            velocity[2, 3] = np.nan
        d.qvel.assign(velocity)
        result = steps(m, d, 30, law=law)
        found.append(bits(d, result, others))
    assert found[0] == found[1]
    assert result.status.numpy().tolist() == [0, 0, Status.bad_input, 0]


def test_an_exploding_world_leaves_the_others_bits():
    model, data = scenes.load("ant", integrator=scenes.EULER)
    found = []
    for speed in (0.0, 1e9):
        m, d = scenes.put(model, data, nworld=3)
        velocity = np.zeros(d.qvel.shape, np.float32)
        velocity[1] = speed
        d.qvel.assign(velocity)
        result = steps(m, d, 20)
        found.append(bits(d, result, [0, 2]))
    assert found[0] == found[1]


def test_rows_that_do_not_fit_are_reported():
    model, data = scenes.load(TWO_BOXES)
    m, _ = scenes.put(model, data)
    d = mjw.make_data(model, nworld=3, nconmax=32, njmax=13)
    place = d.qpos.numpy()
    place[1, 9] = 5.0  # the second box is in the air: 12 rows fit
    d.qpos.assign(place)
    result = mjwarp.step(m, d)
    over = Status.over_capacity
    assert result.status.numpy().tolist() == [over, Status.solved, over]
    assert result.rows_needed.numpy().tolist() == [24, 12, 24]
    assert result.overflow.numpy().tolist() == [1, 0, 1]  # mujoco_warp's bit NEFC
    # A block that is cut is left out whole: 12 of 13 rows are used.
    assert ((result.row.numpy() >= 0).sum(axis=1) == 12).all()
    assert np.isfinite(d.qpos.numpy()).all()


def test_contacts_that_do_not_fit_are_reported():
    model, data = scenes.load(TWO_BOXES)
    m, _ = scenes.put(model, data)
    d = mjw.make_data(model, nworld=2, naconmax=5, njmax=40)
    result = mjwarp.step(m, d)
    # The contacts of all worlds share a buffer, and no one knows whose contacts are missing.
    assert (result.status.numpy() == Status.over_capacity).all()
    assert (result.overflow.numpy() & int(mjw.OverflowType.NARROWPHASE)).all()
    d.qpos.assign(d.qpos.numpy() + np.float32(1.0))
    assert not mjwarp.step(m, d).overflow.numpy().any()  # bits of this step alone
    assert d.overflow.numpy().all()  # mujoco_warp's own bits stay until they are cleared


def test_missing_storage_of_sparse_rows_is_reported():
    model, data = scenes.load(TWO_BOXES, jacobian=scenes.SPARSE)
    m, _ = scenes.put(model, data)
    d = mjw.make_data(model, nworld=1, nconmax=32, njmax=40, njmax_nnz=100)
    result = mjwarp.step(m, d)
    assert result.status.numpy()[0] == Status.over_capacity
    assert np.isfinite(d.qpos.numpy()).all()


@pytest.mark.parametrize("njmax", [0, 1, 2, 4])
def test_very_few_rows(njmax):
    model, data = scenes.load(scenes.BOX_ON_SLOPE)
    m, _ = scenes.put(model, data)
    d = mjw.make_data(model, nworld=2, nconmax=8, njmax=njmax)
    result = mjwarp.step(m, d)
    assert (result.status.numpy() == Status.over_capacity).all()
    assert np.isfinite(d.qpos.numpy()).all()


def test_a_world_alone_has_the_same_bits():
    model, data = scenes.load("ant", integrator=scenes.EULER)
    (m, all_worlds), (_, one) = (scenes.put(model, data, nworld=n) for n in (3, 1))
    velocity = np.random.default_rng(2).normal(0, 0.3, (3, model.nv)).astype(np.float32)
    all_worlds.qvel.assign(velocity)
    one.qvel.assign(velocity[1:2])
    for _ in range(30):
        result, alone = mjwarp.step(m, all_worlds), mjwarp.step(m, one)
    assert bits(all_worlds, result, [1]) == bits(one, alone, [0])


def test_a_reset_world_starts_from_rest():
    model, data = scenes.load(scenes.BOX_ON_SLOPE)
    m, d = scenes.put(model, data, nworld=2)
    first = [mjwarp.step(m, d).impulse.numpy().copy() for _ in range(3)]
    wp.copy(d.qpos, scenes.put(model, data, nworld=2)[1].qpos)
    for array in (d.qvel, d.time, d.qacc_warmstart):
        array.zero_()
    again = [mjwarp.step(m, d).impulse.numpy().copy() for _ in range(3)]
    assert all((a == b).all() for a, b in zip(first, again, strict=True))


def test_reset_forgets_impulses_of_some_worlds():
    model, data = scenes.load(scenes.BOX_ON_SLOPE)
    m, d = scenes.put(model, data, nworld=2)
    solver = mjwarp.ConstraintSolver(m, d)
    for _ in range(200):
        result = mjwarp.step(m, d, solver)
    solver.reset(wp.array([False, True], dtype=wp.bool))
    result = mjwarp.step(m, d, solver)
    kept, forgotten = result.iterations.numpy()
    assert kept < forgotten


def test_solvers_are_made_once_and_end_with_the_data():
    gc.collect()
    before = len(stepping._solvers)
    m, d = scenes.put(*scenes.load(scenes.BOX_ON_SLOPE))
    first = mjwarp.step(m, d, law="coulomb")
    assert mjwarp.step(m, d, law="coulomb") is first
    assert mjwarp.solver_of(m, d, law="coulomb").result is first
    assert len(stepping._solvers) == before + 1
    del d
    gc.collect()
    assert len(stepping._solvers) == before


def test_what_is_gathered_is_small():
    """Neither M nor J is copied in double: 8,192 worlds of Go2 need less than 60 MB."""
    model, data = scenes.load(scenes.go2())
    m, d = scenes.put(model, data, nworld=8, njmax=120)
    arrays = mjwarp.ConstraintSolver(m, d)._problem.arrays
    gathered = sum(array.capacity for name, array in arrays.items() if name != "impulse")
    assert gathered / d.nworld * 8192 < 60e6


def test_no_rows_and_no_room_for_any():
    for text in (
        '<mujoco><worldbody><geom size=".1"/></worldbody></mujoco>',  # nv = 0
        scenes.BALL.format(height=9, more=""),
    ):
        model, _ = scenes.load(text)
        m, njmax = mjw.put_model(model), 0 if model.nv else 16
        d = mjw.make_data(model, nworld=2, nconmax=8, njmax=njmax)
        result = mjwarp.step(m, d)
        assert (result.status.numpy() == Status.solved).all()
    model, _ = scenes.load(scenes.BALL.format(height=0.099, more=""))
    m, d = mjw.put_model(model), mjw.make_data(model, nworld=2, nconmax=8, njmax=0)
    m.opt.warn_overflow = 0
    result = mjwarp.step(m, d)
    assert (result.status.numpy() == Status.over_capacity).all()
    assert (result.rows_needed.numpy() > 0).all()


@pytest.mark.parametrize("timestep", [0.0, np.nan, -0.002, np.inf])
def test_a_world_without_a_time_step(timestep):
    model, data = scenes.load(scenes.BALL.format(height=9, more=""))
    m, d = scenes.put(model, data, nworld=2)
    m.opt.timestep = wp.array([0.002, timestep], dtype=float)
    result = mjwarp.step(m, d)
    assert result.status.numpy().tolist() == [Status.solved, Status.bad_input]
    assert np.isfinite(d.qvel.numpy()[0]).all()
