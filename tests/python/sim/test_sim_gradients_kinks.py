"""Which derivatives of steps by qpos are one-sided: joints at their limits, gaps of nanometres."""

import numpy as np
import pytest
from sim_models import PLANE, free, model_path, scene, text
from tabletop import CUBE
from test_sim_gradients import TIGHT, loss_of, shaken

from stickslip import GradientStatus
from stickslip._src.sim import BatchSim

SLIDER = scene(
    0.004,
    '<body><joint type="slide" axis="0 0 1" limited="true" range="0 1"/>'
    '<geom type="sphere" size=".05"/></body>',
)
LAWS = ("coulomb", "convex")


def upwards(sim):
    """The derivatives of the last step's vertical velocity."""
    loss = np.zeros_like(sim.qvel)
    loss[:, min(2, loss.shape[1] - 1)] = 1.0
    return sim.step_vjp(d_qvel=loss)


@pytest.mark.parametrize("law", LAWS)
def test_a_joint_exactly_at_its_limit(law):
    """It falls into the limit, which acts once it is passed; or it leaves, or is not there."""
    sim = BatchSim(SLIDER, 3, law=law, options=TIGHT)
    sim.qpos[:, 0] = [0, 0, 0.1]
    sim.qvel[:, 0] = [0, 0.5, 0]
    sim.step()
    g = upwards(sim)
    assert g.ok.all()
    assert g.qpos_status.tolist() == [1, 0, 0]
    assert GradientStatus.kink == 1
    np.testing.assert_allclose(g.qpos, 0, atol=1e-8)
    sideways = sim.step_jvp(d_qpos=np.ones((3, 1)))
    np.testing.assert_array_equal(sideways.qpos_status, g.qpos_status)


@pytest.mark.parametrize("law", LAWS)
def test_a_joint_beyond_its_limit(law):
    """The limit acts on both sides: a spring."""
    sim = BatchSim(SLIDER, 1, law=law, options=TIGHT)
    sim.qpos[:, 0] = -1e-3
    sim.step()
    g = upwards(sim)
    assert g.qpos_ok.all()
    assert g.qpos[0, 0] < -1


def test_a_gap_of_a_nanometre():
    """Rigid contacts: what closes within the step is at a kink where the gap is almost 0."""
    sim = BatchSim(
        scene(0.004, PLANE, free('<geom type="sphere" size=".05"/>', "0 0 .05")), 4, options=TIGHT
    )
    sim.qpos[:, 2] += [1e-9, 5e-9, 1e-5, 0.1]  # the last one stays in the air
    sim.step()
    g = upwards(sim)
    assert g.ok.all()
    assert g.qpos_status.tolist() == [1, 1, 0, 0]
    np.testing.assert_allclose(g.qpos[:, 2], [-250, -250, -250, 0], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("cone", "friction"), [("elliptic", 0.7), ("pyramidal", 0.7), ("elliptic", 0)]
)
def test_a_convex_contact_that_opens_and_slides(cone, friction):
    """At a gap of 0: the law convex pushes a ball away that overlaps and leaves more slowly than
    friction times its sliding."""
    geom = f'<geom size=".05" friction="{friction}"/>'
    joints = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>'
    ball = f'<body pos="0 0 .05">{joints}{geom}</body>'
    plane = f'<geom type="plane" size="5 5 .1" friction="{friction}"/>'
    model = scene(0.004, plane, ball).replace("<option", f'<option cone="{cone}"')
    sim = BatchSim(model, 4, law="convex", options=TIGHT)
    sim.qvel[:] = [[0, 0.1], [1, 0.1], [-3, 1], [0.005, 0.1]]
    state = sim.state.copy()
    speeds = []
    for by in (-1e-9, 1e-9, 0):
        sim.state[:] = state
        sim.qpos[:, 1] += by
        sim.step()
        speeds.append(sim.qvel[:, 1].copy())
    jumps = abs(speeds[1] - speeds[0]) > 1e-3
    assert jumps.tolist() == [False, friction > 0, friction > 0, False]
    g = upwards(sim)
    assert g.ok.all()
    np.testing.assert_array_equal(g.qpos_status == GradientStatus.kink, jumps)
    np.testing.assert_array_equal(sim.step_jvp(d_qpos=np.ones((4, 2))).qpos_status, g.qpos_status)


ROUGH = 'friction=".4"'
BOX = f'<geom type="box" size=".1 .12 .1" {ROUGH}/>'
TILTED = f'<geom type="plane" size="5 5 .1" {ROUGH} euler="%d 0 0"/>'
GROOVE = free(BOX.replace("/>", ' euler="45 0 0"/>'), f"0 0 {0.22 / np.sqrt(2)}")
ON_PLANES = {
    "plane": scene(0.004, PLANE.replace("/>", f" {ROUGH}/>"), free(BOX, "0 0 .1")),
    "groove": scene(0.004, TILTED % 45, TILTED % -45, GROOVE),
}


def boxes(model, law):
    """They have landed with random velocities."""
    sim = BatchSim(model, 64, law=law, options=TIGHT, compliance=1e-3)
    sim.qvel[:] = 0.3 * np.random.default_rng(3).normal(size=sim.qvel.shape)
    sim.step()
    return sim


@pytest.mark.parametrize("name", ON_PLANES)
@pytest.mark.parametrize("law", ["coulomb", "pyramid"])
def test_corners_stick_together_at_every_pose(law, name):
    """Their rows are those of one plane, wherever the box turns."""
    sim = boxes(ON_PLANES[name], law)
    g = sim.step_vjp(d_qvel=np.ones_like(sim.qvel))
    assert (sim.num_contacts >= 3).any()
    assert not (g.qpos_status == GradientStatus.not_unique).any()


@pytest.mark.parametrize("law", ["box", "coulomb", "pyramid"])
def test_corners_that_stick_together_at_one_pose_only(law):
    """Where a box on four blocks turns, the velocities of its contacts no longer depend on each
    other: their normals are those of the blocks that are boxes, and its own on those that are
    meshes. Both directions say so of the same environments."""
    assets = f'<mesh name="cube" vertex="{text(0.05 * CUBE)}"/>'
    shapes = ['type="box" size=".05 .05 .05"', 'type="mesh" mesh="cube"']
    blocks = [
        f'<geom {shapes[i % 2]} pos="{x} {y} -.05" {ROUGH}/>'
        for i, (x, y) in enumerate([(-0.1, -0.1), (-0.1, 0.1), (0.1, 0.1), (0.1, -0.1)])
    ]
    sim = boxes(scene(0.004, *blocks, free(BOX, "0 0 .1"), assets=assets), law)
    not_unique = GradientStatus.not_unique
    expected = np.zeros(64, bool)
    for direction in np.eye(6):
        expected |= sim.step_jvp(d_qpos=np.tile(direction, (64, 1))).qpos_status == not_unique
    assert expected.any()
    loss = np.zeros((64, 6))
    loss[:, 5] = 1.0
    g = sim.step_vjp(d_qvel=loss)
    assert not (g.status == not_unique).any()
    np.testing.assert_array_equal(g.qpos_status == not_unique, expected)


@pytest.mark.parametrize("law", LAWS)
def test_robots_are_hardly_ever_at_kinks(law):
    sim, state = shaken(model_path("ant"), 32, law, "implicitfast")
    g = sim.step_vjp(*loss_of(sim), state=state)
    assert g.qpos_ok.sum() >= 30
