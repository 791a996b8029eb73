"""Copies of a simulation, and of its environments for MuJoCo's own tools."""

from __future__ import annotations

import copy
import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from stickslip import _arrays as check
from stickslip._sim_views import SimViews

if TYPE_CHECKING:
    import mujoco


class SimCopies(SimViews):
    _arguments: dict[str, Any]  #: of the constructor, with a ModelSource
    _varied: dict[str, np.ndarray]  #: values given by `vary`, (N, size)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self._arguments, self.state.copy(), self._varied)

    def __deepcopy__(self, memo: dict[int, Any]) -> SimCopies:
        return _restored(type(self), self._arguments, self.state, self._varied)

    @cached_property
    def model(self) -> mujoco.MjModel:
        """The model as it is stepped, a copy: with the integrator and the law's options, and the
        solver's memory in nuserdata. `vary` and changes to it do not affect each other."""
        import mujoco

        return mujoco.MjModel.from_binary_path("sim.mjb", {"sim.mjb": self._core.model_bytes})

    def data(self, env: int) -> mujoco.MjData:
        """A copy of one environment for MuJoCo's tools (renderer, viewer, sensors): its state after
        mj_forward. Its `model` has the environment's values of `vary`. Contact forces and qacc in
        it are those of MuJoCo's own solver; this simulation's are in `contacts`."""
        import mujoco

        number = check.count("env", env)
        if number >= self.num_envs:
            raise IndexError(f"env: expected 0 ... {self.num_envs - 1}, got {number}")
        model = copy.copy(self.model) if self._varied else self.model
        for field, values in self._varied.items():
            getattr(model, field).flat[:] = values[number]
        data = mujoco.MjData(model)
        if self._varied:
            mujoco.mj_setConst(model, data)
        mujoco.mj_setState(
            model, data, self.state[number], mujoco.mjtState.mjSTATE_INTEGRATION.value
        )
        mujoco.mj_forward(model, data)
        return data


def _restored(
    kind: type, arguments: dict[str, Any], state: np.ndarray, varied: dict[str, np.ndarray]
) -> Any:
    """A simulation of the same arguments in this state."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the first one has had them
        sim = kind(**arguments)
    for field, values in varied.items():
        sim.vary(field, values)
    if sim.state.shape != state.shape:
        raise ValueError(f"model: {arguments['model'].name} has changed since the copy was made")
    sim.state[...] = state
    return sim
