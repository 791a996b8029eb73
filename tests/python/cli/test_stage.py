"""What MuJoCo draws of models that bring no light, sky, floor or camera, and where it may draw."""

from __future__ import annotations

import os
import subprocess
import sys

import mujoco
import numpy as np
import pytest
from sim_models import FALLING

from stickslip._src import picture, stage
from stickslip._src.run import RunRecord

BOX = """<mujoco><worldbody>{floor}<body pos="{at} 0 1">
  <freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>"""
ARM = """<mujoco><worldbody><geom type="box" size=".1 .1 .05" pos="0 0 .05"/><body pos="0 0 .1">
  <joint name="elbow" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .4" size=".03"/>
</body></worldbody></mujoco>"""
URDF = """<robot name="arm"><link name="base"/><link name="rod">
  <collision><origin xyz="0 0 .2"/><geometry><box size=".05 .05 .4"/></geometry></collision>
  <inertial><mass value="1"/>
    <inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>
</link><joint name="j" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
</joint></robot>"""


@pytest.fixture
def painted(monkeypatch):
    """An image of a model, or the test is skipped: this process may have no OpenGL."""
    monkeypatch.setenv("MUJOCO_GL", "")  # restored afterwards
    monkeypatch.delenv("MUJOCO_GL")
    stage.choose_opengl()

    def paint(text, size=96):
        model = mujoco.MjModel.from_xml_string(text)
        try:
            with stage.Stage(model, size, size) as made:
                return made.image().astype(int)
        except stage.NoOpenGLError as error:
            pytest.skip(str(error))

    return paint


def blue(image):
    """Of the sky."""
    return image[..., 2] - image[..., 0] > 30


@pytest.mark.parametrize("text", [BOX.format(floor="", at=0), ARM, URDF, FALLING])
def test_plain_models_are_lit_and_have_a_sky(painted, text):
    image = painted(text)
    assert blue(image)[:5].all(), "the sky"
    thing = image[~blue(image)]
    assert len(thing) > 0.03 * image[..., 0].size
    assert thing.max() > 100, "lit"


def test_floors_show_motion(painted):
    """Tiles, where a plane has no texture."""
    floor = '<geom type="plane" size="0 0 1" pos="0 0 .5"/>'
    image = painted(BOX.format(floor=floor, at=0), 192)
    greys = image[-20:].mean(axis=2)
    assert np.ptp(greys) > 10
    assert (painted(BOX.format(floor=floor, at=0.05), 192)[-20:] != image[-20:]).any()
    own = floor.replace("/>", ' rgba=".8 .1 .1 1"/>')
    red, green, _ = np.moveaxis(painted(BOX.format(floor=own, at=0))[-5:], -1, 0)
    assert (red > 2 * green).all(), "a plane keeps its colour"


def test_a_floor_is_drawn_only_under_what_cannot_fall(painted):
    assert not blue(painted(ARM)[-5:]).all()
    assert blue(painted(BOX.format(floor="", at=0))[-5:]).all()


@pytest.mark.parametrize(
    ("inside", "at"), [(ARM, (0, 0, 0.3)), (BOX.format(floor="", at=7), (7, 0, 1))]
)
def test_the_camera_frames_what_moves(inside, at):
    model = mujoco.MjModel.from_xml_string(inside)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    centre, radius = stage.sphere(model, data)
    np.testing.assert_allclose(centre, at, atol=0.05)
    assert 0.1 < radius < 0.3
    data.xpos[:] = data.geom_xpos[:] = np.nan
    assert np.isfinite(stage.sphere(model, data)[0]).all()


# Another process, because MuJoCo selects OpenGL when it is imported.
IMPORTED_FIRST = """
import mujoco
import gymnasium
import stickslip.envs
envs = gymnasium.make_vec("stickslip/Hopper-v5", num_envs=2, render_mode="rgb_array")
envs.reset(seed=0)
assert [frame.std() > 10 for frame in envs.render()] == [True, True]
print("done")
"""


def test_pictures_after_mujoco_was_imported_first():
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "MUJOCO_GL", "PYOPENGL_PLATFORM")
    ran = subprocess.run(
        [sys.executable, "-c", IMPORTED_FIRST],
        capture_output=True,
        text=True,
        env={key: value for key, value in os.environ.items() if key not in hidden},
    )
    if "MuJoCo cannot draw here" in ran.stderr and not stage.find_library("EGL"):
        pytest.skip("no EGL")
    assert ran.stdout.endswith("done\n"), ran.stderr


def drawn(text, film, touched=0):
    """Titles of the two plots of a run without residuals, and the lines of the first."""
    model = mujoco.MjModel.from_xml_string(text)
    record = RunRecord(1, steps=len(film), contacts=[(0.0, touched)] * len(film))
    record.filmed, record.filmed_steps = [np.array([q]) for q in film], [*range(len(film))]
    from matplotlib import pyplot as plt

    left, right = plt.figure().subplots(1, 2)
    picture._draw_motion(left, model, record)
    picture._draw_verdicts(right, model, record, 1e-9, "m/s")
    plt.close()
    lines = {line.get_label(): line.get_ydata() for line in left.get_lines()}
    return left.get_title(), right.get_title(), lines


def test_a_run_of_an_arm_shows_its_joints():
    left, right, lines = drawn(ARM, [[0.0], [0.1], [0.3]])
    assert left == "joints of environment 0"
    assert right == "no contacts: velocities of environment 0"
    np.testing.assert_allclose(lines["elbow"], [0, 0.1, 0.3])
    assert drawn(ARM, [[0.0]], touched=1)[1].startswith("all residuals below")


def test_a_run_of_what_only_falls_shows_it():
    text = BOX.format(floor="", at=0).replace("<freejoint/>", '<freejoint name="box"/>')
    poses = [[0, 0, z, 1, 0, 0, 0] for z in (1.0, 0.9)]
    left, _, lines = drawn(text, poses)
    assert left == "joints of environment 0"
    np.testing.assert_allclose(lines["box z"], [0, -0.1])
    poses[1][0] = 0.5
    assert drawn(text, poses)[0] == "base, 1 environments"
