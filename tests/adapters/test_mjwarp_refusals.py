"""What is refused, and by which name."""

import mujoco_warp as mjw
import numpy as np
import pytest
import scenes
import warp as wp

from stickslip import mjwarp
from stickslip.mjwarp import versions

FLEX = """<mujoco><worldbody><flexcomp name="f" type="grid" count="3 3 1" spacing=".1 .1 .1"
 radius=".01" dim="2"><edge equality="true"/></flexcomp></worldbody></mujoco>"""
ADHESION = scenes.BALL.format(height=0.1, more='adhesion="1"')


@pytest.fixture(scope="module")
def box():
    return scenes.put(*scenes.load(scenes.BOX_ON_SLOPE))


@pytest.mark.parametrize(
    ("options", "law", "message"),
    [
        ({"integrator": 1}, "coulomb", "m.opt.integrator: expected EULER or IMPLICITFAST .* RK4"),
        ({"integrator": 2}, "coulomb", "m.opt.integrator: expected EULER .* IMPLICIT: "),
        ({"integrator": 4}, "coulomb", "m.opt.integrator: .* DISCRETE"),
        ({"integrator": 1}, "convex", "m.opt.integrator: .* IMPLICIT for law 'convex', got RK4"),
        ({"integrator": 4}, "convex", "m.opt.integrator: .* DISCRETE"),
        ({"cone": 0}, "coulomb", "m.opt.cone: expected ELLIPTIC for law 'coulomb', got PYRAMIDAL"),
        ({"cone": 0}, "frictionless", "m.opt.cone: expected ELLIPTIC"),
        ({"noslip_iterations": 3}, "convex", "m.opt.noslip_iterations: expected 0, got 3"),
    ],
)
def test_options_of_the_model(options, law, message, box):
    m, d = scenes.put(*scenes.load(scenes.BOX_ON_SLOPE))
    for name, value in options.items():
        setattr(m.opt, name, value)
    with pytest.raises(ValueError, match=message):
        mjwarp.step(m, d, law=law)


def test_convex_accepts_pyramids_and_implicit():
    for options in ({"cone": scenes.PYRAMIDAL}, {"integrator": 2}):
        m, d = scenes.put(*scenes.load(scenes.BOX_ON_SLOPE, **options))
        assert not mjwarp.step(m, d, law="convex").status.numpy().any()


def test_an_option_that_changes_later_is_refused(box):
    m, d = scenes.put(*scenes.load(scenes.BOX_ON_SLOPE))
    mjwarp.step(m, d)
    m.opt.enableflags |= int(mjw.EnableBit.SLEEP)
    with pytest.raises(ValueError, match=r"m\.opt\.enableflags: expected no SLEEP, got SLEEP"):
        mjwarp.step(m, d)
    m.opt.enableflags = 0
    m.opt.run_qacc_smooth = False
    with pytest.raises(ValueError, match=r"m\.opt\.run_qacc_smooth: expected True, got False"):
        mjwarp.step(m, d)


@pytest.mark.parametrize(("text", "message"), [(FLEX, "m.nflex: expected 0, got 1"),
                                               (ADHESION, "adhesion: expected 0")])  # fmt: skip
def test_models(text, message):
    m, d = scenes.put(*scenes.load(text))
    with pytest.raises(ValueError, match=message):
        mjwarp.step(m, d)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"law": "cuolomb"}, ValueError, "law: expected"),
        ({"law": "mujoco"}, ValueError, "law: expected"),
        ({"precision": "half"}, ValueError, "precision: expected"),
        ({"contact": 0.5}, TypeError, "contact: expected ContactModel, got float"),
        ({"warm_start": 2}, (TypeError, ValueError), "warm_start: expected"),
        ({"options": 3}, TypeError, "options: expected SolveOptions, got int"),
        ({"threads": -1}, ValueError, "threads: expected"),
        ({"solver": "lemke"}, ValueError, "law: expected one of"),
    ],
)
def test_arguments(arguments, error, message, box):
    with pytest.raises(error, match=message):
        mjwarp.ConstraintSolver(*box, **arguments)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("restitution", 1.5, r"contact\.restitution: expected numbers in \[0, 1\], got 1.5"),
        ("v_max", -1.0, r"contact\.v_max: expected"),
        ("compliance", float("inf"), r"contact\.compliance: expected"),
        ("contact_margin", -1e-3, r"contact\.contact_margin: expected"),
        ("v_rest", float("nan"), r"contact\.v_rest: expected"),
        ("restitution", [0.5, -1], r"contact\.restitution: expected numbers in \[0, 1\], got -1.0"),
        ("stiffness", [1e3, 0], r"contact\.stiffness: expected numbers > 0, N/m, got 0.0"),
        ("damping", float("inf"), r"contact\.damping: expected"),
        ("damping", np.zeros((1, 2, 3)), r"contact\.damping: expected a number, \(ngeom,\) or"),
    ],
)
def test_contact_models(field, value, message):
    with pytest.raises(ValueError, match=message):
        mjwarp.ContactModel(**{field: value})


def test_compliance_and_stiffness_together():
    with pytest.raises(ValueError, match=r"contact\.compliance: expected 0 with a stiffness"):
        mjwarp.ContactModel(compliance=1e-3, stiffness=[1e3, float("inf")])


@pytest.mark.parametrize("shape", [(3,), (2, 2), (3, 1)])
def test_contact_models_of_other_geoms(shape, box):  # 2 geoms, and not 2 worlds
    contact = mjwarp.ContactModel(restitution=np.full(shape, 0.5))
    with pytest.raises(ValueError, match=r"contact: expected numbers of .* geoms"):
        mjwarp.ConstraintSolver(*box, contact=contact)


def test_models_of_mujoco_itself():
    model, data = scenes.load(scenes.BOX_ON_SLOPE)
    with pytest.raises(TypeError, match=r"m: expected mujoco_warp\.Model, got mujoco"):
        mjwarp.step(model, data)


def test_a_solver_of_other_data(box):
    m, d = box
    solver = mjwarp.ConstraintSolver(m, d)
    _, other = scenes.put(*scenes.load(scenes.BOX_ON_SLOPE))
    with pytest.raises(ValueError, match="d: expected the one this solver was made for"):
        mjwarp.step(m, other, solver)
    with pytest.raises(ValueError, match="law: expected none because solver has its own"):
        mjwarp.step(m, d, solver, law="convex")
    with pytest.raises(TypeError, match="law: expected once"):
        mjwarp.step(m, d, "coulomb", law="convex")


def test_no_solver_is_made_during_a_capture(monkeypatch, box):
    m, d = scenes.put(*scenes.load(scenes.BOX_ON_SLOPE))
    monkeypatch.setattr(type(d.qacc.device), "is_capturing", property(lambda _: True))
    with pytest.raises(RuntimeError, match="ConstraintSolver: expected to be made before a graph"):
        mjwarp.step(m, d)
    monkeypatch.undo()
    solver = mjwarp.ConstraintSolver(m, d)
    monkeypatch.setattr(type(d.qacc.device), "is_capturing", property(lambda _: True))
    assert not mjwarp.step(m, d, solver).status.numpy().any()


def test_a_step_allocates_nothing_of_its_own(monkeypatch, box):
    m, d = scenes.put(*scenes.load(scenes.BOX_ON_SLOPE))
    solver = mjwarp.ConstraintSolver(m, d)
    mjwarp.step(m, d, solver)
    made = []
    for name in ("zeros", "empty", "full", "clone", "zeros_like", "empty_like"):
        function = getattr(wp, name)
        monkeypatch.setattr(
            wp, name, lambda *a, _f=function, _n=name, **k: made.append(_n) or _f(*a, **k)
        )
    solver.begin(d)
    solver.solve(m, d)
    solver.look_ahead._widen(m, d)
    solver.look_ahead.restore(d)
    solver.move(m, d)
    solver.end(m, d)
    # factor_solve_i and solve_m are mujoco_warp's, which allocate in a capture from Warp's pool.
    assert len(made) <= 2


@pytest.mark.parametrize(
    ("version", "accepted"),
    [("4.0.0", True), ("4.0.3", True), ("3.17.0", True), ("3.17.0.dev1", True),
     ("3.1.0", False), ("4.1.0", False), ("4.00", False), ("40.0", False), ("unknown", False)],
)  # fmt: skip
def test_versions(version, accepted):
    assert versions.is_supported(version) == accepted
    if not accepted:
        with pytest.raises(ImportError, match=r"mujoco_warp: expected version 3\.17\.\* or 4\.0"):
            versions.require_supported(version)
