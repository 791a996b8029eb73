"""Domain randomization: factors on the model's numbers, different in each environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import mujoco
import numpy as np

from stickslip._src.sim import BatchSim
from stickslip.envs._arguments import numbers


class Randomization:
    """Uniform factors within ranges (low, high):

    "mass": one for each body, on its mass and its inertia.
    "friction": one for the environment, on the sliding friction of all geoms, so that every
        contact's coefficient has it.
    "gain": one for each actuator, on its force at the same control and state.
    """

    def __init__(self, model: mujoco.MjModel, ranges: Mapping[str, tuple[float, float]]) -> None:
        if not isinstance(ranges, Mapping):
            kind = type(ranges).__name__
            raise TypeError(f"randomize: expected ranges (low, high) by name, got {kind}")
        for name, factors in ranges.items():
            if name not in ("mass", "friction", "gain"):
                raise ValueError(f"randomize: expected mass, friction, gain, got {name!r}")
            expected = f"randomize[{name!r}]: expected (low, high) with 0 < low <= high"
            if np.shape(factors) != (2,):
                raise ValueError(f"{expected}, got {factors!r}")
            low, high = numbers(f"randomize[{name!r}]", factors, 2)
            if not 0 < low <= high < np.inf:
                raise ValueError(f"{expected}, got {low}, {high}")
        self.ranges = dict(ranges)
        self.model = model

    def apply(self, sim: BatchSim, rngs: Sequence[np.random.Generator]) -> dict[str, np.ndarray]:
        """Draws the factors, environment i's from a child of rngs[i], whose own sequence does not
        change, and passes them to the simulation."""
        m = self.model
        sizes = {"mass": m.nbody, "friction": 1, "gain": m.nactuator}
        own = [rng.spawn(1)[0] for rng in rngs] if self.ranges else []
        factors = {
            name: np.stack([rng.uniform(low, high, sizes[name]) for rng in own])
            for name, (low, high) in self.ranges.items()
        }
        if "mass" in factors:
            sim.vary("body_mass", factors["mass"] * m.body_mass)
            sim.vary("body_inertia", factors["mass"][..., None] * m.body_inertia)
        if "friction" in factors:
            sliding = factors["friction"][..., None] * [1.0, 0.0, 0.0] + [0.0, 1.0, 1.0]
            sim.vary("geom_friction", sliding * m.geom_friction)
            if m.npair:
                sliding = factors["friction"][..., None] * [1, 1, 0, 0, 0] + [0, 0, 1, 1, 1]
                sim.vary("pair_friction", sliding * m.pair_friction)
        if "gain" in factors:
            sim.vary("actuator_gainprm", factors["gain"][..., None] * m.actuator_gainprm)
            sim.vary("actuator_biasprm", factors["gain"][..., None] * m.actuator_biasprm)
        return factors
