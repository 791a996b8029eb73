"""Linear complementarity problems with a known answer: by formula, from textbooks, and in
addition, where they are, those of $STICKSLIP_DATA/problems. Without a stored z there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from robots import EXTRA

from stickslip import files
from stickslip.files import ComplementarityProblem, StoredSolution

Problems = Iterator[ComplementarityProblem]


def known(name, M, z, w, **rest) -> ComplementarityProblem:
    """The problem with this M, which z and w solve."""
    M, z = np.array(M, float, order="C"), np.array(z, float)
    stored = StoredSolution(z)
    return ComplementarityProblem(name, M, np.array(w) - M @ z, stored=stored, **rest)


def unit(n: int, i: int) -> np.ndarray:
    return np.eye(n)[i]


def murty(n: int) -> np.ndarray:
    return np.eye(n) + 2 * np.tri(n, k=-1)


def circulant(n: int, shift: int) -> np.ndarray:
    return np.eye(n) + 2 * np.roll(np.eye(n), shift, axis=1)


def exponential() -> Problems:
    """Pivoting methods take up to 2^n steps (Murty 1978, Fathi 1979, Morris 2002)."""
    for n in (8, 16, 24):
        first, last = unit(n, 0), unit(n, -1)
        L = murty(n)
        for name, M, z in (
            ("lower", L, first),
            ("upper", L.T, last),
            ("fathi", L @ L.T, first),
        ):
            yield known(f"{name}_{n}", M, z, M @ z - 1)
        q = 2.0 ** np.arange(1, n + 1) - 2.0 ** (n + 1)
        yield known(f"powers_{n}", L, -q[0] * first, -q[0] * L[:, 0] + q)
    for n in (5, 9, 15, 31):
        yield known(f"morris_{n}", circulant(n, 1), np.full(n, 1 / 3), np.zeros(n))


def degenerate() -> Problems:
    """Ties, singular and badly scaled matrices, cycles of Newton's method (Ben Gharbia and
    Gilbert 2012)."""
    for n in (3, 5):
        yield known(f"newton_cycles_{n}", circulant(n, -1), np.zeros(n), np.ones(n))
    for n in (6, 10):
        z = np.arange(n) % 2 == 0
        i = np.arange(n)
        yield known(f"hilbert_{n}", 1 / (1.0 + i + i[:, None]), z, 0.01 * ~z)
    yield known("z_and_w_zero", np.eye(3), [0, 1, 0], np.zeros(3))
    yield known("no_matrix", np.zeros((4, 4)), np.zeros(4), [0, 1, 0, 2])
    yield known("badly_scaled", [[1e8, 1], [1, 0]], [1e-8, 1], [0, 0])
    A = np.random.default_rng(1).normal(size=(5, 2))
    yield known("rank_2", A @ A.T, [1, 0, 2, 0, 0], np.zeros(5))


def pairs(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """z, w >= 0 of which one is zero in each row."""
    active = rng.uniform(size=n) < 0.5
    return np.where(active, rng.uniform(0.1, 1, n), 0), np.where(active, 0, rng.uniform(0.1, 1, n))


def spectral(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
    Q, _ = np.linalg.qr(rng.normal(size=(len(values),) * 2))
    return (Q * values) @ Q.T


def friction_pyramids(rng: np.random.Generator, contacts: int) -> np.ndarray:
    """Stewart and Trinkle's matrix with four directions."""
    normals = rng.normal(size=(contacts, 3 * contacts))
    tangents = rng.normal(size=(contacts, 2, 3 * contacts))
    J = np.concatenate([normals, np.stack([tangents, -tangents], 1).reshape(4 * contacts, -1)])
    E = np.kron(np.eye(contacts), np.ones((4, 1)))
    M = np.zeros((6 * contacts, 6 * contacts))
    M[: 5 * contacts, : 5 * contacts] = J @ J.T / contacts
    M[contacts : 5 * contacts, 5 * contacts :] = E
    M[5 * contacts :, contacts : 5 * contacts] = -E.T
    M[5 * contacts :, :contacts] = 0.5 * np.eye(contacts)
    return M


def random_matrices() -> Problems:
    rng = np.random.default_rng(2)
    for n in (8, 16, 32, 64):
        band = 8 * np.eye(n) - sum(np.eye(n, k=k) + np.eye(n, k=-k) for k in (1, 2, 3))
        spectrum = np.linspace(1, n, n)
        half = np.where(np.arange(n) < n // 2, spectrum, 0)
        yield known(f"banded_{n}", band, *pairs(rng, n))
        yield known(f"definite_{n}", spectral(rng, spectrum), *pairs(rng, n))
        yield known(f"semidefinite_{n}", spectral(rng, half), *pairs(rng, n))
    for contacts in (1, 2, 4, 8, 16):
        M = friction_pyramids(rng, contacts)
        yield known(f"pyramids_{contacts}", M, *pairs(rng, len(M)))


def mixed() -> Problems:
    """Optimality conditions: projections on the simplex, convex programs with equalities."""
    for name, y in (
        ("4", [0.9, 0.6, -0.2, 0.1]),
        ("ties", [0.5, 0.5, 0.5, 0.1, 0.1]),
        ("40", np.random.default_rng(3).normal(size=40)),
    ):
        y = np.array(y)
        ordered = np.sort(y)[::-1]
        excess = (np.cumsum(ordered) - 1) / np.arange(1, len(y) + 1)
        level = excess[np.flatnonzero(ordered > excess)[-1]]
        ones = np.ones((1, len(y)))
        M = np.block([[np.zeros((1, 1)), ones], [-ones.T, np.eye(len(y))]])
        z = np.concatenate([[-level], np.maximum(y - level, 0)])
        w = np.concatenate([[0], np.maximum(level - y, 0)])
        yield known(f"simplex_{name}", M, z, w, kind="mlcp", n_free=1)
    rng = np.random.default_rng(4)
    for name, rank in (("independent", 4), ("redundant", 2)):
        A = rng.normal(size=(4, rank)) @ rng.normal(size=(rank, 8))
        M = np.block([[np.zeros((4, 4)), A], [-A.T, spectral(rng, np.linspace(1, 8, 8))]])
        z, w = pairs(rng, 8)
        z, w = np.concatenate([rng.normal(size=4), z]), np.concatenate([np.zeros(4), w])
        yield known(f"equalities_{name}", M, z, w, kind="mlcp", n_free=4)


def boxed() -> Problems:
    """Rows at either bound and between; friction, whose bounds are 0.5 times the normal's z."""
    rng = np.random.default_rng(5)
    for n in (2, 12, 40):
        where = rng.integers(0, 3, n)
        z, w = where - 1.0, (1.0 - where) * rng.uniform(0.1, 1, n)
        box = {"lo": -np.ones(n), "hi": np.ones(n), "findex": np.full(n, -1, np.int32)}
        yield known(f"box_{n}", spectral(rng, np.linspace(1, n, n)), z, w, kind="boxed_lcp", **box)
    for contacts in (1, 4, 12):
        n = 3 * contacts
        normal = np.repeat(3 * np.arange(contacts), 3)
        tangent = np.arange(n) != normal
        pressed = rng.uniform(0.1, 1, contacts) * (rng.uniform(size=contacts) < 0.7)
        most = 0.5 * np.repeat(pressed, 3)
        side = rng.integers(-1, 2, n)
        z = np.where(tangent, side * most, np.repeat(pressed, 3))
        moving = -side * rng.uniform(0.1, 1, n) * (most > 0)
        w = np.where(tangent, moving, np.where(z > 0, 0, 0.3))
        box = {
            "lo": np.where(tangent, -0.5, 0),
            "hi": np.where(tangent, 0.5, np.inf),
            "findex": np.where(tangent, normal, -1).astype(np.int32),
        }
        yield known(
            f"friction_{contacts}",
            spectral(rng, np.linspace(1, n, n)),
            z,
            w,
            kind="boxed_lcp",
            **box,
        )


def textbook() -> Problems:
    """Murty, Linear Complementarity (1988), exercises of chapter 2; Cottle, Pang and Stone, The
    Linear Complementarity Problem; Kostreva, Cycling in linear complementarity problems (1979)."""
    for name, M, q, z in (
        ("negative", [[-1]], [-1], None),
        ("ray", [[2, -1], [0, -2]], [-1, -2], None),
        ("ones", [[1, 1], [1, 1]], [-1, -1], [1, 0]),
        ("cps_4_4_7", [[0, -1, 2], [2, 0, -2], [-1, 1, 0]], [-3, 6, -1], [0, 1, 3]),
        ("cps_4_4_16", [[1, -1], [-1, 1]], [1, -1], [0, 1]),
        ("kostreva_1", [[1, 2, 0], [0, 1, 2], [2, 0, 1]], [-1, -1, -1], [1 / 3] * 3),
        ("kostreva_2", [[1, -1, 3], [2, -1, 3], [-1, -2, 0]], [-1, -1, -1], None),
        (
            "murty_2_8",
            [[1, -1, -1, -1], [-1, 1, -1, -1], [1, 1, 2, 0], [1, 1, 0, 2]],
            [3, 5, -9, -5],
            [2, 1, 3, 1],
        ),
        ("murty_2_9", [[-1, 0, -3], [1, -2, -5], [-2, -1, -2]], [-3, -2, -1], None),
        ("murty_2_11", [[-1.5, 2], [-4, 4]], [-5, 17], [27, 22.75]),
        (
            "bimatrix",
            [[0, 0, 10, 20], [0, 0, 30, 15], [10, 20, 0, 0], [30, 15, 0, 0]],
            [-1, -1, -1, -1],
            [1 / 90, 4 / 90, 1 / 90, 4 / 90],
        ),
    ):
        stored = None if z is None else StoredSolution(np.array(z, float))
        yield ComplementarityProblem(name, np.array(M, float), np.array(q, float), stored=stored)


FAMILIES: dict[str, Callable[[], Problems]] = {
    f.__name__: f for f in (exponential, degenerate, random_matrices, mixed, boxed, textbook)
}
EXTRA_COUNTS = {
    "boxed_lcp": 12,
    "classic_formula_lcp": 23,
    "dart_lcp": 17,
    "mlcp": 14,
    "num4lcp_formula": 17,
    "textbook_lcp": 23,
}
EXTRA_FILES = {
    f"extra_{name}": path
    for name in EXTRA_COUNTS
    if (path := EXTRA / "problems" / f"{name}.h5").exists()
}
COLLECTIONS = (*FAMILIES, *EXTRA_FILES)


def load(collection: str) -> list[ComplementarityProblem]:
    if collection in FAMILIES:
        return list(FAMILIES[collection]())
    found = files.read(EXTRA_FILES[collection]).problems
    assert len(found) == EXTRA_COUNTS[collection.removeprefix("extra_")]
    return found
