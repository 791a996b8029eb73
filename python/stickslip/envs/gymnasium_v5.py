"""Common functions of Gymnasium's MuJoCo environments (v5)."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np


def model_file(xml_file: str) -> Path:
    """Finds a file of Gymnasium by its bare name, others by their path (with / or ~)."""
    path = Path(xml_file).expanduser()
    if path.is_absolute() or xml_file.startswith("."):
        return path
    return Path(find_spec("gymnasium").origin).parent / "envs/mujoco/assets" / xml_file


def normal_start(
    rng: np.random.Generator, qpos: np.ndarray, nv: int, scale: float
) -> tuple[np.ndarray, np.ndarray]:
    """(qpos, qvel): uniform noise on the positions, normally distributed velocities."""
    start = qpos + rng.uniform(low=-scale, high=scale, size=len(qpos))
    return start, np.zeros(nv) + scale * rng.standard_normal(nv)


def uniform_start(
    rng: np.random.Generator, qpos: np.ndarray, nv: int, scale: float
) -> tuple[np.ndarray, np.ndarray]:
    """(qpos, qvel): uniform noise on both."""
    start = qpos + rng.uniform(low=-scale, high=scale, size=len(qpos))
    return start, np.zeros(nv) + rng.uniform(low=-scale, high=scale, size=nv)


def control_cost(weight: float, controls: np.ndarray) -> np.ndarray:
    """(N,) weight |controls|²; in the precision of the controls."""
    return weight * np.sum(np.square(controls), axis=1)


def norm(vectors: np.ndarray) -> np.ndarray:
    """(N,) lengths, to the bits of np.linalg.norm of each: BLAS's dot, which may use FMA."""
    return np.sqrt((vectors[:, None] @ vectors[..., None])[:, 0, 0])
