"""Residuals of impulses by the reference implementation."""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip import Law, _compare
from stickslip._src.batch import assemble


def oracle(arguments: dict[str, Any], impulse: np.ndarray, law: str) -> np.ndarray:
    """Residuals (E,) of impulses (E, n) by the reference implementation."""
    problem = assemble(**arguments)
    residual = np.zeros(len(impulse))
    arrays = problem.arrays | {"impulse": impulse}
    _compare.reference_residual(arrays, {"residual": residual}, Law[law])
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
