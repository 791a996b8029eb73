"""Bodies that the caller moves push, carry and turn others with the velocity that they have."""

import copy
import pickle

import numpy as np
import pytest

pytest.importorskip("mujoco")
from stickslip import BatchSim, Status

G = 9.81

PADDLE = """<mujoco><option timestep="{h}"/><worldbody>
<geom type="plane" size="9 9 1" friction=".3"/>
<body name="paddle" mocap="true" pos="-.3 0 .1">
 <geom type="box" size=".02 .2 .1" friction="0"/></body>
<body name="box" pos="0 0 .05"><freejoint/>
 <geom type="box" size=".05 .05 .05" friction=".3"/></body>
</worldbody></mujoco>"""

PLATE = """<mujoco><option timestep=".002"/><worldbody>
<body name="plate" mocap="true"><geom type="box" size="1 1 .05" friction="{mu}"/></body>
<body name="load" pos="{x} 0 {z}"><freejoint/><geom {geom} mass="1" friction="{mu}"/></body>
</worldbody></mujoco>"""
BOX = 'type="box" size=".1 .1 .1"'
BALL = 'type="sphere" size=".1"'


def turn(angle):
    return np.stack([np.cos(angle / 2), 0 * angle, 0 * angle, np.sin(angle / 2)], axis=-1)


def push(sim, speed, steps, h):
    for k in range(steps):
        sim.mocap_pos[:, 0, 0] = -0.3 + speed * (k + 1) * h
        assert np.all(sim.step() == Status.solved)


@pytest.mark.parametrize("law", ["coulomb", "pyramid", "frictionless"])
@pytest.mark.parametrize("h", [0.002, 0.01])
@pytest.mark.parametrize("speed", [0.1, 1.0, 4.0])
def test_a_paddle_gives_a_box_its_speed(law, h, speed):
    sim = BatchSim(PADDLE.format(h=h), 2, law=law)
    push(sim, speed, round(0.6 / speed / h), h)
    assert abs(sim.qvel[:, 0] - speed).max() < 1e-6
    assert abs(sim.mocap_velocity - [speed, 0, 0, 0, 0, 0]).max() < 1e-9
    gap = sim.qpos[:, 0] - 0.05 - (sim.mocap_pos[:, 0, 0] + 0.02)
    assert abs(gap).max() < 1e-6
    start = sim.qpos[0, 0]
    sim.step()
    assert np.all(sim.mocap_velocity == 0)
    while sim.qvel[0, 0] > 1e-6 and law != "frictionless":
        sim.step()
    if law == "coulomb":  # slides until friction stops it, the last step not whole
        slid = sim.qpos[0, 0] - start
        assert abs(slid - (speed**2 / (0.6 * G) - speed * h / 2)) < 0.3 * G * h * h


@pytest.mark.parametrize("substeps", [1, 5])
@pytest.mark.parametrize(("speed", "h"), [(5, 0.02), (8, 0.01), (15, 0.01)])
def test_a_paddle_that_starts_suddenly_passes_through_nothing(speed, h, substeps):
    sim = BatchSim(PADDLE.format(h=h), 1)
    sim.mocap_pos[0, 0, 0] = -0.09
    sim.step()
    for k in range(4):
        sim.mocap_pos[0, 0, 0] = -0.09 + speed * h * substeps * (k + 1)
        sim.step(substeps=substeps)
    assert abs(sim.qvel[0, 0] - speed) < 1e-6
    assert sim.qpos[0, 0] - 0.05 > sim.mocap_pos[0, 0, 0] + 0.02 - 1e-6


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_soft_contacts_know_the_speed_too(cone):
    xml = PADDLE.format(h=0.002).replace("<option", f'<option cone="{cone}"')
    sim = BatchSim(xml, 1, law="convex")
    deepest = 0.0
    for k in range(600):
        sim.mocap_pos[:, 0, 0] = -0.3 + 0.001 * (k + 1)  # 0.5 m/s
        sim.step()
        deepest = max(deepest, sim.mocap_pos[0, 0, 0] + 0.07 - sim.qpos[0, 0])
    assert abs(sim.qpos[0, 0] - (sim.mocap_pos[0, 0, 0] + 0.07)) < 0.01
    assert deepest < 0.004  # 17 mm for a paddle that moves without velocity, as in mj_step


@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_a_platform_carries_what_friction_can_carry(law):
    mu, a, h = 0.5, 2.0, 0.002
    for ax, carried in ((a, True), (3 * a, False)):
        sim = BatchSim(PLATE.format(mu=mu, x=0, z=0.15, geom=BOX), 1, law=law)
        for k in range(300):
            sim.mocap_pos[0, 0] = [ax * (h * (k + 1)) ** 2 / 2, 0, 0]
            assert np.all(sim.step() == Status.solved)
        speed = (ax if carried else mu * G) * 300 * h
        assert abs(sim.qvel[0, 0] - speed) < 0.03 * speed


@pytest.mark.parametrize("set_velocity", [False, True])
def test_a_ball_on_a_turning_plate_circles_at_two_sevenths_of_its_speed(set_velocity):
    omega, h = 3.0, 0.002
    sim = BatchSim(PLATE.format(mu=1, x=0.2, z=0.15, geom=BALL), 1)
    # Rolls without slip at the start: spin from contact speed omega x r in y.
    sim.qvel[0, :3] = [0, omega * 2 / 7 * 0.2, 0]
    sim.qvel[0, 3:] = [(omega * 0.2 - omega * 2 / 7 * 0.2) / -0.1 * -1, 0, 0]
    path = []
    if set_velocity:
        sim.mocap_velocity[0, 0, 5] = omega
    for k in range(1500):
        if not set_velocity:
            sim.mocap_quat[0, 0] = turn(omega * h * (k + 1))
        assert np.all(sim.step() == Status.solved)
        path.append(sim.qpos[0, :2].copy())
    assert abs(sim.mocap_velocity[0, 0, 5] - omega) < 1e-9
    angle = np.unwrap(np.arctan2(*np.array(path).T[::-1]))
    rate = (angle[-1] - angle[100]) / (h * (len(angle) - 101))
    radius = np.linalg.norm(path, axis=1)
    assert np.ptp(radius) < 0.01
    assert abs(rate - 2 / 7 * omega) < 0.02 * omega


def test_a_box_on_a_turning_plate_goes_around_with_it():
    omega, h = 2.0, 0.002
    sim = BatchSim(PLATE.format(mu=1, x=0.5, z=0.15, geom=BOX), 1)
    sim.qvel[0, :6] = [0, omega * 0.5, 0, 0, 0, omega]
    for k in range(500):
        sim.mocap_quat[0, 0] = turn(omega * h * (k + 1))
        assert np.all(sim.step() == Status.solved)
    assert abs(np.linalg.norm(sim.qpos[0, :2]) - 0.5) < 0.005
    assert abs(np.linalg.norm(sim.qvel[0, :2]) - omega * 0.5) < 0.01


def test_what_is_attached_to_a_moved_body_moves_with_it():
    xml = """<mujoco><option timestep=".002" gravity="0 0 0"/><worldbody>
    <body name="hand" mocap="true"><geom type="sphere" size=".01"/>
     <body pos=".5 0 0"><geom type="box" size=".02 .1 .1" friction="0"/></body>
     <body pos="0 .5 0"><joint type="hinge" axis="0 0 1" armature="1e6"/>
      <geom type="box" size=".02 .1 .1" friction="0"/></body></body>
    <body pos=".58 0 0"><freejoint/><geom type="sphere" size=".05" mass=".1" friction="0"/></body>
    <body pos=".08 .5 0"><freejoint/><geom type="sphere" size=".05" mass=".1" friction="0"/></body>
    </worldbody></mujoco>"""
    sim = BatchSim(xml, 1)
    for k in range(100):
        sim.mocap_pos[0, 0, 0] = 0.002 * (k + 1)  # 1 m/s
        assert np.all(sim.step() == Status.solved)
    assert abs(sim.qvel[0, [1, 7]] - 1.0).max() < 1e-4


@pytest.mark.parametrize("substeps", [2, 5])
def test_a_pose_is_reached_linearly_over_the_substeps(substeps):
    h, speed = 0.002, 1.5
    one = BatchSim(PADDLE.format(h=h), 1)
    many = BatchSim(PADDLE.format(h=h), 1)
    for sim in (one, many):
        sim.step()
    for k in range(60):
        for i in range(substeps):
            one.mocap_pos[0, 0, 0] = -0.3 + speed * h * (substeps * k + i + 1)
            one.step()
        many.mocap_pos[0, 0, 0] = -0.3 + speed * h * substeps * (k + 1)
        many.step(substeps=substeps)
        assert many.mocap_pos[0, 0, 0] == -0.3 + speed * h * substeps * (k + 1)
    assert one.qvel[0, 0] > 0.1
    assert np.allclose(one.qpos, many.qpos, rtol=0, atol=1e-9)
    assert np.allclose(one.qvel, many.qvel, rtol=0, atol=1e-7)
    assert np.allclose(one.mocap_velocity, many.mocap_velocity, rtol=0, atol=1e-9)


def test_copies_and_restored_states_step_to_the_same_bits():
    sim = BatchSim(PADDLE.format(h=0.002), 2)
    push(sim, 1.0, 200, 0.002)
    others = [copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))]
    restored = BatchSim(PADDLE.format(h=0.002), 2)
    restored.state[:] = sim.state
    for one in (sim, *others, restored):
        one.mocap_pos[:, 0, 0] += 0.003
        one.step(substeps=3)
    for one in (*others, restored):
        assert np.array_equal(sim.state, one.state)


def test_contacts_of_the_latest_step_have_its_velocity():
    sim = BatchSim(PADDLE.format(h=0.002), 1)
    push(sim, 1.0, 200, 0.002)
    before = sim.qvel.copy()
    sim.mocap_pos[:, 0, 0] += 0.004  # twice as fast
    sim.step()
    names = [sim.model.geom(g).bodyid[0] for g in range(sim.model.ngeom)]
    on_box = sum(
        (1 if names[c["geoms"][1]] == sim.model.body("box").id else -1)
        * (c["frame"].T @ c["force"][:3])
        for c in sim.contacts(0)
    )
    assert abs(0.002 * on_box[0] / sim.model.body("box").mass[0] - (sim.qvel - before)[0, 0]) < 1e-9
    assert abs(sim.qvel[0, 0] - 2.0) < 1e-6


def test_resets_and_jumps_have_no_velocity():
    sim = BatchSim(PADDLE.format(h=0.002), 2)
    push(sim, 1.0, 50, 0.002)
    sim.reset(np.array([True, False]))
    sim.mocap_pos[:] = [-0.06, 0, 0.1]  # at 80 m/s
    sim.step()
    assert np.all(sim.mocap_velocity == 0)
    assert np.all(np.abs(sim.qvel) < 1e-9)
    sim.mocap_velocity[:, 0, 0] = 0.5  # what the caller sets holds, also at rest
    for _ in range(3):
        sim.step()
        assert np.all(sim.mocap_velocity[:, 0, 0] == 0.5)
    sim.mocap_pos[:, 0, 1] += 1e-3
    sim.step()
    assert abs(sim.mocap_velocity - [0, 0.5, 0, 0, 0, 0]).max() < 1e-9
    sim.mocap_velocity[0, 0, 2] = np.nan
    assert list(sim.step()) == [Status.bad_input, Status.solved]
    assert np.all(np.isfinite(sim.state))


@pytest.mark.parametrize("law", ["coulomb", "convex"])
@pytest.mark.parametrize("of_last", [True, False])
def test_derivatives_know_the_velocity(law, of_last):
    sim = BatchSim(PADDLE.format(h=0.002), 1, law=law)
    push(sim, 1.0, 130, 0.002)
    sim.mocap_pos[:, 0, 0] += 0.002
    state = sim.state.copy()

    def speed_after(eps):
        sim.state[:] = state
        sim.qvel[0, 0] += eps
        sim.step()
        return sim.qvel[0, 0]

    numerical = (speed_after(1e-5) - speed_after(-1e-5)) / 2e-5
    speed_after(0.0)
    loss = np.zeros_like(sim.qvel)
    loss[0, 0] = 1.0
    gradient = sim.step_vjp(d_qvel=loss, state=None if of_last else state)
    assert abs(gradient.qvel[0, 0] - numerical) < 1e-5


def test_the_law_mujoco_has_no_such_velocity():
    sim = BatchSim(PADDLE.format(h=0.002), 1, law="mujoco")
    with pytest.raises(ValueError, match="mocap_velocity: expected another law than mujoco"):
        _ = sim.mocap_velocity
