"""How redundant contacts share the load of what rests: as stiff contacts do, in every step."""

import mujoco
import numpy as np
import pytest

import stickslip
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


def iterations_at_rest(xml: str | mujoco.MjModel) -> list[int]:
    """Of 20 steps, after 40 others."""
    sim = BatchSim(xml, 1)
    iterations = []
    for _ in range(60):
        assert sim.step()[0] == Status.solved
        iterations.append(int(sim.iterations[0]))
    return iterations[40:]


@pytest.mark.parametrize("count", [2, 5])
def test_what_rests_on_many_feet_takes_no_iterations(count):
    """5 x 5 feet have 100 contacts: the state has room for them."""
    assert max(iterations_at_rest(feet(count))) <= 1


def test_feet_of_listed_pairs_take_no_iterations():
    """Geoms that only <pair> names have the room in the state that others have."""
    spec = mujoco.MjSpec.from_string(feet(2))
    for i, geom in enumerate(spec.geoms):
        geom.name, geom.contype, geom.conaffinity = f"geom{i}", 0, 0
        if i > 0:  # the first is the floor
            spec.add_pair(geomname1="geom0", geomname2=geom.name)
    pairs = spec.compile()
    assert max(iterations_at_rest(pairs)) <= 1
    assert BatchSim(pairs, 1).model.nuserdata == BatchSim(feet(2), 1).model.nuserdata


def test_a_plate_on_tiles_takes_hardly_an_iteration():
    """One geom has four points, and four of them on each of nine tiles."""
    tiles = "".join(
        f'<geom type="box" size=".1 .1 .05" pos="{0.2 * i} {0.2 * k} -.05"/>'
        for i in (-1, 0, 1)
        for k in (-1, 0, 1)
    )
    plate = '<body pos="0 0 .02"><freejoint/><geom type="box" size=".25 .25 .02"/></body>'
    xml = f"<mujoco><worldbody>{tiles}{plate}</worldbody></mujoco>"
    sim = BatchSim(xml, 1)
    sim.step()
    assert sim.num_contacts[0] > 12
    assert max(iterations_at_rest(xml)) <= 1


def mat(links: int) -> str:
    """A row of boxes on hinges that lies on the floor: one tree."""
    link = (
        '<geom type="box" size=".05 .04 .02" pos=".05 0 0"/>'
        '<body pos=".1 0 0"><joint axis="0 1 0"/>'
    )
    last = '<geom type="box" size=".05 .04 .02" pos=".05 0 0"/>'
    inner = link * (links - 1) + last + "</body>" * (links - 1)
    return scene(f'<body pos="0 0 .02"><freejoint/>{inner}</body>')


@pytest.mark.parametrize("links", [10, 20, 40])
def test_a_chain_that_lies_takes_hardly_an_iteration(links):
    """The state has room for as many contacts as a tree has if it lies on all of its geoms. Without
    that there were 47 to 59 iterations."""
    assert np.mean(iterations_at_rest(mat(links))) <= 6


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


@pytest.mark.parametrize("name", LYING)
def test_shares_are_those_of_a_fresh_simulation(name):
    """In mats a step from the last choice moves it by what is outside of the range of W; when the
    moves add up to much, the choice is made anew."""
    sim = BatchSim(LYING[name], 1)
    for _ in range(30):
        same_shares(sim, BatchSim(LYING[name], 1), 1e-7 if name.startswith("feet") else 5e-5)


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


def boxes(positions: list[tuple[float, float, float]]) -> str:
    """Cubes of 0.1 m that touch where they are neighbours."""
    cube = (
        '<body pos="{:.9g} {:.9g} {:.9g}"><freejoint/><geom type="box" size=".05 .05 .05"/></body>'
    )
    return scene("".join(cube.format(*p) for p in positions))


BUILT = {
    "wall": boxes(
        [(0.1 * i + 0.05 * (k % 2), 0, 0.05 + 0.1 * k) for k in range(6) for i in range(5)]
    ),
    "pyramid": boxes(
        [(0.1 * i + 0.05 * k, 0, 0.05 + 0.1 * k) for k in range(5) for i in range(5 - k)]
    ),
}


def size(p: dict, impulse: np.ndarray) -> float:
    """The norm of which the selected solution has the least."""
    return float(np.sqrt(np.diag(p["W"]) @ impulse**2))


@pytest.mark.parametrize("xml", BUILT.values(), ids=BUILT)
def test_what_is_built_of_touching_boxes_has_the_shares_of_the_solve_with_W(xml):
    """Without W, the search from the first solution found is mostly in vain here."""
    sim = BatchSim(xml, 1)
    shares = []
    for step in range(40):
        sim.step()
        if step % 4 == 3:
            p = sim.problem(0)
            given = {key: p[key] for key in ("W", "b", "mu", "R", "dims")}
            shares.append(size(p, p["impulse"]) / size(p, stickslip.solve(**given).impulse))
    assert np.mean(shares) < 1.01
    assert np.max(shares) < 1.1


def test_touching_columns_do_not_press_on_each_other_in_the_first_step():
    xml = boxes(
        [(0.1 * i, 0.1 * j, 0.05 + 0.1 * k) for k in range(2) for j in (0, 1) for i in (0, 1)]
    )
    sim = BatchSim(xml, 1)
    sim.step()
    forces = {True: 0.0, False: 0.0}  # of floors and walls
    for contact in sim.contacts(0):
        forces[bool(abs(contact["frame"][0][2]) > 0.5)] += contact["force"][0]
    assert forces[False] < 1e-3 * forces[True]
