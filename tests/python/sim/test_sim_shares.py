"""How redundant contacts share the load of what rests: as stiff contacts do, in every step."""

import numpy as np
import pytest

from stickslip import BatchSim, Status


def scene(bodies: str) -> str:
    floor = '<geom type="plane" size="9 9 1"/>'
    return f'<mujoco><option timestep="0.002"/><worldbody>{floor}{bodies}</worldbody></mujoco>'


def test_a_slow_change_of_the_load_keeps_equal_shares():
    """The start of a solve may be the last selected one; the selection must not lag behind."""
    sim = BatchSim(
        scene('<body pos="0 0 .1"><freejoint/><geom type="box" size=".2 .2 .1" mass="2"/></body>'),
        1,
    )
    for step in range(400):
        sim.qfrc_applied[0, 2] = -1e-3 * step  # N
        sim.step()
    normal = sim.problem(0)["impulse"].reshape(-1, 3)[:, 0]
    assert normal.size == 4
    np.testing.assert_allclose(normal, normal.mean(), rtol=1e-6)


def feet(count: int) -> str:
    """A body on count x count box feet of four corners each."""
    geoms = "".join(
        f'<geom type="box" size=".02 .02 .02" pos="{0.1 * x} {0.1 * y} 0"/>'
        for x in range(count)
        for y in range(count)
    )
    return scene(f'<body pos="0 0 .02"><freejoint/>{geoms}</body>')


@pytest.mark.parametrize("count", [2, 5])
def test_what_rests_on_many_feet_takes_no_iterations(count):
    """5 x 5 feet have 100 contacts: the state has room for them."""
    sim = BatchSim(feet(count), 1)
    for _ in range(40):
        sim.step()
    for _ in range(10):
        assert sim.step()[0] == Status.solved
        assert sim.iterations[0] <= 1


def mat(links: int) -> str:
    """A row of boxes on hinges that lies on the floor: one tree."""
    link = (
        '<geom type="box" size=".05 .04 .02" pos=".05 0 0"/>'
        '<body pos=".1 0 0"><joint axis="0 1 0"/>'
    )
    last = '<geom type="box" size=".05 .04 .02" pos=".05 0 0"/>'
    inner = link * (links - 1) + last + "</body>" * (links - 1)
    return scene(f'<body pos="0 0 .02"><freejoint/>{inner}</body>')


def same_shares(sim: BatchSim, fresh: BatchSim, close: float) -> None:
    """Puts `fresh` where `sim` is; both have the same forces in the next step, to `close`."""
    fresh.qpos[:], fresh.qvel[:] = sim.qpos, sim.qvel
    sim.step()
    fresh.step()
    forces = [s.problem(0)["impulse"] for s in (sim, fresh)]
    np.testing.assert_allclose(*forces, atol=close * forces[0].max())


LYING = {
    "feet2": feet(2),
    "feet3": feet(3),
    "feet5": feet(5),
    "mat5": mat(5),
    "mat12": mat(12),
    "mat20": mat(20),
}


@pytest.mark.parametrize("xml", LYING.values(), ids=LYING)
def test_shares_are_those_of_a_fresh_simulation(xml):
    """Also where more contacts carry than the state remembers: mats of 12 and 20 have 48 and 80."""
    sim, fresh = BatchSim(xml, 1), BatchSim(xml, 1)
    for _ in range(20):
        sim.step()
    same_shares(sim, fresh, 1e-6)


@pytest.mark.parametrize("xml", [mat(2), feet(3)], ids=["mat2", "feet3"])
@pytest.mark.parametrize("seed", range(3))
def test_shares_after_a_landing_are_those_of_a_fresh_simulation(xml, seed):
    """What is selected from step to step must not add up what b has outside of the range of W."""
    sim, fresh = BatchSim(xml, 1), BatchSim(xml, 1)
    sim.qpos[0, 2] += 0.01
    sim.qvel[0] = np.random.default_rng(seed).normal(size=sim.qvel.shape[1]) * 0.2
    for _ in range(800):
        sim.step()
    same_shares(sim, fresh, 1e-4)


@pytest.mark.parametrize("count", [2, 5])
def test_shares_follow_the_mass(count):
    """Another mass changes W, but not the velocities without contacts."""
    sim, fresh = BatchSim(feet(count), 1), BatchSim(feet(count), 1)
    for _ in range(20):
        sim.step()
    for each in (sim, fresh):
        each.vary("body_mass", sim.model.body_mass[None] * 3.0)
        each.vary("body_inertia", sim.model.body_inertia[None] * np.array([3.0, 5.0, 4.0]))
    same_shares(sim, fresh, 1e-6)
