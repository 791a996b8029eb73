"""The matrix that the integrator will solve with, and the acceleration without constraints.

The rigid laws hold for the velocities after the step, which Euler and implicitfast compute with
M + h damping and M - h dforce/dvelocity (docs/mathematics.md §12).
"""

from __future__ import annotations

from typing import Any

import warp as wp
from mujoco_warp._src import derivative, forward, smooth
from mujoco_warp._src.types import DisableBit, IntegratorType

_SMOOTH = DisableBit.ACTUATION | DisableBit.SPRING | DisableBit.DAMPER


@wp.kernel(enable_backward=False)
def change_of_free_bodies(
    dof: wp.array[int],
    qacc: wp.array2d[float],
    qacc_smooth: wp.array2d[float],
    change: wp.array2d[float],
):
    w, f = wp.tid()
    for k in range(6):
        change[w, dof[f] + k] = qacc[w, dof[f] + k] - qacc_smooth[w, dof[f] + k]


@wp.kernel(enable_backward=False)
def forces_of_free_bodies(
    dof: wp.array[int],
    qfrc_smooth: wp.array2d[float],
    force: wp.array2d[float],
    Ma: wp.array2d[float],
):
    w, f = wp.tid()
    for k in range(6):
        Ma[w, dof[f] + k] = qfrc_smooth[w, dof[f] + k] + force[w, dof[f] + k]


def named_inputs(kernel: Any, m: Any, d: Any, count: int) -> list[Any]:
    """The first `count` arguments of one of mujoco_warp's kernels, by their names, which are those
    of the fields of m and, with `_in` added, of d. Releases differ in which of them a kernel has.
    """
    values = []
    for argument in kernel.adj.args[:count]:
        name = argument.label
        if name.startswith("opt_"):
            values.append(getattr(m.opt, name.removeprefix("opt_")))
        elif name.endswith("_in"):
            values.append(getattr(d, name.removesuffix("_in")))
        else:
            values.append(getattr(m, name))
    return values


class IntegratorMatrix:
    """The matrix `M` (nworld, nC) in the layout of `d.M`, and `a_free` (nworld, nv)."""

    def __init__(self, m: Any, d: Any) -> None:
        with wp.ScopedDevice(d.qacc.device):
            self._M, self._factor = wp.empty_like(d.M), wp.empty_like(d.qLD)
            self._a_free, self._inverse = wp.empty_like(d.qacc), wp.empty_like(d.qacc)
            self._damping = wp.empty_like(d.qacc)
            self._change, self._force = wp.zeros_like(d.qacc), wp.zeros_like(d.qacc)
            free = m.body_freeadr.numpy()
            self._dof = wp.array(m.body_dofadr.numpy()[free].astype("int32"), dtype=int)

    def prepare(self, m: Any, d: Any) -> tuple[Any, Any]:
        """(M, a_free) of this step: those of d where the integrator uses M itself."""
        flags = int(m.opt.disableflags)
        euler = m.opt.integrator == IntegratorType.EULER
        if (
            flags & (DisableBit.EULERDAMP | DisableBit.DAMPER)
            if euler
            else (flags & _SMOOTH == _SMOOTH)
        ):
            return d.M, d.qacc_smooth
        if euler:
            self._add_damping(m, d)
        else:
            derivative.deriv_smooth_vel(m, d, self._M)
            wp.launch(
                forward._implicit_free_body_reset_m,
                (d.nworld, m.body_freeadr.size),
                [m.body_dofadr, m.M_rownnz, m.M_rowadr, m.body_freeadr, d.M, self._M],
            )
        smooth.factor_solve_i(
            m, d, self._M, self._factor, self._inverse, self._a_free, d.qfrc_smooth
        )
        if not euler:
            forward.implicit_free_body(m, d, d.qfrc_smooth, self._a_free, solve=True)
        return self._M, self._a_free

    def _add_damping(self, m: Any, d: Any) -> None:
        kernel = forward._compute_damping_deriv
        inputs = named_inputs(kernel, m, d, len(kernel.adj.args) - 1)
        wp.launch(kernel, (d.nworld, m.nv), [*inputs, self._damping])
        wp.copy(self._M, d.M)
        wp.launch(
            forward._euler_damp_qfrc,
            (d.nworld, m.nv),
            [m.opt.timestep, m.M_rownnz, m.M_rowadr, self._damping, self._M],
        )

    def correct_free_bodies(self, m: Any, d: Any) -> None:
        """implicitfast solves the blocks of free bodies without children with another matrix A:
        gives it A M^-1 qfrc_constraint there, so that their velocities are those of the law.
        """
        count = self._dof.size
        if m.opt.integrator != IntegratorType.IMPLICITFAST or count == 0:
            return
        wp.launch(
            change_of_free_bodies,
            (d.nworld, count),
            [self._dof, d.qacc, d.qacc_smooth, self._change],
        )
        forward.implicit_free_body(m, d, self._change, self._force, solve=False)
        wp.launch(
            forces_of_free_bodies,
            (d.nworld, count),
            [self._dof, d.qfrc_smooth, self._force, d.efc.Ma],
        )
