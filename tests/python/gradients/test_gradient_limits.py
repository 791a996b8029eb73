"""Derivatives where they are hardest (docs/gradients.md): redundant contacts, kinks, zeros; and
where they are known in closed form."""

import numpy as np
import pytest
from gradient_problems import GRAVITY as G
from gradient_problems import TIME_STEP as H
from gradient_problems import box, dense_jvp, solved, split, tight, velocity

import stickslip
from stickslip import GradientStatus


def gradient(args, law="coulomb", g_r=None, g_u=None):
    first, others = split(args)
    return stickslip.vjp(
        *first, solved(args, law), d_impulse=g_r, d_velocity=g_u, law=law, **others
    )


def loss_of_velocity(args, J, inverse, g):
    """dL/dr of a loss of the body's velocity."""
    return ((J * inverse) @ g)[None]


def shared_evenly(args, sliding):
    """The impulses of least norm that hold a box, sliding in one direction or at rest."""
    W, b, mu = args["W"][0], args["b"][0], args["mu"][0, 0]
    if not sliding:
        return np.linalg.pinv(W, rcond=1e-10) @ -b
    along = b[1:3] / np.linalg.norm(b[1:3])
    ways = np.kron(np.eye(4), np.r_[1, -mu * along][:, None])
    return ways @ (np.linalg.pinv(W[::3] @ ways, rcond=1e-10) @ -b[::3])


@pytest.mark.parametrize(
    ("law", "push"),
    [("coulomb", (0.01, 0.0)), ("convex", (0.01, 0.0)), ("coulomb", (0.7, 0.4))],
)
def test_redundant_contacts_have_the_pseudo_inverse(law, push):
    """Velocities without compliance, against numpy's SVD of the same equations."""
    rng = np.random.default_rng(0)
    args, J, inverse = box(push=push)
    start = shared_evenly(args, push[0] > 0.1)
    solution = solved(args, law, warm=start[None])
    assert solution.status[0] == 0
    found_r = solution.impulse[0]
    np.testing.assert_allclose(found_r, start, atol=1e-13)
    db = J @ (0.1 * rng.normal(size=6))
    dmu = np.full(4, 0.3)  # the same at each corner: else the velocities are not determined
    first, _ = split(args)
    found = stickslip.jvp(*first, solution, db=db[None], dmu=dmu[None], law=law)
    assert found.ok.all()
    own = {"W": args["W"][0], "mu": np.repeat(args["mu"][0], 2), "b": args["b"][0],
           "dims": [3] * 4, "n_free": 0, "n_nonneg": 0}  # fmt: skip
    dr, du = dense_jvp(own, law, found_r, {"b": db, "mu": np.repeat(dmu, 2)})
    atol = 1e-7 * np.abs(db).max()
    moved = (found.impulse[0], dr)
    np.testing.assert_allclose(*((inverse * (J.T @ r)) for r in moved), atol=atol)
    np.testing.assert_allclose(found.velocity[0], du, atol=atol)


def test_velocities_of_redundant_contacts_have_the_central_difference():
    """A box that slides with compliant normals; one that sticks without."""
    rng = np.random.default_rng(1)
    for push, compliance in (((0.7, 0.4), 1e-3), ((0.02, 0.01), 1e-3)):
        args, J, inverse = box(push=push, compliance=compliance)
        g = rng.normal(size=6)
        g_r = loss_of_velocity(args, J, inverse, g)
        found = gradient(args, g_r=g_r)
        assert found.ok.all()
        db = (J @ rng.normal(size=6))[None]
        ends = []
        for sign in (1, -1):
            moved = args | {"b": args["b"] + sign * 1e-7 * db}
            solution = tight(moved, "coulomb", solved(args, "coulomb").impulse)
            assert solution.residual[0] < 1e-12
            ends.append((g_r * solution.impulse).sum())
        numeric = (ends[0] - ends[1]) / 2e-7
        assert abs((found.b * db).sum() - numeric) <= 1e-6 * abs(numeric)


@pytest.mark.parametrize(("push", "spin"), [((0.7, 0.4), 0.0), ((0.3, 0.1), 4.0), ((0, 0), 4.0)])
def test_sliding_on_four_corners_without_compliance_is_not_unique(push, spin):
    """How the weight is shared among corners is not determined, and changes the friction: a loss of
    the impulses has no derivative. With compliance it has."""
    args, _, _ = box(push=push, spin=spin)
    g_r = np.random.default_rng(2).normal(size=(1, 12))
    found = gradient(args, g_r=g_r)
    assert found.status[0] == GradientStatus.not_unique
    assert found.inconsistency[0] > 1e-6
    firm = gradient(box(push=push, spin=spin, compliance=1e-3)[0], g_r=g_r)
    assert firm.status[0] == GradientStatus.valid
    assert firm.inconsistency[0] < 1e-9


def test_a_box_at_the_edge_of_its_cone_is_not_valid():
    """Some of its corners slide and some stick, as it happens: `not_unique` comes before `kink`."""
    args, J, inverse = box(push=(0.5 * G * H, 0.0))
    along, across = (loss_of_velocity(args, J, inverse, np.eye(6)[i]) for i in (0, 1))
    for g_r in (along, across):
        found = gradient(args, g_r=g_r)
        assert found.status[0] in (GradientStatus.kink, GradientStatus.not_unique)
        assert found.kink_distance[0] < 1e-8
        assert np.isfinite(found.b).all()


def test_one_contact_at_the_edge_of_its_cone_is_at_a_kink():
    """And the gradient is that of one of the two sides: stuck 0, sliding 1."""
    args = {"W": np.eye(3)[None], "b": np.array([[-1.0, 0.5, 0.0]]), "mu": 0.5}
    g_u = np.array([[0.0, 1.0, 0.0]])
    found = gradient(args, g_u=g_u)
    assert found.status[0] == GradientStatus.kink
    assert found.kink_distance[0] < 1e-12
    assert min(abs(found.b[0, 1]), abs(found.b[0, 1] - 1)) < 1e-12
    away = gradient(args | {"b": np.array([[-1.0, 0.6, 0.0]])}, g_u=g_u)
    assert away.status[0] == GradientStatus.valid
    assert away.kink_distance[0] > 0.01


@pytest.mark.parametrize("compliance", [0.0, 1e-3])
def test_a_sliding_block_has_the_textbooks_derivatives(compliance):
    """v = v0 - mu h g along the motion: dv/dmu = -h g, dv/dv0 = 1, dv_t/dv_n = mu, by step_vjp."""
    mu, speed = 0.3, 1.0
    M, J, free = np.eye(3), np.eye(3), np.array([-H * G, speed, 0.0])
    R = np.full(3, compliance)
    args = {"W": np.eye(3)[None], "b": free[None], "mu": np.full((1, 1), mu), "R": R[None]}
    solution = solved(args, "coulomb")
    assert solution.status[0] == 0
    found = stickslip.step_vjp(
        M[None], J[None], free[None], args["mu"], free[None], solution,
        d_v_next=np.array([[0.0, 1.0, 0.0]]), R=args["R"],
    )  # fmt: skip
    assert found.ok.all()
    weight = H * G / (1 + compliance)
    # With compliance R in the tangents, u = v + R r slides: v = v0 - mu r_n all the same.
    assert abs(found.mu[0, 0] + weight) <= 1e-12
    np.testing.assert_allclose(found.v_free[0], [mu / (1 + compliance), 1, 0], atol=1e-12)


def test_friction_of_contacts_that_all_stick_has_no_influence():
    """Exactly 0, not about 0."""
    for compliance in (0.0, 1e-3):
        args, _, _ = box(mu=0.9, push=(0.01, 0.02), spin=0.05, compliance=compliance)
        loss = np.random.default_rng(3).normal(size=(2, 1, 12))
        for law in ("coulomb", "convex"):
            found = gradient(args, law, g_r=loss[0], g_u=loss[1])
            assert np.all(found.mu == 0)
            assert np.any(found.b != 0)


def test_open_contacts_pass_velocities_through():
    args, _, _ = box(push=(0.03, 0.02), down=-G)
    g_u = np.random.default_rng(4).normal(size=(1, 12))
    for law in ("coulomb", "convex", "frictionless", "box", "pyramid"):
        found = gradient(args, law, g_r=np.ones((1, 12)), g_u=g_u)
        assert found.ok.all()
        np.testing.assert_array_equal(found.b, g_u)
        assert np.all(found.mu == 0)
        assert np.all(found.R == 0)


EDGES = {
    "no tangential velocity": {"b": [-1.0, 0, 0]},
    "no impulse": {"b": [0.0, 0, 0]},
    "no impulse, sliding": {"b": [0.0, 1, 0]},
    "no friction": {"b": [-1.0, 1, 0], "mu": [0.0]},
    "no friction along one axis": {"b": [-1.0, 1, 2], "mu": [0.0, 0.5]},
    "nothing moves": {"b": [0.0, 0, 0], "W": np.zeros((3, 3))},
    "one row does not move": {"b": [-1.0, 1, 0], "W": np.diag([1.0, 1, 0])},
    "tiny": {"b": [-1e-300, 1e-300, 0]},
    "large": {"b": [-1e9, 1e9, 0]},
}


@pytest.mark.parametrize("law", ["coulomb", "convex", "frictionless", "box", "pyramid"])
@pytest.mark.parametrize("edge", EDGES)
def test_derivatives_are_finite_at_every_edge(edge, law):
    given = {"W": np.eye(3), "mu": [0.5]} | EDGES[edge]
    args = {k: np.array(v, float)[None] for k, v in given.items()}
    first, _ = split(args)
    solution = stickslip.solve(**args, law=law)
    back = stickslip.vjp(
        *first, solution, d_impulse=np.ones((1, 3)), d_velocity=np.ones((1, 3)), law=law
    )
    ahead = stickslip.jvp(*first, solution, db=np.ones((1, 3)), dmu=args["mu"], law=law)
    for array in (
        back.b,
        back.mu,
        back.R,
        back.W,
        ahead.impulse,
        ahead.velocity,
        back.inconsistency,
    ):
        assert np.isfinite(array).all()
    assert back.kink_distance[0] >= 0
    if solution.status[0] == 0:
        assert back.status[0] != GradientStatus.unsolved
    if edge == "no friction":
        assert back.mu[0, 0] == 0


def test_equal_bounds_move_the_impulse_and_share_its_derivative():
    W, b = np.array([[[2.0, 0.5], [0.5, 1.0]]]), np.array([[0.3, -0.4]])
    bounds = np.array([[0.2, -0.1]])
    args = {"W": W, "b": b, "mu": np.zeros((1, 0)), "lo": bounds, "hi": bounds.copy()}
    first, others = split(args)
    solution = solved(args, "coulomb")
    np.testing.assert_array_equal(solution.impulse, bounds)
    g_r, g_u = np.array([[1.0, 2.0]]), np.array([[3.0, -1.0]])
    found = stickslip.vjp(*first, solution, d_impulse=g_r, d_velocity=g_u, **others)
    whole = g_r + g_u @ W[0]
    np.testing.assert_allclose(found.lo + found.hi, whole, atol=1e-14)
    np.testing.assert_allclose(found.lo, found.hi)
    moved = stickslip.jvp(*first, solution, dlo=np.ones((1, 2)), dhi=np.ones((1, 2)), **others)
    np.testing.assert_allclose(moved.impulse, [[1, 1]])
    np.testing.assert_allclose(moved.velocity, [W[0].sum(axis=1)])


def test_bounds_have_the_derivative_of_the_side_that_is_reached():
    args = {"W": np.eye(3)[None], "b": np.array([[-5.0, 5.0, 0.2]]), "mu": np.zeros((1, 0)),
            "lo": -np.ones((1, 3)), "hi": np.ones((1, 3))}  # fmt: skip
    found = gradient(args, g_r=np.array([[2.0, 3.0, 4.0]]))
    np.testing.assert_allclose(found.hi, [[2, 0, 0]])
    np.testing.assert_allclose(found.lo, [[0, 3, 0]])
    np.testing.assert_allclose(found.b, [[0, 0, -4]])
    assert found.ok.all()


def test_statuses_and_margin_describe_a_contact_that_opens():
    """A contact that approaches with v has the kink_distance v (W = 1), one that leaves too."""
    for speed in (-1e-3, 1e-3):
        args = {"W": np.eye(3)[None], "b": np.array([[speed, 0.0, 0.0]]), "mu": np.ones((1, 1))}
        found = gradient(args, g_u=np.ones((1, 3)))
        assert found.ok.all()
        assert 0.5e-3 <= found.kink_distance[0] <= 1e-3 * (1 + 1e-9)
        assert np.abs(velocity(args, solved(args, "coulomb").impulse)).max() <= 1e-3


@pytest.mark.parametrize(("law", "mu"), [("convex", 1e-10), ("convex", 1e-12), ("pyramid", 1e-12)])
def test_a_contact_that_only_seems_to_stick_is_a_kink(law, mu):
    """Friction of 1e-10 cannot hold a velocity of 1.7 m/s; but the residual weighs that velocity
    with the coefficient, so that a solution within the tolerance need not see it slide."""
    W, b, mu = np.eye(3), np.array([-1.0, 0.3, 1.7]), np.array([0.6, mu])
    solution = stickslip.solve(W, b, mu, law=law)
    found = stickslip.vjp(W, b, mu, solution, d_velocity=[0, 0, 1.0], law=law)
    if found.status == GradientStatus.valid:
        np.testing.assert_allclose(found.b[2], 1.0, rtol=1e-6)
    else:
        assert found.status == GradientStatus.kink


@pytest.mark.parametrize("law", ["coulomb", "convex", "pyramid", "box", "frictionless"])
def test_a_margin_of_0_is_a_kink_at_any_tolerance(law):
    exact = stickslip.SolveOptions(atol=0.0, rtol=0.0)
    args = (np.eye(3), np.zeros(3), 0.5)
    solution = stickslip.solve(*args, law=law, options=exact)
    found = stickslip.vjp(*args, solution, d_velocity=np.ones(3), law=law, options=exact)
    assert found.kink_distance == 0
    assert found.status == GradientStatus.kink


def test_nothing_is_nan_or_infinite_in_float32():
    W, b = np.eye(3, dtype="f") * np.float32(1e-30), np.array([-1e12, 0.3, 0], "f")
    solution = stickslip.solve(W, b, np.float32(0.5))
    assert not np.isfinite(solution.impulse).all()
    found = stickslip.vjp(W, b, np.float32(0.5), solution, d_velocity=np.ones(3, "f"))
    assert found.status == GradientStatus.unsolved
    assert not found.W.any()
    W, b = np.eye(3, dtype="f") * np.float32(1e-10), np.array([-1e10, 2e10, 0], "f")
    solution = stickslip.solve(W, b, np.float32(0.5))
    found = stickslip.vjp(W, b, np.float32(0.5), solution, d_velocity=np.full(3, 1e20, "f"))
    for array in (found.b, found.R, found.W, found.mu):
        assert np.isfinite(array).all()


def test_a_change_that_is_not_finite_is_told_also_where_it_has_no_effect():
    """Friction of a contact that sticks, and the upper bound of a row within its bounds."""
    args = {"W": np.eye(4), "b": np.array([0.5, -1.0, 0.2, 0.0]), "mu": 0.5}
    args |= {"lo": [-1.0], "hi": [1.0]}
    solution = stickslip.solve(**args)
    first, others = (args["W"], args["b"], args["mu"]), {"lo": [-1.0], "hi": [1.0]}
    assert stickslip.jvp(*first, solution, dmu=1.0, dhi=[1.0], **others).ok
    for change in ({"dmu": np.nan}, {"dmu": np.inf}, {"dhi": [np.nan]}, {"dlo": [-np.inf]}):
        found = stickslip.jvp(*first, solution, **change, **others)
        assert found.status == GradientStatus.unsolved
        assert not found.impulse.any()
        assert not found.velocity.any()


def test_unknown_keywords_are_named():
    args = (np.eye(3), np.array([-1.0, 2.0, 0.0]), 0.5)
    solution = stickslip.solve(*args)
    with pytest.raises(
        TypeError, match=r"solver: unexpected .* expected d_impulse, d_velocity, law"
    ):
        stickslip.vjp(*args, solution, d_velocity=np.ones(3), solver="newton")
