"""Problems as files have them, and files of large ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from robots import EXTRA

from stickslip import files

# Files of 3D Coulomb problems of up to 369 rows; in addition, where it is, one of others' problems.
PILES = {"ours": Path(__file__).parents[1] / "data" / "piles.h5"}
if (_fc3d := EXTRA / "problems" / "fc3d.h5").exists():
    PILES["extra"] = _fc3d


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
