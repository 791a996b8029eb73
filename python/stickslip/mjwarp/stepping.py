"""mujoco_warp's step, recomposed around another constraint solve."""

from __future__ import annotations

import weakref
from typing import Any

import mujoco_warp as mjw
from mujoco_warp._src import forward as own
from mujoco_warp._src import smooth
from mujoco_warp._src.types import DisableBit, IntegratorType

from stickslip.mjwarp.constraint_solver import ConstraintSolver
from stickslip.mjwarp.refusals import require_types
from stickslip.mjwarp.results import StepResult
from stickslip.mjwarp.surfaces import act_on_surfaces
from stickslip.mjwarp.versions import KEEPS_STALE_ROWS

# Solvers of earlier calls of `step`, by id(m), id(d) and the arguments. m and d cannot be keys
# themselves: they are dataclasses that compare by value. They end with m or d.
_solvers: dict[tuple[Any, ...], ConstraintSolver] = {}


def step(
    m: Any, d: Any, solver: ConstraintSolver | str | None = None, **options: Any
) -> StepResult:
    """Takes one step, as mujoco_warp.step(m, d) does, with the constraints solved by stickslip.

    Args:
        m, d: mujoco_warp's Model and Data.
        solver: a ConstraintSolver that was made for m and d. Otherwise one is made at the first
            call with these options and kept as long as m and d are alive.
        options: of `ConstraintSolver`: law, precision, contact, ...

    Returns:
        The results of the solve. Their arrays are the same at every step.

    Raises:
        TypeError, ValueError: naming the argument or the option of m that is refused.
        RuntimeError: if the first call is made while a CUDA graph is captured.
    """
    which = solver_of(m, d, solver, **options)
    which.begin(d)
    _forward(m, d, which)
    if m.opt.integrator == IntegratorType.EULER:
        mjw.euler(m, d)
    else:
        mjw.implicit(m, d)
    which.move(m, d)
    return which.end(m, d)


def forward(
    m: Any, d: Any, solver: ConstraintSolver | str | None = None, **options: Any
) -> StepResult:
    """As mujoco_warp.forward(m, d): the step without the integrator."""
    which = solver_of(m, d, solver, **options)
    which.begin(d)
    _forward(m, d, which)
    return which.end(m, d)


def solver_of(
    m: Any, d: Any, solver: ConstraintSolver | str | None = None, **options: Any
) -> ConstraintSolver:
    """The solver that `step` uses with these arguments. `solver` may also be the name of a law."""
    if isinstance(solver, ConstraintSolver):
        if options:
            raise ValueError(f"{next(iter(options))}: expected none because solver has its own")
        solver.require(m, d)
        return solver
    if solver is not None:
        if "law" in options:
            raise TypeError("law: expected once, got it twice")
        options["law"] = solver
    require_types(m, d)
    key = (id(m), id(d), *sorted(options.items(), key=lambda item: item[0]))
    found = _solvers.get(key)
    if found is None:
        found = _solvers[key] = ConstraintSolver(m, d, **options)
        for each in (m, d):
            weakref.finalize(each, _solvers.pop, key, None)
    found.require(m, d)
    return found


def _forward(m: Any, d: Any, solver: ConstraintSolver) -> None:
    """mujoco_warp.forward, in its order, with another solve and another search for contacts."""
    own.check_discrete(m)
    _fwd_position(m, d, solver)
    d.sensordata.zero_()
    mjw.sensor_pos(m, d)
    own._energy_pos(m, d)
    mjw.fwd_velocity(m, d)
    mjw.sensor_vel(m, d)
    own._energy_vel(m, d)
    if not m.opt.disableflags & DisableBit.ACTUATION and m.callback.control:
        m.callback.control(m, d)
    mjw.fwd_actuation(m, d)
    mjw.fwd_acceleration(m, d, factorize=True)
    solver.solve(m, d)
    sensed = not m.opt.disableflags & DisableBit.SENSOR and m.sensor_rne_postconstraint
    if m.opt.run_rne_postconstraint or sensed:
        mjw.rne_postconstraint(m, d)
    mjw.sensor_acc(m, d, skip_rne_postconstraint=True)


def _fwd_position(m: Any, d: Any, solver: ConstraintSolver) -> None:
    if KEEPS_STALE_ROWS and m.is_sparse:
        d.efc.J_rownnz.zero_()
    if solver.look_ahead is None:
        mjw.fwd_position(m, d, factorize=False)
        return
    mjw.fwd_kinematics(m, d)
    mjw.com_vel(m, d)  # the search for contacts needs velocities
    mjw.crb(m, d)
    smooth.tendon_armature(m, d)
    solver.look_ahead.collide(m, d)
    mjw.make_constraint(m, d)
    act_on_surfaces(m, d, solver.look_ahead.gap)
    solver.look_ahead.restore(d)
    mjw.transmission(m, d)
