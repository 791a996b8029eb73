"""Copies of a simulation, and of its environments for MuJoCo's own tools."""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any

from stickslip._src import arrays as check
from stickslip._src.aliases import Float64
from stickslip._src.sim_views import SimViews

if TYPE_CHECKING:
    import mujoco


class SimCopies(SimViews):
    _arguments: dict[str, Any]  #: of the constructor, with a ModelSource
    _varied: dict[str, Float64]  #: values given by `vary`, (N, size)
    _models: dict[str, mujoco.MjModel]  #: copies, made when they are first needed
    _own: frozenset[str]  #: names of the attributes that the constructor makes

    def __reduce__(self) -> tuple[Any, ...]:
        attributes = {name: value for name, value in vars(self).items() if name not in self._own}
        arguments = (type(self), self._arguments, self.state.copy(), self._varied)
        return _restored, arguments, attributes

    @property
    def model(self) -> mujoco.MjModel:
        """The model as it is stepped, a copy: with the integrator and the law's options, and the
        solver's memory in nuserdata. Changes to it have no effect; it has no values of `vary`."""
        if "model" not in self._models:
            self._models["model"] = self._load()
        return self._models["model"]

    def _load(self) -> mujoco.MjModel:
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
        if "data" not in self._models:  # not `model`, which its users may change
            self._models["data"] = self._load()
        model = self._models["data"]
        if self._varied:
            model = copy.copy(model)
        for field, values in self._varied.items():
            if hasattr(model, field):  # not of this library alone, as geom_restitution
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
    kind: type[Any], arguments: dict[str, Any], state: Float64, varied: dict[str, Float64]
) -> Any:
    """A simulation of the same arguments in this state."""
    from stickslip._src.sim import BatchSim

    sim: BatchSim = object.__new__(kind)  # a subclass may have other arguments
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the first one has had them
        BatchSim.__init__(sim, **arguments)
    for field, values in varied.items():
        sim.vary(field, values)
    sim.state[...] = state
    return sim
