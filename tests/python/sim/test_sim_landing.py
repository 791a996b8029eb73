"""What lands a little tilted sticks with all of its points at once: their tangential velocities
are those of one plane along the normal (docs/mathematics.md §12), so that they agree while the gaps
of the points differ."""

import numpy as np
import pytest

pytest.importorskip("mujoco")
from sim_models import PLANE, free, scene

from stickslip import BatchSim, Status

FEET = "".join(
    f'<geom type="sphere" size=".01" pos="{x} {y} 0" mass=".1"/>'
    for x in (-0.08, 0.08)
    for y in (-0.05, 0.05)
)
HEAVY = '<geom type="sphere" size=".02" pos="0.01 0.02 .3" mass="2" contype="0" conaffinity="0"/>'
FOOT = free(FEET + HEAVY, "0 0 .01")
BOX = free('<geom type="box" size=".08 .05 .1"/>', "0 0 .1")
SLAB = '<geom type="box" size=".3 .3 .1" pos="0 0 -.1"/>'
SCENES = {
    "spheres on a plane": scene(0.002, PLANE, FOOT),
    "box on a plane": scene(0.002, PLANE, BOX),
    "box on a box": scene(0.002, SLAB, BOX),
    "spheres on a tilted box": scene(0.002, SLAB, FOOT).replace("0 0 -9.81", "2 1 -9.5"),
}


def tilted(model, law="coulomb", envs=32):
    """They overlap nowhere and fall, tilted by up to 0.1 mrad, with some velocity."""
    sim = BatchSim(model, envs, law=law, threads=1)
    rng = np.random.default_rng(0)
    tilt = 10.0 ** rng.uniform(-6, -4, (envs, 1)) * rng.choice([-1, 1], (envs, 2))
    sim.qpos[:, 2] += 0.13 * np.abs(tilt).sum(axis=1)
    sim.qpos[:, 4:6] = tilt / 2
    sim.qvel[:] = 0.02 * rng.normal(size=(envs, 6))
    sim.qvel[:, 2] = -0.3
    return sim


@pytest.mark.parametrize("name", SCENES)
def test_all_points_can_stick(name):
    """Velocities that the body takes to close all gaps are a solution of W r = -b."""
    sim = tilted(SCENES[name])
    sim.step()
    checked = 0
    for env in range(sim.num_envs):
        p = sim.problem(env)
        if len(p["dims"]) < 4 or min(c["gap"] for c in sim.contacts(env)) < 0:
            continue
        values, vectors = np.linalg.eigh(p["W"])
        undetermined = vectors[:, values < 1e-10 * values[-1]]
        assert undetermined.shape[1] == len(p["b"]) - 6
        assert np.abs(undetermined.T @ p["b"]).max() < 1e-10  # a tenth of the tolerance
        checked += 1
    assert checked > 10


@pytest.mark.parametrize("law", ["coulomb", "pyramid"])
@pytest.mark.parametrize("name", SCENES)
def test_it_lands_without_a_search(name, law):
    sim = tilted(SCENES[name], law)
    for _ in range(40):
        assert (sim.step() == Status.solved).all()
        if law == "coulomb":
            assert sim.iterations.max() <= 40
    assert (sim.num_contacts == 4).sum() > 20


def test_a_single_point_acts_at_its_surface():
    """A ball that falls obliquely from a gap of 5 mm spins as if it touched: Δω r m = 5/2 m Δv."""
    ball = free('<geom type="sphere" size=".05" mass="1"/>', "0 0 .055")
    sim = BatchSim(scene(0.01, PLANE, ball, gravity=0), 1)
    sim.qvel[0, :3] = 0.1, 0.0, -0.8
    sim.step()
    assert sim.qvel[0, 4] * 0.05 == pytest.approx(2.5 * (0.1 - sim.qvel[0, 0]), rel=1e-9)
    assert sim.qvel[0, 0] == pytest.approx(0.1 * 5 / 7, rel=1e-9)


STEPS = PLANE + '<geom type="box" size=".2 1 .05" pos="1 0 .05"/>'
TALL = '<geom type="sphere" size=".02" pos="{} {} {}" mass=".5"/>'


def test_points_at_different_levels_act_where_they_are():
    """Four feet on two steps of a stair: their arms are those of the points of contact."""
    feet = "".join(TALL.format(x, y, 0.1 * (x > 0)) for x in (-0.95, 0.05) for y in (-0.1, 0.1))
    sim = BatchSim(scene(0.002, STEPS, free(feet, "0.9 0 .02")), 1)
    sim.qvel[0, 3:] = 0.01, 0.02, 0.5
    sim.step()
    p, contacts = sim.problem(0), sim.contacts(0)
    assert len(contacts) == 4
    J = np.asarray(p["J"].todense() if hasattr(p["J"], "todense") else p["J"])
    origin = np.array([0.9, 0, 0.02])
    for k, c in enumerate(contacts):
        for axis in (1, 2):
            arm = np.cross(c["position"] - origin, c["frame"][axis])
            np.testing.assert_allclose(np.abs(J[3 * k + axis, 3:]), np.abs(arm), atol=1e-4)


ROD = '<geom type="capsule" size=".01 .05" euler="90 0 0"/>'
TWO_BALLS = "".join(f'<geom size=".01" pos="0 {y} 0"/>' for y in (-0.05, 0.05))


@pytest.mark.parametrize("floor", [PLANE, SLAB])
@pytest.mark.parametrize("body", [ROD, TWO_BALLS])
def test_what_rolls_does_not_slow_down_where_it_lands(body, floor):
    """Its ends close one after the other, each at its own surface."""
    sim = BatchSim(scene(0.005, floor, free(body)), 3, integrator="implicitfast")
    tilt = np.radians([0.05, 0.5, 2.0])
    sim.qpos[:, 2] = 0.0101 + 0.05 * np.sin(tilt)
    sim.qpos[:, 3:] = np.c_[np.cos(tilt / 2), np.sin(tilt / 2), 0 * tilt, 0 * tilt]
    sim.qvel[:] = [1.0, 0, -0.5, 0, 100.0, 0]  # the spin in the frame of the body
    for _ in range(20):
        assert (sim.step() == Status.solved).all()
    np.testing.assert_allclose(sim.qvel[:, 0], 1.0, rtol=2e-3)
