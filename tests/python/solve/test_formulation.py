"""Standard forms, Stewart and Trinkle's matrices, stacked systems, mixed nonlinear problems."""

import numpy as np
import pytest

import stickslip
from stickslip import Status


def spd(rng, count, n):
    G = rng.normal(size=(count, n, n))
    return G @ G.transpose(0, 2, 1) / n + np.eye(n)


def test_standard_form_is_the_schur_complement_and_leads_back():
    rng = np.random.default_rng(0)
    M, q = spd(rng, 20, 9), rng.normal(size=(20, 9))
    free = rng.integers(0, 5, 20)
    form = stickslip.standard_form(M, q, n_free=free)
    standard = stickslip.solve_lcp(form.A, form.q, counts=form.counts)
    mixed = stickslip.solve_lcp(M, q, n_free=free)
    assert standard.ok.all()
    assert mixed.ok.all()
    z = form.restore(standard.z)
    for e, f in enumerate(free):
        D, C, B, F = M[e, :f, :f], M[e, :f, f:], M[e, f:, :f], M[e, f:, f:]
        m = 9 - f
        assert np.allclose(form.A[e, :m, :m], F - B @ np.linalg.solve(D, C), atol=1e-12)
        assert np.allclose(form.q[e, :m], q[e, f:] - B @ np.linalg.solve(D, q[e, :f]), atol=1e-12)
        assert np.allclose(z[e, :9], mixed.z[e], atol=1e-8)  # M is positive definite: one solution
    one = stickslip.standard_form(M[0], q[0], n_free=int(free[0]))
    assert one.A.shape == (9 - free[0],) * 2
    assert (one.restore(standard.z[0, : 9 - free[0]])[:9] == z[0, :9]).all()


def test_arrays_outlive_the_solver_that_made_them():
    A = stickslip.standard_form(np.eye(3)[None], np.ones((1, 3)), n_free=1).A
    assert (np.eye(2) == A).all()


def systems(rng, count=30, nv=7, contacts=3):
    M, tau = spd(rng, count, nv), rng.normal(size=(count, nv))
    J = rng.normal(size=(count, 3 * contacts, nv))
    return M, tau, J, rng.uniform(0.1, 0.9, (count, contacts))


@pytest.mark.parametrize("directions", [4, 8])
def test_stewart_trinkle_solves_the_law_pyramid(directions):
    rng, dt = np.random.default_rng(1), 0.01
    M, tau, J, mu = systems(rng)
    N, B = stickslip.contact_columns(J, directions)
    lcp = stickslip.stewart_trinkle(M, tau, N, B, mu, dt=dt, directions=directions)
    solution = stickslip.solve_lcp(lcp.M, lcp.q, n_free=lcp.n_free)
    assert solution.ok.all()
    angles = 2 * np.pi * np.arange(directions) / directions
    v_free = np.linalg.solve(M, tau[..., None])[..., 0]
    for e in range(len(M)):
        part = lcp.split(solution.z[e])
        r = np.empty((3, 3))
        r[:, 0] = dt * part["f_n"]
        r[:, 1] = dt * part["f_d"] @ np.cos(angles)
        r[:, 2] = dt * part["f_d"] @ np.sin(angles)
        W, b = stickslip.delassus(M[e], J[e]), J[e] @ v_free[e]
        residual = stickslip.residual(
            W, b, mu[e].repeat(2), r.ravel(), law="pyramid", directions=directions
        )
        assert residual < 1e-7
        v = stickslip.apply_impulse(M[e], J[e], r.ravel(), v_free[e])
        assert np.allclose(part["qdot"], v, atol=1e-9)


def test_contacts_in_use_and_planar_problems():
    rng = np.random.default_rng(2)
    M, tau, J, mu = systems(rng)
    N, B = stickslip.contact_columns(J, 2)
    assert (B[:, :, 0::2] == -B[:, :, 1::2]).all()
    counts = rng.integers(0, 4, len(M))
    lcp = stickslip.stewart_trinkle(M, tau, N, B, mu, dt=0.1, directions=2, counts=counts)
    assert (lcp.counts == 7 + 4 * counts).all()
    solution = stickslip.solve_lcp(lcp.M, lcp.q, n_free=lcp.n_free, counts=lcp.counts)
    assert solution.ok.all()
    alone = int(np.argmin(counts))
    part = lcp.split(solution.z[alone], alone)
    assert part["f_d"].shape == (counts[alone], 2)


def test_stack_puts_systems_on_the_diagonal():
    rng = np.random.default_rng(3)
    first, second = ((spd(rng, 4, n), rng.normal(size=(4, n))) for n in (2, 3))
    J1, J2 = rng.normal(size=(4, 6, 2)), rng.normal(size=(4, 6, 3))
    M, tau, J = stickslip.stack([(*first, J1), (*second, J2)])
    assert (M[:, :2, :2] == first[0]).all()
    assert (M[:, 2:, 2:] == second[0]).all()
    assert not M[:, :2, 2:].any()
    assert not M[:, 2:, :2].any()
    assert (tau == np.hstack([first[1], second[1]])).all()
    assert (np.concatenate([J1, J2], axis=2) == J).all()


def test_formulations_refuse_misuse():
    eye, ones = np.eye(3)[None], np.ones((1, 3))
    with pytest.raises(ValueError, match=r"mixed.M: expected an invertible block .* rank 0 of 1"):
        stickslip.standard_form(0 * eye, ones, n_free=1)
    with pytest.raises(ValueError, match="q: expected shape"):
        stickslip.standard_form(eye, np.ones((1, 2)), n_free=1)
    with pytest.raises(TypeError, match="M: expected float64"):
        stickslip.standard_form(eye.astype(np.float32), ones.astype(np.float32), n_free=1)
    N, B = np.ones((1, 3, 1)), np.ones((1, 3, 4))
    good = {"mu": 0.5, "dt": 0.1}
    for changed, message in [
        ({"mu": -0.5}, "mu: expected numbers >= 0, got -0.5"),
        ({"dt": 0.0}, "dt: expected a number > 0"),
        ({"directions": 8}, r"B: expected shape \(1, 3, 8\)"),
        ({"counts": np.array([2])}, "n_contacts: expected 0 to 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            stickslip.stewart_trinkle(eye, ones, N, B, **{**good, **changed})
    with pytest.raises(ValueError, match="J: expected shape"):
        stickslip.contact_columns(np.ones((1, 4, 2)))
    with pytest.raises(ValueError, match=r"systems\[1\] tau"):
        stickslip.stack([(eye, ones, eye), (eye, ones[:, :2], eye)])


def spring(gaps):
    """0 <= x ⟂ w - gap >= 0, w = x^3."""

    def values(x, w, env):
        return w - gaps[env], w - x**3

    def jacobian(x, w, env):
        return [[0, 1], [-3 * x[0] ** 2, 1]]

    return values, jacobian


def test_mncp_with_maps_written_in_python():
    gaps = np.array([8.0, 1e-3, -1.0, 0.0])
    solution = stickslip.solve_mncp(*spring(gaps), x=np.ones((4, 1)), w=np.ones((4, 1)))
    assert solution.ok.all(), solution
    assert np.allclose(solution.w[:, 0], np.maximum(gaps, 0), atol=2e-9)
    one = stickslip.solve_mncp(*spring(gaps), x=[1.0], w=[1.0])
    assert one.status == Status.solved
    assert one.x == solution.x[0]
    newton = stickslip.solve_mncp(
        lambda x, w, env: ((), w**2 - 2), lambda x, w, env: np.diag(2 * w), w=np.array([1.5])
    )
    assert abs(newton.w[0] - np.sqrt(2)) < 1e-9
    assert newton.iterations <= 3


def failing_at(last):
    calls = 0

    def values(x, w, env):
        nonlocal calls
        calls += 1
        if calls >= last:
            raise ArithmeticError(f"call {calls}")
        return x, 2 + np.sin(w)  # never 0

    return values


def test_mncp_passes_exceptions_on_and_refuses_wrong_shapes():
    values, jacobian = spring([1.0, 1.0])
    start = {"x": np.ones((2, 1)), "w": np.ones((2, 1))}

    def fail(x, w, env):
        raise ArithmeticError(f"environment {env}")

    endless = stickslip.MncpOptions(max_newton=10**9, restarts=10**9)
    with pytest.raises(ArithmeticError, match="environment 0"):
        stickslip.solve_mncp(fail, jacobian, **start)
    with pytest.raises(ArithmeticError, match="call 50"):  # at once, not after all attempts
        stickslip.solve_mncp(failing_at(50), lambda *_: np.eye(1), w=np.zeros(1), options=endless)
    with pytest.raises(ValueError, match=r"jacobian: expected shape \(2, 2\), got \(2,\)"):
        stickslip.solve_mncp(values, lambda x, w, env: np.ones(2), **start)
    with pytest.raises(TypeError, match=r"values: expected a tuple \(y, z\), got float"):
        stickslip.solve_mncp(lambda x, w, env: 1.0, jacobian, **start)
    with pytest.raises(ValueError, match=r"x, w: expected shapes"):
        stickslip.solve_mncp(values, jacobian, x=np.ones((2, 1)), w=np.ones((3, 1)))
    nothing = stickslip.solve_mncp(values, jacobian, x=np.ones((2, 1)), w=np.full((2, 1), np.nan))
    assert (nothing.status == Status.bad_input).all()
