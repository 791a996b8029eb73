"""Overlap is corrected in the positions, and changes no velocities (docs/mathematics.md §12).

Where a contact would end deeper than the tolerance, the problem of its world is solved once more
with the bias max(gap/h, -v_max), which recovers. The difference of the velocities moves the
positions after the integrator's step. Other worlds have no rows in that solve, which costs nothing.
"""

from __future__ import annotations

from typing import Any

import warp as wp
from mujoco_warp._src import forward

from stickslip.bound import BoundSolver
from stickslip.mjwarp.recovery_kernels import recovery_kernels, select_worlds

TOLERANCE = 1e-6  # m; the accuracy of MuJoCo's gaps between convex geoms
_SHARED = ("M", "J", "mu", "R", "lo", "hi", "dims", "v_free")


class Recovery:
    """The second solve of a step. `b` (nworld, njmax), m/s: its free velocities."""

    def __init__(self, d: Any, real: type, arrays: dict[str, Any], **options: Any) -> None:
        worlds, n = arrays["b"].shape
        with wp.ScopedDevice(d.qacc.device):
            self.b = wp.zeros((worlds, n), dtype=real)
            self._deep = wp.zeros(worlds, dtype=int)
            self._counts = wp.zeros((worlds, 4), dtype=int)
            self._v_next = wp.zeros_like(arrays["v_free"])
            self._status = wp.zeros(worlds, dtype=int)
            self._shift = wp.zeros_like(d.qvel)
        self._kernels = recovery_kernels(real)
        self._bound = BoundSolver(
            **{name: arrays[name] for name in _SHARED},
            b=self.b,
            counts=self._counts,
            warm_start=arrays["impulse"],
            out={"v_next": self._v_next, "status": self._status},
            **options,
        )

    def solve(self, m: Any, d: Any, rows: Any, arrays: dict[str, Any], stream: Any) -> None:
        """After the first solve, whose arrays these are: finds how positions are to move."""
        worlds, n = arrays["b"].shape
        self._deep.zero_()
        wp.launch(
            self._kernels.mark_deep,
            (worlds, n),
            [
                TOLERANCE, m.opt.timestep, rows.row_of, d.efc.id, arrays["gap"], arrays["J"],
                arrays["v_next"], arrays["b"], self.b, self._deep,
            ],
        )  # fmt: skip
        wp.launch(select_worlds, worlds, [self._deep, arrays["status"], rows.counts, self._counts])
        self._bound(stream)
        wp.launch(
            self._kernels.limit_shift,
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
