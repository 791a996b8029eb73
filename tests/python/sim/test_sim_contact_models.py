"""Restitution, rest speed, stiffness and damping of geoms, materials and pairs."""

import copy

import numpy as np
import pytest
from contact_model_scenes import GEOMS, H, after, ball, balls_in_a_box, thrown
from sim_models import run

from stickslip import BatchSim


def test_equal_numbers_of_all_geoms_have_the_bits_of_the_simulations():
    of_geoms = balls_in_a_box(
        restitution={f"geom {name}": 0.6 for name in GEOMS},
        v_rest={f"geom {name}": 0.05 for name in GEOMS},
    )
    same = after(*thrown(balls_in_a_box(), 8, restitution=0.6, v_rest=0.05))
    np.testing.assert_array_equal(after(*thrown(of_geoms, 8)), same)


def test_varied_environments_have_the_bits_of_simulations_of_their_own():
    e = np.linspace(0, 1, 5)
    sim, steps = thrown(balls_in_a_box(), 5)
    sim.vary("geom_restitution", np.repeat(e[:, None], len(GEOMS), axis=1))
    together = after(sim, steps)
    for k, own in enumerate(e):
        alone = after(*thrown(balls_in_a_box(), 5, restitution=own))
        np.testing.assert_array_equal(together[k], alone[k])


def test_copies_have_the_varied_numbers():
    sim, steps = thrown(balls_in_a_box(), 3)
    rng = np.random.default_rng(1)
    sim.vary("geom_restitution", rng.uniform(0, 1, (3, len(GEOMS))))
    sim.vary("geom_stiffness", rng.choice([np.inf, 1e4], (3, len(GEOMS))))
    other = copy.deepcopy(sim)
    np.testing.assert_array_equal(after(sim, steps), after(other, steps))


def test_data_for_mujoco_are_those_of_an_environment():
    sim = BatchSim(ball(), 2)
    sim.vary("geom_restitution", [[0, 0], [0.5, 0.5]])
    sim.vary("geom_size", np.repeat(sim.model.geom_size[None], 2, 0) * [[[1]], [[0.5]]])
    assert sim.data(1).model.geom_size[1, 0] == 0.05


def returned(model, speed=1.0, **options):
    """The speed of a ball after it hit the floor at `speed`, divided by it."""
    sim = BatchSim(model, **options)
    sim.qpos[:, 2] = 0.1 + 0.5 * H * speed
    sim.qvel[:, 2] = -speed
    run(sim, 3)
    return sim.qvel[0, 2] / speed


BOTH = {"geom ball": 0.2, "geom floor": 0.7}
RULES = {
    "the larger one": (ball(restitution=BOTH), 0.7),
    "one alone": (ball(restitution={"geom ball": 0.4}), 0.4),
    "material": (ball(of_ball='material="rubber"', restitution={"material rubber": 0.9}), 0.9),
    "geom before material": (
        ball(of_ball='material="rubber"', restitution={"geom ball": 0.3, "material rubber": 0.9}),
        0.3,
    ),
    "priority": (ball(of_ball='priority="1"', restitution=BOTH), 0.2),
    "pair": (
        ball(contact='<pair name="p" geom1="ball" geom2="floor"/>',
             restitution={**BOTH, "pair p": 0.5}),
        0.5,
    ),
    "pair the other way": (
        ball(contact='<pair name="p" geom1="floor" geom2="ball"/>',
             restitution={**BOTH, "pair p": 0.5}),
        0.5,
    ),
    "pair that says nothing": (
        ball(contact='<pair name="p" geom1="ball" geom2="floor"/>', restitution=BOTH), 0.7,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("model", "expected"), RULES.values(), ids=RULES)
def test_which_restitution_a_contact_has(model, expected):
    assert returned(model) == pytest.approx(expected, abs=1e-9)


def test_geoms_that_are_not_named_have_the_simulations():
    model = ball(restitution={"geom ball": 0.4})
    assert returned(model, restitution=0.6) == pytest.approx(0.6, abs=1e-9)
    assert returned(model, restitution=0.1) == pytest.approx(0.4, abs=1e-9)


def test_slow_approaches_do_not_bounce():
    model = ball(restitution={"geom ball": 0.5}, v_rest={"geom floor": 0.3})
    assert returned(model, 0.31) == pytest.approx(0.5, abs=1e-9)
    assert returned(model, 0.29) == pytest.approx(0.0, abs=1e-6)


REFUSED = {
    "an element of another kind": (
        ball(restitution={"geom ball": 0.5}).replace('"geom" objname="ball"',
                                                     '"body" objname="world"'),
        {}, "stickslip_restitution: expected elements that are geoms, materials or pairs, got body",
    ),
    "a tuple that does not exist": (
        ball(restituton={"geom ball": 0.5}), {},
        "expected tuples stickslip_ of restitution, v_rest, .*, got stickslip_restituton",
    ),
    "restitution": (ball(restitution={"geom ball": 1.5}), {},
                    r"stickslip_restitution of geom 'ball': expected numbers in \[0, 1\], got 1.5"),
    "v_rest": (ball(v_rest={"geom ball": -1}), {}, "stickslip_v_rest of geom 'ball': expected"),
    "stiffness": (ball(stiffness={"geom ball": 0}), {}, "stiffness .* numbers of at least"),
    "damping": (ball(damping={"geom ball": -2}), {}, "stickslip_damping of geom 'ball': expected"),
    "compliance": (ball(stiffness={"geom ball": 1e3}), {"compliance": 1e-3},
                   "compliance: expected 0 where contacts have a stiffness, got 0.001"),
}  # fmt: skip


@pytest.mark.parametrize(("model", "options", "message"), REFUSED.values(), ids=REFUSED)
def test_wrong_models_are_refused(model, options, message):
    with pytest.raises(ValueError, match=message):
        BatchSim(model, **options)


def test_wrong_values_are_refused():
    sim = BatchSim(ball(), 2)
    for field, values, message in [
        ("geom_restitution", [[0, 0], [0, 1.5]], "geom_restitution in environment 1.*got 1.5"),
        ("geom_damping", [[0, 0], [np.nan, 0]], "geom_damping in environment 1"),
        ("geom_stiffness", [[0, 1], [1, 1]], "geom_stiffness in environment 0.*got 0"),
        ("geom_restitution", [[0, 1e300]] * 2, r"got 1e\+300$"),
        ("geom_restitution", [[0], [0]], "expected 2 numbers per environment"),
        ("pair_restitution", [[0], [0]], "expected 0 numbers per environment"),
    ]:
        with pytest.raises(ValueError, match=message):
            sim.vary(field, values)
    with pytest.raises(ValueError, match="compliance: expected 0"):
        BatchSim(ball(), compliance=1e-3).vary("geom_stiffness", [[1e3, 1e3]])


def test_flexes_have_the_simulations_and_geoms_their_own():
    cloth = """<mujoco><option timestep=".002"/><worldbody>
      <geom name="floor" type="plane" size="2 2 .1"/>
      <flexcomp name="f" type="grid" count="3 3 1" spacing=".1 .1 .1" pos="0 0 .2" radius=".01"
        dim="2"><edge equality="true"/></flexcomp></worldbody></mujoco>"""
    of_all, of_floor, plain = BatchSim(cloth, restitution=0.8), BatchSim(cloth), BatchSim(cloth)
    of_floor.vary("geom_restitution", [[0.8]])
    for sim in (of_all, of_floor, plain):
        sim.step(substeps=150)
    np.testing.assert_array_equal(of_floor.qvel, of_all.qvel)
    assert (plain.qvel != of_all.qvel).any()


@pytest.mark.parametrize("options", [{"law": "convex"}, {"law": "mujoco"}, {"softness": "model"}])
def test_soft_laws_say_that_they_do_not_use_them(options):
    with pytest.warns(UserWarning, match="stickslip_restitution"):
        sim = BatchSim(ball(restitution={"geom ball": 0.5}), **options)
    with pytest.raises(ValueError, match="geom_restitution is of the rigid laws"):
        sim.vary("geom_restitution", [[0.5, 0.5]])


def test_bouncing_steps_have_no_derivatives():
    sim = BatchSim(ball(restitution={"geom ball": 0.5}))
    sim.step()
    with pytest.raises(ValueError, match="restitution: steps have derivatives with 0 in all"):
        sim.step_vjp(d_qvel=np.ones_like(sim.qvel))
