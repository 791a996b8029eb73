"""Arguments of another type: messages name the argument, what is expected, and what was given."""

import copy

import pytest
from sim_models import FALLING, MACHINE, same

from stickslip import BatchSim


@pytest.fixture(scope="module")
def sim():
    return BatchSim(FALLING, 2, fields=["xpos"])


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("law", 3, "law: expected one of .*'mujoco', got 3"),
        ("integrator", 3, "integrator: expected a text, got int"),
        ("timestep", "1", "timestep: expected a number, got str"),
        ("timestep", 0, "timestep: expected a finite number > 0, got 0"),
        ("timestep", float("nan"), "timestep: expected a finite number > 0, got nan"),
        ("warm_start", "no", "warm_start: expected a bool, got str"),
        ("contact_margin", "x", "contact_margin: expected a number, got str"),
        ("fields", 3, "fields: expected a list of texts, got 3"),
        ("fields", "xpos", "fields: expected a list of texts, got 'xpos'"),
        ("fields", ["xpos", 3], r"fields\[1\]: expected a text, got int"),
    ],
)
def test_options(option, value, message):
    with pytest.raises((TypeError, ValueError), match=message):
        BatchSim(FALLING, **{option: value})


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("vary", (3, [[1.0], [1.0]]), "field: expected a text, got int"),
        ("field", (3,), "name: expected a text, got int"),
        ("dump", (0, 3.5), "path: expected a path, got float"),
    ],
)
def test_methods(sim, method, arguments, message):
    with pytest.raises(TypeError, match=message):
        getattr(sim, method)(*arguments)


@pytest.mark.parametrize("law", ["coulomb", "convex", "mujoco"])
def test_the_time_step_is_that_of_a_model_which_has_it(law):
    wanted = BatchSim(MACHINE.replace('timestep="0.004"', 'timestep="0.001"'), 2, law=law)
    sim = BatchSim(MACHINE, 2, law=law, timestep=0.001)
    assert sim.timestep == sim.model.opt.timestep == wanted.timestep == 0.001
    for _ in range(20):
        sim.step(), wanted.step()
    same(sim.state, wanted.state)
    assert copy.deepcopy(sim).timestep == 0.001
