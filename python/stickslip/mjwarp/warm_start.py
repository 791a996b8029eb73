"""Solves start from the impulses of the previous step.

A contact takes those of the contact with the same pair of geoms and `geomcollisionid`; their forces
and moments are kept in the world's frame. Other rows are known by type, id and place. Impulses of
solves that failed are not kept, nor are those of a world whose time went back: a reset.
"""

from __future__ import annotations

from typing import Any

import warp as wp

from stickslip.mjwarp import warm_start_kernels as kernels


class WarmStart:
    """`start` (nworld, njmax), where the next solve starts, in the order of the problem's rows."""

    def __init__(self, d: Any) -> None:
        shape = (d.nworld, d.njmax)
        with wp.ScopedDevice(d.qacc.device):
            self.start = wp.zeros(shape, dtype=wp.float64)
            self._key, self._kept_key = (wp.zeros(shape, dtype=wp.vec4i) for _ in range(2))
            self._kept_impulse = wp.zeros(shape, dtype=wp.float64)
            self._kept = wp.zeros(d.nworld, dtype=int)
            self._kept_time = wp.zeros(d.nworld, dtype=float)

    def recall(self, d: Any, enabled: bool, row_of: Any, contact_of: Any) -> None:
        c, efc = d.contact, d.efc
        wp.launch(
            kernels.recall,
            row_of.shape,
            [
                int(enabled), d.time, row_of, contact_of, efc.type, efc.id, c.efc_address, c.geom,
                c.geomcollisionid, c.frame, c.dim, self._kept, self._kept_time, self._kept_key,
                self._kept_impulse, self._key, self.start,
            ],
        )  # fmt: skip

    def remember(self, d: Any, solved: int, rows: Any, impulse: Any, status: Any) -> None:
        c = d.contact
        wp.launch(
            kernels.remember,
            rows.row_of.shape,
            [
                solved, d.time, status, rows.used, rows.row_of, rows.contact_of, d.efc.id,
                c.efc_address, c.frame, c.dim, self._key, impulse, self._kept, self._kept_time,
                self._kept_key, self._kept_impulse,
            ],
        )  # fmt: skip

    def reset(self, mask: Any = None) -> None:
        """The next solves of all worlds, or of those where `mask` is True, start from rest."""
        if mask is None:
            self._kept.zero_()
        else:
            wp.launch(kernels.forget, self._kept.shape[0], [mask, self._kept])
