"""Contacts are found before they close (docs/mathematics.md §12).

A rigid contact rests at gap 0, where mujoco_warp has none, and bodies that approach must be known
before they meet. So collision detection runs with margins that are wider by the way that geoms can
go within the step, and contacts that cannot close within it are left out before rows are made. The
model's own margins, which say where the gap is zero, are put back at once.
"""

from __future__ import annotations

from typing import Any

import mujoco_warp as mjw
import warp as wp
from mujoco_warp._src.types import GeomType

SPARE_SPEED = wp.constant(0.25)  # m/s: velocities may change by this much within a step
ROUNDING = wp.constant(1e-6)  # m
# m: a world that explodes must not fill the contacts that all worlds share.
MOST = wp.constant(0.25)
SPHERE = wp.constant(int(GeomType.SPHERE))


@wp.func
def least_margin(h: float, gravity: wp.vec3):
    # A resting contact, whose gap is 0 and rounding, is found, and one that gravity may close.
    return 4.0 * h * h * wp.length(gravity) + ROUNDING


@wp.func
def velocity_at(
    world: int,
    body: int,
    point: wp.vec3,
    rootid: wp.array[int],
    subtree_com: wp.array2d[wp.vec3],
    cvel: wp.array2d[wp.spatial_vector],
):
    # cvel (angular, linear) refers to the centre of mass of the body's tree.
    arm = point - subtree_com[world, rootid[body]]
    twist = cvel[world, body]
    return wp.spatial_bottom(twist) + wp.cross(wp.spatial_top(twist), arm)


@wp.kernel(enable_backward=False)
def widen_geoms(
    constant: float,
    timestep: wp.array[float],
    gravity: wp.array[wp.vec3],
    geom_type: wp.array[int],
    bodyid: wp.array[int],
    treeid: wp.array[int],
    rootid: wp.array[int],
    rbound: wp.array2d[float],
    margin: wp.array2d[float],
    geom_xpos: wp.array2d[wp.vec3],
    subtree_com: wp.array2d[wp.vec3],
    cvel: wp.array2d[wp.spatial_vector],
    ahead: wp.array2d[float],
    wide: wp.array2d[float],
):
    w, g = wp.tid()
    way = constant / 2.0
    if constant < 0.0:
        h = timestep[w % timestep.shape[0]]
        body = bodyid[g]
        speed = SPARE_SPEED / 2.0
        if treeid[body] >= 0:
            at = geom_xpos[w, g]
            speed += wp.length(velocity_at(w, body, at, rootid, subtree_com, cvel))
            if geom_type[g] != SPHERE:  # a sphere's rotation does not bring it closer
                turn = wp.length(wp.spatial_top(cvel[w, body]))
                speed += turn * rbound[w % rbound.shape[0], g]
        way = h * speed + least_margin(h, gravity[w % gravity.shape[0]]) / 2.0
        if not way <= MOST:  # or NaN
            way = MOST
        if not wp.isfinite(speed):
            way = 0.0
    ahead[w, g] = way
    wide[w, g] = margin[w % margin.shape[0], g] + way


@wp.kernel(enable_backward=False)
def widen_pairs(
    geom1: wp.array[int],
    geom2: wp.array[int],
    margin: wp.array2d[float],
    ahead: wp.array2d[float],
    wide: wp.array2d[float],
):
    w, k = wp.tid()
    way = ahead[w, geom1[k]] + ahead[w, geom2[k]]
    wide[w, k] = margin[w % margin.shape[0], k] + way


@wp.kernel(enable_backward=False)
def choose_contacts(
    own_collision: int,
    constant: float,
    timestep: wp.array[float],
    gravity: wp.array[wp.vec3],
    bodyid: wp.array[int],
    treeid: wp.array[int],
    rootid: wp.array[int],
    subtree_com: wp.array2d[wp.vec3],
    cvel: wp.array2d[wp.spatial_vector],
    ahead: wp.array2d[float],
    nacon: wp.array[int],
    worldid: wp.array[int],
    geom: wp.array[wp.vec2i],
    pos: wp.array[wp.vec3],
    frame: wp.array[wp.mat33],
    dist: wp.array[float],
    includemargin: wp.array[float],
    margin: wp.array[float],
    gap: wp.array[float],
):
    # Rows are made where dist < includemargin. `margin` is the model's own, `gap` is dist - margin.
    c = wp.tid()
    if c >= wp.min(nacon[0], includemargin.shape[0]):
        return
    w = worldid[c]
    g = geom[c]
    margin[c] = includemargin[c]
    if g[0] >= 0 and g[1] >= 0:
        way = ahead[w, g[0]] + ahead[w, g[1]]
        if own_collision != 0:
            margin[c] = includemargin[c] - way
        gap[c] = dist[c] - margin[c]
        h = timestep[w % timestep.shape[0]]
        least = least_margin(h, gravity[w % gravity.shape[0]])
        near = gap[c] < h + least  # it may close at 1 m/s
        if not near:
            a = bodyid[g[0]]
            b = bodyid[g[1]]
            of_a = velocity_at(w, a, pos[c], rootid, subtree_com, cvel)
            of_b = velocity_at(w, b, pos[c], rootid, subtree_com, cvel)
            slip = of_b - of_a
            normal = wp.vec3(frame[c][0, 0], frame[c][0, 1], frame[c][0, 2])
            closing = wp.max(0.0, -wp.dot(slip, normal)) + 0.5 * wp.length(slip)
            if treeid[a] >= 0 and treeid[b] >= 0 and rootid[a] != rootid[b]:
                closing = wp.length(of_a) + wp.length(of_b)  # a third body may stop one of them
            near = gap[c] < h * (closing + 1.0) + least
        if constant >= 0.0:
            near = gap[c] < way
        if treeid[bodyid[g[0]]] < 0 and treeid[bodyid[g[1]]] < 0:
            near = False  # such a contact has no row of J but zeros
        includemargin[c] = wp.where(near, wp.max(margin[c] + way, dist[c] + ROUNDING), dist[c])
    else:
        gap[c] = dist[c] - margin[c]


@wp.kernel(enable_backward=False)
def restore_margins(nacon: wp.array[int], margin: wp.array[float], includemargin: wp.array[float]):
    c = wp.tid()
    if c < wp.min(nacon[0], includemargin.shape[0]):
        includemargin[c] = margin[c]


class LookAhead:
    """Margins and gaps of the contacts of (m, d). `gap` (naconmax,), m: negative in penetration."""

    def __init__(self, m: Any, d: Any, contact_margin: float | None) -> None:
        self._constant = -1.0 if contact_margin is None else float(contact_margin)
        with wp.ScopedDevice(d.qacc.device):
            self._ahead = wp.zeros((d.nworld, m.ngeom), dtype=float)
            self._geom = wp.zeros((d.nworld, m.ngeom), dtype=float)
            self._pair = wp.zeros((d.nworld, m.npair), dtype=float)
            self._margin = wp.zeros(d.naconmax, dtype=float)
            self.gap = wp.zeros(d.naconmax, dtype=float)

    def collide(self, m: Any, d: Any) -> None:
        """Collision detection with wide margins. Needs `cvel` at the state of d."""
        self._widen(m, d)
        if m.opt.run_collision_detection:
            own = m.geom_margin, m.pair_margin
            m.geom_margin, m.pair_margin = self._geom, self._pair if m.npair else m.pair_margin
            try:
                mjw.collision(m, d)
            finally:
                m.geom_margin, m.pair_margin = own
        c = d.contact
        wp.launch(
            choose_contacts,
            d.naconmax,
            [
                int(m.opt.run_collision_detection), self._constant, m.opt.timestep, m.opt.gravity,
                m.geom_bodyid, m.body_treeid, m.body_rootid, d.subtree_com, d.cvel, self._ahead,
                d.nacon, c.worldid, c.geom, c.pos, c.frame, c.dist, c.includemargin,
                self._margin, self.gap,
            ],
        )  # fmt: skip

    def restore(self, d: Any) -> None:
        """Gives the contacts the model's own margins again, after rows are made."""
        wp.launch(restore_margins, d.naconmax, [d.nacon, self._margin, d.contact.includemargin])

    def _widen(self, m: Any, d: Any) -> None:
        wp.launch(
            widen_geoms,
            (d.nworld, m.ngeom),
            [
                self._constant, m.opt.timestep, m.opt.gravity, m.geom_type, m.geom_bodyid,
                m.body_treeid, m.body_rootid, m.geom_rbound, m.geom_margin, d.geom_xpos,
                d.subtree_com, d.cvel, self._ahead, self._geom,
            ],
        )  # fmt: skip
        if m.npair:
            wp.launch(
                widen_pairs,
                (d.nworld, m.npair),
                [m.pair_geom1, m.pair_geom2, m.pair_margin, self._ahead, self._pair],
            )
