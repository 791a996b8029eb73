"""Contact sensors in mujoco_warp's worlds."""

import mujoco
import numpy as np
import pytest
import scenes

mjw = pytest.importorskip("mujoco_warp")
from stickslip import mjwarp  # noqa: E402

PAIRS = [("box", None), ("floor", "geom:crate"), ("box", "ball")]
GRAVITY = 9.81 * np.array([np.sin(scenes.SLOPE), 0, -np.cos(scenes.SLOPE)])
MASS = 2.0


def box(mu, jacobian):
    """On a slope: gravity is turned."""
    text = f"""<mujoco><option timestep="0.002" cone="elliptic" integrator="implicitfast"
      jacobian="{jacobian}" gravity="{" ".join(map(str, GRAVITY))}"/><worldbody>
      <geom name="floor" type="plane" size="5 5 .1" friction="{mu}"/>
      <body name="box" pos="0 0 .1"><freejoint/>
      <geom name="crate" type="box" size=".1 .1 .1" mass="{MASS}" friction="{mu}"/></body>
      <body pos="0 0 9"><freejoint/><geom name="ball" size=".1" friction="{mu}"/></body>
      </worldbody></mujoco>"""
    mj = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(mj)
    mujoco.mj_forward(mj, data)
    m = mjw.put_model(mj)
    return mj, m, mjw.put_data(mj, data, nworld=2, nconmax=32, njmax=64)


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("mu", [0.7, 0.2])
def test_a_box_on_a_slope_that_sticks_or_slides(mu, jacobian):
    mj, m, d = box(mu, jacobian)
    sensors = mjwarp.ContactSensors(m, d, PAIRS, mj)
    steps = 100
    for _ in range(steps):
        mjwarp.step(m, d)
    sensors(m, d)
    force, friction, slip = (x.numpy() for x in (sensors.force, sensors.friction, sensors.slip))
    assert force.shape == (2, 3, 3)
    normal = np.array([0, 0, -MASS * GRAVITY[2]])
    needed = np.array([-MASS * GRAVITY[0], 0, 0])
    limit = mu * normal[2]
    slides = limit < -needed[0]
    expected = np.array([-limit, 0, 0]) if slides else needed
    speed = steps * 0.002 * (GRAVITY[0] - limit / MASS) if slides else 0.0
    for world in range(2):
        np.testing.assert_allclose(force[world, 0], normal + expected, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(friction[world, 0], expected, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(slip[world, 0], [speed, 0, 0], rtol=1e-4, atol=1e-6)
        for values in (force, friction, slip):
            np.testing.assert_allclose(values[world, 1], -values[world, 0], rtol=1e-6)
            assert (values[world, 2] == 0).all()


@pytest.mark.parametrize(
    ("pairs", "error", "message"),
    [
        ([("door", None)], ValueError, "pairs: expected the name of a body or geom .* 'door'"),
        ([("geom:box", None)], ValueError, "pairs: expected the name .* 'geom:box'"),
        (["box"], TypeError, r"pairs\[0\]: expected a pair of names"),
    ],
)
def test_misuse_is_refused_by_name(pairs, error, message):
    mj, m, d = box(0.5, "dense")
    with pytest.raises(error, match=message):
        mjwarp.ContactSensors(m, d, pairs, mj)
    with pytest.raises(TypeError, match=r"model: expected a mujoco\.MjModel"):
        mjwarp.ContactSensors(m, d, PAIRS, m)


def test_other_data_are_refused():
    mj, m, d = box(0.5, "dense")
    sensors = mjwarp.ContactSensors(m, d, PAIRS, mj)
    alone = mjw.put_data(mj, mujoco.MjData(mj), nworld=1, nconmax=32, njmax=64)
    with pytest.raises(ValueError, match="m, d: expected 2 worlds of 3 geoms, got 1 of 3"):
        sensors(m, alone)


def test_no_room_for_contacts_is_refused():
    mj, m, _ = box(0.5, "dense")
    empty = mjw.put_data(mj, mujoco.MjData(mj), nworld=1, nconmax=0, njmax=64)
    with pytest.raises(ValueError, match=r"d\.naconmax: expected more than 0"):
        mjwarp.step(m, empty)
