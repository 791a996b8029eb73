"""The rows of all worlds' problems: where each is in mujoco_warp's arrays."""

from __future__ import annotations

from typing import Any

import warp as wp

from stickslip.mjwarp.row_kernels import map_rows
from stickslip.mjwarp.versions import KEEPS_STALE_ROWS


class Rows:
    """Maps of the rows of (m, d); n = d.njmax, at most p contacts."""

    def __init__(self, d: Any) -> None:
        worlds, n = d.nworld, d.njmax
        p = max(n // 3, 1)
        with wp.ScopedDevice(d.qacc.device):
            self.counts = wp.zeros((worlds, 4), dtype=int)  #: free, nonneg, box rows, contacts
            self.dims = wp.full((worlds, p), 3, dtype=int)  #: of the contacts
            self.row_of = wp.full((worlds, n), -1, dtype=int)  #: row of d.efc; -1: none
            #: of rows of contacts: how many contacts there are up to this one; else 0
            self.contact_of = wp.zeros((worlds, n), dtype=int)
            self.used = wp.zeros(worlds, dtype=int)  #: number of rows
            self.complete = wp.ones(worlds, dtype=int)  #: 0: some did not fit

    def map(self, d: Any) -> None:
        efc = d.efc
        wp.launch(
            map_rows,
            d.nworld,
            [
                int(KEEPS_STALE_ROWS), d.njmax, efc.J.shape[2], d.nefc, efc.type, efc.id,
                efc.J_rownnz, efc.J_rowadr, d.contact.dim, self.counts, self.dims, self.row_of,
                self.contact_of, self.used, self.complete,
            ],
        )  # fmt: skip
