"""Forces and slip between bodies or geoms, as BatchSim's contact sensors measure them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
import warp as wp

from stickslip._src import arrays as check
from stickslip.mjwarp.modules import compile_modules
from stickslip.mjwarp.problem_kernels import row_product
from stickslip.mjwarp.row_kernels import CONTACT_ELLIPTIC, CONTACT_FRICTIONLESS


class ContactSensors:
    """Measures contacts between pairs of bodies or geoms in all worlds.

    Call it after a step, also after one of mujoco_warp itself. Forces are those of the step,
    velocities those at its end. It only launches kernels.

    Args:
        m, d: mujoco_warp's Model and Data, with elliptic cones.
        pairs: as `contact_sensors` of BatchSim: names of bodies or geoms, or (name, None).
        model: the mujoco.MjModel of m, which has the names.

    Raises TypeError and ValueError, naming the argument.
    """

    force: Any  #: (nworld, S) vec3, N, world frame, on the first of each pair by the second
    friction: Any  #: (nworld, S) vec3, N, its part along the surfaces
    #: (nworld, S) vec3, m/s, of the first relative to the second along the surfaces: mean of the
    #: contacts with friction that press, weighted by their normal forces
    slip: Any

    def __init__(
        self, m: Any, d: Any, pairs: Sequence[tuple[str, str | None]], model: mujoco.MjModel
    ) -> None:
        if not isinstance(model, mujoco.MjModel):
            raise TypeError(f"model: expected a mujoco.MjModel, got {type(model).__name__}")
        if model.ngeom != m.ngeom:
            raise ValueError(f"model: expected that of m, of {m.ngeom} geoms, got {model.ngeom}")
        if int(m.opt.cone) != int(mujoco.mjtCone.mjCONE_ELLIPTIC):
            raise ValueError("m.opt.cone: expected ELLIPTIC, got PYRAMIDAL")
        names = check.name_pairs("pairs", pairs)
        first = np.array([_geoms(model, a) for a, _ in names]).reshape(-1, m.ngeom)
        second = np.array([_geoms(model, b) if b else ~_geoms(model, a) for a, b in names])
        shape = (d.nworld, len(names))
        with wp.ScopedDevice(d.qacc.device):
            self._first = wp.array(first.astype(np.int8), dtype=wp.int8)
            self._second = wp.array(second.reshape(first.shape).astype(np.int8), dtype=wp.int8)
            self.force, self.friction, self.slip = (wp.zeros(shape, dtype=wp.vec3) for _ in "123")
        compile_modules(self.force.device, __name__)

    def __call__(self, m: Any, d: Any) -> None:
        if d.nworld != self.force.shape[0] or m.ngeom != self._first.shape[1]:
            expected = f"{self.force.shape[0]} worlds of {self._first.shape[1]} geoms"
            raise ValueError(f"m, d: expected {expected}, got {d.nworld} of {m.ngeom}")
        efc, c = d.efc, d.contact
        wp.launch(
            _measure,
            self.force.shape,
            [
                int(m.is_sparse), d.njmax, d.nefc, efc.type, efc.id, efc.force, efc.J_rownnz,
                efc.J_rowadr, efc.J_colind, efc.J, d.qvel, c.geom, c.dim, c.frame, c.efc_address,
                self._first, self._second, self.force, self.friction, self.slip,
            ],
            device=self.force.device,
        )  # fmt: skip


def _geoms(model: mujoco.MjModel, name: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which geoms have this name or are of the body of this name."""
    kind, _, rest = name.rpartition(":")
    body = geom = -1
    if kind in ("", "body"):
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, rest)
    if kind in ("", "geom"):
        geom = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, rest)
    of_body = model.geom_bodyid == body
    of_geom = np.arange(model.ngeom) == geom
    if body < 0 and geom < 0:
        raise ValueError(f"pairs: expected the name of a body or geom of the model, got {name!r}")
    if body >= 0 and geom >= 0 and (of_body != of_geom).any():
        raise ValueError(f"pairs: {name!r} is both: write 'body:' or 'geom:' before it")
    return of_body if body >= 0 else of_geom


@wp.kernel(enable_backward=False)
def _measure(
    sparse: int, njmax: int, nefc: wp.array[int], efc_type: wp.array2d[int],
    efc_id: wp.array2d[int], efc_force: wp.array2d[float], rownnz: wp.array2d[int],
    rowadr: wp.array2d[int], colind: wp.array3d[int], J: wp.array3d[float],
    qvel: wp.array2d[float], geom: wp.array[wp.vec2i], dim: wp.array[int],
    frame: wp.array[wp.mat33], efc_address: wp.array2d[int], first: wp.array2d[wp.int8],
    second: wp.array2d[wp.int8], force: wp.array2d[wp.vec3], friction: wp.array2d[wp.vec3],
    slip: wp.array2d[wp.vec3],
):  # fmt: skip
    # One thread per world and sensor, over the rows of the world in their order: no atomics. The
    # normal points from the contact's first geom to its second, on which the force acts.
    w, s = wp.tid()
    total, along, moving = wp.vec3d(), wp.vec3d(), wp.vec3d()
    pressure = wp.float64(0.0)
    for i in range(wp.min(nefc[w], njmax)):
        kind = efc_type[w, i]
        if kind != CONTACT_ELLIPTIC and kind != CONTACT_FRICTIONLESS:
            continue
        c = efc_id[w, i]
        if efc_address[c, 0] != i or efc_force[w, i] <= 0.0:
            continue
        a, b = geom[c][0], geom[c][1]
        if a < 0 or b < 0 or i + dim[c] > njmax:
            continue
        sign = wp.float64(0.0)
        if first[s, b] != wp.int8(0) and second[s, a] != wp.int8(0):
            sign += wp.float64(1.0)
        if first[s, a] != wp.int8(0) and second[s, b] != wp.int8(0):
            sign -= wp.float64(1.0)
        if sign == wp.float64(0.0):
            continue
        normal = wp.float64(efc_force[w, i])
        total += sign * normal * wp.vec3d(frame[c][0])
        if dim[c] == 1:
            continue
        pressure += normal
        for k in range(1, 3):
            tangent = sign * wp.vec3d(frame[c][k])
            along += wp.float64(efc_force[w, i + k]) * tangent
            velocity = row_product(w, i + k, sparse, rownnz, rowadr, colind, J, qvel)
            moving += normal * velocity * tangent
    if pressure > wp.float64(0.0):
        moving = moving / pressure
    force[w, s] = wp.vec3(total + along)
    friction[w, s] = wp.vec3(along)
    slip[w, s] = wp.vec3(moving)
