"""The simulation of an environment, and checks of the arguments of both."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from inspect import signature
from typing import Any

import mujoco
import numpy as np
from gymnasium.vector import AutoresetMode

from stickslip import models
from stickslip._src import arrays as check
from stickslip._src.mixed_sim import MixedBatchSim
from stickslip._src.sim import BatchSim, IgnoredFieldWarning


def check_names(env: type, names: Iterable[str]) -> None:
    """Raises TypeError for a name that is no argument of BatchSim; `env`: the environment's class,
    whose own arguments are known, too."""
    rest = [name for name in signature(BatchSim).parameters if name != "model"]
    families = [each for each in env.__mro__ if "__init__" in vars(each)]
    own = [each for family in families for each in signature(family).parameters.values()]
    known = [*rest, *(each.name for each in own if each.kind is not each.VAR_KEYWORD)]
    for name in names:
        if name not in rest:
            close = get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise TypeError(f"{env.__name__}: unexpected argument {name!r}{hint}")


def check_types(family: type, arguments: Mapping[str, Any]) -> None:
    """Raises TypeError for arguments of the class's constructor that are no numbers, bools or
    tuples of numbers where its annotations say so, ValueError for tuples of another length."""
    for name, parameter in signature(family).parameters.items():
        kind, value = parameter.annotation, arguments[name]
        if kind == "float":
            check.number(name, value)
        elif kind == "bool":
            check.flag(name, value)
        elif kind.startswith("tuple[float"):
            numbers(name, value, kind.count("float"))


def numbers(name: str, value: Any, count: int) -> list[float]:
    """As many numbers."""
    if np.shape(value) != (count,):
        raise ValueError(f"{name}: expected {count} numbers, got {value!r:.60}")
    return [check.number(name, each) for each in value]


def autoreset(mode: Any) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        words = ", ".join(repr(each.value) for each in AutoresetMode)
        raise ValueError(f"autoreset_mode: expected one of {words}, got {mode!r}") from None


def seeds(seed: Any, num_envs: int) -> Sequence[int | None]:
    """One for each environment; see `BatchEnv.reset`."""
    if seed is None or isinstance(seed, int | np.integer):
        return [None if seed is None else int(seed) + i for i in range(num_envs)]
    if isinstance(seed, str) or not hasattr(seed, "__len__"):
        raise TypeError(f"seed: expected an integer or a list of them, got {seed!r:.60}")
    if len(seed) != num_envs:
        raise ValueError(f"seed: expected {num_envs} of them, got {len(seed)}")
    return seed


def load_first(model: Any, **alone: Any) -> mujoco.MjModel:
    """The model, or the first of several, which have none of the options `alone`."""
    if not isinstance(model, list | tuple):
        return models.load(model)
    for name, value in alone.items():
        if value:
            raise ValueError(f"{name}: expected None with several models, got {value!r:.60}")
    if not model:
        raise ValueError("model: expected a model, or a list of them, got an empty list")
    return models.load(model[0])


def make_sim(
    env: type, plain: mujoco.MjModel, model: Any, num_envs: int, integrator: str | None, **rest: Any
) -> BatchSim | MixedBatchSim:
    """The simulation of an environment of class `env`; `plain`: `model`, or the first of several,
    loaded. The default of `integrator` is the model's; where that is RK4, implicitfast for the
    rigid laws."""
    if integrator is None:
        rk4 = plain.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4
        soft = rest["law"] in ("mujoco", "convex")
        integrator = "model" if soft or not rk4 else "implicitfast"
    with warnings.catch_warnings():
        if env.__module__.startswith("stickslip."):  # the user has not chosen the model
            warnings.simplefilter("ignore", IgnoredFieldWarning)
        if not isinstance(model, list | tuple):
            return BatchSim(model, num_envs, integrator=integrator, **rest)
        sim = MixedBatchSim(model, num_envs, integrator=integrator, **rest)
    sizes = ("nq", "nv", "nu", "nbody", "nsensordata")
    for number, part in enumerate(sim.parts):
        for size in sizes:
            if getattr(part.model, size) != getattr(plain, size):
                raise ValueError(
                    f"model: expected models of equal sizes, got {size} {getattr(plain, size)} and "
                    f"{getattr(part.model, size)} (of part {number})"
                )
    return sim
