"""Derivatives at exact kinks: an impulse on the edge of its law's set, and no velocity. Torsion,
rolling and anisotropic friction amplify a residual by (mu_1 / mu_j)^2 in circular coordinates."""

import numpy as np
import pytest
from gradient_problems import LAWS, velocity

import stickslip
from stickslip import GradientStatus

FRICTION = {
    "isotropic": (3, [0.5, 0.5]),
    "anisotropic": (3, [1.0, 0.05]),
    "very anisotropic": (3, [0.8, 0.002]),
    "torsion": (4, [1.0, 1.0, 0.005]),
    "rolling": (6, [0.6, 0.6, 0.02, 0.003, 0.003]),
    "little rolling": (6, [1.0, 1.0, 0.005, 1e-4, 1e-4]),
}
SIZE = {"box": lambda x: np.abs(x).max(), "pyramid": lambda x: np.abs(x).sum()}
COUPLED = np.array(
    [[2, 0.5, 0.3, 0.4], [0.5, 3, 0.2, 0.6], [0.3, 0.2, 2.5, 0.5], [0.4, 0.6, 0.5, 2]]
)
COUNT = 64


def matrix(n, rng):
    """Coupled rows: the same, or at random if `rng` is given."""
    if rng is not None:
        J = rng.normal(size=(n, n + 3)) * np.exp(0.3 * rng.normal(size=(n, 1)))
        return J @ J.T / (n + 3)
    W = 2.0 * np.eye(n)
    W[: min(n, 4), : min(n, 4)] = COUPLED[:n, :n]
    return W


def posed(law, friction, at_random, share):
    """Contacts that stick with this share of their friction, the direction by `law`."""
    rng = np.random.default_rng(3)
    _, mu = friction
    W, b = [], []
    for _ in range(COUNT):
        d = rng.normal(size=len(mu))
        d /= SIZE.get(law, np.linalg.norm)(d)
        r = np.r_[1.0, share * np.array(mu) * d] * rng.uniform(0.3, 3)
        W.append(matrix(len(r), rng if at_random else None))
        b.append(-W[-1] @ r)
    return {"W": np.array(W), "b": np.array(b), "mu": np.tile(mu, (COUNT, 1))}


def share_valid(args, law, dim, precision):
    """Of the solutions that stick: `box` may also have one that slides."""
    others = {"law": law, "dims": [dim], "precision": precision}
    solution = stickslip.solve(**args, **others)
    u = velocity(args, solution.impulse)
    u[:, 1:] *= args["mu"] / args["mu"][:, :1]
    solved = (solution.status == 0) & (np.abs(u).max(axis=1) < 1e-2)
    assert solved.mean() > 0.9
    g_u = np.ones_like(args["b"])
    found = stickslip.vjp(*args.values(), solution, d_velocity=g_u, **others)
    ahead = stickslip.jvp(*args.values(), solution, db=g_u, **others)
    np.testing.assert_array_equal(found.kink_distance, ahead.kink_distance)
    return (found.status[solved] == GradientStatus.valid).mean()


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("friction", FRICTION)
@pytest.mark.parametrize("law", [law for law in LAWS if law != "frictionless"])
def test_an_exact_kink_is_not_valid(law, friction, precision):
    dim, _ = FRICTION[friction]
    for at_random in (False, True):
        args = posed(law, FRICTION[friction], at_random, 1.0)
        # At random, the equations of sliding may be nearly singular: 1 or 2 of the 64.
        assert share_valid(args, law, dim, precision) <= (1 / 32 if at_random else 0.0)


@pytest.mark.parametrize("friction", [name for name in FRICTION if name != "little rolling"])
@pytest.mark.parametrize("law", [law for law in LAWS if law != "frictionless"])
def test_a_contact_well_inside_is_valid(law, friction):
    dim, _ = FRICTION[friction]
    for at_random in (False, True):
        args = posed(law, FRICTION[friction], at_random, 0.5)
        assert share_valid(args, law, dim, "float64") == 1.0


@pytest.mark.parametrize("law", ["coulomb", "convex", "box", "pyramid"])
def test_a_contact_that_slides_is_valid(law):
    """Also in float, where torsion that does not slip is known to 1e-5 (mu_1 / mu_j)^2 only."""
    for friction in ("torsion", "rolling"):
        dim, mu = FRICTION[friction]
        args = posed(law, FRICTION[friction], False, 1.0)
        args["b"][:, 1] += 3.0  # against t1 alone: the others may stick under `box`
        others = {"law": law, "dims": [dim]}
        solution = stickslip.solve(**args, **others)
        assert np.all(solution.status == 0)
        found = stickslip.vjp(
            *args.values(), solution, d_velocity=np.ones_like(args["b"]), **others
        )
        assert (found.status == GradientStatus.valid).mean() >= 0.95, mu


def test_a_plane_scene_is_valid_where_nothing_moves_aside():
    """W is 0 in t2: no impulse answers a residual there, however soft the row."""
    args = {"W": np.diag([1.0, 1.0, 0.0])[None], "b": np.array([[-1.0, 0.2, 0.0]]), "mu": 0.5}
    solution = stickslip.solve(**args, law="box")
    found = stickslip.vjp(*args.values(), solution, d_velocity=np.ones((1, 3)), law="box")
    assert found.ok.all()
