"""Overlap that nothing parts, or that friction holds, does not stop the recovery of others."""

import numpy as np
import pytest

pytest.importorskip("mujoco")
from stickslip import BatchSim, Status

CUBE = '<geom type="box" size=".05 .05 .05"/>'
FAR = f'<body pos="30 0 .045"><freejoint/>{CUBE}</body>'  # 5 mm deep in the floor
JAMS = {
    # Slides along a shelf in which it is 0.1 mm deep: its joint does not part them.
    "slider": """<geom type="box" size=".1 .1 .1" pos="0 0 1"/>
     <body pos="0 0 1.1299"><joint type="slide" axis="1 0 0"/>
      <geom type="box" size=".03 .03 .03"/></body>""",
    "between walls": f"""<geom type="box" size=".05 .2 .2" pos="-.099 0 .2"/>
     <geom type="box" size=".05 .2 .2" pos=".099 0 .2"/>
     <body pos="0 0 .05"><freejoint/>{CUBE}</body>""",
    "hinge in the floor": """<body pos="0 0 0"><joint type="hinge" axis="0 1 0"/>
      <geom type="capsule" size=".05" fromto="0 0 0 .3 0 0"/></body>""",
    "links": """<body pos="0 0 1"><joint type="hinge" axis="0 0 1"/><geom size=".1"/>
      <body pos=".01 0 0"><joint type="hinge" axis="0 0 1"/><geom size=".02" contype="0"/>
       <body pos=".01 0 0"><joint type="hinge" axis="0 0 1"/><geom size=".1"/></body>
      </body></body>""",
}


def run(xml, seconds=0.4, h=0.002, **options):
    sim = BatchSim(
        f"""<mujoco><option timestep="{h}"/><worldbody><geom type="plane" size="99 99 1"/>
        {xml}</worldbody></mujoco>""",
        1,
        **options,
    )
    for _ in range(round(seconds / h)):
        assert sim.step()[0] == Status.solved
    return sim


@pytest.mark.parametrize("options", [{}, {"position_iterations": 10}, {"law": "pyramid"}])
@pytest.mark.parametrize("jam", JAMS)
def test_a_jam_does_not_stop_the_recovery_of_others(jam, options):
    sim = run(JAMS[jam] + FAR, **options)
    assert abs(sim.qpos[0, -5] - 0.05) < 2e-6
    assert abs(sim.qvel[0, -6:]).max() < 1e-6


def test_a_jam_does_not_stop_the_recovery_of_what_has_to_lift_others():
    sim = run(JAMS["slider"] + FAR + f'<body pos="30 0 .143"><freejoint/>{CUBE}</body>')
    assert abs(sim.qpos[0, [-12, -5]] - [0.05, 0.15]).max() < 1e-5


@pytest.mark.parametrize("law", ["coulomb", "pyramid", "box"])
@pytest.mark.parametrize("depth", [1e-4, 5e-3])
@pytest.mark.parametrize("angle", [60, 90, 120])
def test_overlap_in_a_corner_recovers_with_any_friction(angle, depth, law):
    """With mu = 1, friction of either wall can hold a ball that the other pushes out."""
    radius, turn = 0.05, np.radians(angle)
    normal = np.array([np.sin(turn), np.cos(turn)])
    x, z = np.linalg.solve([[0, 1], normal], np.full(2, radius - depth))
    sim = run(
        f"""<geom type="plane" size="9 9 1" zaxis="{normal[0]} 0 {normal[1]}"/>
        <body pos="{x} 0 {z}"><freejoint/><geom size="{radius}"/></body>""",
        law=law,
    )
    place = sim.qpos[0, [0, 2]]
    assert place[1] - radius > -1e-6
    assert place @ normal - radius > -1e-6
    assert abs(sim.qvel[0]).max() < 1e-6
