"""Random contact problems, files of large ones, and residuals of impulses by the oracle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from robots import EXTRA

from stickslip import Law, _compare, files
from stickslip._src.batch import assemble

# Files of 3D Coulomb problems of up to 369 rows; in addition, where it is, one of others' problems.
PILES = {"ours": Path(__file__).parents[1] / "data" / "piles.h5"}
if (_fc3d := EXTRA / "problems" / "fc3d.h5").exists():
    PILES["extra"] = _fc3d


def random_batch(seed: int, num_envs: int = 8, contacts: int = 3, **fixed: int) -> dict[str, Any]:
    """Arguments of `stickslip.solve`: bodies with a few contacts, and `n_free`, `n_nonneg`, `n_box`
    other rows; W = J J^T of full rank, so that every law has a solution."""
    rng = np.random.default_rng(seed)
    rows = {key: fixed.get(key, 0) for key in ("n_free", "n_nonneg", "n_box")}
    n = sum(rows.values()) + 3 * contacts
    J = rng.normal(size=(num_envs, n, n + 3))
    n_box = rows.pop("n_box")
    bounds = {"lo": -rng.uniform(0, 1, n_box), "hi": rng.uniform(0, 1, n_box)} if n_box else {}
    return {
        "W": J @ J.transpose(0, 2, 1) / n,
        "b": rng.normal(size=(num_envs, n)),
        "mu": rng.uniform(0.1, 1.0, (num_envs, contacts)),
        **rows,
        **bounds,
    }


def mechanisms(num_envs=40, contacts=4, nv=9, dtype=np.float64, seed=3):
    """M, J, v_free, b of bodies with a few contacts."""
    rng = np.random.default_rng(seed)
    n = 3 * contacts
    A = rng.normal(size=(num_envs, nv, nv))
    M = A @ A.transpose(0, 2, 1) + np.eye(nv)
    J = rng.normal(size=(num_envs, n, nv))
    v_free = rng.normal(size=(num_envs, nv))
    b = np.einsum("eij,ej->ei", J, v_free)
    return tuple(a.astype(dtype) for a in (M, J, v_free, b))


def contact_problem(seed=0, name="one", dims=(3, 4, 6), **fields):
    """A problem of a file, with rows of every kind."""
    rng = np.random.default_rng(seed)
    n = 4 + sum(dims)
    J = rng.normal(size=(n, n + 3))
    tangential = sum(dims) - len(dims)
    given = {
        "W": J @ J.T / n,
        "b": rng.normal(size=n),
        "mu": rng.uniform(0.1, 1.0, tangential),
        "dims": np.array(dims, np.int32),
        "n_free": 1,
        "n_nonneg": 2,
        "lo": np.array([-0.5]),
        "hi": np.array([np.inf]),
    }
    return files.ContactProblem(name=name, **{**given, **fields})


def oracle(arguments: dict[str, Any], impulse: np.ndarray, law: str) -> np.ndarray:
    """Residuals (E,) of impulses (E, n) by the reference implementation."""
    problem = assemble(**arguments)
    residual = np.zeros(len(impulse))
    _compare.reference_residual(*problem.arrays, impulse, Law[law], residual)
    return residual


def assert_bounds(arguments: dict[str, Any], impulse: np.ndarray, law: str, told: np.ndarray):
    """Residuals `told` are not less than the exact ones, and exceed them by rounding at most: 40
    times that of the terms of W r + b and of r times the largest W_ii. Returns the exact."""
    exact = oracle(arguments, impulse, law)
    W, b, mu, R = (np.abs(np.asarray(arguments.get(key, 0.0))) for key in ("W", "b", "mu", "R"))
    r = np.abs(impulse)
    stiffest = np.diagonal(W, axis1=-2, axis2=-1).max(axis=-1, initial=0) + np.max(R, initial=0)
    sizes = (W @ r[..., None])[..., 0].max(axis=-1, initial=0) + b.max(axis=-1, initial=0)
    sizes = sizes + stiffest * r.max(axis=-1, initial=0)
    slack = 40 * 1.1e-16 * (b.shape[-1] + 16) * (1 + np.max(mu, initial=0)) * sizes
    assert np.all(exact <= told)
    assert np.all(told <= exact * (1 + 1e-9) + slack)
    return exact


def bound(arguments: dict[str, Any], tol: float) -> np.ndarray:
    """(E,) residual up to which an environment counts as solved."""
    return tol * (1 + np.abs(arguments["b"]).max(axis=1, initial=0.0))


def small_problems(num_envs):
    contacts = 4
    return {
        "W": np.broadcast_to(np.eye(3 * contacts) + 0.01, (num_envs, 12, 12)),
        "b": np.broadcast_to(-np.ones(3 * contacts), (num_envs, 12)),
        "mu": 0.5,
    }
