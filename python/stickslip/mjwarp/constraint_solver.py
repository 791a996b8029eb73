"""The constraint solve of a step, with arrays that are allocated once."""

from __future__ import annotations

import weakref
from typing import Any

import warp as wp
from mujoco_warp._src import smooth
from mujoco_warp._src.types import DisableBit

from stickslip._core import Law, Precision, Solver, Status
from stickslip._src import arrays as check
from stickslip._src.aliases import LawName, PrecisionName, SolverName
from stickslip._src.bound import BoundSolver
from stickslip._src.options import SolveOptions
from stickslip.mjwarp.contact_model import ContactModel
from stickslip.mjwarp.integrator import IntegratorMatrix
from stickslip.mjwarp.look_ahead import LookAhead
from stickslip.mjwarp.modules import compile_modules
from stickslip.mjwarp.problem import Problem
from stickslip.mjwarp.recovery import Recovery
from stickslip.mjwarp.refusals import (
    require_no_capture,
    require_room,
    require_steppable,
    require_types,
)
from stickslip.mjwarp.results import StepResult
from stickslip.mjwarp.row_kernels import judge_capacity, take_overflow
from stickslip.mjwarp.warm_start import WarmStart

_GIVEN = ("b", "mu", "R", "lo", "hi", "v_free")
_NUMBERS = ("status", "iterations", "rows_needed", "overflow")
_MODULES = tuple(
    f"stickslip.mjwarp.{name}"
    for name in (
        "row_kernels",
        "problem_kernels",
        "look_ahead",
        "integrator",
        "warm_start_kernels",
        "recovery_kernels",
    )
)


class ConstraintSolver:
    """Solves the constraints of mujoco_warp's (m, d) by stickslip, for `step` and `forward`.

    Everything is allocated and compiled here, so make it before a CUDA graph is captured. It keeps
    no reference to m and d.

    Args:
        m, d: mujoco_warp's Model and Data.
        law: "coulomb", "pyramid", "box", "frictionless": rigid contacts, at velocity level.
            "convex": MuJoCo's own soft problem, solved to the tolerance.
        precision: "float64", "mixed" or "float32". mujoco_warp's own numbers are float32.
        contact: of the rigid laws, `ContactModel`.
        warm_start: solves start from the impulses of the previous step.
        solver, tol, options, threads: as in `BoundSolver`; threads are those of the CPU. With
            SolveOptions(thorough=False) a solve gives up earlier where a solution is unlikely.

    Raises:
        TypeError, ValueError: naming the argument or the option of m that is refused.
        RuntimeError: while a CUDA graph is captured.
    """

    result: StepResult

    def __init__(
        self,
        m: Any,
        d: Any,
        law: LawName | Law = "coulomb",
        precision: PrecisionName | Precision = "float64",
        contact: ContactModel | None = None,
        *,
        warm_start: bool = True,
        solver: SolverName | Solver = "auto",
        tol: float | None = None,
        options: SolveOptions | None = None,
        threads: int | None = None,
    ) -> None:
        require_types(m, d)
        self.law = check.member("law", law, Law)
        number = check.member("precision", precision, Precision)
        if not isinstance(contact, ContactModel | None):
            raise TypeError(f"contact: expected ContactModel, got {type(contact).__name__}")
        require_steppable(m, self.law)
        require_room(m, d)
        require_no_capture(d.qacc.device)
        self.contact = ContactModel() if contact is None else contact
        self._of = weakref.ref(m), weakref.ref(d)
        self._device = d.qacc.device
        self._warm = check.flag("warm_start", warm_start)
        self._settings = {
            "law": self.law, "solver": solver, "precision": number, "tol": tol,
            "options": options, "threads": threads,
        }  # fmt: skip
        self._allocate(m, d)
        compile_modules(self._device, *_MODULES)

    def _allocate(self, m: Any, d: Any) -> None:
        rigid = self.law != Law.convex
        problem = self._problem = Problem(m, d, rigid, self.contact)
        arrays = problem.arrays
        self._start = WarmStart(d)
        self.look_ahead = LookAhead(m, d, self.contact.contact_margin) if rigid else None
        self._integrator = IntegratorMatrix(m, d) if rigid else None
        with wp.ScopedDevice(self._device):
            self._gap = self.look_ahead.gap if self.look_ahead else wp.zeros(1, dtype=float)
            self._before = wp.zeros(d.nworld, dtype=int)
            self.result = StepResult(
                impulse=arrays["impulse"],
                row=problem.rows.row_of,
                residual=wp.zeros(d.nworld, dtype=wp.float64),
                **{name: wp.zeros(d.nworld, dtype=int) for name in _NUMBERS},
            )
        self._bound: BoundSolver[Any] | None = None
        self._recovery: Recovery | None = None
        if not d.njmax or not m.nv:
            return
        names = ("impulse", "residual", "status", "iterations", "rows_needed")
        out = {name: getattr(self.result, name) for name in names} | {"v_next": arrays["v_next"]}
        self._bound = BoundSolver(
            **{name: arrays[name] for name in _GIVEN},
            engine=problem.engine,
            dims=problem.rows.dims,
            counts=problem.rows.counts,
            warm_start=self._start.start,
            out=out,
            **self._settings,
        )
        if rigid:
            self._recovery = Recovery(d, problem, **self._settings)

    def require(self, m: Any, d: Any) -> None:
        """Refuses other m and d than those of the constructor, and what `step` cannot do."""
        for name, value, own in (("m", m, self._of[0]), ("d", d, self._of[1])):
            if own() is not value:
                raise ValueError(f"{name}: expected the one this solver was made for, got another")
        require_steppable(m, self.law)

    def begin(self, d: Any) -> None:
        """Before a step: sets aside what `d.overflow` has from earlier steps."""
        wp.launch(take_overflow, d.nworld, [d.overflow, self._before])

    def end(self, m: Any, d: Any) -> StepResult:
        """After a step: the verdict on what did not fit."""
        out = self.result
        wp.launch(
            judge_capacity,
            d.nworld,
            [
                int(Status.bad_input), int(Status.over_capacity), d.njmax, m.opt.timestep, d.nefc,
                self._problem.rows.complete, self._before, d.overflow, out.status,
                out.rows_needed, out.overflow,
            ],
        )  # fmt: skip
        return out

    def solve(self, m: Any, d: Any) -> None:
        """In place of mujoco_warp's solver: writes d.qacc, d.qfrc_constraint, d.efc.force,
        d.efc.Ma, d.qacc_warmstart and d.solver_niter.
        """
        if self._bound is None:
            wp.copy(d.qacc, d.qacc_smooth)
            wp.copy(d.efc.Ma, d.qfrc_smooth)
            d.solver_niter.zero_()
            return
        problem, out = self._problem, self.result
        stream = wp.get_stream(self._device) if self._device.is_cuda else None
        self._gather(m, d)
        self._bound(stream)
        self._start.remember(d, int(Status.solved), problem.rows, out.impulse, out.status)
        if self._recovery:
            self._recovery.solve(m, d, problem, self._gap, out.status, stream)
        self._scatter(m, d)

    def move(self, m: Any, d: Any) -> None:
        """After the integrator: recovers from overlap in the positions."""
        if self._recovery:
            self._recovery.move(m, d)

    def reset(self, mask: Any = None) -> None:
        """Forgets the impulses that the next solves would start from, after states are set anew.

        mask: Warp array of bool, (nworld,) or longer: the worlds; default all.
        """
        if mask is not None and mask.shape[0] < self._before.shape[0]:
            expected = f"at least {self._before.shape[0]} worlds"
            raise ValueError(f"mask: expected {expected}, got {mask.shape[0]}")
        self._start.reset(mask)

    def _gather(self, m: Any, d: Any) -> None:
        problem = self._problem
        M, a_free = self._integrator.prepare(m, d) if self._integrator else (d.M, d.qacc_smooth)
        problem.rows.map(d)
        enabled = self._warm and not int(m.opt.disableflags) & DisableBit.WARMSTART
        self._start.recall(d, enabled, problem.rows.row_of, problem.rows.contact_of)
        recovering = self._recovery.b if self._recovery else problem.arrays["b"]
        problem.gather(m, d, M, a_free, self._gap, recovering)

    def _scatter(self, m: Any, d: Any) -> None:
        self._problem.scatter(m, d)
        if self._integrator:
            smooth.solve_m(m, d, d.qacc, d.efc.Ma)
        wp.copy(d.qacc_warmstart, d.qacc)
        wp.copy(d.solver_niter, self.result.iterations)
        if self._integrator:
            self._integrator.correct_free_bodies(m, d)
