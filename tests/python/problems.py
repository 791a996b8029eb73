"""Random contact problems, and the oracle's judgement of impulses."""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip import Law, _core
from stickslip._problem import assemble


def random_batch(seed: int, num_envs: int = 8, contacts: int = 3, **fixed: int) -> dict[str, Any]:
    """Arguments of `stickslip.solve`: bodies with a few contacts, and `n_free`, `n_nonneg`,
    `n_box` other rows; W = J J^T of full rank, so that every law has a solution."""
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


def oracle(arguments: dict[str, Any], impulse: np.ndarray, law: str) -> np.ndarray:
    """Residuals (E,) of impulses (E, n) by the reference implementation."""
    problem = assemble(**arguments)
    residual = np.zeros(len(impulse))
    _core.reference_residual(*problem.arrays, impulse, Law[law], residual)
    return residual


def bound(arguments: dict[str, Any], tol: float) -> np.ndarray:
    """(E,) residual up to which an environment counts as solved."""
    return tol * (1 + np.abs(arguments["b"]).max(axis=1, initial=0.0))
