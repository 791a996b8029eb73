"""Derivatives of steps in a batch: the same bits anywhere, no side effects, no NaN, refusals."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from sim_models import FALLING, MACHINE, PLANE, SLICK, free, model_path, scene
from test_sim_gradients import INPUTS, TIGHT, loss_of, shaken

from stickslip import GradientStatus, Status
from stickslip._src.sim import BatchSim


def assert_same(a, b):
    np.testing.assert_array_equal(
        np.ascontiguousarray(a).view(np.uint8), np.ascontiguousarray(b).view(np.uint8)
    )


@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_the_same_bits_for_any_threads_and_position(law):
    path = model_path("humanoid")
    sim, state = shaken(path, 7, law, "implicitfast")
    loss = loss_of(sim)
    expected = sim.step_vjp(*loss, state=state)
    change = sim.step_jvp(*loss, state=state)
    for threads, order in ((1, np.arange(7)), (3, np.arange(7)[::-1]), (2, np.array([4]))):
        other = BatchSim(
            path, len(order), law=law, integrator="implicitfast", options=TIGHT, threads=threads
        )
        g = other.step_vjp(*loss[:, order], state=state[order])
        for name in (*INPUTS, "status", "kink_distance", "inconsistency", "qpos_status"):
            assert_same(getattr(g, name), getattr(expected, name)[order])
        c = other.step_jvp(*loss[:, order], state=state[order])
        for name in ("qpos", "qvel", "status"):
            assert_same(getattr(c, name), getattr(change, name)[order])


def test_the_simulation_does_not_change():
    sim, state = shaken(model_path("ant"), 4, "coulomb", "euler")
    peer, _ = shaken(model_path("ant"), 4, "coulomb", "euler")
    loss = loss_of(sim)
    for k in range(5):
        before = {name: getattr(sim, name).copy() for name in ("state", "status", "residual")}
        counts, contacts = sim.statistics, len(sim.contacts(0))
        last = sim.step_vjp(*loss)
        other = sim.step_vjp(*loss, state=state)
        assert sim.statistics == counts
        assert len(sim.contacts(0)) == contacts
        for name, value in before.items():
            assert_same(getattr(sim, name), value)
        assert_same(sim.step_vjp(*loss).qpos, last.qpos)
        assert (other.qpos != last.qpos).any() or k == 1
        sim.step()
        peer.step()
        assert_same(sim.state, peer.state)


def test_derivatives_of_the_last_substep():
    sim, _ = shaken(model_path("ant"), 2, "coulomb", "euler")
    other = BatchSim(model_path("ant"), 2, integrator="euler", options=TIGHT)
    other.state[:] = sim.state
    sim.step(substeps=3)
    for _ in range(3):
        other.step()
    loss = loss_of(sim)
    assert_same(sim.step_vjp(*loss).qvel, other.step_vjp(*loss).qvel)


def test_no_nan_in_a_long_rollout():
    sim = BatchSim(model_path("humanoid"), 4, integrator="implicitfast")
    loss, rng = loss_of(sim), np.random.default_rng(0)
    counts = np.zeros(4, int)
    for _ in range(300):
        sim.step(rng.uniform(-0.4, 0.4, sim.ctrl.shape))
        g = sim.step_vjp(*loss, wrt=("ctrl", "qvel"))
        counts += np.bincount(g.status, minlength=4)
        assert g.qpos is None
        assert np.isfinite(g.ctrl).all()
        assert np.isfinite(g.qvel).all()
        bad = g.status == GradientStatus.unsolved
        assert (g.ctrl[bad] == 0).all()
    assert counts[GradientStatus.valid] > 0.7 * counts.sum()
    assert counts[GradientStatus.unsolved] < 0.02 * counts.sum()


def test_failures_are_unsolved_and_stay_alone():
    sim, state = shaken(model_path("ant"), 4, "coulomb", "euler")
    loss = loss_of(sim)
    expected = sim.step_vjp(*loss, state=state)
    state[1, 5] = np.nan
    loss[1, 2, 0] = np.inf
    g = sim.step_vjp(*loss, state=state)
    change = sim.step_jvp(*loss, state=state)
    for derivative in (g, change):
        assert (derivative.status[1:3] == GradientStatus.unsolved).all()
        assert (derivative.qpos_status[1:3] == GradientStatus.unsolved).all()
        assert (derivative.kink_distance[1:3] == 0).all()
        assert (derivative.qpos[1:3] == 0).all()
        assert (derivative.qvel[1:3] == 0).all()
    for name in INPUTS:
        assert_same(getattr(g, name)[[0, 3]], getattr(expected, name)[[0, 3]])
    assert repr(g) == "StateGradient(4 environments: 2 valid, 2 unsolved)"


def test_a_problem_that_is_larger_than_those_before():
    """A state of more rows than any step so far: the buffers grow."""
    boxes = "".join(free('<geom type="box" size=".1 .1 .1"/>', f"{i} 0 .1") for i in range(8))
    sim = BatchSim(scene(0.002, PLANE, boxes), 2)
    sim.qpos[:, 2::7] += 5
    sim.step()
    assert sim.num_rows.max() == 0
    sim.qpos[:, 2::7] -= 4.999 + 1e-3
    loss = loss_of(sim)
    g = sim.step_vjp(*loss, state=sim.state.copy())
    assert (g.status != GradientStatus.unsolved).all()
    sim.step()
    assert (sim.num_rows > 30).all()
    assert_same(sim.step_vjp(*loss).qvel, g.qvel)


def test_without_contacts_and_without_loss():
    sim = BatchSim(FALLING)
    sim.qpos[0, 2] = 3
    sim.step()
    g = sim.step_vjp()
    assert g.ok.all()
    assert g.ctrl.shape == (1, 0)
    assert not g.qvel.any()
    c = sim.step_jvp(d_qvel=np.eye(6)[:1])
    np.testing.assert_allclose(c.qvel, np.eye(6)[:1], atol=1e-12)
    np.testing.assert_allclose(c.qpos, sim.timestep * np.eye(6)[:1], atol=1e-12)


def test_what_has_no_derivatives_is_refused():
    ball = scene(0.002, PLANE, free(f'<geom type="sphere" size=".1" {SLICK}/>', "0 0 .3"))
    refused = [
        ({"law": "mujoco"}, "law: steps have derivatives with the laws of this library"),
        (
            {"law": "convex", "integrator": "rk4"},
            "integrator: .* euler and implicitfast, not .* rk4",
        ),
        ({"law": "convex", "integrator": "implicit"}, "integrator: .* not with implicit"),
        (
            {"restitution": 0.5},
            "restitution: steps have derivatives with 0 in all environments, got 0.5",
        ),
        ({"position_iterations": 2}, "position_iterations: steps have derivatives with 0, got 2"),
    ]
    for options, message in refused:
        sim = BatchSim(ball, **options)
        sim.step()
        assert sim.status[0] == Status.solved
        for call in (sim.step_vjp, sim.step_jvp):
            with pytest.raises(ValueError, match=message):
                call(d_qvel=np.ones((1, 6)))


def test_misuse():
    sim = BatchSim(MACHINE, 2)
    message = "state: expected the state before a step"
    with pytest.raises(ValueError, match=message):
        sim.step_vjp()
    sim.step()
    sim.step_vjp()
    nv, nu = sim.qvel.shape[1], sim.ctrl.shape[1]
    with pytest.raises(ValueError, match=rf"d_qpos: expected shape \(2, {nv}\), got \(2, 3\)"):
        sim.step_vjp(d_qpos=np.ones((2, 3)))
    with pytest.raises(ValueError, match=rf"d_qvel: expected shape \(2, {nv}\), got \({nv},\)"):
        sim.step_jvp(d_qvel=np.ones(nv))
    with pytest.raises(ValueError, match=rf"d_ctrl: expected shape \(2, {nu}\), got \(2, 9\)"):
        sim.step_jvp(d_ctrl=np.ones((2, 9)))
    with pytest.raises(ValueError, match=rf"d_qvel: expected shape \(2, {nv}\), got \(\)"):
        sim.step_vjp(d_qvel=1.0)
    for odd in ("velocity", {}, np.full((2, nv), 1j), np.full((2, nv), None), [[1], [1, 2]]):
        with pytest.raises(TypeError, match=r"d_qvel: expected .*, got "):
            sim.step_vjp(d_qvel=odd)
    with pytest.raises(ValueError, match=r"state: expected shape .* got \(2, 4\)"):
        sim.step_vjp(state=np.ones((2, 4)))
    sim.vary("body_mass", np.tile(sim.model.body_mass, (2, 1)))
    with pytest.raises(ValueError, match=message):
        sim.step_vjp()


def test_names_and_fields_that_are_not_known():
    sim = BatchSim(MACHINE, 2)
    sim.step()
    fields = "geom_friction, body_mass, body_inertia"
    for wrt, got in ((("ctrl", "geom_size"), "'geom_size'"), ("", "''"), ([3], "3")):
        message = f"^wrt: expected names among ctrl, qvel, qpos, {fields}, got {got}$"
        with pytest.raises(ValueError, match=message):
            sim.step_vjp(wrt=wrt)
    with pytest.raises(TypeError, match=r"^wrt: expected names, got NoneType$"):
        sim.step_vjp(wrt=None)
    for name in ("mass", "ctrl", 3):
        message = f"^varied: expected names among {fields}, got {name!r}$"
        with pytest.raises(ValueError, match=message):
            sim.step_jvp(varied={name: np.ones((2, 1))})
    with pytest.raises(TypeError, match=r"^varied: expected arrays by name of a field, got list$"):
        sim.step_jvp(varied=["body_mass"])
    with pytest.raises(TypeError, match=r"^varied body_mass: expected float32 or float64, got obj"):
        sim.step_jvp(varied={"body_mass": None})
    n, size = sim.model.ngeom, sim.model.nbody
    for shape in ((2, 3), (2 * size,), (), (2, size, 1)):
        message = f"varied body_mass: expected shape {(2, size)}, got {shape}"
        with pytest.raises(ValueError, match=re.escape(message)):
            sim.step_jvp(varied={"body_mass": np.ones(shape)})
    message = f"varied geom_friction: expected shape {(2, n, 3)}, got {(n, 2, 3)}"
    with pytest.raises(ValueError, match=re.escape(message)):  # as many numbers
        sim.step_jvp(varied={"geom_friction": np.ones((n, 2, 3))})


def test_arrays_of_any_layout():
    """Lists, other floats, read-only and strided arrays, one name twice: the same derivatives."""
    sim, _ = shaken(MACHINE, 2, "coulomb", "euler")
    rows = np.round(loss_of(sim)[1], 2).astype(np.float32)
    expected = sim.step_vjp(d_qvel=rows.astype(float))
    read_only = np.asfortranarray(rows.astype(float))
    read_only.flags.writeable = False
    for same in (rows, rows.astype(float).tolist(), read_only, read_only[:, ::-1][:, ::-1]):
        assert_same(sim.step_vjp(d_qvel=same).qpos, expected.qpos)
    g = sim.step_vjp(d_qvel=rows, wrt=("ctrl", "ctrl"), state=list(sim.state))
    assert g.ctrl.shape == sim.ctrl.shape
    friction = np.ones((2, sim.model.ngeom, 3))
    flat = sim.step_jvp(varied={"geom_friction": friction.reshape(2, -1)})
    assert_same(sim.step_jvp(varied={"geom_friction": friction}).qvel, flat.qvel)


def test_the_example_learns_from_exact_gradients():
    pytest.importorskip("gymnasium")
    path = Path(__file__).resolve().parents[3] / "examples" / "policy_gradient.py"
    example = runpy.run_path(str(path))
    env = example["Block"](4)
    gains = np.array([[-12.0, 1.0, -2.0, 0.0], [0.0, -13.0, 0.0, -3.0]])
    _, found, valid = example["gradient"](env, gains, seed=1)
    assert valid > 0.5
    direction = np.random.default_rng(0).normal(size=gains.shape)
    low, high = (example["gradient"](env, gains + by * direction, 1)[0] for by in (-1e-5, 1e-5))
    np.testing.assert_allclose((found * direction).sum(), (high - low) / 2e-5, rtol=1e-6)
    rewards = example["learn"](iterations=8, num_envs=4)
    assert rewards[-1] > 0.8 * rewards[0]  # negative
