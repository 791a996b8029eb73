"""The law holds for the velocities after the integrator, and BatchSim computes the same."""

import numpy as np
import pytest
import scenes

from stickslip import mjwarp

DAMPED = """<mujoco><option timestep="0.002"/>
<default><geom friction=".3 .005 .0001"/></default><worldbody>
<geom type="plane" size="5 5 .1"/>
<body pos="0 0 .15" euler="20 30 10"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body pos="-.6 0 .3"><joint type="slide" axis="0 0 1" damping="3"/>
  <joint type="slide" axis="1 0 0"/><joint type="hinge" axis="1 0 0" damping=".3"/>
  <geom type="capsule" size=".1 .2" euler="0 80 0"/></body>
<body pos=".6 0 .2"><freejoint/><geom type="ellipsoid" size=".1 .05 .15"/></body>
</worldbody></mujoco>"""
ELLIPTIC_CONTACT = 7
FRICTION = 0.3


@pytest.mark.parametrize("integrator", [scenes.EULER, scenes.IMPLICITFAST])
def test_the_law_holds_after_the_integrator(integrator):
    model, data = scenes.load(DAMPED, integrator=integrator, jacobian=scenes.DENSE)
    m, d = scenes.put(model, data)
    d.qvel.assign(np.random.default_rng(3).normal(0, 2.0, d.qvel.shape).astype(np.float32))
    h, number, sliding = model.opt.timestep, 0, 0
    for _ in range(300):
        mjwarp.step(m, d)
        J, v, force = (a.numpy()[0] for a in (d.efc.J, d.qvel, d.efc.force))
        kinds, ids = d.efc.type.numpy()[0], d.efc.id.numpy()[0]
        address, dist = d.contact.efc_address.numpy()[:, 0], d.contact.dist.numpy()
        for i in range(d.nefc.numpy()[0]):
            if kinds[i] != ELLIPTIC_CONTACT or address[ids[i]] != i:
                continue
            u = J[i : i + 3, : m.nv].astype(float) @ v + [max(dist[ids[i]], 0.0) / h, 0, 0]
            r = force[i : i + 3].astype(float) * h
            assert u[0] > -1e-5
            assert r[0] >= -1e-9
            assert min(u[0], r[0]) < 1e-5
            assert np.linalg.norm(r[1:]) <= FRICTION * r[0] * (1 + 1e-6) + 1e-9
            slip = np.linalg.norm(u[1:])
            if r[0] > 1e-3 and slip > 1e-3:  # friction opposes the slip with all it has
                assert np.allclose(r[1:], -FRICTION * r[0] * u[1:] / slip, atol=1e-3 * r[0])
                sliding += 1
            number += 1
    assert number > 300
    assert sliding >= 5


CUBE = "-.1 -.1 -.1 .1 -.1 -.1 -.1 .1 -.1 .1 .1 -.1 -.1 -.1 .1 .1 -.1 .1 -.1 .1 .1 .1 .1 .1"
GEOMS = {
    "box": '<geom type="box" size=".1 .1 .1"/>',
    "mesh": '<geom type="mesh" mesh="cube"/>',
    "cylinder": '<geom type="cylinder" size=".1 .1"/>',
}


@pytest.mark.parametrize(
    ("lower", "upper"), [("box", "box"), ("box", "mesh"), ("mesh", "cylinder")]
)
def test_what_shares_a_face_rests_on_its_corners(lower, upper):
    xml = f"""<mujoco><option timestep=".002"/><asset><mesh name="cube" vertex="{CUBE}"/></asset>
    <worldbody><geom type="plane" size="5 5 .1"/>
    <body pos="0 0 .1"><freejoint/>{GEOMS[lower]}</body>
    <body pos=".02 .01 .3" euler="0 0 30"><freejoint/>{GEOMS[upper]}</body></worldbody></mujoco>"""
    m, d = scenes.put(*scenes.load(xml))
    start = d.qpos.numpy()[0]
    for step in range(1000):
        mjwarp.step(m, d)
        if step % 100 == 0:
            geoms = d.contact.geom.numpy()[: d.nacon.numpy()[0]]
            assert ((geoms > 0).all(axis=1)).sum() == 4
    end = d.qpos.numpy()[0]
    assert np.abs(end - start).max() < 1e-6  # of the quaternions: 2e-4 degrees


@pytest.mark.parametrize("integrator", [scenes.EULER, scenes.IMPLICITFAST])
@pytest.mark.parametrize("name", ["ant", "damped"])
def test_steps_are_those_of_batch_sim(name, integrator):
    try:  # it needs MuJoCo 4.0, and mujoco_warp runs with others
        from stickslip import BatchSim
    except ImportError as error:
        pytest.skip(str(error))
    model, data = scenes.load(DAMPED if name == "damped" else name, integrator=integrator)
    m, d = scenes.put(model, data)
    sim = BatchSim(model, 1, law="coulomb", warm_start=False)
    rng, velocities, positions = np.random.default_rng(0), [], []
    d.qvel.assign(rng.normal(0, 0.5, d.qvel.shape).astype(np.float32))
    for _ in range(150):
        scenes.drive(rng, d)
        sim.qpos[:], sim.qvel[:] = d.qpos.numpy(), d.qvel.numpy()
        if model.nu:
            sim.step(d.ctrl.numpy().astype(float))
        else:
            sim.step()
        mjwarp.step(m, d)
        velocities.append(np.abs(sim.qvel - d.qvel.numpy()).max())
        positions.append(np.abs(sim.qpos - d.qpos.numpy()).max())
    assert np.median(velocities) < 5e-5
    assert np.median(positions) < 1e-6
    if name == "ant":  # a box that spins on a face has more than one solution
        assert np.quantile(velocities, 0.95) < 1e-4
        assert np.quantile(positions, 0.95) < 1e-6
