"""Derivatives of steps by controls and velocities, where they come from MuJoCo's derivatives of the
smooth forces, and where these do not tell those of the step."""

import numpy as np
import pytest
from test_sim_gradients import INTEGRATORS, by_differences, loss_of, relative_error, shaken

from stickslip import GradientStatus
from stickslip._src.sim import BatchSim

ARM = """<mujoco><option timestep=".004" {option}/><worldbody><geom type="plane" size="5 5 .1"/>
  <body pos="0 0 .3"><joint name="a" axis="0 1 0" damping=".02" {a}/>
    <geom type="capsule" size=".03" fromto="0 0 0 .4 0 0"/>
    <body pos=".4 0 0"><joint name="b" axis="0 1 0" damping=".02" {b}/>
      <geom type="capsule" size=".03" fromto="0 0 0 .3 0 .1"/>
      <body pos=".3 0 .1"><joint type="ball" damping=".01"/>
        <geom type="box" size=".05 .03 .04" pos="0 .03 .03"/></body></body></body>
  {block}</worldbody>
  <tendon><fixed name="t" {tendon}><joint joint="a" coef="1"/><joint joint="b" coef="-.5"/></fixed>
  </tendon>
  <actuator><motor joint="a" gear="2"/>{actuator}</actuator></mujoco>"""
BLOCK = """<body pos="0 1 .05"><freejoint/><geom type="box" size=".05 .08 .05" friction=".3"/>
  <geom type="sphere" size=".02" pos=".05 0 .1"/></body>"""
FLUID = 'density="1000" viscosity=".5"'
CHILD = '<body pos="0 0 .2"><joint/><geom size=".05" pos=".1 0 0"/></body>'
GENERAL = '<general joint="b" {}/>'
CASES = {
    "all is told": {},
    "fluid": {"option": FLUID, "block": ""},
    "fluid and a free body": {"option": FLUID, "block": BLOCK.replace("0 1 .05", "0 1 1")},
    "quadratic damping": {"a": 'damping=".1 .2 .3"'},
    "tendon": {"tendon": 'armature=".3" damping=".2 .5"'},
    "gain by velocity": {
        "actuator": GENERAL.format('gaintype="affine" gainprm="2 .5 .7" biastype="affine"')
    },
    "muscle": {"actuator": '<muscle joint="b" force="9" lengthrange="-3 3" ctrllimited="false"/>'},
    "filter": {"actuator": GENERAL.format('dyntype="filter" dynprm=".03" actearly="true"')},
    "limited force": {
        "actuator": GENERAL.format('gainprm=".5" forcelimited="true" forcerange="-.2 .2"'),
        "a": 'actuatorfrclimited="true" actuatorfrcrange="-.8 .8"',
    },
    "limited tendon": {
        "tendon": 'actuatorfrclimited="true" actuatorfrcrange="-.3 .3"',
        "actuator": '<motor tendon="t"/><motor tendon="t" gear="2"/>',
    },
    "servo": {"actuator": '<position joint="b" kp="20" kv="3" ctrlrange="-1 1"/>'},
}


def arm(**parts):
    parts = dict.fromkeys(("option", "a", "b", "tendon", "actuator"), "") | {"block": BLOCK} | parts
    for joint in ("a", "b"):
        if "damping" in parts[joint]:
            return ARM.replace(f'damping=".02" {{{joint}}}', f"{{{joint}}}").format(**parts)
    return ARM.format(**parts)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("law", ["coulomb", "convex"])
@pytest.mark.parametrize("case", CASES)
def test_forces_of_all_kinds(case, law, integrator):
    """MuJoCo's derivatives are complete in some of these cases only."""
    sim, state = shaken(arm(**CASES[case]), 4, law, integrator, 12)
    state = sim.state.copy()
    loss = loss_of(sim)
    g = sim.step_vjp(*loss, state=state)
    far = g.ok & (g.kink_distance > 1e-3)
    assert far.any()
    for name in ("ctrl", "qvel"):
        expected = by_differences(sim, state, loss, name)
        assert relative_error(getattr(g, name), expected)[far].max() < 1e-6


def test_controls_and_forces_at_their_limits():
    """A control at the end of its range has the derivative inside, none beyond; a force at its
    limit is a kink."""
    actuator = GENERAL.format('ctrllimited="true" ctrlrange="-1 1" {}')
    limited = actuator.format('forcelimited="true" forcerange="-.5 .5"')
    sim = BatchSim(arm(actuator=limited), 5)
    sim.ctrl[:, 1] = [0.2, 0.5, 1.0, 1.5, 0.9]
    sim.step()
    g = sim.step_vjp(*loss_of(sim))
    kink = GradientStatus.kink
    assert (g.status == kink).tolist() == [False, True, False, False, False]
    assert (g.ctrl[:, 1] != 0).tolist() == [True, True, False, False, False]
    free = BatchSim(arm(actuator=actuator.format("")), 3)
    free.ctrl[:, 1] = [0.5, 1.0, 1.5]
    free.step()
    g = free.step_vjp(*loss_of(free))
    assert g.ok.all()
    assert (g.ctrl[:, 1] != 0).tolist() == [True, True, False]


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("law", ["coulomb", "convex"])
@pytest.mark.parametrize("child", ["", CHILD], ids=["alone", "child"])
@pytest.mark.parametrize("fluid", ['density="50"', 'viscosity="2"'])
def test_masses_in_a_fluid(fluid, child, law, integrator):
    """MuJoCo finds a body's box in the fluid from its mass and inertia: the integrator's matrix
    depends on them, too."""
    box = f'<body><freejoint/><geom type="box" size=".1 .12 .1" density="200"/>{child}</body>'
    model = f'<mujoco><option timestep=".01" {fluid}/><worldbody>{box}</worldbody></mujoco>'
    sim = BatchSim(model, 1, law=law, integrator=integrator)
    sim.qvel[0, :6] = [1, 2, 0.5, 0.3, 0.2, 0.1]
    state, loss = sim.state.copy(), loss_of(sim)
    for field in ("body_mass", "body_inertia"):
        base = getattr(sim.model, field)[None]
        change = base * (np.arange(sim.model.nbody) == 1).reshape(-1, *[1] * (base.ndim - 2))
        sides = []
        for by in (-1e-4, 1e-4, 0):
            sim.vary(field, base + by * change)
            sim.state[:] = state
            sim.step()
            sides.append(sim.qvel.copy())
        expected = (sides[1] - sides[0]) / 2e-4
        tangent = sim.step_jvp(varied={field: change}, state=state)
        assert tangent.ok.all()
        assert relative_error(tangent.qvel, expected).max() < 1e-6
        adjoint = sim.step_vjp(d_qvel=loss[1], state=state, wrt=field)
        found = (adjoint.varied[field] * change).sum()
        np.testing.assert_allclose(found, (loss[1] * tangent.qvel).sum(), rtol=1e-10)
