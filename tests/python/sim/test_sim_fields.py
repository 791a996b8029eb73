"""The table of docs/mathematics.md, "Which fields of a model are used", against what BatchSim does:
each cell is a case."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import stickslip
from stickslip import BatchSim, IgnoredFieldWarning

DOCS = Path(__file__).resolve().parents[3] / "docs" / "mathematics.md"
# A box that slides on a plane, a limited joint with a damped motor, and a ball above the box.
MODEL = """<mujoco>
  <option timestep="0.004" cone="elliptic"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body name="box" pos="0 0 .102"><freejoint/><geom name="box" type="box" size=".1 .1 .1"/></body>
    <body pos="0 0 .28"><freejoint/><geom name="ball" size=".07"/></body>
    <body pos="1 0 1"><joint name="hinge" axis="0 1 0" limited="true" range="-10 10"/>
      <geom name="rod" type="capsule" fromto="0 0 0 0.5 0 0" size=".02"/></body>
  </worldbody>
  <contact><pair name="pair" geom1="ball" geom2="floor"/></contact>
  <actuator><velocity joint="hinge" kv="2"/></actuator>
</mujoco>"""
INTEGRATORS = mujoco.mjtIntegrator


def geoms(field: str, value: Any) -> Callable[[mujoco.MjSpec], None]:
    def edit(spec: mujoco.MjSpec) -> None:
        for name in ("floor", "box", "ball"):
            setattr(spec.geom(name), field, value)

    return edit


def option(**values: Any) -> Callable[[mujoco.MjSpec], None]:
    def edit(spec: mujoco.MjSpec) -> None:
        for field, value in values.items():
            setattr(spec.option, field, value)

    return edit


def override(field: str, value: Any) -> Callable[[mujoco.MjSpec], None]:
    """One of the values for all contacts. The others are those of the model's defaults."""

    def edit(spec: mujoco.MjSpec) -> None:
        spec.option.enableflags |= mujoco.mjtEnableBit.mjENBL_OVERRIDE
        setattr(spec.option, field, value)

    return edit


def pair(field: str, value: Any) -> Callable[[mujoco.MjSpec], None]:
    def edit(spec: mujoco.MjSpec) -> None:
        (only,) = spec.pairs
        # The pair of ball and floor becomes one of box and floor, which touch.
        only.geomname1 = "box"
        setattr(only, field, value)

    return edit


def joint(spec: mujoco.MjSpec) -> None:
    spec.joint("hinge").solref_limit = [0.1, 0.5]


def of_box(name: str, value: float) -> Callable[[mujoco.MjSpec], None]:
    def edit(spec: mujoco.MjSpec) -> None:
        geom = int(mujoco.mjtObj.mjOBJ_GEOM)
        spec.add_tuple(name=f"stickslip_{name}", objtype=[geom], objname=["box"], objprm=[value])

    return edit


# The rows of the table by the beginning of their first cell: edits of the model, and arguments.
ROWS: dict[str, list[Callable[[mujoco.MjSpec], None]]] = {
    "`margin`": [geoms("margin", 0.004), pair("margin", 0.004)],
    "`friction`": [
        geoms("friction", [0.2, 0.005, 0.0001]),
        geoms("condim", 1),
        lambda spec: (
            setattr(spec.geom("box"), "friction", [0.2, 0.005, 0.0001]),
            setattr(spec.geom("box"), "priority", 1),
        ),
    ],
    "`gap`": [lambda spec: (geoms("margin", 0.004)(spec), geoms("gap", 0.003)(spec))],
    "`solref`": [
        geoms("solref", [0.04, 0.7]),
        geoms("solimp", [0.5, 0.9, 0.01, 0.5, 2]),
        override("o_solref", [0.04, 0.7]),
        override("o_solimp", [0.5, 0.9, 0.01, 0.5, 2]),
    ],
    "`solreffriction`": [pair("solreffriction", [0.1, 0.5])],
    "`impratio`": [option(impratio=20.0)],
    "`noslip_iterations`": [option(noslip_iterations=5)],
    "`cone`": [option(cone=mujoco.mjtCone.mjCONE_PYRAMIDAL)],
    "`solver`": [option(solver=mujoco.mjtSolver.mjSOL_PGS, iterations=2)],
    "limits": [joint],
    "`integrator` Euler": [option(integrator=INTEGRATORS.mjINT_IMPLICITFAST)],
    "`integrator` RK4": [option(integrator=INTEGRATORS.mjINT_RK4)],
    "`integrator` implicit": [option(integrator=INTEGRATORS.mjINT_IMPLICIT)],
    "`integrator` discrete": [option(integrator=INTEGRATORS.mjINT_DISCRETE)],
    "flag `sleep`": [option(enableflags=int(mujoco.mjtEnableBit.mjENBL_SLEEP))],
    "`restitution`": [lambda spec: {"restitution": 0.5}, lambda spec: {"compliance": 1e-3}],
    "tuples": [of_box("restitution", 0.5), of_box("stiffness", 1e3)],
}
# The same models without the edit, where it needs more than MODEL.
BASES: dict[str, Callable[[mujoco.MjSpec], None]] = {
    "`gap`": geoms("margin", 0.004),
    "`solreffriction`": pair("name", "pair"),
}


def table() -> dict[str, list[str]]:
    """The cells of each row after the first, by that first cell."""
    text = DOCS.read_text().partition("**Which fields of a model are used.**")[2]
    lines = [line for line in text.split("\n\n")[1].splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert rows[0][2:] == ["`convex`", "`mujoco`"]
    return {row[0]: row[1:] for row in rows[1:]}


CASES = [
    pytest.param(start, law, number, id=f"{start}-{law}-{number}".replace("`", ""))
    for start, edits in ROWS.items()
    for law in ("coulomb", "convex", "mujoco")
    for number in range(len(edits))
]


def simulate(
    law: str, edit: Callable[[mujoco.MjSpec], Any], **arguments: Any
) -> tuple[np.ndarray, list[warnings.WarningMessage], tuple[str, ...]]:
    """The states of some steps, the warnings, and the ignored fields."""
    spec = mujoco.MjSpec.from_string(MODEL)
    changed = edit(spec)
    arguments |= changed if isinstance(changed, dict) else {}
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        sim = BatchSim(spec, law=law, threads=1, **arguments)
    sim.qvel[:, 0] = 1.0
    sim.qvel[:, 2] = -0.3
    sim.qvel[:, 12] = 5.0
    states = []
    for _ in range(30):
        sim.step([1.0])
        states.append(np.concatenate([sim.qpos[0], sim.qvel[0]]))
    return np.array(states), list(notes), sim.ignored_fields


def test_the_table_has_these_rows():
    assert len(table()) == len(ROWS)
    for start in ROWS:
        assert sum(first.startswith(start) for first in table()) == 1, start


@pytest.mark.parametrize(("start", "law", "number"), CASES)
def test_a_field_is_used_as_the_table_says(start, law, number):
    cells = next(cells for first, cells in table().items() if first.startswith(start))
    cell = cells[("coulomb", "convex", "mujoco").index(law)]
    edit = ROWS[start][number]
    what = cell.partition(":")[0].partition(";")[0].partition(" (")[0]
    if what == "refused":
        with pytest.raises(ValueError, match=r"expected|integrator|flag"):
            simulate(law, edit)
        return
    before, _, _ = simulate(law, BASES.get(start, lambda spec: None))
    after, notes, ignored = simulate(law, edit)
    assert len(notes) == (1 if what.endswith("with a warning") else 0)
    if what == "accepted":
        assert np.isfinite(after).all()
    elif what.startswith("ignored"):
        np.testing.assert_array_equal(before, after)
    else:
        assert what.startswith(("honoured", "translated"))
        assert (before != after).any()
    if what == "ignored with a warning":
        assert notes[0].category is IgnoredFieldWarning
        assert ignored
        assert all(field in str(notes[0].message) for field in ignored)


@pytest.mark.parametrize("law", ["pyramid", "box", "frictionless"])
def test_the_other_rigid_laws_warn_as_coulomb_does(law):
    _, notes, ignored = simulate(law, geoms("solref", [0.04, 0.7]))
    assert len(notes) == 1
    assert ignored == ("geom solref (3 of 4, first 'floor')",)


def test_the_softness_of_the_model_uses_solref_and_solimp():
    edit = geoms("solref", [0.04, 0.7])
    before, _, _ = simulate("coulomb", lambda spec: None, softness="model")
    after, notes, ignored = simulate("coulomb", edit, softness="model")
    assert (before != after).any()
    assert not notes
    assert ignored == ()


def test_geoms_that_cannot_collide_do_not_count():
    def edit(spec: mujoco.MjSpec) -> None:
        geom = spec.geom("rod")
        geom.contype = geom.conaffinity = 0
        geom.solref = [0.04, 0.7]

    assert simulate("coulomb", edit)[2] == ()


def test_with_the_override_or_without_contacts_the_fields_of_geoms_do_not_count():
    soft = geoms("solref", [0.04, 0.7])

    def overridden(spec: mujoco.MjSpec) -> None:
        soft(spec)
        spec.option.enableflags |= mujoco.mjtEnableBit.mjENBL_OVERRIDE

    def without_contacts(spec: mujoco.MjSpec) -> None:
        soft(spec)
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT

    assert simulate("coulomb", overridden)[2] == ()
    assert simulate("coulomb", without_contacts)[2] == ()


@pytest.mark.parametrize("integrator", ["model", "euler", "rk4", "implicit", "implicitfast"])
def test_repr_names_the_integrator(integrator):
    discrete = option(integrator=INTEGRATORS.mjINT_DISCRETE)
    spec = mujoco.MjSpec.from_string(MODEL)
    discrete(spec)
    name = "discrete" if integrator == "model" else integrator
    assert f"integrator='{name}'" in repr(BatchSim(spec, law="mujoco", integrator=integrator))


def test_environments_of_the_package_do_not_warn_of_models_that_the_user_has_not_chosen():
    from stickslip.envs import HalfCheetah  # its geoms have solref and solimp

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert HalfCheetah(2).sim.ignored_fields
    with pytest.warns(IgnoredFieldWarning, match="geom solimp"):
        BatchSim(stickslip.models.find("half_cheetah"), 2)
