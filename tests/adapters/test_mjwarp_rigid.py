"""The rigid laws: what holds after a step."""

from pathlib import Path

import mujoco_warp as mjw
import numpy as np
import pytest
import scenes

import stickslip
from stickslip import BatchSim, mjwarp

DATA = Path(__file__).resolve().parents[1] / "data"
GRAVITY, STEP = 9.81, 0.002


@pytest.mark.parametrize("name", ["ant", "dm_humanoid", "quadruped", "leap", "g1", "every row"])
def test_driven_robots_are_solved(name):
    integrator = scenes.EULER if name == "ant" else scenes.IMPLICITFAST
    source = {"quadruped": scenes.go2(), "every row": scenes.EVERY_ROW}.get(name, name)
    model, data = scenes.load(source, integrator=integrator)
    m, d = scenes.put(model, data, nworld=16)
    solver, rng = mjwarp.ConstraintSolver(m, d), np.random.default_rng(0)
    d.qvel.assign(rng.normal(0, 0.3, d.qvel.shape).astype(np.float32))
    for _ in range(200):
        scenes.drive(rng, d)
        result = mjwarp.step(m, d, solver)
        assert (result.status.numpy() == stickslip.Status.solved).all()
    assert np.isfinite(d.qpos.numpy()).all()
    assert not result.overflow.numpy().any()


@pytest.mark.parametrize("integrator", [scenes.EULER, scenes.IMPLICITFAST])
def test_a_box_on_a_slope_does_not_creep(integrator):
    model, data = scenes.load(scenes.BOX_ON_SLOPE, integrator=integrator)
    m, d = scenes.put(model, data, nworld=2)
    places = []
    for _second in range(2):
        for _ in range(500):
            result = mjwarp.step(m, d)
        places.append(d.qpos.numpy()[:, :3].copy())
    assert not result.status.numpy().any()
    assert np.abs(places[1] - places[0]).max() < 1e-9  # m in 1 s
    weight = GRAVITY * np.cos(scenes.SLOPE) * model.body_mass[1]
    normal = d.efc.force.numpy()[:, : d.nefc.numpy()[0] : 3].sum(axis=1)
    assert np.allclose(normal, weight, rtol=1e-4)


def test_a_sliding_box_has_the_acceleration_of_coulombs_law():
    turned = np.radians(45.0)
    text = scenes.BOX_ON_SLOPE.replace(".0999", ".1").replace(
        f"{9.81 * np.sin(scenes.SLOPE)} 0 {-9.81 * np.cos(scenes.SLOPE)}",
        f"{9.81 * np.sin(turned)} 0 {-9.81 * np.cos(turned)}",
    )
    m, d = scenes.put(*scenes.load(text))
    for _ in range(250):
        mjwarp.step(m, d)
    exact = GRAVITY * (np.sin(turned) - 0.7 * np.cos(turned)) * 250 * STEP
    assert d.qvel.numpy()[0, 0] == pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize("law", ["coulomb", "pyramid", "box", "frictionless"])
@pytest.mark.parametrize("precision", ["float64", "mixed", "float32"])
def test_laws_and_precisions(law, precision):
    m, d = scenes.put(*scenes.load(scenes.BOX_ON_SLOPE), nworld=2)
    for _ in range(100):
        result = mjwarp.step(m, d, law=law, precision=precision)
        assert not result.status.numpy().any()
    slides = law == "frictionless"
    assert (np.abs(d.qvel.numpy()[:, 0]) > 0.1).all() == slides


def test_a_fast_ball_does_not_tunnel():
    text = scenes.BALL.format(height=0.5, more="")
    text = text.replace('type="plane" size="5 5 .1"', 'type="box" size="5 5 .002"')
    m, d = scenes.put(*scenes.load(text))
    d.qvel.assign(np.array([[0, 0, -40.0, 0, 0, 0]], np.float32))
    lowest = 1.0
    for _ in range(50):
        mjwarp.step(m, d)
        lowest = min(lowest, d.qpos.numpy()[0, 2])
    assert lowest == pytest.approx(0.102, abs=1e-5)
    assert np.abs(d.qvel.numpy()[0, 2]) < 1e-4  # and it does not rebound


def test_restitution():
    m, d = scenes.put(*scenes.load(scenes.BALL.format(height=0.3, more="")))
    contact = mjwarp.ContactModel(restitution=0.5)
    fastest, rebound = 0.0, 0.0
    for _ in range(200):
        mjwarp.step(m, d, contact=contact)
        speed = d.qvel.numpy()[0, 2]
        fastest = min(fastest, speed)
        rebound = max(rebound, speed)
    assert fastest < -1.9
    assert rebound == pytest.approx(-0.5 * fastest, abs=0.5 * GRAVITY * STEP)


PAIR = """<mujoco><option timestep=".002" cone="elliptic"/>
  <worldbody><geom name="floor" type="plane" size="5 5 .1" {of_floor}/>
  <body pos="0 0 .3"><freejoint/><geom name="ball" type="sphere" size=".1" mass="2"/></body>
  <body pos="1 0 .3"><freejoint/><geom name="other" type="sphere" size=".1" mass="2"/></body>
  </worldbody></mujoco>"""


@pytest.mark.parametrize("of_floor", ["", 'priority="1"'])
def test_geoms_bounce_and_sink_in_as_in_batch_sim(of_floor):
    """In every world as its own geoms do, until a ball bounces for the second time: BatchSim lets
    it go from where it would have turned."""
    model, data = scenes.load(PAIR.format(of_floor=of_floor))
    numbers = {
        "restitution": [[0.2, 0.7, 0.0], [0.2, 0.1, 0.6], [0.0, 0.5, 0.0]],
        "stiffness": [[np.inf, np.inf, 2e3], [np.inf] * 3, [4e3, np.inf, 4e3]],
        "damping": [[0.0, 0.0, 30.0], [0.0] * 3, [20.0, 0.0, 50.0]],
    }
    m, d = scenes.put(model, data, nworld=3)
    sim = BatchSim(model, 3, integrator="implicitfast")
    for name, values in numbers.items():
        sim.vary(f"geom_{name}", values)
    bounced = np.zeros((3, 2), int)
    for _ in range(140):
        before = sim.qvel[:, [2, 8]].copy()
        result = mjwarp.step(m, d, contact=mjwarp.ContactModel(**numbers))
        sim.step()
        assert not result.status.numpy().any()
        np.testing.assert_allclose(d.qvel.numpy(), sim.qvel, atol=1e-4)
        bounced += (before < -1) & (sim.qvel[:, [2, 8]] > -0.5)
    assert bounced[[0, 1, 1], [0, 0, 1]].tolist() == [1, 1, 1]  # the others sink in


def test_a_number_for_all_geoms_is_that_of_each():
    model, data = scenes.load(scenes.BALL.format(height=0.1, more=""))
    depths = []
    for stiffness in (4e3, [4e3, 4e3]):
        m, d = scenes.put(model, data)
        contact = mjwarp.ContactModel(stiffness=stiffness, damping=100.0)
        for _ in range(500):
            mjwarp.step(m, d, contact=contact)
        depths.append(0.1 - d.qpos.numpy()[0, 2])
    # Two springs in series.
    expected = model.body_mass[1] * GRAVITY / 2e3
    np.testing.assert_allclose(depths, expected, rtol=1e-3, atol=1e-6)


def test_static_friction_is_that_of_batch_sim():
    """On a slope between both coefficients: a box holds, and one that was pushed slides."""
    text = """<mujoco><option timestep=".002" cone="elliptic" gravity="4.9 0 -9.81"/>
      <worldbody><geom name="floor" type="plane" size="9 9 .1" friction=".4"/>
      <body pos="0 0 .1"><freejoint/>
        <geom name="box" type="box" size=".1 .1 .1" friction=".4"/></body></worldbody></mujoco>"""
    model, data = scenes.load(text)
    m, d = scenes.put(model, data, nworld=2)
    sim = BatchSim(model, 2, integrator="implicitfast")
    sim.vary("geom_static_friction", [[0, 0.6]] * 2)
    sim.vary("geom_v_stribeck", [[0.01, 0.05]] * 2)
    sim.qvel[1, 0] = 0.06
    d.qvel.assign(sim.qvel.astype(np.float32))
    contact = mjwarp.ContactModel(static_friction=[0, 0.6], v_stribeck=[0.01, 0.05])
    for _ in range(200):
        mjwarp.step(m, d, contact=contact)
        sim.step()
        np.testing.assert_allclose(d.qvel.numpy(), sim.qvel, atol=1e-5)
    assert abs(sim.qvel[0]).max() < 1e-8
    assert sim.qvel[1, 0] > 0.3


def test_compliance_is_a_spring():
    model, data = scenes.load(scenes.BALL.format(height=0.1, more=""))
    m, d = scenes.put(model, data)
    for _ in range(500):
        mjwarp.step(m, d, contact=mjwarp.ContactModel(compliance=1.0))
    depth = 1.0 * model.body_mass[1] * GRAVITY * STEP**2
    assert 0.1 - d.qpos.numpy()[0, 2] == pytest.approx(depth, rel=0.02)


def test_overlap_is_corrected_in_the_positions_alone():
    m, d = scenes.put(*scenes.load(scenes.BALL.format(height=0.08, more="")))
    contact = mjwarp.ContactModel(v_max=0.25)
    for step in range(1, 60):
        mjwarp.step(m, d, contact=contact)
        assert np.abs(d.qvel.numpy()).max() < 1e-5
        height = min(0.08 + 0.25 * STEP * step, 0.1)
        assert d.qpos.numpy()[0, 2] == pytest.approx(height, abs=2e-6)


def test_overlap_that_cannot_be_corrected_is_solved():
    text = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/><body pos="0 0 .08">
      <joint type="slide" axis="1 0 0"/><geom size=".1"/></body></worldbody></mujoco>"""
    m, d = scenes.put(*scenes.load(text))
    d.qvel.fill_(1.0)
    for _ in range(20):
        result = mjwarp.step(m, d)
        assert result.status.numpy()[0] == stickslip.Status.solved
    assert np.isfinite(d.qpos.numpy()).all()


def test_two_bodies_without_freedom_make_no_rows():
    text = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/>
      <body mocap="true" pos="0 0 .05"><geom size=".1"/></body>
      <body pos="1 0 .1"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
    for jacobian in (scenes.DENSE, scenes.SPARSE):
        m, d = scenes.put(*scenes.load(text, jacobian=jacobian))
        for law in ("coulomb", "convex"):
            assert not mjwarp.step(m, d, law=law).status.numpy().any()


def test_a_margin_of_the_model_is_where_the_gap_is_zero():
    text = scenes.BALL.format(height=0.13, more='margin=".02"')
    m, d = scenes.put(*scenes.load(text))
    before = m.geom_margin.numpy().copy()
    for _ in range(200):
        mjwarp.step(m, d)
    assert d.qpos.numpy()[0, 2] == pytest.approx(0.12, abs=1e-6)
    assert (m.geom_margin.numpy() == before).all()
    assert d.contact.includemargin.numpy()[0] == pytest.approx(0.02, abs=1e-8)


def test_listed_pairs_are_found_ahead():
    text = scenes.BALL.format(height=0.2, more='name="ball" contype="0" conaffinity="0"')
    text = text.replace('<geom type="plane"', '<geom name="floor" type="plane"')
    text = text.replace(
        "</mujoco>", '<contact><pair geom1="floor" geom2="ball"/></contact></mujoco>'
    )
    m, d = scenes.put(*scenes.load(text))
    for _ in range(300):
        mjwarp.step(m, d)
    assert d.qpos.numpy()[0, 2] == pytest.approx(0.1, abs=1e-6)
    assert not m.pair_margin.numpy().any()


def test_sensors_see_the_forces():
    text = scenes.BALL.format(height=0.1, more="")
    text = text.replace("<geom size", '<site name="all" size=".2"/><geom size')
    text = text.replace("</mujoco>", '<sensor><touch site="all"/></sensor></mujoco>')
    model, data = scenes.load(text)
    m, d = scenes.put(model, data)
    for _ in range(100):
        mjwarp.step(m, d)
    assert d.sensordata.numpy()[0, 0] == pytest.approx(model.body_mass[1] * GRAVITY, rel=1e-4)


def test_a_stack_keeps_its_impulses():
    boxes = "".join(
        f'<body pos="{0.01 * (-1) ** k} 0 {0.1 + 0.2 * k}"><freejoint/>'
        f'<geom type="box" size=".1 .1 .1" mass="{10 ** (3 - k)}"/></body>'
        for k in range(4)
    )
    text = scenes.BOX_ON_SLOPE.split("<body")[0].replace(
        f"{9.81 * np.sin(scenes.SLOPE)} 0 {-9.81 * np.cos(scenes.SLOPE)}", "0 0 -9.81"
    )
    model, data = scenes.load(f"{text}{boxes}</worldbody></mujoco>")
    iterations = {}
    for warm in (True, False):
        m, d = scenes.put(model, data)
        solver = mjwarp.ConstraintSolver(m, d, warm_start=warm)
        total = 0
        for _ in range(200):
            result = mjwarp.step(m, d, solver)
            total += result.iterations.numpy()[0]
            assert not result.status.numpy().any()
        iterations[warm] = total
        assert (
            np.abs(d.qpos.numpy()[0].reshape(4, 7)[:, :3] - data.qpos.reshape(4, 7)[:, :3]).max()
            < 1e-5
        )
    assert iterations[True] < 0.5 * iterations[False]


def test_condim_4_and_6_with_a_connect_and_dry_friction():
    names = ("M", "J", "b", "mu", "R", "lo", "hi", "dims", "counts", "v_free")
    with np.load(DATA / "adapter_condim_connect.npz") as stored:
        problem = {name: stored[name] for name in names}
    result = stickslip.BoundSolver(**problem)()
    assert result.status[0] == stickslip.Status.solved


def test_mujoco_warp_itself_is_unchanged():
    m, d = scenes.put(*scenes.load(scenes.BOX_ON_SLOPE))
    _, other = scenes.put(*scenes.load(scenes.BOX_ON_SLOPE))
    mjwarp.step(m, d)
    scenes.copy_state(other, d)
    model, data = scenes.load(scenes.BOX_ON_SLOPE)
    fresh, third = scenes.put(model, data)
    scenes.copy_state(third, d)
    mjw.step(m, other)
    mjw.step(fresh, third)
    assert (other.qpos.numpy() == third.qpos.numpy()).all()
