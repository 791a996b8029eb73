"""What a batch of simulations shows of itself."""

from __future__ import annotations

import numpy as np

from stickslip import _core


class SimViews:
    _core: _core.BatchSim

    # Live views, (N, ...): what is written into them holds from the next step on; copy to keep.

    @property
    def state(self) -> np.ndarray:
        """(N, nstate) everything a restart needs, bit for bit: MuJoCo's mjSTATE_INTEGRATION, with
        the impulses that the next solve starts from in userdata."""
        return self._core.state

    @property
    def qpos(self) -> np.ndarray:
        """(N, nq)"""
        return self._core.qpos

    @property
    def qvel(self) -> np.ndarray:
        """(N, nv)"""
        return self._core.qvel

    @property
    def act(self) -> np.ndarray:
        """(N, na) activations of actuators."""
        return self._core.act

    @property
    def ctrl(self) -> np.ndarray:
        """(N, nu)"""
        return self._core.ctrl

    @property
    def qacc(self) -> np.ndarray:
        """(N, nv) accelerations of the latest step (its last stage with RK4)."""
        return self._core.qacc

    @property
    def qfrc_applied(self) -> np.ndarray:
        """(N, nv) generalised forces from outside."""
        return self._core.qfrc_applied

    @property
    def xfrc_applied(self) -> np.ndarray:
        """(N, 6 nbody) forces and torques on bodies from outside."""
        return self._core.xfrc_applied

    @property
    def time(self) -> np.ndarray:
        """(N,) s"""
        return self._core.time[:, 0]

    # Results of the latest step; read-only by convention.

    @property
    def sensordata(self) -> np.ndarray:
        """(N, nsensordata) as MuJoCo has it: at the state in which the step began."""
        return self._core.sensordata

    def field(self, name: str) -> np.ndarray:
        """(N, size) a field of mjData that was named in `fields`, as mj_step leaves it: positions
        and what hangs on them ("xipos", "cinert", "cvel") belong to the state in which the latest
        step began (with RK4 to its last stage), forces ("qfrc_actuator") to that step; "cacc",
        "cfrc_int", "cfrc_ext" are mj_rnePostConstraint's, zero after `forward`."""
        return self._core.field(name)

    @property
    def status(self) -> np.ndarray:
        """(N,) int32, values of `Status`; of an RK4 step the worst of its solves."""
        return self._core.status

    @property
    def residual(self) -> np.ndarray:
        """(N,) m/s ("convex": m/s²); infinite for `bad_input`, NaN with law "mujoco"."""
        return self._core.residual

    @property
    def iterations(self) -> np.ndarray:
        """(N,) of the solver in this step."""
        return self._core.iterations

    @property
    def solver(self) -> np.ndarray:
        """(N,) int32, values of `Solver`: who produced the impulses."""
        return self._core.solver

    @property
    def num_contacts(self) -> np.ndarray:
        """(N,) contacts in the latest solve."""
        return self._core.num_contacts

    @property
    def num_rows(self) -> np.ndarray:
        """(N,) constraint rows in the latest solve."""
        return self._core.num_rows

    @property
    def position_rounds(self) -> np.ndarray:
        """(N,) solves of the latest step after the first, that kept the gaps at its end."""
        return self._core.position_rounds

    @property
    def penetration(self) -> np.ndarray:
        """(N,) deepest penetration at the end of the latest step, m; NaN without
        `position_iterations`."""
        return self._core.penetration

    @property
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
