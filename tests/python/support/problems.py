"""Random contact problems; no other module of the tests, nor h5py, is needed for them."""

from __future__ import annotations

from typing import Any

import numpy as np


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


def small_problems(num_envs):
    contacts = 4
    return {
        "W": np.broadcast_to(np.eye(3 * contacts) + 0.01, (num_envs, 12, 12)),
        "b": np.broadcast_to(-np.ones(3 * contacts), (num_envs, 12)),
        "mu": 0.5,
    }
