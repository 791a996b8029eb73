"""Worlds of more than 192 rows, which are solved without W (`EngineMechanism`)."""

import mujoco
import mujoco_warp as mjw
import numpy as np
import pytest
import scenes

from stickslip import Status, mjwarp

BOXES = 20


def boxes(count: int) -> mujoco.MjModel:
    """Boxes 1 m apart on a plane, 4 contacts and 12 rows each."""
    geom = '<geom type="box" size=".1 .15 .1" friction=".4 .005 .0001"/>'
    bodies = "".join(f'<body pos="{i} 0 .0999"><freejoint/>{geom}</body>' for i in range(count))
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><geom type="plane" size="50 50 .1"/>{bodies}</worldbody></mujoco>'
    )
    model.opt.cone, model.opt.jacobian = scenes.ELLIPTIC, scenes.SPARSE
    return model


def step_once(model, velocity):
    """One step of a world for each row of `velocity`."""
    data, worlds = mujoco.MjData(model), len(velocity)
    m = mjw.put_model(model)
    d = mjw.put_data(model, data, nworld=worlds, nconmax=4 * BOXES, njmax=12 * BOXES)
    d.qvel.assign(velocity.astype(np.float32))
    result = mjwarp.step(m, d, law="coulomb")
    return d.qvel.numpy(), result.status.numpy(), d.nefc.numpy()


@pytest.mark.parametrize("speed", [0.0, 0.3])
def test_boxes_move_as_each_alone(speed):
    rng = np.random.default_rng(0)
    velocity = speed * rng.normal(size=(BOXES, 6))
    velocity[:, [2, 3, 4]] = 0.0  # they slide and turn on the floor
    together, status, rows = step_once(boxes(BOXES), velocity.reshape(1, -1))
    alone, of_each, _ = step_once(boxes(1), velocity)
    assert rows[0] > 192
    assert status.tolist() == [Status.solved]
    assert of_each.tolist() == [Status.solved] * BOXES
    np.testing.assert_allclose(together.reshape(BOXES, 6), alone, rtol=0, atol=2e-6)


def test_a_large_world_of_nan_leaves_the_others_bits():
    velocity = 0.3 * np.random.default_rng(1).normal(size=(3, 6 * BOXES))
    expected, _, _ = step_once(boxes(BOXES), velocity)
    velocity[1, 7] = np.nan
    found, status, _ = step_once(boxes(BOXES), velocity)
    assert status.tolist() == [Status.solved, Status.bad_input, Status.solved]
    assert found[[0, 2]].tobytes() == expected[[0, 2]].tobytes()
