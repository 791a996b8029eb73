"""Recovery of overlap in poses where joints hardly change it."""

import numpy as np
import pytest

from stickslip import BatchSim, Status

ROD = """<mujoco><option timestep=".005" gravity="0 0 0"/><worldbody>
  <geom type="plane" pos=".35 0 0" zaxis="-1 0 0" size="5 5 .1"/>
  <body pos=".3 0 .9"><joint type="{joint}" axis="{axis}"/>
    <geom type="capsule" size=".03" fromto="0 0 0 .15 0 0"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("law", ["coulomb", "box", "pyramid", "frictionless"])
@pytest.mark.parametrize("joint", ["hinge", "slide"])
@pytest.mark.parametrize("start", [0.0, 1e-15, 1e-12, 1e-8, 1e-4, 1e-2])
def test_recovery_from_a_singular_pose_is_slow(law, joint, start):
    """A rod through a wall turns about an axis that is hardly able to open the gap, or slides along
    the wall: the linearised gap requires angles and distances of up to 1e14."""
    axis = {"hinge": "0 1 0", "slide": f"{start} 0 1"}[joint]
    sim = BatchSim(ROD.format(joint=joint, axis=axis), law=law)
    if joint == "hinge":
        sim.qpos[:] = start
    for _ in range(100):
        before = sim.qpos.copy()
        assert (sim.step() == Status.solved).all()
        assert np.abs(sim.qpos - before).max() <= 0.1 + 1e-12
        assert np.abs(sim.qvel).max() < 1e-9


JAMMED_AND_DRIVEN = """<mujoco><option timestep=".002"/><worldbody>
  <geom type="box" pos=".2 .07 1" size=".1 .05 .05"/>
  <geom type="box" pos=".2 -.07 1" size=".1 .05 .05"/>
  <geom type="box" pos="-.07 .2 1" size=".05 .1 .05"/>
  <body pos="0 0 1"><joint axis="0 0 1"/>
    <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/></body>
  <body pos="0 2 1"><joint name="j" axis="0 1 0" range="-.2 .2"/>
    <geom type="capsule" size=".03" fromto="0 0 0 0 0 -.3" contype="0" conaffinity="0"/></body>
</worldbody><actuator><motor joint="j" gear="60"/></actuator></mujoco>"""


def test_failed_recovery_is_not_repeated_where_other_rows_come_and_go():
    """A finger overlaps two walls for ever; another joint reaches its limits and leaves them."""
    sim = BatchSim(JAMMED_AND_DRIVEN)
    rows, iterations = [], []
    for step in range(60):
        assert (sim.step([[(-1.0) ** (step // 2)]]) == Status.solved).all()
        rows.append(int(sim.num_rows[0]))
        iterations.append(int(sim.iterations[0]))
    assert len(set(rows)) > 1
    assert sum(i > 30 for i in iterations) <= 4  # steps 1, 17, 50
    assert sum(iterations) < 1000


def test_a_failed_recovery_does_not_keep_another_from_succeeding():
    """The finger is taken from between the walls to one that it can leave, as deep."""
    sim = BatchSim(JAMMED_AND_DRIVEN)
    for _ in range(3):
        sim.step()
    assert [c["gap"] < -0.009 for c in sim.contacts(0)] == [True] * len(sim.contacts(0))
    sim.qpos[0, 0] = np.pi / 2
    for _ in range(10):
        assert (sim.step() == Status.solved).all()
    assert min((c["gap"] for c in sim.contacts(0)), default=0.0) > -1e-6


DRIVEN_INTO_ITS_PARENT = """<mujoco><option timestep=".002" integrator="implicitfast">
  <flag filterparent="disable"/></option><worldbody><geom type="plane" size="5 5 .1"/>
  <body pos="0 0 .3"><geom type="box" size=".08 .04 .02"/>
    <body pos="-.045 0 -.03"><joint name="f" axis="0 1 0" frictionloss=".01"/>
      <geom type="box" size=".01 .02 .042" pos="0 0 -.03" mass=".05"/></body></body>
  <body pos="1 0 .05"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body>
  <body pos="2 0 .5"><joint axis="0 0 1" frictionloss="1e-4"/>
    <geom type="cylinder" size=".05 .01" mass=".1" contype="0" conaffinity="0"/></body>
</worldbody><actuator><motor joint="f"/></actuator></mujoco>"""


@pytest.mark.parametrize("torque", [0.0, 4.0, 10.0])
@pytest.mark.parametrize("rotor", [0.0, 1500.0])
def test_what_is_driven_hard_does_not_stop_the_recovery_of_others(torque, rotor):
    """A light link that a motor presses into its parent with b of 100 to 260 m/s, and a fast rotor;
    a box elsewhere is pressed into the floor by 2 mm."""
    sim = BatchSim(DRIVEN_INTO_ITS_PARENT)
    sim.ctrl[:] = torque
    for step in range(60):
        if step == 30:
            sim.qpos[0, 3] -= 0.002
        sim.qvel[0, -1] = rotor
        assert (sim.step() == Status.solved).all()
    assert abs(sim.qpos[0, 3] - 0.05) < 1e-5
    assert np.abs(sim.qvel[0, 1:7]).max() < 1e-6
