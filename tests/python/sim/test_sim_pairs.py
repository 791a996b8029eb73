"""The contacts of a step and their parameters in MuJoCo: all that touch, of every kind of geom,
with the model's filters, pairs and parameters."""

import mujoco
import numpy as np
import pytest
from sim_models import model_path

from stickslip import models
from stickslip._src.sim import BatchSim

KINDS = {
    "sphere": ".1",
    "capsule": ".06 .1",
    "box": ".1 .06 .08",
    "cylinder": ".08 .05",
    "ellipsoid": ".1 .06 .08",
}


def geom(rng, kind, name, place=""):
    parameters = {
        "contype": rng.integers(0, 4),
        "conaffinity": rng.integers(0, 4),
        "condim": rng.choice([1, 3, 4, 6]),
        "priority": rng.choice([0, 0, 1]),
        "friction": "{:.3f} {:.4f} {:.5f}".format(*rng.uniform([0.1, 0.001, 1e-4], [2, 0.1, 0.01])),
        "margin": rng.choice([0, 0, 0.003, 0.01]),
        "gap": rng.choice([0, 0, 0.002]),
        "solmix": rng.uniform(0, 2),
    }
    text = " ".join(f'{key}="{value}"' for key, value in parameters.items())
    return f'<geom name="{name}" type="{kind}" size="{KINDS[kind]}" {place} {text}/>'


def scene(seed):
    """Chains of bodies with several geoms each, and fixed objects; some pairs listed, some
    excluded."""
    rng = np.random.default_rng(seed)
    number, names, bodies = iter(range(100)), [], []

    def some_geoms(count, spread):
        texts = []
        for kind in rng.choice(list(KINDS), count):
            names.append(f"g{next(number)}")
            x, y, z = rng.uniform(-spread, spread, 3)
            texts.append(
                geom(rng, kind, names[-1], f'pos="{x} {y} {z}" euler="{90 * x} 0 {90 * y}"')
            )
        return "".join(texts)

    text = '<geom type="plane" size="3 3 .1"/>' + some_geoms(3, 0.3)
    for chain in range(2):
        opened = ""
        for link in range(3):
            bodies.append(f"b{chain}{link}")
            joint = "<freejoint/>" if link == 0 else '<joint axis="0 1 0"/>'
            opened += f'<body name="{bodies[-1]}" pos=".12 0 {0.1 * (link == 0)}">{joint}'
            opened += some_geoms(rng.integers(1, 4), 0.06)
        text += opened + 3 * "</body>"
    pairs = "".join(
        f'<pair geom1="{a}" geom2="{b}" margin="{rng.choice([0, 0.02])}" '
        f'condim="{rng.choice([1, 3, 4])}" friction="{rng.uniform(0.1, 2)} .7 .01 .002 .001"/>'
        for a, b in sorted({tuple(sorted(rng.choice(names, 2, replace=False))) for _ in range(6)})
    )
    excluded = f'<exclude body1="{bodies[0]}" body2="{bodies[4]}"/>'
    return (
        f'<mujoco><option gravity="0 0 0"/><worldbody>{text}</worldbody>'
        f"<contact>{pairs}{excluded}</contact></mujoco>"
    )


def touching_of_mujoco(model, qpos):
    """For each contact within the margins between bodies that can move relative to each other:
    geoms, dim and friction; and the gap, or -infinity where MuJoCo tells of another distance of the
    geoms: with margins, its contacts of cylinders may be 90 degrees wrong."""
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    bodies = model.geom_bodyid

    def gap_of(c):
        apart = mujoco.mj_geomDistance(model, data, *c.geom.tolist(), 1.0, None)
        round_side = mujoco.mjtGeom.mjGEOM_CYLINDER in model.geom_type[c.geom]
        return -np.inf if round_side and abs(c.dist - apart) > 1e-4 else c.dist - c.includemargin

    return sorted(
        ((*c.geom.tolist(), c.dim, *c.friction[: c.dim - 1]), gap_of(c))
        for c in data.contact
        if c.dist < c.includemargin
        and bodies[c.geom[0]] != bodies[c.geom[1]]
        and (model.body_treeid[bodies[c.geom]] >= 0).any()
    )


def touching(sim, env):
    return sorted(
        ((*c["geoms"], c["dim"], *c["friction"]), c["gap"])
        for c in sim.contacts(env)
        if c["gap"] < 0
    )


def compare(model, sim, rng, spread):
    """Contacts are MuJoCo's. Their number and positions may differ between two geoms: what MuJoCo
    finds by iterations (opt.ccd_iterations) depends on the search margin, most of all at deep
    overlap. Margins of the model, at which gaps begin, are 3 mm and more."""
    sim.qpos[:] += spread * rng.normal(size=sim.qpos.shape)
    sim.qvel[:] = 0
    poses, count, shallow = sim.qpos.copy(), 0, 0
    sim.step()
    for env in range(sim.num_envs):
        expected, seen = touching_of_mujoco(model, poses[env]), touching(sim, env)
        assert {kind for kind, _ in expected} == {kind for kind, _ in seen}
        count += len(expected)
        for kind in {kind for kind, _ in expected}:
            ours, theirs = (min(gap for k, gap in of if k == kind) for of in (seen, expected))
            if theirs > -0.01:
                shallow += 1
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-3)
    return count, shallow


@pytest.mark.filterwarnings("ignore:.*of the solves:UserWarning")
@pytest.mark.parametrize("seed", range(12))
def test_contacts_of_random_scenes_are_mujocos(seed):
    text = scene(seed)
    model, rng = mujoco.MjModel.from_xml_string(text), np.random.default_rng(seed)
    count, shallow = compare(model, BatchSim(text, 16), rng, 0.05)
    assert count > 100
    assert shallow > 8


@pytest.mark.filterwarnings(
    "ignore:.*of the solves:UserWarning", "ignore:integrator RK4 has stages"
)
@pytest.mark.parametrize("name", ["humanoid", "dm_quadruped", "g1", "leap", "t1"])
def test_contacts_of_robots_are_mujocos(name):
    path = model_path(name) if name in ("humanoid", "dm_quadruped") else models.find(name)
    model, rng = mujoco.MjModel.from_xml_path(str(path)), np.random.default_rng(0)
    count, shallow = compare(model, BatchSim(path, 32), rng, 0.3)
    assert count > 20
    assert shallow > 2


def test_geoms_that_adhere_hold_as_under_mujocos_law():
    """A ball of 41 N is pulled upwards; its geom holds 30 N more."""
    text = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/>
      <body pos="0 0 .1"><freejoint/><geom size=".1" adhesion="30" gap=".02"/></body>
      </worldbody></mujoco>"""
    for law in ("coulomb", "mujoco"):
        sim = BatchSim(text, 2, law=law)
        sim.xfrc_applied[:, 1, 2] = [65, 80]
        for _ in range(100):
            sim.step()
        assert abs(sim.qpos[0, 2] - 0.1) < 1e-3
        assert sim.qpos[1, 2] > 0.15


ELSEWHERE = {
    "pairs": "",
    "many_bodies": "".join(
        f'<body pos="{i} 9 1"><freejoint/><geom size=".05"/></body>' for i in range(205)
    ),
    "flex": """<flexcomp name="cloth" type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1"
                 pos="9 9 1" mass=".1"/>""",
    "override": "",
}


@pytest.mark.parametrize("where", ELSEWHERE)
def test_fast_balls_are_seen_in_time_however_margins_are_given(where):
    """At 40 m/s and h = 10 ms onto a plate of 2 cm."""
    flag = '<flag override="enable"/>' if where == "override" else ""
    text = f"""<mujoco><size memory="200M"/><option gravity="0 0 0" timestep=".01">{flag}</option>
      <worldbody><geom type="box" size="1 1 .01"/>
      <body pos="0 0 1"><freejoint/><geom size=".05"/></body>{ELSEWHERE[where]}
      </worldbody></mujoco>"""
    sim = BatchSim(text, 16)
    sim.qpos[:, 2] = np.linspace(1, 1.4, 16)
    sim.qvel[:, 2] = -40
    for _ in range(8):
        assert (sim.step() == 0).all()
    np.testing.assert_allclose(sim.qpos[:, 2], 0.06, atol=1e-9)


VARIED = {  # field: (element, value, height of the upper body at which it touches or is close)
    "geom_size": ((2, 0), 0.4, 0.45),
    "geom_pos": ((2, 2), -0.5, 0.65),
    "body_ipos": ((2, 2), -0.7, 0.15),
    "geom_margin": ((0,), 0.4, 0.45),
}


@pytest.mark.parametrize("field", VARIED)
@pytest.mark.parametrize("joint", ["<freejoint/>", ""])
def test_geoms_that_vary_are_found_where_they_are(field, joint):
    """The results agree with `contact_margin`, with which MuJoCo itself searches for pairs."""
    text = f"""<mujoco><option gravity="0 0 0"/><worldbody>
      <body>{joint}<geom size=".1"/><geom size=".1" pos=".3 0 0"/></body>
      <body pos="0 0 1"><freejoint/><geom size=".1"/><geom size=".1" pos=".3 0 0"/></body>
      </worldbody></mujoco>"""
    element, value, height = VARIED[field]
    values = np.stack([getattr(mujoco.MjModel.from_xml_string(text), field)] * 2)
    values[(1, *element)] = value
    gaps = []
    for options in ({}, {"contact_margin": 1e-3}):
        sim = BatchSim(text, 2, **options)
        sim.vary(field, values)
        sim.qpos[:, -5] = height
        sim.step()
        gaps.append([c["gap"] for c in sim.contacts(1)])
    assert gaps[0]
    assert gaps[0] == gaps[1]
