"""Redundant contacts in time steps: loads are shared equally, pads hold what friction can hold, and
symmetric machines stay on their line (docs/mathematics.md §9)."""

import numpy as np
import pytest

pytest.importorskip("mujoco")
from stickslip import BatchSim

PADS = """<mujoco><option timestep="0.002" integrator="implicitfast" cone="elliptic"/>
<default><geom friction="{mu} .005 .0001"/></default><worldbody>
<body pos="-.03 0 .5"><joint type="slide" axis="1 0 0" name="l"/>
 <geom type="box" size=".01 .015 .015" mass=".1"/></body>
<body pos=".03 0 .5"><joint type="slide" axis="-1 0 0" name="r"/>
 <geom type="box" size=".01 .015 .015" mass=".1"/></body>
<body pos="0 0 .5"><freejoint/><geom type="box" size=".02 .02 .02" mass=".5"/></body>
</worldbody><actuator><motor joint="l"/><motor joint="r"/></actuator></mujoco>"""

FINGERS = """<mujoco><option timestep="0.002"/><worldbody><body euler="17 29 53" pos="0 0 1">
<body><joint type="hinge" axis="0 1 0" damping="1" stiffness="20"/>
<inertial pos="0 0 0" mass="2" diaginertia=".1 .1 .1"/>
<body pos="-.0101 0 0"><joint name="l" type="slide" axis="1 0 0"/>
 <geom type="box" size=".01 .02 .03" condim="6" mass=".05"/></body>
<body pos=".0101 0 0"><joint name="r" type="slide" axis="-1 0 0"/>
 <geom type="box" size=".01 .02 .03" condim="6" mass=".05"/></body>
</body></body></worldbody><actuator><motor joint="l"/><motor joint="r"/></actuator></mujoco>"""

TABLE = """<mujoco><option timestep="0.002"/><worldbody>
<geom name="floor" type="plane" size="9 9 1"/>
<body pos="0 0 {z}"><freejoint/><geom type="box" size=".4 .3 .02" mass="8"/>{legs}</body>
</worldbody></mujoco>"""

CAR = """<mujoco><option timestep=".002"/><worldbody>
<geom type="plane" size="0 0 1" friction="{mu} 0 0"/>
<body pos="0 0 .1"><freejoint/><geom type="box" size=".2 .1 .03" mass="5"/>{wheels}</body>
</worldbody><actuator>{motors}</actuator></mujoco>"""


@pytest.mark.parametrize("mu", [0.3, 0.5, 1.0])
def test_flat_pads_hold_what_friction_can_hold(mu):
    ratio = np.geomspace(1.02, 20, 12)
    force = ratio * 0.5 * 9.81 / (2 * mu)
    sim = BatchSim(PADS.format(mu=mu), len(ratio), threads=1)
    for _ in range(150):
        sim.step(np.stack([force, force], 1))
    assert np.abs(0.5 - sim.qpos[:, 4]).max() < 1e-5


# Fingers cannot slide on one another: their tangential mobility is only rounding, and noise of the
# velocities must not become forces, or steps that do not end.
def test_fingers_that_cannot_slide_push_without_friction():
    sim = BatchSim(FINGERS, 4, threads=1)
    ctrl = np.stack([np.full(4, 5.0), [5.0, 4.0, 6.0, 5.5]], 1)
    for _ in range(300):
        sim.step(ctrl)
        assert sim.iterations.max() <= 12
    force = np.array([contact["force"] for contact in sim.contacts(0)])
    np.testing.assert_allclose(force[:, 0], 1.25, rtol=1e-6)
    assert np.abs(force[:, 1:]).max() < 1e-6


@pytest.mark.parametrize("law", ["coulomb", "pyramid", "convex"])
@pytest.mark.parametrize("fall", [0.0, 0.05])
def test_feet_of_a_table_carry_a_quarter_each(law, fall):
    corners = [("a", 0.35, 0.25), ("b", -0.35, 0.25), ("c", 0.35, -0.25), ("d", -0.35, -0.25)]
    legs = "".join(
        f'<geom name="{name}" type="sphere" size=".02" pos="{x} {y} -.28" mass=".2"/>'
        for name, x, y in corners
    )
    model = TABLE.format(z=0.3 + fall, legs=legs)
    sensors = [(name, "floor") for name, _, _ in corners]
    sim = BatchSim(model, 1, law=law, threads=1, contact_sensors=sensors)
    for _ in range(800):
        sim.step()
    quarter = 8.8 * 9.81 / 4
    force = sim.contact_force[0]
    np.testing.assert_allclose(force[:, 2], quarter, rtol=0.01)
    assert np.abs(force[:, :2]).max() < 1e-3 * 4 * quarter


@pytest.mark.parametrize("shape", ["cylinder", "sphere"])
@pytest.mark.parametrize("mu", [0.9, 0.3])
def test_a_symmetric_car_drives_straight_with_spinning_wheels(shape, mu):
    size = ".08 .02" if shape == "cylinder" else ".08"
    places = [(0.15, 0.13), (0.15, -0.13), (-0.15, 0.13), (-0.15, -0.13)]
    wheels = "".join(
        f'<body pos="{x} {y} -.02"><joint name="w{i}" type="hinge" axis="0 1 0"/>'
        f'<geom type="{shape}" size="{size}" euler="90 0 0" mass=".3" friction="{mu} 0 0"/></body>'
        for i, (x, y) in enumerate(places)
    )
    motors = "".join(f'<velocity joint="w{i}" kv="1" forcerange="-2 2"/>' for i in range(4))
    sim = BatchSim(CAR.format(mu=mu, wheels=wheels, motors=motors), 1, threads=1)
    for _ in range(750):
        sim.step([100.0] * 4)
    assert sim.qpos[0, 0] > 1.0
    assert abs(sim.qpos[0, 1]) < 1e-3


@pytest.mark.parametrize("noise", [1e-11, 1e-10, 9e-10])
def test_pillars_that_differ_by_rounding_carry_a_quarter_each(noise):
    # Rigid to the last bit, the box would stand on three of them.
    tops = np.random.default_rng(0).uniform(-noise, 0, 4)
    places = [(-0.1, -0.1), (-0.1, 0.1), (0.1, -0.1), (0.1, 0.1)]
    pillars = "".join(
        f'<geom type="box" size=".02 .02 .05" pos="{x} {y} {top - 0.05:.15f}"/>'
        for (x, y), top in zip(places, tops, strict=True)
    )
    sim = BatchSim(
        f'<mujoco><option timestep="0.002"/><worldbody>{pillars}<body pos="0 0 .05"><freejoint/>'
        '<geom type="box" size=".1 .1 .05" mass="8"/></body></worldbody></mujoco>',
        1,
        threads=1,
    )
    for _ in range(100):
        sim.step()
        assert sim.status[0] == 0
        assert sim.iterations[0] <= 10
        load = np.zeros(5)
        for contact in sim.contacts(0):
            load[min(contact["geoms"])] += contact["force"][0]
        np.testing.assert_allclose(load[:4], 8 * 9.81 / 4, rtol=5e-3)
