"""Impacts and rest positions of contacts: restitution, the model's margins and softness."""

import mujoco
import numpy as np
import pytest
from sim_models import run, slope, stack

from stickslip._src.sim import BatchSim

LENGTH = 0.5  # m, of either link of the pendulum


def ball(h, geom="", gravity=0.0):
    return f"""<mujoco><option timestep="{h}" gravity="0 0 {-gravity}"/><worldbody>
      <geom type="plane" size="5 5 .1" {geom}/>
      <body pos="0 0 .3"><freejoint/><geom type="sphere" size=".1" {geom}/></body>
    </worldbody></mujoco>"""


@pytest.mark.parametrize("h", [1e-3, 1e-5, 1e-6])
def test_a_slow_ball_returns_from_wherever_it_lands(h):
    """Within 1 nm it is closed, also where a step is shorter than that."""
    sim = BatchSim(ball(h), 64, restitution=0.8, v_rest=1e-6)
    speed = 5e-5
    sim.qpos[:, 2] = 0.1 + np.linspace(0, 3e-9, 64)
    sim.qvel[:, 2] = -speed
    run(sim, int(3e-9 / (h * speed)) + 3)
    np.testing.assert_allclose(sim.qvel[:, 2], 0.8 * speed, rtol=1e-9)


@pytest.mark.parametrize("law", ["coulomb", "box", "frictionless"])
@pytest.mark.parametrize("h", [0.001, 0.01])
@pytest.mark.parametrize("e", [1.0, 0.5])
def test_a_ball_returns_its_approach_velocity(e, h, law):
    """Also if it hits in the middle of a step; it does not sink in."""
    sim = BatchSim(ball(h), 33, law=law, restitution=e)
    speed, phase = np.linspace(0.5, 5, 33), np.linspace(0, 1, 33)
    sim.qpos[:, 2] = 0.1 + h * speed * (1 + phase)
    sim.qvel[:, 2] = -speed
    for _ in range(4):
        run(sim, 1)
        assert sim.qpos[:, 2].min() > 0.1 - 1e-9
    np.testing.assert_allclose(sim.qvel[:, 2], e * speed, atol=1e-3)


@pytest.mark.parametrize("h", [0.001, 0.01])
@pytest.mark.parametrize("e", [1.0, 0.5])
def test_a_dropped_ball_returns_its_approach_velocity(e, h):
    sim = BatchSim(ball(h, gravity=9.81), 33, restitution=e)
    sim.qpos[:, 2] = 0.1 + np.linspace(0.1, 1, 33)
    bounced = np.zeros(33, bool)
    for _ in range(round(0.5 / h)):
        before = sim.qvel[:, 2].copy()
        run(sim, 1)
        now = (sim.qvel[:, 2] > 0) & (before < 0) & ~bounced
        np.testing.assert_allclose(sim.qvel[now, 2], -e * before[now], atol=1e-3)
        bounced |= now
    assert bounced.all()


def pendulum(h):
    """Two links that fall from the horizontal position onto a rough floor."""
    link = f'type="capsule" fromto="0 0 0 {LENGTH} 0 0" size=".03" friction="1 0 0"'
    hinge = '<joint type="hinge" axis="0 1 0"/>'
    return f"""<mujoco><option timestep="{h}"/><worldbody>
      <geom type="plane" size="5 5 .1" pos="0 0 -.7" friction="1 0 0"/>
      <body>{hinge}<geom {link}/>
        <body pos="{LENGTH} 0 0">{hinge}<geom {link}/></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize(("h", "seconds"), [(0.005, 5), (0.001, 5)])
def test_impacts_with_friction_gain_no_energy(h, seconds):
    """Newton's law of impact can gain energy (Stronge, Impact Mechanics, §3.5)."""
    model = mujoco.MjModel.from_xml_string(pendulum(h))
    data = mujoco.MjData(model)
    sim = BatchSim(pendulum(h), restitution=1.0)
    scale = model.body_subtreemass[1] * 9.81 * LENGTH
    energies = []
    for _ in range(round(seconds / h)):
        data.qpos[:], data.qvel[:] = sim.qpos[0], sim.qvel[0]
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_energyPos(model, data)
        mujoco.mj_energyVel(model, data)
        energies.append(data.energy.sum())
        run(sim, 1)
    assert sim.statistics["second_solves"] > 2
    assert min(energies) < -0.05 * scale  # impacts and friction have dissipated some
    assert max(energies) - energies[0] < 1e-2 * scale


BRICK = """<mujoco><option timestep="0.005"/><default><geom friction="1 0 0"/></default><worldbody>
  <geom type="plane" size="5 5 .1"/>
  <body pos="0 0 .5"><freejoint/><geom type="box" size=".1 .06 .03"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("e", [1.0, 0.5])
@pytest.mark.parametrize("text", [BRICK, pendulum(0.005)], ids=["brick", "pendulum"])
def test_impacts_do_no_work(text, e):
    """Computed with the mean of the velocities before and after. Not with Euler: there a brick that
    spins by 0.4 rad a step gains energy in the air."""
    sim = BatchSim(text, 8, restitution=e, integrator="implicitfast")
    sim.qvel[:] = 5 * np.random.default_rng(0).normal(size=sim.qvel.shape)
    lost = 0.0
    for _ in range(200):
        before = sim.qvel.copy()
        sim.step()
        for env in np.flatnonzero(sim.num_contacts):
            p = sim.problem(env)
            work = p["impulse"] @ p["J"] @ (before[env] + sim.qvel[env]) / 2
            assert work < 1e-6
            lost -= work
    assert lost > 1


@pytest.mark.parametrize("law", ["coulomb", "box", "frictionless"])
def test_the_models_margins_are_distances_at_rest(law):
    """The margins of both geoms add up; with MuJoCo's own law it rests there too, but softly."""
    rigid, soft = (BatchSim(ball(0.005, 'margin=".01"', 9.81), law=k) for k in (law, "mujoco"))
    for _ in range(400):
        run(rigid, 1)
        assert rigid.qpos[0, 2] > 0.12 - 1e-6
        soft.step()
    assert abs(rigid.qpos[0, 2] - 0.12) < 1e-6
    assert abs(soft.qpos[0, 2] - 0.12) < 5e-4
    assert [abs(c["gap"]) < 1e-6 for c in rigid.contacts(0)] == [True]
    assert soft.contacts(0)[0]["gap"] > 0.019  # MuJoCo's distance


MARKS = ["", 'margin=".02"', 'solref=".01 1"']


def at_rest(angle, mark, **options):
    """A box at rest, or creeping, on a slope of this angle."""
    text = slope(angle, 0.8).replace("<geom friction", f"<geom {mark} friction")
    sim = BatchSim(text, tol=1e-12, **options)
    run(sim, 1000)
    return sim


@pytest.mark.parametrize("mark", MARKS)
def test_under_the_models_softness_a_box_rests_where_mujocos_does(mark):
    height = {}
    for options in ({"softness": "model"}, {"law": "mujoco"}, {}):
        height[str(options)] = at_rest(0.0, mark, **options).qpos[0, 2]
    soft, mujocos, rigid = height.values()
    assert abs(soft - mujocos) < 1e-6
    assert rigid - soft > 1e-5  # the weight causes penetration


@pytest.mark.parametrize("mark", MARKS)
def test_under_the_models_softness_friction_is_exact(mark):
    soft, mujocos = (at_rest(0.3, mark, **o) for o in ({"softness": "model"}, {"law": "mujoco"}))
    before = soft.qpos[0, 0]
    run(soft, 100)
    assert np.abs(soft.qvel).max() < 1e-9
    assert abs(soft.qpos[0, 0] - before) < 1e-9 * 100 * soft.timestep
    assert mujocos.qvel[0, 0] > 1e-4  # creeps


@pytest.mark.parametrize("soft", [{"law": "convex"}, {"law": "mujoco"}, {"softness": "model"}])
@pytest.mark.parametrize(
    ("option", "expected"),
    [({"restitution": 0.5}, "0"), ({"compliance": 0.1}, "0"), ({"contact_margin": 0.01}, "None")],
)
def test_what_is_of_rigid_contacts_is_refused_with_soft_ones(soft, option, expected):
    (name,) = option
    with pytest.raises(ValueError, match=f"{name}: expected {expected} with the "):
        BatchSim(stack(1), **soft, **option)
