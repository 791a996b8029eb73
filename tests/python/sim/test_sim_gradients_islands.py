"""Derivatives of steps that are solved without W: those of the same bodies apart."""

import numpy as np
import pytest

from stickslip import BatchSim, GradientStatus, Status

COUNT = 12
BOX = """<body pos="{x} 0 {z}"><freejoint/>
  <geom type="box" size=".1 .12 .05" density="{density}"/></body>"""


def tower(x: float, height: int) -> str:
    return "".join(BOX.format(x=x, z=0.05 + 0.1 * i, density=1000 / (1 + i)) for i in range(height))


def scene(bodies: str) -> str:
    return f"""<mujoco><option timestep=".004"/><worldbody>
      <geom type="plane" size="9 9 .1" friction=".6"/>{bodies}</worldbody></mujoco>"""


@pytest.fixture(params=[1, 3])
def sims(request):
    """All towers in one environment, and each in one of its own, in the same motion."""
    height = request.param
    together = BatchSim(scene("".join(tower(0.5 * i, height) for i in range(COUNT))))
    alone = BatchSim(scene(tower(0.0, height)), COUNT)
    for _ in range(30):
        together.step()
        alone.step()
    if height == 1:  # some slide; towers rest
        push = np.random.default_rng(5).normal(size=(COUNT, 6)) * [0.3, 0.3, 0.0, 0.0, 0.0, 0.0]
        push[::3] = 0
        alone.qvel[:] += push
        together.qvel[:] += push.reshape(1, -1)
    for _ in range(2):
        assert (together.step() == Status.solved).all()
        assert (alone.step() == Status.solved).all()
    np.testing.assert_allclose(together.qvel[0], alone.qvel.ravel(), atol=1e-9)
    assert together.num_rows[0] > 96
    return together, alone


def expect_near(found, expected, share=1e-6):
    size = max(np.abs(expected).max(), 1.0)  # what rests does not move at all
    np.testing.assert_allclose(found, expected, rtol=0, atol=share * size)


def test_gradients_are_those_of_islands_alone(sims):
    together, alone = sims
    loss = np.random.default_rng(6).normal(size=alone.qvel.shape)
    one = together.step_vjp(loss.reshape(1, -1), 2 * loss.reshape(1, -1), wrt=("qvel", "qpos"))
    each = alone.step_vjp(loss, 2 * loss, wrt=("qvel", "qpos"))
    assert one.status[0] == each.status.max() < GradientStatus.not_unique
    assert one.kink_distance[0] == pytest.approx(each.kink_distance.min(), rel=1e-4)
    expect_near(one.qvel[0], each.qvel.ravel())
    good = each.qpos_status < GradientStatus.not_unique
    if sims[1].qvel.shape[1] == 6:  # a tower that turns has no derivatives
        assert good.sum() >= COUNT // 2
        expect_near(one.qpos[0].reshape(COUNT, -1)[good], each.qpos[good], 1e-5)


def test_changes_are_those_of_islands_alone(sims):
    together, alone = sims
    change = np.random.default_rng(7).normal(size=alone.qvel.shape)
    one = together.step_jvp(None, change.reshape(1, -1))
    each = alone.step_jvp(None, change)
    assert one.status[0] == each.status.max() < GradientStatus.not_unique
    expect_near(one.qvel[0], each.qvel.ravel())
    expect_near(one.qpos[0], each.qpos.ravel())
