"""Batches of contact problems for the tests of stickslip.torch and stickslip.jax, as arguments of
`stickslip.solve`, and other things that both tests need."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
NAMES = (
    "contacts",
    "one number",
    "kinds of rows",
    "dimensions",
    "ragged",
    "all kinds ragged",
    "warm",
)
LAWS = ("coulomb", "convex", "pyramid", "box", "frictionless")


def batch(name: str, dtype: Any = np.float64, num_envs: int = 9) -> dict[str, Any]:
    """The batch of this name (`NAMES`); its arrays of floats have the type `dtype`."""
    rng = np.random.default_rng(NAMES.index(name))
    rows = 13 if name == "dimensions" else 12 + 4 * (name == "kinds of rows")
    J = rng.normal(size=(num_envs, rows, rows + 3))
    made: dict[str, Any] = {
        "W": J @ J.transpose(0, 2, 1) / rows,
        "b": rng.normal(size=(num_envs, rows)),
        "mu": rng.uniform(0.1, 1.0, (num_envs, 4)),
    }
    bounds = {"lo": -rng.uniform(0, 1, 2), "hi": rng.uniform(0, 1, (num_envs, 2))}
    if name == "one number":
        made["mu"] = 0.5
    elif name == "kinds of rows":
        made |= {"n_free": 1, "n_nonneg": 1, **bounds}
    elif name == "dimensions":
        made |= {"dims": [3, 4, 6], "mu": rng.uniform(0.1, 1.0, (num_envs, 10))}
    elif name == "ragged":
        made["counts"] = np.arange(num_envs) % 5  # 4 fill the slot
    elif name == "all kinds ragged":
        dims = rng.choice([3, 4, 6], size=(num_envs, 4))
        counts = [[e % 2, (e + 1) % 2, e % 3, e % 4] for e in range(num_envs)]  # some do not fit
        made |= {"dims": dims, "counts": np.array(counts), **bounds}
    elif name == "warm":
        made |= {"R": rng.uniform(0, 0.1, rows), "warm_start": rng.normal(size=(num_envs, rows))}
    floats = {key: value.astype(dtype) for key, value in made.items() if is_float(value)}
    return made | floats


def compliant(name: str, num_envs: int | None = None) -> dict[str, Any]:
    """The batch of this name with R > 0 in every row, so that its derivatives exist."""
    made = batch(name, num_envs=num_envs or (4 if "ragged" in name else 2))
    n = made["b"].shape[1]
    made.pop("warm_start", None)
    return made | {"R": np.random.default_rng(n).uniform(0.1, 0.3, n)}


def is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def tensors(arguments: dict[str, Any]) -> dict[str, Any]:
    """The same with tensors, which share the memory of the arrays."""
    import torch

    return {
        key: torch.from_numpy(value) if isinstance(value, np.ndarray) else value
        for key, value in arguments.items()
    }


def first(arguments: dict[str, Any], environment: int = 0) -> dict[str, Any]:
    """One problem of a batch, without the axis of the environments."""
    num_envs = len(arguments["W"])
    return {
        key: value[environment] if np.ndim(value) and len(value) == num_envs else value
        for key, value in arguments.items()
    }


def examples_of(page: str) -> str:
    """The examples in Python of a page in docs/, as one program."""
    text = (ROOT / "docs" / page).read_text()
    return "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
