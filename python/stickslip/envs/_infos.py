"""Gymnasium's layout of info: an array for each quantity, and a mask, with an underscore before the
same name, of the environments that have it."""

from __future__ import annotations

from typing import Any

import numpy as np


def add_infos(infos: dict[str, Any], values: dict[str, np.ndarray], mask: np.ndarray) -> None:
    """Adds the values (N, ...) of the environments in the mask; the others keep their value, or
    have zero. If the mask is empty, nothing is added: VectorEnv._add_info, for all at once."""
    if not mask.any():
        return
    everywhere = mask.all()
    for key, value in values.items():
        if everywhere:
            infos[key], infos[f"_{key}"] = value.copy(), mask.copy()
            continue
        others = infos.get(key, value.dtype.type(0))
        spread = mask.reshape(-1, *[1] * (value.ndim - 1))
        infos[key] = np.where(spread, value, others)
        infos[f"_{key}"] = mask | infos.get(f"_{key}", False)


def add_final(
    infos: dict[str, Any],
    observations: np.ndarray,
    values: dict[str, np.ndarray],
    verdict: dict[str, np.ndarray],
    ended: np.ndarray,
    good: np.ndarray,
) -> None:
    """Where episodes ended in this step: the last observation and info."""
    final: dict[str, Any] = {}
    add_infos(final, values, ended & good)
    add_infos(final, verdict, ended)
    last = np.full(len(ended), None, dtype=object)
    for i in np.flatnonzero(ended):
        last[i] = observations[i].copy()
    infos |= {"final_obs": last, "final_info": final}
    infos |= {"_final_obs": ended.copy(), "_final_info": ended.copy()}
