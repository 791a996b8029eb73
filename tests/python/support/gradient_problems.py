"""Problems of every law and kind of rows for the tests of derivatives, and what checks them:
central differences of `solve`, and the linear equations of docs/gradients.md, dense and by numpy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import stickslip
from stickslip import SolveOptions

LAWS = ("coulomb", "convex", "frictionless", "box", "pyramid")
KINDS = ("contacts", "rows", "dims")
TIGHT = SolveOptions(atol=1e-15, rtol=1e-14, max_rung=0)
STEP = 1e-6  #: of a central difference
TIME_STEP, GRAVITY = 0.01, 9.81
GIVEN = ("b", "W", "mu", "R", "lo", "hi")


def problems(kind: str, seed: int, envs: int = 20, compliance: float = 0.0) -> dict[str, Any]:
    """Arguments of `solve`: W of full rank, contacts pressed together; mu one per contact for
    "contacts", else one per tangential row (anisotropic for "dims")."""
    rng = np.random.default_rng(seed)
    rows = {"contacts": (0, 0, 0), "rows": (2, 2, 3), "dims": (1, 1, 1)}[kind]
    dims = {"contacts": [3, 3, 3], "rows": [3, 3], "dims": [3, 4, 6]}[kind]
    first, n = sum(rows), sum(rows) + sum(dims)
    J = rng.normal(size=(envs, n, n + 3)) * np.exp(0.3 * rng.normal(size=(envs, n, 1)))
    W = J @ J.transpose(0, 2, 1) / (n + 3)
    b = rng.normal(size=(envs, n))
    b[:, first + np.cumsum([0, *dims[:-1]])] -= 1.0
    friction = rng.uniform(0.2, 0.9, (envs, len(dims)))
    if kind != "contacts":
        friction = np.repeat(friction, np.array(dims) - 1, axis=1)
    if kind == "dims":
        friction[:, 1::2] *= rng.uniform(0.5, 1.5, friction[:, 1::2].shape)
        friction[:, [4, 7, 8, 9]] *= 0.3  # torsion and rolling
    found = {"W": W, "b": b, "mu": friction, "dims": dims, "n_free": rows[0], "n_nonneg": rows[1]}
    if rows[2]:
        found |= {"lo": -rng.uniform(0.1, 1, (envs, rows[2]))}
        found |= {"hi": rng.uniform(0.1, 1, (envs, rows[2]))}
    if compliance:
        found["R"] = compliance * np.einsum("eii->ei", W) * rng.uniform(1, 2, (envs, n))
    return found


def box(mu=0.5, push=(0.0, 0.0), spin=0.0, compliance=0.0, down=GRAVITY):
    """A box of 1 kg on its four corners, which are redundant: 12 rows, rank 6. Velocities before
    the step: `push`, m/s, and `spin` about the vertical, 1/s. Returns the problem, J and M^-1."""
    half = np.array([0.2, 0.15, 0.1])
    corners = [np.array([x * half[0], y * half[1], -half[2]]) for x in (-1, 1) for y in (-1, 1)]
    frame = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    J = np.concatenate([frame @ np.hstack([np.eye(3), -np.cross(np.eye(3), p).T]) for p in corners])
    square = half**2
    inverse = np.r_[1, 1, 1, 3 / (square.sum() - square)]
    W = (J * inverse) @ J.T
    W = (W + W.T) / 2
    free = np.array([*push, -TIME_STEP * down, 0, 0, spin])
    args = {"W": W[None], "b": (J @ free)[None], "mu": np.full((1, 4), float(mu))}
    if compliance:
        args["R"] = compliance * np.repeat(np.diag(W)[::3], 3)[None]
    return args, J, inverse


def split(arguments: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Positional and other arguments of `vjp` and `jvp`."""
    return [arguments[k] for k in ("W", "b", "mu")], {
        k: v for k, v in arguments.items() if k not in ("W", "b", "mu")
    }


def tight(arguments: dict[str, Any], law: str, warm: Any = None, directions: int = 4) -> Any:
    options = replace(TIGHT, directions=directions)
    return stickslip.solve(**arguments, law=law, options=options, warm_start=warm)


def solved(arguments: dict[str, Any], law: str, directions: int = 4, warm: Any = None) -> Any:
    """A solution of a tight solve; its status is `solved` from 1e-11 m/s on."""
    found = tight(arguments, law, warm, directions)
    return replace(found, status=np.where(found.residual < 1e-11, 0, 1).astype(np.int32))


def change(arguments: dict[str, Any], seed: int) -> dict[str, np.ndarray]:
    """A direction for each array of the problem."""
    rng = np.random.default_rng(seed)
    found = {}
    for name in GIVEN:
        if name in arguments:
            value = np.asarray(arguments[name])
            found[name] = rng.normal(size=value.shape) * (0.1 * np.abs(value).max())
    found["W"] = (found["W"] + found["W"].transpose(0, 2, 1)) / 2
    if "R" in found:
        found["R"] = arguments["R"] * rng.uniform(-1, 1, arguments["R"].shape)
    return found


def pairing(gradient: Any, change: dict[str, np.ndarray]) -> np.ndarray:
    """(E,) the derivative along the change."""
    total = 0.0
    for name, direction in change.items():
        product = getattr(gradient, name) * direction
        total = total + product.reshape(len(product), -1).sum(axis=1)
    return total


def moved(arguments: dict[str, Any], change: dict[str, np.ndarray], by: float) -> dict[str, Any]:
    return arguments | {name: arguments[name] + by * step for name, step in change.items()}


def velocity(arguments: dict[str, Any], impulse: np.ndarray) -> np.ndarray:
    u = np.einsum("eij,ej->ei", arguments["W"], impulse) + arguments["b"]
    return u + arguments["R"] * impulse if "R" in arguments else u


def difference(
    arguments: dict[str, Any],
    law: str,
    change: dict[str, np.ndarray],
    solution: Any,
    step: float = STEP,
    directions: int = 4,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Central differences of impulses and velocities; and (E,) which of them can be relied on."""
    ends, good = [], solution.residual < 1e-11
    for sign in (1, -1):
        at = moved(arguments, change, sign * step)
        found = tight(at, law, solution.impulse, directions)
        good = good & (found.residual < 1e-11)
        ends.append((found.impulse, velocity(at, found.impulse)))
    (r1, u1), (r0, u0) = ends
    return (r1 - r0) / (2 * step), (u1 - u0) / (2 * step), good


def reach(arguments: dict[str, Any], dr: np.ndarray, du: np.ndarray) -> np.ndarray:
    """(E,) m/s: margins below may be those of a kink between the ends of a central difference."""
    stiffness = np.einsum("eii->ei", arguments["W"]).max(axis=1)
    return 2 * STEP * (np.linalg.norm(du, axis=1) + stiffness * np.linalg.norm(dr, axis=1))


def dot(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (x * y).sum(axis=1)


# The equations A dr + B du + C dmu = 0 of one problem, in its own coordinates.


def slide(A: Any, B: Any, C: Any, a: int, t: Any, mu: Any, r: Any, u: Any, dilates: bool) -> None:
    """Rows of a contact whose first row is `a`, of laws with a cone; `t` columns of mu."""
    d = len(mu) + 1
    p = mu * u[a + 1 : a + d]
    s = np.linalg.norm(p)
    e, ut = p / s, u[a + 1 : a + d]
    P = np.eye(d - 1) - np.outer(e, e)
    rows = slice(a + 1, a + d)
    B[a, a] = 1
    if dilates:
        B[a, rows] -= e * mu
        C[a, t] -= e * ut
    A[rows, rows] = np.eye(d - 1)
    A[rows, a] = mu * e
    B[rows, rows] = r[a] / s * (mu[:, None] * P * mu)
    C[rows, t] = r[a] / s * (mu[:, None] * P * ut) + r[a] * np.diag(e)


def equations(args: dict[str, Any], law: str, r: Any, u: Any) -> tuple[Any, Any, Any]:
    """A, B, C of a problem of law coulomb, convex or frictionless without bounds that are reached
    except at 0; mu per tangential row."""
    n, mu = len(r), np.asarray(args["mu"])
    A, B, C = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, len(mu)))
    first = args["n_free"] + args["n_nonneg"] + len(args.get("lo", ()))
    small = 1e-9
    for i in range(first):
        low = -np.inf if i < args["n_free"] else 0.0
        high = np.inf
        box = i - args["n_free"] - args["n_nonneg"]
        if box >= 0:
            low, high = args["lo"][box], args["hi"][box]
        fixed = r[i] < low + small or r[i] > high - small
        (A if fixed else B)[i, i] = 1
    a, t = first, 0
    for d in args["dims"]:
        m, tangents = mu[t : t + d - 1], np.arange(a + 1, a + d)
        size = np.linalg.norm(r[a + 1 : a + d] / m)
        if r[a] < small:
            A[range(a, a + d), range(a, a + d)] = 1
        elif law == "frictionless":
            B[a, a] = 1
            A[tangents, tangents] = 1
        elif size < r[a] * (1 - small):
            B[range(a, a + d), range(a, a + d)] = 1
        else:
            slide(A, B, C, a, range(t, t + d - 1), m, r, u, law == "convex")
        a, t = a + d, t + d - 1
    return A, B, C


def dense_jvp(
    args: dict[str, Any], law: str, r: Any, change: dict[str, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """dr, du of one problem by numpy's pseudo-inverse."""
    n = len(r)
    full = args["W"] + np.diag(args.get("R", np.zeros(n)))
    A, B, C = equations(args, law, r, full @ r + args["b"])
    delta = change.get("b", 0) + change.get("W", np.zeros((n, n))) @ r + change.get("R", 0) * r
    right = -(B @ delta + C @ change.get("mu", np.zeros(C.shape[1])))
    dr = np.linalg.pinv(A + B @ full, rcond=1e-10) @ right
    return dr, full @ dr + delta
