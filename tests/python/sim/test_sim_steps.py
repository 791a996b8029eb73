"""Properties of a time step of the rigid laws: contacts close exactly or not at all, at any speed;
penetration is recovered in positions, not in velocities; no step gains energy."""

import mujoco
import numpy as np
import pytest
from sim_models import BALL, CUBE, PLANE, free, model_path, pile, run, scene

from stickslip import SolveOptions, Status
from stickslip._src.sim import BatchSim

NEAR = 1e-6  # m


def dropped(h):
    """Balls up to 1 m above a floor, and the number of steps until all lie on it."""
    sim = BatchSim(scene(h, PLANE, free(BALL)), 64)
    sim.qpos[:, 2] = 0.05 + np.geomspace(0.01, 1.0, 64)
    return sim, round(0.6 / h)


def projectiles(h):
    """450 balls that fly at a plate of 2 cm, fast and slow, in all phases of a step."""
    plate = '<geom type="box" size="1 1 .01"/>'
    sim = BatchSim(scene(h, plate, free(BALL), gravity=0), 450)
    speed, phase = np.repeat(np.geomspace(5, 50, 15), 30), np.tile(np.arange(30) / 30, 15)
    sim.qvel[:, 2] = -speed
    sim.qpos[:, 2] = 0.06 + h * speed * (2 + phase)
    return sim, 12


@pytest.mark.parametrize("h", [0.001, 0.002, 0.005, 0.01])
def test_a_dropped_ball_neither_sinks_in_nor_bounces(h):
    sim, steps = dropped(h)
    touched = np.zeros(64, bool)
    for _ in range(steps):
        run(sim, 1)
        height = sim.qpos[:, 2] - 0.05
        touched |= height < NEAR
        assert height.min() > -NEAR
        assert sim.qvel[:, 2].max() < 0.05
        assert height[touched].max(initial=0.0) < NEAR
    assert touched.all()


@pytest.mark.parametrize("h", [0.002, 0.005, 0.01])
def test_no_projectile_passes_a_plate(h):
    sim, steps = projectiles(h)
    for _ in range(steps):
        run(sim, 1)
        assert sim.qpos[:, 2].min() > 0.06 - NEAR
    assert np.abs(sim.qvel).max() < 1e-9


@pytest.mark.parametrize(
    ("radius", "half", "speed", "h"),
    [(5e-4, 5e-4, 56, 0.01), (5e-4, 0.01, 197, 0.01), (0.01, 0.01, 300, 0.03)],
)
def test_no_grain_passes_a_plate_in_a_step_of_many_times_its_size(radius, half, speed, h):
    plate = f'<geom type="box" size="1 1 {half}"/>'
    ball = free(f'<geom type="sphere" size="{radius}"/>')
    sim = BatchSim(scene(h, plate, ball, gravity=0), 64)
    sim.qpos[:, 2] = 1 + np.linspace(0, speed * h, 64, endpoint=False)
    sim.qvel[:, 2] = -speed
    run(sim, round(1 / speed / h) + 5)
    np.testing.assert_allclose(sim.qpos[:, 2], half + radius, rtol=0, atol=NEAR)


@pytest.mark.parametrize("h", [0.002, 0.01])
@pytest.mark.parametrize(("shot", "floor"), [(dropped, 0.05), (projectiles, 0.06)])
def test_balls_are_stopped_by_what_they_touch(shot, floor, h):
    """A contact that is not closed at the end of a step has not changed the velocity."""
    sim, steps = shot(h)
    for _ in range(steps):
        before = sim.qvel[:, 2].copy()
        run(sim, 1)
        slowed = sim.qvel[:, 2] > before + 1e-9
        assert (sim.qpos[slowed, 2] - floor).max(initial=0.0) < NEAR
    assert (sim.qpos[:, 2] - floor).max() < NEAR


@pytest.mark.parametrize("h", [0.002, 0.01])
def test_a_tower_of_overlapping_boxes_is_not_thrown_apart(h):
    cubes = (free(CUBE, f"0 0 {0.097 + 0.197 * i}") for i in range(10))
    sim = BatchSim(scene(h, PLANE, *cubes))
    for _ in range(round(0.6 / h)):
        run(sim, 1)
        assert np.abs(sim.qvel).max() < 1e-5
    heights = sim.qpos[0].reshape(10, 7)[:, 2]
    np.testing.assert_allclose(heights, 0.1 + 0.2 * np.arange(10), atol=10 * NEAR)
    assert 0 < sim.statistics["repositioned"] < 5


class Energies:
    """Energies of all environments, by MuJoCo, J."""

    def __init__(self, text):
        self.model = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)

    def __call__(self, sim):
        return np.array([self.one(q, v) for q, v in zip(sim.qpos, sim.qvel, strict=True)])

    def one(self, q, v):
        self.data.qpos[:], self.data.qvel[:] = q, v
        mujoco.mj_fwdPosition(self.model, self.data)
        mujoco.mj_energyPos(self.model, self.data)
        mujoco.mj_energyVel(self.model, self.data)
        return self.data.energy.sum()


@pytest.mark.parametrize(("h", "num_envs", "seconds"), [(0.002, 4, 1.8), (0.01, 4, 4)])
def test_no_step_of_a_tumbling_pile_gains_energy(h, num_envs, seconds):
    thorough = SolveOptions(thorough=True)
    sim, energies = BatchSim(pile(h), num_envs, options=thorough), Energies(pile(h))
    sim.qvel[:] = 0.5 * np.random.default_rng(0).normal(size=sim.qvel.shape)
    before = energies(sim)
    start = before.copy()
    for _ in range(round(seconds / h)):
        run(sim, 1)
        after = energies(sim)
        assert (after - before).max() < 1e-6
        before = after
    assert (before < 0.5 * start).all()
    assert sim.statistics["repositioned"] > 0


@pytest.mark.parametrize("h", [0.002, 0.01])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_only_recovery_lifts_a_pile(seed, h):
    """If positions move further than the velocities imply, by dz - h v_z, this recovers what a step
    has sunk; without the work of that, no step gains energy."""
    sim = BatchSim(pile(h), 16)
    spread = [1, 1, 1, 5, 5, 5]  # m/s, rad/s
    sim.qvel[:] = np.random.default_rng(seed).normal(size=(16, 6, 6)).reshape(16, 36)
    sim.qvel[:] *= np.tile(spread, 6)
    mass, inertia, weight = 8.0, 8.0 * 0.04 / 6, 8.0 * 9.81

    def energy():
        v = sim.qvel.reshape(16, 6, 6) ** 2
        kinetic = (mass * v[..., :3].sum(-1) + inertia * v[..., 3:].sum(-1)) / 2
        return (kinetic + weight * sim.qpos.reshape(16, 6, 7)[..., 2]).sum(-1)

    for _ in range(round(1 / h)):
        before, z = energy(), sim.qpos.reshape(16, 6, 7)[..., 2].copy()
        sim.step()
        moved = sim.qpos.reshape(16, 6, 7)[..., 2] - z
        lift = moved - h * sim.qvel.reshape(16, 6, 6)[..., 2]
        assert (energy() - before - weight * lift.sum(-1)).max() < 1e-6
    assert sim.statistics["repositioned"] > 0


@pytest.mark.parametrize("floor", [PLANE, '<geom type="box" size="1 1 .5" pos="0 0 -.5"/>'])
def test_what_is_pushed_on_does_not_sink_in(floor):
    """A ball at rest 1 mm above the floor touches it only because another ball hits it."""
    sim = BatchSim(scene(0.002, floor, free(BALL, "0 0 .051"), free(BALL, "0 0 .156"), gravity=0))
    sim.qvel[0, 8] = -10
    for _ in range(5):
        run(sim, 1)
        assert sim.qpos[0, 2] > 0.05 - NEAR
        assert sim.qpos[0, 9] - sim.qpos[0, 2] > 0.1 - NEAR


def all_gaps_after(model, data, own, q, v_before, v_after, h):
    """Gaps at the end of a step in which bodies move straight from q, of all contacts within wide
    margins that do not approach faster than the look-ahead covers. Overlap counts as closed."""
    data.qpos[:] = q
    mujoco.mj_fwdPosition(model, data)
    jacobians, gaps = np.zeros((2, 3, model.nv)), []
    for c in data.contact:
        for J, geom in zip(jacobians, c.geom, strict=True):
            mujoco.mj_jac(model, data, J, None, c.pos, model.geom_bodyid[geom])
        normal = c.frame[:3] @ (jacobians[1] - jacobians[0])
        gap = c.dist - own[c.geom].sum()
        if gap < h * (0.25 + max(0.0, -normal @ v_before)) + 4 * h * h * 9.81:
            gaps.append(max(gap, 0.0) + h * normal @ v_after)
    return gaps


def rolling_pile():
    """Balls and capsules: their contacts do not depend on the margin."""
    kinds = ('type="sphere" size=".07"', 'type="capsule" size=".05 .08"')
    poses = [
        (f"{0.05 * (i % 3)} {0.07 * (i % 2)} {0.15 + 0.16 * i}", f"{40 * i} {25 * i} {60 * i}")
        for i in range(8)
    ]
    return scene(0.005, PLANE, *(free(f"<geom {kinds[i % 2]}/>", *poses[i]) for i in range(8)))


@pytest.mark.parametrize(
    ("name", "speed"), [("ant", 0.1), ("ant", 3), ("humanoid", 1), ("pile", 4)]
)
def test_what_was_culled_stays_open(name, speed):
    path = None if name == "pile" else str(model_path(name))
    load = mujoco.MjModel.from_xml_path if path else mujoco.MjModel.from_xml_string
    model = load(path or rolling_pile())
    own = model.geom_margin.copy()
    model.geom_margin[:] = model.body_margin[:] = 0.1
    data = mujoco.MjData(model)
    sim = BatchSim(path or rolling_pile(), 4, integrator="implicitfast")
    rng = np.random.default_rng(0)
    sim.qvel[:] = speed * rng.normal(size=sim.qvel.shape)
    gaps, solves = [], 0
    for _ in range(150):
        q, v = sim.qpos.copy(), sim.qvel.copy()
        solved = sim.step(rng.uniform(-1, 1, sim.ctrl.shape)) == Status.solved
        if sim.statistics["second_solves"] == solves:  # no ghosts, and no normals that turn
            for e in np.flatnonzero(solved):
                gaps += all_gaps_after(model, data, own, q[e], v[e], sim.qvel[e], sim.timestep)
        solves = sim.statistics["second_solves"]
    assert min(gaps) >= -1e-8
    closed = np.abs(gaps) < 1e-8
    assert min(closed.sum(), (~closed).sum(), sim.statistics["culled"]) > 20
