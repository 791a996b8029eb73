"""Problems of run_gradients.py: six families of boxes, distributed as those of
tests/support/families.cpp, and the recorded robots. Each comes with directions to change it."""

from pathlib import Path

import numpy as np

from stickslip import files
from stickslip.files import answer

ROBOTS = Path(__file__).resolve().parents[1] / "tests" / "data" / "robots"
STEP, GRAVITY = 0.01, 9.81
SINGLE = ("box", "boxrest", "cage")
TOWERS = ("stack", "stackrest", "stackheavy")


def _rows(J: np.ndarray, k: int, normal: np.ndarray, bodies: list) -> None:
    """Contact k; bodies: (number, arm, sign)."""
    aside = np.eye(3)[1 if abs(normal[0]) > 0.9 else 0]
    t1 = np.cross(normal, aside)
    t1 /= np.linalg.norm(t1)
    for i, axis in enumerate((normal, t1, np.cross(normal, t1))):
        for body, arm, sign in bodies:
            J[3 * k + i, 6 * body : 6 * body + 6] = sign * np.r_[axis, np.cross(arm, axis)]


def _inverse_mass(mass: float, half: np.ndarray) -> np.ndarray:
    square = half**2
    return np.r_[np.full(3, 1 / mass), 3 / (mass * (square.sum() - square))]


def _single(family: str, contacts: int, rng: np.random.Generator) -> tuple:
    J, v = np.zeros((3 * contacts, 6)), np.zeros(6)
    inverse = _inverse_mass(rng.uniform(0.5, 2), half := rng.uniform(0.2, 0.6, 3))
    if family != "boxrest":
        v = rng.normal(size=6)
        v[2] = 0.3 * v[2] - 0.5
    for k in range(contacts):
        arm, normal, axis, side = rng.uniform(-1, 1, 3) * half, np.eye(3)[2], 2, -1.0
        if family == "cage":
            axis, side = rng.integers(3), rng.choice([-1.0, 1.0])
            normal = 0.3 * rng.normal(size=3)
            normal[axis] = -side
            normal /= np.linalg.norm(normal)
        arm[axis] = side * half[axis]
        _rows(J, k, normal, [(0, arm, 1)])
    return J, inverse, v


def _tower(family: str, contacts: int, rng: np.random.Generator) -> tuple:
    storeys = contacts // 4
    common = np.array([*rng.uniform(0.3, 0.6, 2), rng.uniform(0.15, 0.4)])
    mass, decades = rng.uniform(0.5, 2), rng.uniform(1, 3)
    J, v = np.zeros((3 * contacts, 6 * storeys)), np.zeros(6 * storeys)
    inverse, below = [], common
    for body in range(storeys):
        half, own = common, mass
        if family == "stack":
            half, own = common * rng.uniform(0.9, 1.1, 3), rng.uniform(0.5, 2)
            v[6 * body : 6 * body + 6] = 0.3 * rng.normal(size=6)
        elif family == "stackheavy" and storeys > 1:
            own *= 10 ** (decades * body / (storeys - 1))
        inverse.append(_inverse_mass(own, half))
        x, y = half[:2] if body == 0 else np.minimum(half, below)[:2]
        for corner in range(4):
            arm = np.array([x if corner & 1 else -x, y if corner & 2 else -y, -half[2]])
            under = [(body - 1, np.array([*arm[:2], below[2]]), -1)] if body else []
            _rows(J, 4 * body + corner, np.eye(3)[2], [(body, arm, 1), *under])
        below = half
    return J, np.concatenate(inverse), v


def family(name: str, contacts: int, count: int, softness: tuple[float, float]) -> dict:
    """Problems, a loss of velocities by its derivative dL/dr, and directions."""
    rng = np.random.default_rng([(*SINGLE, *TOWERS).index(name), contacts])
    make = _tower if name in TOWERS else _single
    found = {key: [] for key in ("W", "b", "mu", "R", "loss", "dW", "db", "dmu", "dR")}
    for _ in range(count):
        mu = rng.uniform(0.1, 1)
        J, inverse, v = make(name, contacts, rng)
        v[2::6] -= STEP * GRAVITY
        root = np.sqrt(inverse)
        change = 0.3 * rng.normal(size=(len(v), len(v)))
        change = root[:, None] * (change + change.T) * root / 2  # of M^-1
        b, W = J @ v, (J * inverse) @ J.T
        db = J @ (rng.normal(size=len(v)) * root)
        R = np.kron(np.diag(W)[::3], [softness[0], softness[1], softness[1]])
        values = {
            "W": (W + W.T) / 2, "b": b, "mu": np.full(contacts, mu), "R": R,
            "loss": (J * inverse) @ (rng.normal(size=len(v)) / root),
            "dW": J @ change @ J.T, "db": db * np.abs(b).max() / np.abs(db).max(),
            "dmu": np.full(contacts, mu), "dR": R * rng.uniform(-1, 1, len(b)),
        }  # fmt: skip
        values["dW"] = (values["dW"] + values["dW"].T) / 2
        for key, value in values.items():
            found[key].append(value)
    return _arranged({key: np.array(value) for key, value in found.items()}, {})


def robot(name: str, law: str, softness: tuple[float, float]) -> dict:
    """The solvable problems of a robot as one ragged batch, with the same. Changes of W keep its
    range: W^1/2 (1 + X) W^1/2."""
    problems = [p for p in files.read(ROBOTS / f"{name}.h5").problems if p.law == law]
    problems = [p for p in problems if p.stored and p.stored.status == "solved" and p.rows]
    given = answer.ragged(problems)
    rng = np.random.default_rng(1)
    made = {key: np.zeros_like(given["b"]) for key in ("R", "loss", "db", "dR")}
    made |= {"dW": np.zeros_like(given["W"]), "dmu": np.array(given["mu"])}
    for e, p in enumerate(problems):
        n, W = p.rows, given["W"][e, : p.rows, : p.rows]
        diagonal = np.maximum(np.diag(W), 1e-9 * np.diag(W).max())
        values, vectors = np.linalg.eigh(W)
        root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
        root[np.diag(W) <= 1e-12 * np.diag(W).max()] = 0.0  # rows that nothing moves
        X, scale = 0.1 * rng.normal(size=(n, n)), np.abs(p.b).max()
        R = np.zeros(n) if given.get("R") is None else given["R"][e, :n].copy()
        at = n - int(np.sum(p.dims))
        for dim in p.dims:
            least = np.r_[softness[0], np.full(dim - 1, softness[1])] * diagonal[at : at + dim]
            R[at : at + dim] = np.maximum(R[at : at + dim], least)
            at += dim
        db = W @ (rng.normal(size=n) / diagonal)
        made["R"][e, :n], made["loss"][e, :n] = R, W @ (rng.normal(size=n) / np.sqrt(diagonal))
        made["db"][e, :n] = db * (scale / max(np.abs(db).max(), 1e-300))
        made["dR"][e, :n] = R * rng.uniform(-1, 1, n)
        made["dW"][e, :n, :n] = root @ (X + X.T) @ root.T / 2
    return _arranged(given | made, {k: given[k] for k in ("dims", "counts") if k in given})


def _arranged(values: dict, shape: dict) -> dict:
    problem = {key: values[key] for key in ("W", "b", "mu", "R", "lo", "hi") if key in values}
    directions = {key: values[f"d{key}"] for key in ("b", "W", "mu", "R")}
    if not np.any(values["R"]):
        del problem["R"], directions["R"]
    return {"problem": problem | shape, "loss": values["loss"], "directions": directions}
