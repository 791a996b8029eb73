"""The attributes of a batch of simulations."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from numpy.typing import NDArray

from stickslip._src import arrays as check
from stickslip._src import sim_arguments as given
from stickslip._src.aliases import Float64, Int32

_Sim = TypeVar("_Sim", bound="SimViews")
_Array = TypeVar("_Array")


def _once(read: Callable[[_Sim], _Array]) -> Callable[[_Sim], _Array]:
    """Makes a view of the simulation's memory at the first access only."""
    name = read.__name__

    @functools.wraps(read)
    def get(self: _Sim) -> _Array:
        if name not in self._views:
            self._views[name] = read(self)
        return self._views[name]

    return get


class SimViews:
    law: str
    _core: Any  #: a _mujoco.BatchSim
    _views: dict[str, Any]

    # Live views, (N, ...): written values take effect in the next step; copy to keep.

    @property
    @_once
    def state(self) -> Float64:
        """(N, nstate) everything a restart needs, bit for bit: MuJoCo's mjSTATE_INTEGRATION, with
        the impulses that the next solve starts from in userdata."""
        return self._core.state

    @property
    @_once
    def qpos(self) -> Float64:
        """(N, nq)"""
        return self._core.qpos

    @property
    @_once
    def qvel(self) -> Float64:
        """(N, nv)"""
        return self._core.qvel

    @property
    @_once
    def act(self) -> Float64:
        """(N, na) activations of actuators."""
        return self._core.act

    @property
    @_once
    def ctrl(self) -> Float64:
        """(N, nu)"""
        return self._core.ctrl

    @property
    @_once
    def qacc(self) -> Float64:
        """(N, nv) accelerations of the latest step (its last stage with RK4): (v⁺ - v)/h under the
        laws at velocity level."""
        return self._core.qacc

    @property
    @_once
    def qfrc_applied(self) -> Float64:
        """(N, nv) generalised forces from outside."""
        return self._core.qfrc_applied

    @property
    @_once
    def xfrc_applied(self) -> Float64:
        """(N, nbody, 6) forces and torques on bodies from outside, N and N m, world frame."""
        return self._core.xfrc_applied.reshape(len(self.qpos), -1, 6)

    @property
    @_once
    def eq_active(self) -> Float64:
        """(N, neq) 1 where an equality constraint is active, otherwise 0."""
        return self._core.eq_active

    @property
    @_once
    def mocap_pos(self) -> Float64:
        """(N, nmocap, 3) m, world frame: positions of the bodies that the caller moves. They are
        reached linearly over the substeps of a call, with the velocity in `mocap_velocity`."""
        return self._core.mocap_pos.reshape(len(self.qpos), -1, 3)

    @property
    @_once
    def mocap_quat(self) -> Float64:
        """(N, nmocap, 4) their orientations, unit quaternions (w, x, y, z)."""
        return self._core.mocap_quat.reshape(len(self.qpos), -1, 4)

    @property
    @_once
    def mocap_velocity(self) -> Float64:
        """(N, nmocap, 6) linear and angular velocities of these bodies, m/s and rad/s, world frame,
        as contacts of the latest step have them: (pose that was set - pose before) / time step; 0
        in the first step after a reset, and for a jump, that is a motion faster than 20 m/s or
        100 rad/s. What is written holds instead, until the body is moved again.
        ValueError with the law mujoco, which has no such velocities."""
        if self.law == "mujoco":
            raise ValueError("mocap_velocity: expected another law than mujoco, which has none")
        return self._core.mocap_velocity.reshape(len(self.qpos), -1, 6)

    @property
    @_once
    def time(self) -> Float64:
        """(N,) s"""
        return self._core.time[:, 0]

    # Results of the latest step; read-only by convention.

    @property
    @_once
    def sensordata(self) -> Float64:
        """(N, nsensordata) as MuJoCo has it: at the state in which the step began. 0 after a reset,
        until a step or `forward`."""
        return self._core.sensordata

    def field(self, name: str) -> Float64:
        """(N, ...) a field of mjData that was named in `fields`, in its shape there ("xpos":
        (N, nbody, 3)), as mj_step leaves it: positions and what depends on them ("xipos", "cinert",
        "cvel") belong to the state in which the latest step began (with RK4 to its last stage),
        forces ("qfrc_actuator") to that step; "cacc", "cfrc_int", "cfrc_ext" are
        mj_rnePostConstraint's, zero after `forward`."""
        if name not in self._views:
            self._views[name] = self._core.field(given.word("name", name))
        return self._views[name]

    @property
    @_once
    def contact_force(self) -> Float64:
        """(N, S, 3) N, world frame: force of the latest step on the first of each pair of
        `contact_sensors`, by the second; of the last of several substeps. Zero where it failed."""
        return self._core.contact_force

    @property
    @_once
    def contact_friction(self) -> Float64:
        """(N, S, 3) N, world frame: the part of `contact_force` along the surfaces."""
        return self._core.contact_friction

    @property
    @_once
    def contact_force_mean(self) -> Float64:
        """(N, S, 3) N, world frame: the mean of `contact_force` over the substeps of the latest
        call; times their number and the time step, the impulse, N s. With Runge-Kutta both are
        those of the last stage."""
        return self._core.contact_force_mean

    @property
    @_once
    def contact_friction_mean(self) -> Float64:
        """(N, S, 3) N, world frame: the part of `contact_force_mean` along the surfaces."""
        return self._core.contact_friction_mean

    @property
    @_once
    def contact_slip(self) -> Float64:
        """(N, S, 3) m/s, world frame: velocity of the first relative to the second along the
        surfaces, at the end of the latest step; the mean of the contacts that press, weighted by
        their normal forces, without those of flexes."""
        return self._core.contact_slip

    @property
    @_once
    def status(self) -> Int32:
        """(N,) int32, values of `Status`; of an RK4 step the worst of its solves. `solved` with law
        "mujoco" says only that the step was made: MuJoCo gives no verdict."""
        return self._core.status

    @property
    @_once
    def residual(self) -> Float64:
        """(N,) m/s ("convex": m/s²); infinite for `bad_input`. With law "mujoco" what MuJoCo tells
        of its solver: the scaled gradient of its cost, m/s² (PGS, noslip: the last improvement)."""
        return self._core.residual

    @property
    @_once
    def iterations(self) -> Int32:
        """(N,) of the solver in this step."""
        return self._core.iterations

    @property
    @_once
    def solver(self) -> Int32:
        """(N,) int32, values of `Solver`: which one produced the impulses."""
        return self._core.solver

    @property
    @_once
    def num_contacts(self) -> Int32:
        """(N,) contacts of the latest step that touch or have a force (`active` in `contacts`)."""
        return self._core.num_contacts

    @property
    @_once
    def num_rows(self) -> Int32:
        """(N,) constraint rows in the latest solve."""
        return self._core.num_rows

    @property
    @_once
    def position_rounds(self) -> Int32:
        """(N,) solves of the latest step after the first, that kept the gaps at its end."""
        return self._core.position_rounds

    @property
    @_once
    def penetration(self) -> Float64:
        """(N,) deepest penetration of rigid contacts at the end of the latest step, m; NaN without
        `position_iterations`."""
        return self._core.penetration

    @property
    @_once
    def failures(self) -> Int32:
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

    @property
    def statistics(self) -> dict[str, Any]:
        """Counts since the start, over all environments: steps by status ("solved", ...), solved
        steps by the ladder's rung ("rungs"), solves after the first of a step ("second_solves"),
        steps whose positions recovered penetration ("repositioned"), contacts that were left
        out because they could not close ("culled"), culled contacts that closed after all
        ("taken_in"), and contacts that acted across a gap on geoms that never touch ("ghosts")."""
        return self._core.statistics

    def timings(self) -> dict[str, float]:
        """Seconds of wall time by stage so far, and the number of steps.

        With backend "cuda" also `gpu_busy`, seconds of copies and solves, added up over the two
        halves of the batch that alternate, and `gpu_idle_share`, the part of the steps without
        them (a lower bound: where both halves are on the GPU, `gpu_busy` counts twice).
        """
        return self._core.timings()

    def contacts(self, env: int) -> list[dict[str, Any]]:
        """Contacts of the latest solve: position (m; of one that closes, where and when it does),
        frame (rows normal, tangents; the normal points from geoms[0] to geoms[1]), force (6,) in
        that frame (N, N m; the impulse is the time step times it), gap (m), active, dim, geoms,
        friction (dim - 1 coefficients). Those that touch or have a force are active: rigid laws
        also find contacts ahead, which then do not close. As `problem`, whose order they have,
        recomputed at each call; after `vary`, which changes what would be recomputed, empty until
        the next step."""
        return self._core.contacts(check.count("env", env))

    def contact_arrays(self) -> dict[str, NDArray[Any]]:
        """`contacts` of all environments in one call, in arrays for the largest number C of them:
        count (N,); active (N, C), position (N, C, 3), frame (N, C, 3, 3), force (N, C, 6), gap,
        dim, geoms (N, C, 2; -1: none), friction (N, C, 5). It takes the time of a step."""
        return self._core.contact_arrays()
