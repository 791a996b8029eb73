"""The arrays of all worlds' problems: gathered from mujoco_warp's, and scattered back."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from stickslip._src.engine import EngineMechanism
from stickslip._src.layout import most_tangential
from stickslip.mjwarp import problem_kernels as kernels
from stickslip.mjwarp.contact_model import ContactModel
from stickslip.mjwarp.rows import Rows


class Problem:
    """Problems of (m, d). `rigid`: at velocity level (N s), or else at acceleration level (N).

    `arrays` has those of `BoundSolver`, by the names of its arguments, with n = d.njmax; also
    v_next (nworld, nv) and impulse (nworld, n). `engine`: M, and J where mujoco_warp has it.
    """

    def __init__(self, m: Any, d: Any, rigid: bool, contact: ContactModel) -> None:
        worlds, n, nv = d.nworld, d.njmax, m.nv
        self.rigid, self.rows = rigid, Rows(d)
        p = self.rows.dims.shape[1]
        shapes = {
            "b": n, "R": n, "lo": n, "hi": n, "mu": max(most_tangential(n, p), 1), "v_free": nv,
            "v_next": nv, "impulse": n,
        }  # fmt: skip
        _require_fit(contact.of_geoms.shape, worlds, m.ngeom)
        self._contact = contact
        with wp.ScopedDevice(d.qacc.device):
            self.arrays: dict[str, Any] = {
                name: wp.zeros((worlds, size), dtype=wp.float64) for name, size in shapes.items()
            }
            self._of_geoms = wp.array(contact.of_geoms, dtype=kernels.Model)
            self._M = wp.empty_like(d.M)
            self._full = [wp.array(values, dtype=int) for values in _full_rows(m)]
        compressed = (
            {name: getattr(d.efc, name) for name in ("J_rownnz", "J_rowadr", "J_colind")}
            if m.is_sparse
            else {}
        )
        self.engine = EngineMechanism(
            nv, M=self._M, M_rownnz=m.M_rownnz, M_rowadr=m.M_rowadr, M_colind=m.M_colind,
            J=d.efc.J, **compressed, row_of=self.rows.row_of,
        )  # fmt: skip

    def jacobian(self, m: Any, d: Any) -> list[Any]:
        """The arguments of kernels that read J."""
        efc = d.efc
        return [int(m.is_sparse), efc.J_rownnz, efc.J_rowadr, efc.J_colind, efc.J]

    def gather(self, m: Any, d: Any, M: Any, a_free: Any, gap: Any, recovering: Any) -> None:
        """Fills the arrays. `rows` are mapped already.

        M, a_free: (nworld, nC), (nworld, nv) of the formulation. gap: (naconmax,), m. recovering:
        (nworld, n) is filled with the free velocities that recover from overlap, m/s.
        """
        a, rows, efc, c = self.arrays, self.rows, d.efc, d.contact
        wp.copy(self._M, M)
        wp.launch(
            kernels.gather_sides,
            (d.nworld, d.njmax),
            [
                int(self.rigid), m.opt.timestep, rows.counts, rows.row_of, rows.contact_of,
                efc.type, efc.id, efc.D, efc.vel, efc.aref, efc.frictionloss, c.efc_address, c.dim,
                _as_floats(c.friction), gap, c.geom, m.geom_priority, self._of_geoms,
                self._contact.v_max, self._contact.compliance, a_free, *self.jacobian(m, d),
                a["b"], a["R"], a["lo"], a["hi"], a["mu"], recovering,
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
            kernels.scatter_rows,
            (d.nworld, d.njmax),
            [int(self.rigid), m.opt.timestep, self.rows.row_of, a["impulse"], d.efc.force],
        )
        wp.launch(
            kernels.scatter_dofs,
            (d.nworld, m.nv),
            [
                int(self.rigid), m.opt.timestep, self._M, *self._full, a["v_free"], a["v_next"],
                d.qfrc_smooth, d.qfrc_constraint, d.efc.Ma, d.qacc,
            ],
        )  # fmt: skip


def _require_fit(shape: tuple[int, ...], worlds: int, geoms: int) -> None:
    if shape[0] not in (1, worlds) or shape[1] not in (1, geoms):
        raise ValueError(
            f"contact: expected numbers of ({geoms},) geoms or ({worlds}, {geoms}), got "
            f"{shape[1:3] if shape[0] == 1 else shape[:2]}"
        )


def _full_rows(m: Any) -> tuple[Any, Any, Any, Any]:
    """Rows of M with both triangles: first entry and number of entries of each row; place in M and
    column of each entry."""
    entries: list[list[tuple[int, int]]] = [[] for _ in range(m.nv)]
    columns = m.M_colind.numpy()
    for i, (first, count) in enumerate(zip(m.M_rowadr.numpy(), m.M_rownnz.numpy(), strict=True)):
        for k in range(first, first + count):
            j = columns[k]
            entries[i].append((k, j))
            if j != i:
                entries[j].append((k, i))
    counts = np.array([len(row) for row in entries], np.int32)
    flat = np.array([entry for row in entries for entry in row], np.int32).reshape(-1, 2)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int32) if m.nv else counts
    return starts, counts, flat[:, 0].copy(), flat[:, 1].copy()


def _as_floats(friction: Any) -> Any:
    """(naconmax,) vectors of five as (naconmax, 5) numbers, without a copy."""
    return wp.array(
        ptr=friction.ptr, dtype=float, shape=(friction.shape[0], 5), device=friction.device
    )
