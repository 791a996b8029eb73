"""From mujoco_warp's arrays to the problem's, and back.

M and J stay where they are: `BoundSolver` reads them. `rigid` selects the formulation: at velocity
level (rigid laws), or at acceleration level (law "convex"). docs/mathematics.md §12 has both.
"""

from typing import Any

import warp as wp

from stickslip.mjwarp.row_kernels import CONTACT_FRICTIONLESS, real

MINMU = wp.constant(real(1e-5))  # what MuJoCo makes of no friction
CLOSED, CREEP = wp.constant(real(1e-9)), wp.constant(real(2.5e-10))  # m, m/s: contact_model.hpp


@wp.func
def row_product(
    w: int, i: int, sparse: int, rownnz: wp.array2d[int], rowadr: wp.array2d[int],
    colind: wp.array3d[int], J: wp.array3d[float], x: wp.array2d[Any],
):  # fmt: skip
    # Row i of mujoco_warp's Jacobian times x.
    total = real(0.0)
    if sparse != 0:
        address = rowadr[w, i]
        for k in range(rownnz[w, i]):
            column = colind[w, 0, address + k]
            total += real(J[w, 0, address + k]) * real(x[w, column])
    else:
        for k in range(x.shape[1]):
            total += real(J[w, i, k]) * real(x[w, k])
    return total


# Of a contact, or of a geom for its contacts (contact_model.hpp): restitution, v_rest, stiffness,
# damping, static_friction, v_stribeck.
Model = wp.types.vector(length=6, dtype=real)


@wp.func
def mixed(a: Model, b: Model):
    both = wp.where(a[4] < b[4], b, a)
    if a[4] == b[4]:
        both[5] = wp.max(a[5], b[5])
    both[0] = wp.max(a[0], b[0])
    both[1] = wp.max(a[1], b[1])
    both[2] = real(1.0) / (real(1.0) / a[2] + real(1.0) / b[2])
    both[3] = real(0.0)
    if wp.isfinite(a[2]):
        both[3] += (both[2] / a[2]) * (both[2] / a[2]) * a[3]
    if wp.isfinite(b[2]):
        both[3] += (both[2] / b[2]) * (both[2] / b[2]) * b[3]
    return both


@wp.func
def friction_at(model: Model, mu: real, x: real, y: real):
    # friction_at of contact_model.hpp, at the velocity (x, y) along the surfaces.
    square = (x * x + y * y) / (model[5] * model[5])
    if model[4] > mu and square < real(1.0):
        return mu + (model[4] - mu) * (real(1.0) - square) * (real(1.0) - square)
    return mu


@wp.func
def model_of(w: int, geom: wp.vec2i, of_geoms: wp.array2d[Model], priority: wp.array[int]):
    world = w % of_geoms.shape[0]
    last = of_geoms.shape[1] - 1  # 0: all geoms have the same
    first, second = of_geoms[world, wp.min(geom[0], last)], of_geoms[world, wp.min(geom[1], last)]
    if priority[geom[0]] > priority[geom[1]]:
        return first
    if priority[geom[0]] < priority[geom[1]]:
        return second
    return mixed(first, second)


@wp.func
def coefficient(c: int, axis: int, dim: int, friction: wp.array2d[float], rigid: int):
    # friction_of of src/mujoco/problem/gather.hpp.
    own, largest = real(friction[c, axis - 1]), real(0.0)
    for k in range(dim - 1):
        largest = wp.max(largest, real(friction[c, k]))
    none = own <= MINMU
    if axis < 3:
        none = none or own < real(1e-3) * real(friction[c, 2 - axis])
    if rigid != 0 and largest > MINMU and none:
        own = real(0.0)
    return own


@wp.func
def biases(
    gap: real, before: real, free: real, h: real, model: Model, v_max: real, compliance: real,
):  # fmt: skip
    # What is added to the free normal velocity, of contact_model.hpp: closing_bias in the
    # velocities, and what recovers in the positions. The gap of a compliant contact is part of the
    # law: contact_bias, spring_bias.
    restitution, v_rest = model[0], model[1]
    if wp.isfinite(model[2]):
        spring = gap / wp.where(gap > real(0.0), h, h + model[3] / model[2])
        return wp.vec2d(spring, spring)
    recovering = wp.max(gap / h, -v_max)
    compliant = compliance > real(0.0)
    reach = wp.where(compliant, real(0.0), h * wp.min(free, before))
    open_gap = wp.where(gap > CLOSED or compliant, gap, real(0.0))
    if restitution > real(0.0) and before < -v_rest and open_gap + reach < real(0.0):
        bounce = restitution * before
        recovering = wp.where(gap > real(0.0), bounce, wp.min(recovering, bounce))
        return wp.vec2d(wp.where(compliant, recovering, bounce), recovering)
    closing = wp.where(gap > CLOSED or compliant, recovering, real(0.0))
    if wp.abs(gap) <= CLOSED and not compliant:
        closing = wp.clamp(gap / h, -CREEP, CREEP)
    return wp.vec2d(closing, recovering)


@wp.kernel(enable_backward=False)
def gather_sides(
    rigid: int, timestep: wp.array[float],
    counts: wp.array2d[int], row_of: wp.array2d[int], contact_of: wp.array2d[int],
    efc_type: wp.array2d[int], efc_id: wp.array2d[int], efc_D: wp.array2d[float],
    efc_vel: wp.array2d[float], efc_aref: wp.array2d[float], frictionloss: wp.array2d[float],
    efc_address: wp.array2d[int], dim: wp.array[int], friction: wp.array2d[float],
    gap: wp.array[float], geom: wp.array[wp.vec2i], priority: wp.array[int],
    of_geoms: wp.array2d[Model], v_max: real, soft: real, a_free: wp.array2d[float], sparse: int,
    rownnz: wp.array2d[int], rowadr: wp.array2d[int], colind: wp.array3d[int],
    J: wp.array3d[float],
    b: wp.array2d[real], R: wp.array2d[real], lo: wp.array2d[real], hi: wp.array2d[real],
    mu: wp.array2d[real], recovering: wp.array2d[real],
):  # fmt: skip
    w, row = wp.tid()
    i = row_of[w, row]
    if i < 0:
        return
    h = real(timestep[w % timestep.shape[0]])
    scale = real(1.0)
    compliance = real(1.0) / real(efc_D[w, i])
    Ja = row_product(w, i, sparse, rownnz, rowadr, colind, J, a_free)
    side = Ja - real(efc_aref[w, i])
    more = real(0.0)
    if rigid != 0:
        scale = h
        side = h * side
        if efc_type[w, i] >= CONTACT_FRICTIONLESS:
            before = real(efc_vel[w, i])  # J v and the velocity of moving surfaces
            side = before + h * Ja
            compliance = real(0.0)
            c = efc_id[w, i]
            if i == efc_address[c, 0]:
                model = model_of(w, geom[c], of_geoms, priority)
                both = biases(real(gap[c]), before, side, h, model, v_max, soft)
                side += both[0]
                more = both[1] - both[0]  # 0, or negative where there is overlap
                compliance = soft
                if wp.isfinite(model[2]):
                    compliance = real(1.0) / (h * (h * model[2] + model[3]))
    b[w, row] = side
    recovering[w, row] = side + more
    R[w, row] = compliance
    first_box = counts[w, 0] + counts[w, 1]
    first_contact = first_box + counts[w, 2]
    if row >= first_contact:
        c = efc_id[w, i]
        axis = i - efc_address[c, 0]
        if axis > 0:
            own = coefficient(c, axis, dim[c], friction, rigid)
            if rigid != 0 and axis < 3:
                tangent = efc_address[c, 1]
                model = model_of(w, geom[c], of_geoms, priority)
                x, y = real(efc_vel[w, tangent]), real(efc_vel[w, tangent + 1])
                own = friction_at(model, own, x, y)
            mu[w, row - first_contact - contact_of[w, row]] = own
    elif row >= first_box:
        hi[w, row - first_box] = scale * real(frictionloss[w, i])
        lo[w, row - first_box] = -scale * real(frictionloss[w, i])


@wp.kernel(enable_backward=False)
def gather_free(
    rigid: int, timestep: wp.array[float], qvel: wp.array2d[float], a_free: wp.array2d[float],
    v_free: wp.array2d[real],
):  # fmt: skip
    w, k = wp.tid()
    free = real(a_free[w, k])
    if rigid != 0:
        free = real(qvel[w, k]) + real(timestep[w % timestep.shape[0]]) * free
    v_free[w, k] = free


@wp.kernel(enable_backward=False)
def scatter_rows(
    rigid: int, timestep: wp.array[float], row_of: wp.array2d[int],
    impulse: wp.array2d[real], force: wp.array2d[float],
):  # fmt: skip
    w, row = wp.tid()
    i = row_of[w, row]
    if i < 0:
        return
    x = impulse[w, row]
    if rigid != 0:
        x = x / real(timestep[w % timestep.shape[0]])
    force[w, i] = float(x)


@wp.kernel(enable_backward=False)
def scatter_dofs(
    rigid: int, timestep: wp.array[float], M: wp.array2d[float], address: wp.array[int],
    count: wp.array[int], entry: wp.array[int], column: wp.array[int], v_free: wp.array2d[real],
    v_next: wp.array2d[real], qfrc_smooth: wp.array2d[float], qfrc_constraint: wp.array2d[float],
    Ma: wp.array2d[float], qacc: wp.array2d[float],
):  # fmt: skip
    # J^T r = M (v_next - v_free): M has fewer entries than J.
    w, k = wp.tid()
    force = real(0.0)
    for e in range(address[k], address[k] + count[k]):
        force += real(M[w, entry[e]]) * (v_next[w, column[e]] - v_free[w, column[e]])
    if rigid != 0:
        force = force / real(timestep[w % timestep.shape[0]])
    else:
        qacc[w, k] = float(v_next[w, k])
    if not wp.isfinite(force):
        force = real(0.0)  # bad input, where nothing is solved
    qfrc_constraint[w, k] = float(force)
    Ma[w, k] = qfrc_smooth[w, k] + float(force)
