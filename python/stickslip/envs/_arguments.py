"""The simulation of an environment, and the names of its arguments."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from inspect import signature
from typing import Any

import mujoco

from stickslip._src.sim import BatchSim, IgnoredFieldWarning


def check_arguments(kind: str, names: Iterable[str]) -> None:
    """Raises TypeError, with the environment's class `kind`, for a name that is no argument of
    BatchSim."""
    known = [name for name in signature(BatchSim).parameters if name != "model"]
    for name in names:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise TypeError(f"{kind}: unexpected argument {name!r}{hint}")


def make_sim(
    env: type, plain: mujoco.MjModel, model: Any, num_envs: int, integrator: str | None, **rest: Any
) -> BatchSim:
    """The simulation of an environment of class `env`; `plain`: `model`, loaded. The default of
    `integrator` is the model's; where that is RK4, implicitfast for the rigid laws."""
    if integrator is None:
        rk4 = plain.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4
        soft = rest["law"] in ("mujoco", "convex")
        integrator = "model" if soft or not rk4 else "implicitfast"
    with warnings.catch_warnings():
        if env.__module__.startswith("stickslip."):  # the user has not chosen the model
            warnings.simplefilter("ignore", IgnoredFieldWarning)
        return BatchSim(model, num_envs, integrator=integrator, **rest)
