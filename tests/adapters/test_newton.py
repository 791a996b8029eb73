"""Newton's solver with this library's solve."""

import sys
from pathlib import Path

import numpy as np
import pytest
import warp as wp

import stickslip

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples/adapters"))
pytestmark = [
    # Newton says that mujoco 4.0 is newer than the one it declares.
    pytest.mark.filterwarnings("ignore:MuJoCo dependency version mismatch"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
newton = pytest.importorskip("newton")
import newton_ant  # noqa: E402 - on the path from here
from newton.solvers import SolverMuJoCo  # noqa: E402

from stickslip import newton as adapter  # noqa: E402
from stickslip.newton import SolverStickslip  # noqa: E402


@pytest.fixture
def ants():
    return newton_ant.worlds(newton_ant.ant(), 4)


def box_on_plane(mu=0.7):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    SolverMuJoCo.register_custom_attributes(builder)
    builder.default_shape_cfg.mu = mu
    body = builder.add_body(xform=wp.transform(wp.vec3(0.0, 0.0, 0.1), wp.quat_identity()))
    builder.add_shape_box(body, hx=0.1, hy=0.1, hz=0.1)
    scene = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scene.default_shape_cfg.mu = mu
    scene.replicate(builder, 2)
    scene.add_ground_plane()
    return scene.finalize()


@pytest.mark.parametrize("own_contacts", [False, True])
def test_driven_ants_are_solved(ants, own_contacts):
    run = newton_ant.Run(ants, own_contacts)
    for step in range(200):
        force = np.zeros((4, ants.joint_dof_count // 4), np.float32)
        force[:, 6:] = 5 * np.sin(0.05 * step + np.arange(force.shape[1] - 6))
        run.control.joint_f.assign(force.ravel())
        assert (run.step() == stickslip.Status.solved).all()
    assert np.isfinite(run.state.body_q.numpy()).all()
    assert not run.observables.overflow.numpy().any()
    assert (run.observables.stickslip_residual.numpy() < 1e-6).all()


@pytest.mark.parametrize("own_contacts", [False, True])
@pytest.mark.parametrize("robot", [newton_ant.ant, newton_ant.quadruped, None])
def test_the_floor_carries_the_weight(robot, own_contacts):
    model = box_on_plane() if robot is None else newton_ant.worlds(robot(), 2)
    run = newton_ant.Run(model, own_contacts)
    for _ in range(500):
        run.step()
    assert run.carried() == pytest.approx(1.0, abs=1e-3)


def test_convex_follows_newtons_own_solver(ants):
    runs = [newton_ant.Run(ants, law="convex", cone="elliptic")]
    own = SolverMuJoCo(ants, njmax=120, nconmax=64, cone="elliptic")
    state, after, control = ants.state(), ants.state(), ants.control()
    newton.eval_fk(ants, ants.joint_q, ants.joint_qd, state)
    for _ in range(100):
        assert not runs[0].step().any()
        state.clear_forces()
        own.step(state, after, control, None, newton_ant.STEP)
        state, after = after, state
    ours, theirs = runs[0].state.body_q.numpy()[:, :3], state.body_q.numpy()[:, :3]
    assert np.abs(ours - theirs).max() < 1e-5


def test_contacts_are_found_ahead_after_a_change_of_the_model():
    model = box_on_plane()
    run = newton_ant.Run(model)
    for _ in range(50):
        run.step()
    model.shape_material_mu.fill_(0.4)
    run.solver.notify_model_changed(newton.ModelFlags.SHAPE_PROPERTIES)
    height = run.state.body_q.numpy()[:, 2]
    places = []
    for _ in range(2):
        for _ in range(100):
            run.step()
        places.append(run.state.body_q.numpy()[:, :3].copy())
    assert np.abs(places[1] - places[0]).max() < 1e-9
    assert np.allclose(places[1][:, 2], height, atol=1e-6)
    assert run.carried() == pytest.approx(1.0, abs=1e-3)


def test_a_box_does_not_creep_on_a_slope():
    model = box_on_plane()
    tilt = np.radians(20.0)
    model.set_gravity((9.81 * float(np.sin(tilt)), 0.0, -9.81 * float(np.cos(tilt))))
    run = newton_ant.Run(model)
    places = []
    for _ in range(2):
        for _ in range(200):
            run.step()
        places.append(run.state.body_q.numpy()[:, :3].copy())
    assert np.abs(places[1] - places[0]).max() < 1e-9


def test_reset(ants):
    run = newton_ant.Run(ants)
    for _ in range(100):
        run.step()
    first = run.solver.result.impulse.numpy().copy()
    run.solver.reset(run.state)
    newton.eval_fk(ants, run.state.joint_q, run.state.joint_qd, run.state)
    for _ in range(100):
        run.step()
    assert np.allclose(run.solver.result.impulse.numpy(), first, atol=1e-6)


@pytest.mark.parametrize("name", ["use_mujoco_cpu", "use_speculative_contacts", "enable_sleeping"])
def test_refused_arguments(ants, name):
    with pytest.raises(ValueError, match=f"{name}: expected False, got True"):
        SolverStickslip(ants, **{name: True})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"integrator": "rk4"}, "m.opt.integrator: expected EULER or IMPLICITFAST"),
        ({"cone": "pyramidal"}, "m.opt.cone: expected ELLIPTIC"),
        ({"law": "cuolomb"}, "law: expected"),
    ],
)
def test_refused_values(ants, options, message):
    with pytest.raises(ValueError, match=message):
        SolverStickslip(ants, **options)


def test_other_versions_are_refused():
    with pytest.raises(ImportError, match=r"newton: expected version 1\.8\.\*, got 1\.9\.0"):
        adapter.require_supported("1.9.0")
    adapter.require_supported("1.8.4")
