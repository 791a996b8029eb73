"""Contacts across a gap act on the surfaces of their geoms, which are in one place when the contact
closes (docs/mathematics.md §12). mujoco_warp's point is in the middle of the gap.
"""

# ruff: noqa: RUF046, UP018 - Warp: int(0) declares a variable that changes

from __future__ import annotations

from typing import Any

import warp as wp

from stickslip.mjwarp.look_ahead import ROUNDING
from stickslip.mjwarp.row_kernels import CONTACT_ELLIPTIC


@wp.func
def turn_along(
    w: int, body: int, dof: int, along: wp.vec3, isdofancestor: wp.array2d[int],
    cdof: wp.array2d[wp.spatial_vector],
):  # fmt: skip
    # Of the Jacobian of the body's angular velocity, one column's component in a direction.
    if isdofancestor[body, dof] == 0:
        return float(0.0)
    return wp.dot(along, wp.spatial_top(cdof[w, dof]))


@wp.kernel(enable_backward=False)
def move_rows(
    sparse: int, nv: int, njmax: int, nefc: wp.array[int], efc_type: wp.array2d[int],
    efc_id: wp.array2d[int], efc_address: wp.array2d[int], geom: wp.array[wp.vec2i],
    frame: wp.array[wp.mat33], gap: wp.array[float], bodyid: wp.array[int],
    isdofancestor: wp.array2d[int], cdof: wp.array2d[wp.spatial_vector], qvel: wp.array2d[float],
    rownnz: wp.array2d[int], rowadr: wp.array2d[int], colind: wp.array3d[int],
    J: wp.array3d[float], vel: wp.array2d[float],
):  # fmt: skip
    # Adds to a tangential row the velocity of the surfaces relative to that of the middle. With
    # s = ± gap n / 2 from the middle to a surface, that is, on the second side,
    #     t · (w × s) = gap w · (n × t) / 2,
    # and as much on the first. Degrees of freedom that turn both bodies have no part: when the gap
    # is closed, they do not move one surface relative to the other.
    w, i = wp.tid()
    if i >= wp.min(nefc[w], njmax) or efc_type[w, i] != CONTACT_ELLIPTIC:
        return
    c = efc_id[w, i]
    axis = i - efc_address[c, 0]
    g = geom[c]
    if axis < 1 or axis > 2 or gap[c] <= ROUNDING or g[0] < 0 or g[1] < 0:
        return
    along = wp.where(axis == 1, 0.5, -0.5) * gap[c] * frame[c][3 - axis]  # n x t1 = t2
    first, count, row = int(0), int(nv), int(i)
    if sparse != 0:
        first = int(rowadr[w, i])
        count = int(rownnz[w, i])
        row = int(0)
    more = float(0.0)
    for k in range(first, first + count):
        dof = int(k)
        if sparse != 0:
            dof = int(colind[w, 0, k])
        a = turn_along(w, bodyid[g[0]], dof, along, isdofancestor, cdof)
        b = turn_along(w, bodyid[g[1]], dof, along, isdofancestor, cdof)
        if a == 0.0 or b == 0.0:
            J[w, row, k] += a + b
            more += (a + b) * qvel[w, dof]
    vel[w, i] += more


def act_on_surfaces(m: Any, d: Any, gap: Any) -> None:
    """Moves the tangential rows of contacts, and `efc.vel` with them. gap: (naconmax,), m."""
    c, efc = d.contact, d.efc
    wp.launch(
        move_rows,
        (d.nworld, d.njmax),
        [
            int(m.is_sparse), m.nv, d.njmax, d.nefc, efc.type, efc.id, c.efc_address, c.geom,
            c.frame, gap, m.geom_bodyid, m.body_isdofancestor, d.cdof, d.qvel, efc.J_rownnz,
            efc.J_rowadr, efc.J_colind, efc.J, efc.vel,
        ],
    )  # fmt: skip
