"""The attributes of a batch of simulations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stickslip import _core


def _view(read: Callable[[SimViews], np.ndarray]) -> property:
    """A property that makes its view of the simulation's memory once, at the first access."""
    name = read.__name__

    def get(self: SimViews) -> np.ndarray:
        if name not in self._views:
            self._views[name] = read(self)
        return self._views[name]

    return property(get, doc=read.__doc__)


class SimViews:
    _core: _core.BatchSim
    _views: dict[str, np.ndarray]

    # Live views, (N, ...): written values take effect in the next step; copy to keep.

    @_view
    def state(self) -> np.ndarray:
        """(N, nstate) everything a restart needs, bit for bit: MuJoCo's mjSTATE_INTEGRATION, with
        the impulses that the next solve starts from in userdata."""
        return self._core.state

    @_view
    def qpos(self) -> np.ndarray:
        """(N, nq)"""
        return self._core.qpos

    @_view
    def qvel(self) -> np.ndarray:
        """(N, nv)"""
        return self._core.qvel

    @_view
    def act(self) -> np.ndarray:
        """(N, na) activations of actuators."""
        return self._core.act

    @_view
    def ctrl(self) -> np.ndarray:
        """(N, nu)"""
        return self._core.ctrl

    @_view
    def qacc(self) -> np.ndarray:
        """(N, nv) accelerations of the latest step (its last stage with RK4)."""
        return self._core.qacc

    @_view
    def qfrc_applied(self) -> np.ndarray:
        """(N, nv) generalised forces from outside."""
        return self._core.qfrc_applied

    @_view
    def xfrc_applied(self) -> np.ndarray:
        """(N, 6 nbody) forces and torques on bodies from outside."""
        return self._core.xfrc_applied

    @_view
    def mocap_pos(self) -> np.ndarray:
        """(N, nmocap, 3) m, world frame: positions of the bodies that the caller moves."""
        return self._core.mocap_pos.reshape(len(self.qpos), -1, 3)

    @_view
    def mocap_quat(self) -> np.ndarray:
        """(N, nmocap, 4) their orientations, unit quaternions (w, x, y, z)."""
        return self._core.mocap_quat.reshape(len(self.qpos), -1, 4)

    @_view
    def time(self) -> np.ndarray:
        """(N,) s"""
        return self._core.time[:, 0]

    # Results of the latest step; read-only by convention.

    @_view
    def sensordata(self) -> np.ndarray:
        """(N, nsensordata) as MuJoCo has it: at the state in which the step began."""
        return self._core.sensordata

    def field(self, name: str) -> np.ndarray:
        """(N, size) a field of mjData that was named in `fields`, as mj_step leaves it: positions
        and what depends on them ("xipos", "cinert", "cvel") belong to the state in which the latest
        step began (with RK4 to its last stage), forces ("qfrc_actuator") to that step; "cacc",
        "cfrc_int", "cfrc_ext" are mj_rnePostConstraint's, zero after `forward`."""
        if name not in self._views:
            self._views[name] = self._core.field(name)
        return self._views[name]

    @_view
    def status(self) -> np.ndarray:
        """(N,) int32, values of `Status`; of an RK4 step the worst of its solves."""
        return self._core.status

    @_view
    def residual(self) -> np.ndarray:
        """(N,) m/s ("convex": m/s²); infinite for `bad_input`, NaN with law "mujoco"."""
        return self._core.residual

    @_view
    def iterations(self) -> np.ndarray:
        """(N,) of the solver in this step."""
        return self._core.iterations

    @_view
    def solver(self) -> np.ndarray:
        """(N,) int32, values of `Solver`: which one produced the impulses."""
        return self._core.solver

    @_view
    def num_contacts(self) -> np.ndarray:
        """(N,) contacts in the latest solve."""
        return self._core.num_contacts

    @_view
    def num_rows(self) -> np.ndarray:
        """(N,) constraint rows in the latest solve."""
        return self._core.num_rows

    @_view
    def position_rounds(self) -> np.ndarray:
        """(N,) solves of the latest step after the first, that kept the gaps at its end."""
        return self._core.position_rounds

    @_view
    def penetration(self) -> np.ndarray:
        """(N,) deepest penetration at the end of the latest step, m; NaN without
        `position_iterations`."""
        return self._core.penetration

    @_view
    def failures(self) -> np.ndarray:
        """(N,) steps with `bad_input` so far."""
        return self._core.failures

    @property
    def num_envs(self) -> int:
        return len(self._core.status)

    @property
    def timestep(self) -> float:
        """s"""
        return self._core.timestep

    @property
    def integrator(self) -> str:
        """The integrator in use."""
        return ("euler", "rk4", "implicit", "implicitfast", "discrete")[self._core.integrator]

    @property
    def threads(self) -> int:
        return self._core.threads
