"""Models for the simulation tests: from installed packages, and a few small scenes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import mujoco
import numpy as np
import pytest

from stickslip import Status
from stickslip._src.sim import BatchSim

GYMNASIUM = ("ant", "humanoid", "half_cheetah", "hopper", "walker2d")
DM_CONTROL = ("dm_humanoid", "dm_quadruped")
FALLING = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/>
<body pos="0 0 .15"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
</worldbody></mujoco>"""
PLANE = '<geom type="plane" size="50 50 .1"/>'
BALL = '<geom type="sphere" size=".05"/>'
CUBE = '<geom type="box" size=".1 .1 .1"/>'
SLICK = 'friction="0 0 0"'
STATE = mujoco.mjtState.mjSTATE_INTEGRATION


def scene(h: float, *content: str, gravity: float = 9.81, assets: str = "") -> str:
    """MJCF of a world of these geoms and bodies, with the time step h, s."""
    return f"""<mujoco><option timestep="{h}" gravity="0 0 {-gravity}"/>
      <asset>{assets}</asset><worldbody>{"".join(content)}</worldbody></mujoco>"""


def text(values: np.ndarray) -> str:
    """Numbers of an attribute of MJCF, all their digits."""
    return " ".join(repr(float(v)) for v in np.ravel(values))


def free(geom: str, pos: str = "0 0 0", euler: str = "0 0 0") -> str:
    """A free body of one geom."""
    return f'<body pos="{pos}" euler="{euler}"><freejoint/>{geom}</body>'


def run(sim: BatchSim, steps: int) -> None:
    """Steps that must all be solved."""
    for _ in range(steps):
        assert (sim.step() == Status.solved).all()


def same(a: np.ndarray, b: np.ndarray) -> None:
    """The same bits, of NaN and the signs of zeros too."""
    np.testing.assert_array_equal(a.view(np.uint64), b.view(np.uint64))


def model_path(name: str) -> Path:
    """XML file of a model in an installed package; skips the test if the package is absent."""
    dm = name.startswith("dm_")
    package, folder = ("dm_control", "suite") if dm else ("gymnasium", "envs/mujoco/assets")
    spec = importlib.util.find_spec(package)
    if spec is None:
        pytest.skip(f"{package} is not installed: no model {name}")
    return Path(spec.origin).parent / folder / f"{name.removeprefix('dm_')}.xml"


def saved_model(name: str, folder: Path, **options: float) -> str:
    """Path of the compiled model with some of its options changed."""
    model = mujoco.MjModel.from_xml_path(str(model_path(name)))
    for option, value in options.items():
        setattr(model.opt, option, value)
    path = str(folder / f"{name}.mjb")
    mujoco.mj_saveModel(model, path)
    return path


def exact_mujoco(path: str) -> mujoco.MjModel:
    """The model with MuJoCo's solver as an oracle: Newton to the last bit. Dense, because the
    sparse Cholesky of MuJoCo 4.0.0 is wrong."""
    model = mujoco.MjModel.from_binary_path(path)
    model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    model.opt.tolerance = 0
    model.opt.iterations = model.opt.ls_iterations = 200
    model.opt.noslip_iterations = 0
    return model


def contact_rich_states(model: mujoco.MjModel, count: int) -> tuple[np.ndarray, np.ndarray]:
    """States with contacts from a run under random controls, and MuJoCo's qacc in each."""
    rng = np.random.default_rng(0)
    data = mujoco.MjData(model)
    states, qacc = [], []
    for step in range(100_000):
        if step % 100 == 0:
            mujoco.mj_resetData(model, data)
            data.qvel[:] = 0.5 * rng.normal(size=model.nv)
        data.ctrl[:] = rng.uniform(-1, 1, model.nu)
        state = np.zeros(mujoco.mj_stateSize(model, STATE))
        mujoco.mj_getState(model, data, state, STATE)
        mujoco.mj_forward(model, data)
        if data.ncon > 0 and step % 3 == 0:
            states.append(state)
            qacc.append(data.qacc.copy())
        if len(states) == count:
            return np.array(states), np.array(qacc)
        mujoco.mj_Euler(model, data)
    raise AssertionError("no contacts")


def slope(angle: float, mu: float, *, integrator: str = "implicitfast") -> str:
    """A box at rest on a plane inclined by `angle` about y; in fact gravity is inclined."""
    gx, gz = 9.81 * np.sin(angle), -9.81 * np.cos(angle)
    return f"""<mujoco>
      <option timestep="0.002" integrator="{integrator}" cone="elliptic" gravity="{gx} 0 {gz}"/>
      <default><geom friction="{mu}"/></default>
      <worldbody><geom type="plane" size="5 5 .1"/>
        <body pos="0 0 .05"><freejoint/><geom type="box" size=".1 .1 .05"/></body>
      </worldbody></mujoco>"""


def spinning_disc(mu_torsion: float, integrator: str) -> str:
    """A disc of 2 kg and 0.01 kg m² about its axis, standing on one point."""
    return f"""<mujoco><option timestep="0.002" integrator="{integrator}"/>
      <default><geom condim="4" friction="1 {mu_torsion}"/></default>
      <worldbody><geom type="plane" size="5 5 .1"/>
        <body pos="0 0 .1"><freejoint/>
          <inertial pos="0 0 0" mass="2" diaginertia=".005 .005 .01"/>
          <geom type="sphere" size=".1"/></body>
      </worldbody></mujoco>"""


def stack(boxes: int, integrator: str = "implicitfast") -> str:
    bodies = "".join(
        f'<body pos="0 0 {0.1 + 0.2 * i}"><freejoint/><geom type="box" size=".1 .1 .1"/></body>'
        for i in range(boxes)
    )
    return f"""<mujoco><option timestep="0.002" integrator="{integrator}"/>
      <worldbody><geom type="plane" size="5 5 .1"/>{bodies}</worldbody></mujoco>"""


def pile(timestep: float) -> str:
    """Six cubes of 8 kg that fall on each other."""
    bodies = "".join(
        f'<body pos="{0.02 * (i % 3)} {0.01 * (i % 2)} {0.2 + 0.4 * i}" '
        f'euler="{7 * i} {5 * i} {3 * i}"><freejoint/><geom type="box" size=".1 .1 .1"/></body>'
        for i in range(6)
    )
    return f"""<mujoco><option timestep="{timestep}" cone="elliptic"/>
      <worldbody><geom type="plane" size="50 50 .1"/>{bodies}</worldbody></mujoco>"""


TUMBLING = """<mujoco><option timestep="0.005"/>
  <default><geom friction=".7 .01 .005" type="box" size=".1 .06 .03"/></default>
  <worldbody><geom type="plane" size="5 5 .1"/>
    <body pos="0 0 .3"><freejoint/><geom condim="3"/></body>
    <body pos=".05 0 .55" euler="20 30 10"><freejoint/><geom condim="4"/></body>
    <body pos=".1 0 .8" euler="40 60 10"><freejoint/><geom condim="6"/></body>
  </worldbody></mujoco>"""

# Equality, limits, friction loss, damping, a frictionless contact, a servo with damping, sensors.
MACHINE = """<mujoco><option timestep="0.004"/>
  <worldbody><geom type="plane" size="5 5 .1" condim="1"/>
    <body name="arm" pos="0 0 .5"><joint name="a" axis="0 1 0" frictionloss=".2" damping=".5"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
      <body pos=".3 0 0"><joint name="b" axis="0 1 0" range="-60 60" limited="true"/>
        <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
        <site name="tip" pos=".3 0 0" size=".05"/></body></body>
    <body name="ball" pos=".4 0 .1"><freejoint/><geom type="sphere" size=".1" condim="1"/></body>
    <body name="hung" pos="1 0 1"><freejoint/><geom type="box" size=".05 .05 .05"/></body>
  </worldbody>
  <equality><connect body1="hung" body2="world" anchor="0 0 .2"/></equality>
  <actuator><position joint="a" kp="20" kv="3"/><motor joint="b"/></actuator>
  <sensor><touch site="tip"/><accelerometer site="tip"/><jointlimitfrc joint="b"/></sensor>
</mujoco>"""


def cramped(memory):
    """A falling box, and the given memory for MuJoCo (bytes)."""
    return f"""<mujoco><size memory="{memory}"/><option cone="elliptic" timestep=".01"/><worldbody>
      <geom type="plane" size="5 5 1"/>
      <body pos="0 0 .2"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
    </worldbody></mujoco>"""
