"""Overlap is corrected in the positions, and changes no velocities (docs/mathematics.md §12).

Where a contact would end deeper than the tolerance, the problem of its world is solved once more
with the bias max(gap/h, -v_max), which recovers. The difference of the velocities moves the
positions after the integrator's step. Other worlds have no rows in that solve, which costs nothing.
"""

from __future__ import annotations

from typing import Any

import warp as wp
from mujoco_warp._src import forward

from stickslip._src.bound import BoundSolver
from stickslip.mjwarp import recovery_kernels as kernels
from stickslip.mjwarp.problem import Problem

TOLERANCE = 1e-6  # m; the accuracy of MuJoCo's gaps between convex geoms
_SHARED = ("mu", "R", "lo", "hi", "v_free")


class Recovery:
    """The second solve of a step. `b` (nworld, njmax), m/s: its free velocities."""

    def __init__(self, d: Any, problem: Problem, **options: Any) -> None:
        arrays = problem.arrays
        worlds, n = arrays["b"].shape
        with wp.ScopedDevice(d.qacc.device):
            self.b = wp.zeros((worlds, n), dtype=wp.float64)
            self._deep = wp.zeros(worlds, dtype=int)
            self._counts = wp.zeros((worlds, 4), dtype=int)
            self._v_next = wp.zeros_like(arrays["v_free"])
            self._status = wp.zeros(worlds, dtype=int)
            self._shift = wp.zeros_like(d.qvel)
        self._bound = BoundSolver(
            **{name: arrays[name] for name in _SHARED},
            engine=problem.engine,
            dims=problem.rows.dims,
            b=self.b,
            counts=self._counts,
            warm_start=arrays["impulse"],
            out={"v_next": self._v_next, "status": self._status},
            **options,
        )

    def solve(self, m: Any, d: Any, problem: Problem, gap: Any, status: Any, stream: Any) -> None:
        """After the first solve: finds how positions are to move. gap: (naconmax,), m; status: of
        that solve."""
        rows, arrays = problem.rows, problem.arrays
        worlds, n = arrays["b"].shape
        self._deep.zero_()
        wp.launch(
            kernels.mark_deep,
            (worlds, n),
            [
                TOLERANCE, m.opt.timestep, rows.row_of, d.efc.id, gap, *problem.jacobian(m, d),
                arrays["v_next"], arrays["b"], self.b, self._deep,
            ],
        )  # fmt: skip
        wp.launch(kernels.select_worlds, worlds, [self._deep, status, rows.counts, self._counts])
        self._bound(stream)
        wp.launch(
            kernels.limit_shift,
            worlds,
            [
                m.opt.timestep, m.jnt_type, m.dof_jntid, rows.used, self._counts, self._status,
                arrays["b"], self.b, arrays["v_next"], self._v_next, self._shift,
            ],
        )  # fmt: skip

    def move(self, m: Any, d: Any) -> None:
        """After the integrator: moves the positions."""
        wp.launch(
            forward._next_position,
            (d.nworld, m.njnt),
            [
                m.opt.timestep, m.jnt_type, m.jnt_qposadr, m.jnt_dofadr, d.qpos, self._shift, 1.0,
                d.qpos,
            ],
        )  # fmt: skip
