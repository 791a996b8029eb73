"""The arrays of all worlds' problems: gathered from mujoco_warp's, and scattered back."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from stickslip.mjwarp.contact_model import ContactModel
from stickslip.mjwarp.problem_kernels import problem_kernels
from stickslip.mjwarp.rows import Rows


class Problem:
    """Problems of (m, d) in numbers of type `real`. `rigid`: at velocity level (N s), or else at
    acceleration level (N).

    `arrays` has those of `BoundSolver`, by the names of its arguments, with n = d.njmax; also
    Ja (nworld, n), v_next (nworld, nv) and impulse (nworld, n).
    """

    def __init__(self, m: Any, d: Any, real: type, rigid: bool, contact: ContactModel) -> None:
        worlds, n, nv = d.nworld, d.njmax, m.nv
        self.kernels, self.rigid, self.rows = problem_kernels(real), rigid, Rows(d)
        p = self.rows.dims.shape[1]
        shapes = {
            "M": (nv, nv), "J": (n, nv), "b": (n,), "R": (n,), "lo": (n,), "hi": (n,), "Ja": (n,),
            "mu": (max(min(5 * p, 5 * n // 6), 1),), "v_free": (nv,), "v_next": (nv,),
            "impulse": (n,),
        }  # fmt: skip
        addresses, numbers = m.M_rowadr.numpy(), m.M_rownnz.numpy()
        columns = [m.M_colind.numpy()[a : a + k] for a, k in zip(addresses, numbers, strict=True)]
        rows = np.repeat(np.arange(nv), numbers).astype(np.int32)
        model = [contact.restitution, contact.v_rest, contact.v_max, contact.compliance]
        with wp.ScopedDevice(d.qacc.device):
            self.arrays: dict[str, Any] = {
                name: wp.zeros((worlds, *shape), dtype=real) for name, shape in shapes.items()
            }
            self._model = wp.array(model, dtype=real)
            self._i_of = wp.array(rows, dtype=int)
            self._j_of = wp.array(np.concatenate(columns or [rows]).astype(np.int32), dtype=int)

    def gather(self, m: Any, d: Any, M: Any, a_free: Any, gap: Any, recovering: Any) -> None:
        """Fills the arrays. `rows` are mapped already.

        M, a_free: (nworld, nC), (nworld, nv) of the formulation. gap: (naconmax,), m. recovering:
        (nworld, n) is filled with the free velocities that recover from overlap, m/s.
        """
        kernels, a, rows, efc, c = self.kernels, self.arrays, self.rows, d.efc, d.contact
        entries = d.nworld, self._i_of.size
        wp.launch(kernels.gather_matrix, entries, [self._i_of, self._j_of, M, a["M"]])
        wp.launch(
            kernels.gather_jacobian,
            (d.nworld, d.njmax),
            [
                int(m.is_sparse), m.nv, rows.row_of, efc.J_rownnz, efc.J_rowadr, efc.J_colind,
                efc.J, a_free, a["J"], a["Ja"],
            ],
        )  # fmt: skip
        wp.launch(
            kernels.gather_sides,
            (d.nworld, d.njmax),
            [
                int(self.rigid), m.opt.timestep, rows.counts, rows.row_of, rows.contact_of,
                efc.type, efc.id, efc.D, efc.vel, efc.aref, efc.frictionloss, c.efc_address,
                _as_floats(c.friction), gap, self._model, a["Ja"], a["b"], a["R"], a["lo"],
                a["hi"], a["mu"], recovering,
            ],
        )  # fmt: skip
        wp.launch(
            kernels.gather_free,
            (d.nworld, m.nv),
            [int(self.rigid), m.opt.timestep, d.qvel, a_free, a["v_free"]],
        )

    def scatter(self, m: Any, d: Any) -> None:
        """Writes d.efc.force, d.qfrc_constraint, d.efc.Ma and, if not rigid, d.qacc."""
        a = self.arrays
        d.efc.force.zero_()  # also of rows that were left out
        wp.launch(
            self.kernels.scatter_rows,
            (d.nworld, d.njmax),
            [int(self.rigid), m.opt.timestep, self.rows.row_of, a["impulse"], d.efc.force],
        )
        wp.launch(
            self.kernels.scatter_dofs,
            (d.nworld, m.nv),
            [
                int(self.rigid), m.opt.timestep, self.rows.used, a["J"], a["impulse"],
                a["v_next"], d.qfrc_smooth, d.qfrc_constraint, d.efc.Ma, d.qacc,
            ],
        )  # fmt: skip


def _as_floats(friction: Any) -> Any:
    """(naconmax,) vectors of five as (naconmax, 5) numbers, without a copy."""
    return wp.array(
        ptr=friction.ptr, dtype=float, shape=(friction.shape[0], 5), device=friction.device
    )
