"""Derivatives of steps by controls and velocities, where they come from MuJoCo's derivatives of the
smooth forces, and where these do not tell those of the step."""

import pytest
from test_sim_gradients import INTEGRATORS, by_differences, loss_of, relative_error, shaken

from stickslip import GradientStatus
from stickslip.sim import BatchSim

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
    far = g.ok & (g.margin > 1e-3)
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
