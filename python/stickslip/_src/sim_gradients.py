"""Derivatives of a simulation's steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stickslip._core import GradientStatus
from stickslip._src import arrays as check
from stickslip._src.aliases import Flags, Float64, Int32
from stickslip._src.gradient_results import Derivative
from stickslip._src.sim_views import SimViews

_INPUTS = ("ctrl", "qvel", "qpos")


@dataclass(frozen=True, eq=False, repr=False)
class StateDerivative(Derivative):
    """Common base. `status` is that of the derivatives by ctrl and qvel; see `qpos_status`."""

    #: (N,) int32: that of the derivatives by qpos. `kink` also where a contact of the rigid laws
    #: rests: its gap is 0, and the derivative is that of a gap which closes in the step; and where
    #: a joint is exactly at a limit that acts once it is passed
    qpos_status: Int32

    @property
    def qpos_ok(self) -> Flags:
        """(N,) bool: the derivatives by qpos are valid."""
        return self.qpos_status == GradientStatus.valid


@dataclass(frozen=True, eq=False, repr=False)
class StateGradient(StateDerivative):
    """dL/d(what a step starts from); None: not asked for."""

    ctrl: Float64 | None  #: (N, nu)
    qvel: Float64 | None  #: (N, nv)
    qpos: Float64 | None  #: (N, nv) in the tangent space of qpos
    varied: dict[str, Float64]  #: by fields of `vary`, in the shape given there


@dataclass(frozen=True, eq=False, repr=False)
class StateChange(StateDerivative):
    """The change of the state after a step."""

    qpos: Float64  #: (N, nv) in the tangent space of qpos
    qvel: Float64  #: (N, nv)


@dataclass(frozen=True, eq=False, repr=False)
class StateTransition(StateDerivative):
    """The linearised step: dx' = A dx + B du, with x = (qpos, qvel) as in mjd_transitionFD."""

    A: Float64  #: (N, 2 nv, 2 nv), by the state; qpos in its tangent spaces
    B: Float64  #: (N, 2 nv, nu), by the controls


class SimGradients(SimViews):
    def step_vjp(
        self,
        d_qpos: ArrayLike | None = None,
        d_qvel: ArrayLike | None = None,
        *,
        state: ArrayLike | None = None,
        wrt: Sequence[str] = _INPUTS,
    ) -> StateGradient:
        """dL/d(ctrl, qvel, qpos) of the last time step, for a loss L of the state after it.

        The step is made again from the state in which it began, and its contact problem is
        differentiated by the implicit function theorem (docs/gradients_step.md). The simulation
        does not change. The derivatives are those of one time step: the last of several substeps.

        Args:
            d_qpos, d_qvel: (N, nv) dL/d(qpos, qvel) after the step; default 0. That by qpos is in
                its tangent space, as mj_differentiatePos gives differences: for free joints in
                the world's frame (position, m) and in the body's frame (rotation, rad).
            state: (N, nstate) another state to step from: a copy of `sim.state`, made after the
                controls were written to `sim.ctrl`. So a whole roll-out can be differentiated.
            wrt: by what: of "ctrl", "qvel", "qpos", and the fields "geom_friction", "body_mass",
                "body_inertia", if `vary` has set them. "qpos" and the fields take longest.

        Environments whose step was not solved, or whose recovery of an overlap was cut, have the
        status `unsolved` and zeros. So have those whose loss is not finite.

        Raises:
            ValueError: for wrong shapes; where steps have no derivatives (law "mujoco", other
                integrators than euler and implicitfast, restitution, position_iterations, backend
                "cuda", plugins); without `state` before the first step and after `vary`.
        """
        names = self._names("wrt", (wrt,) if isinstance(wrt, str) else wrt, _INPUTS)
        loss = [self._table(name, value, self.qvel.shape[1])
                for name, value in (("d_qpos", d_qpos), ("d_qvel", d_qvel))]  # fmt: skip
        n = self.num_envs
        out: dict[str, Any] = dict.fromkeys(_INPUTS)
        out |= {name: np.zeros((n, self._size(name))) for name in names if name in _INPUTS}
        varied = {name: np.zeros((n, self._size(name))) for name in names if name not in _INPUTS}
        report = self._report()
        self._core.step_vjp(
            self._state(state), *loss, *out.values(), list(varied.items()), *report.values()
        )
        shaped = {name: values.reshape(self._shape(name)) for name, values in varied.items()}
        return StateGradient(**report, **out, varied=shaped)

    def step_jvp(
        self,
        d_qpos: ArrayLike | None = None,
        d_qvel: ArrayLike | None = None,
        d_ctrl: ArrayLike | None = None,
        *,
        varied: Mapping[str, ArrayLike] | None = None,
        state: ArrayLike | None = None,
    ) -> StateChange:
        """The change of the state after the last time step with what it started from.

        `status` of the result says whether it is valid by ctrl, qvel and `varied`, `qpos_status`
        whether by qpos too: contacts that land or rest are at kinks there.

        Args:
            d_qpos, d_qvel, d_ctrl: (N, nv), (N, nv), (N, nu) the change; default 0. That of qpos is
                in its tangent space.
            varied: the change of fields of `vary`, by name, in the shape given there.
            state: as in `step_vjp`, like the errors and what is not differentiated.
        """
        given = {"ctrl": d_ctrl, "qvel": d_qvel, "qpos": d_qpos}
        change = [self._table(f"d_{name}", value, self._size(name))
                  for name, value in given.items()]  # fmt: skip
        if not isinstance(varied, Mapping | None):
            raise TypeError(
                f"varied: expected arrays by name of a field, got {type(varied).__name__}"
            )
        fields = {} if varied is None else varied
        names = self._names("varied", fields, ())
        tables = [(name, self._varied_table(name, fields[name])) for name in names]
        to = [np.zeros_like(self.qvel) for _ in range(2)]
        report = self._report()
        self._core.step_jvp(self._state(state), *change, tables, *to, *report.values())
        return StateChange(qpos=to[0], qvel=to[1], **report)

    def step_transition(self, *, state: ArrayLike | None = None) -> StateTransition:
        """The matrices A and B of the last time step, exactly, with its contacts: what iLQR and
        linear controllers need. Zero where the status is `unsolved`. It takes at most twice the
        time of a `step_vjp` by all inputs.

        Args:
            state: as in `step_vjp`, like the errors and what is not differentiated.

        Raises:
            ValueError: also for models with activations.
        """
        n, nv, nu = self.num_envs, self._size("qvel"), self._size("ctrl")
        A, B = np.zeros((n, 4 * nv * nv)), np.zeros((n, 2 * nv * nu))
        report = self._report()
        self._core.step_transition(self._state(state), A, B, *report.values())
        return StateTransition(**report, A=A.reshape(n, 2 * nv, 2 * nv), B=B.reshape(n, 2 * nv, nu))

    def _names(self, argument: str, given: Any, inputs: tuple[str, ...]) -> tuple[str, ...]:
        """`given` as names of these inputs or of fields."""
        if not isinstance(given, Iterable):
            raise TypeError(f"{argument}: expected names, got {type(given).__name__}")
        names, known = tuple(given), (*inputs, *self._core.differentiable_fields())
        for name in names:
            if name not in known:
                raise ValueError(
                    f"{argument}: expected names among {', '.join(known)}, got {name!r}"
                )
        return names

    def _size(self, name: str) -> int:
        if name in ("qvel", "qpos"):
            return self.qvel.shape[1]
        return self.ctrl.shape[1] if name == "ctrl" else self._core.size_of_differentiable(name)

    def _table(self, name: str, value: Any, size: int) -> Float64 | None:
        if value is None:
            return None
        array = check.float64(name, value)
        check.require_shape(name, array, (self.num_envs, size))
        return np.ascontiguousarray(array)

    def _varied_table(self, name: str, value: Any) -> Float64:
        """The change of a field, in its shape or with an environment's numbers in a row."""
        array, shape = check.float64(f"varied {name}", value), self._shape(name)
        flat = (self.num_envs, self._size(name))
        if array.shape != flat:
            check.require_shape(f"varied {name}", array, shape)
        return np.ascontiguousarray(array.reshape(flat))

    def _state(self, state: Any) -> Float64 | None:
        return self._table("state", state, self.state.shape[1])

    def _report(self) -> dict[str, Any]:
        n = self.num_envs
        return {
            "status": np.zeros(n, np.int32),
            "kink_distance": np.zeros(n),
            "inconsistency": np.zeros(n),
            "qpos_status": np.zeros(n, np.int32),
        }

    def _shape(self, name: str) -> tuple[int, ...]:
        """Of a field of all environments."""
        size = self._size(name)
        vectors = name in ("geom_friction", "body_inertia")
        return (self.num_envs, size // 3, 3) if vectors else (self.num_envs, size)
