"""Which of mujoco_warp's constraint rows is which row of the problem.

mujoco_warp writes equalities, friction losses, limits and contacts as they come; the problem has
free, nonneg and box rows and then contacts. The order within each kind is kept, so the problem of a
world does not depend on the others.
"""

# ruff: noqa: RUF046, SIM109, UP018 - Warp: int(0) declares a variable that changes in loops

import warp as wp
from mujoco_warp._src.types import ConstraintType

real = wp.float64  # of the problems; mujoco_warp's own numbers are float32

EQUALITY = wp.constant(int(ConstraintType.EQUALITY))
FRICTION_DOF = wp.constant(int(ConstraintType.FRICTION_DOF))
FRICTION_TENDON = wp.constant(int(ConstraintType.FRICTION_TENDON))
CONTACT_FRICTIONLESS = wp.constant(int(ConstraintType.CONTACT_FRICTIONLESS))
CONTACT_ELLIPTIC = wp.constant(int(ConstraintType.CONTACT_ELLIPTIC))

FREE = wp.constant(0)
NONNEG = wp.constant(1)
BOX = wp.constant(2)
CONTACT = wp.constant(3)

# What mujoco_warp counts where its rows did not fit.
OVERFLOW_BITS = wp.constant(1 | 2 | 4 | 8)  # NEFC, NJMAX_NNZ, BROADPHASE, NARROWPHASE


@wp.func
def kind_of(efc_type: int):
    if efc_type == EQUALITY:
        return FREE
    if efc_type == FRICTION_DOF or efc_type == FRICTION_TENDON:
        return BOX
    if efc_type == CONTACT_ELLIPTIC:
        return CONTACT
    return NONNEG  # limits, frictionless contacts, edges of pyramids


@wp.func
def has_storage(
    stale: int, contact: bool, w: int, i: int, rownnz: wp.array2d[int], rowadr: wp.array2d[int],
    nnz: int,
):  # fmt: skip
    # Rows of sparse Jacobians can lack it in mujoco_warp 3.17 (`stale`): contacts then have no
    # entries, and others keep the place that they had in an earlier step.
    if stale == 0 or rownnz.shape[1] == 0:
        return True
    return (rownnz[w, i] > 0 or not contact) and rowadr[w, i] + rownnz[w, i] <= nnz


@wp.kernel(enable_backward=False)
def map_rows(
    stale: int, njmax: int, njmax_nnz: int, nefc: wp.array[int],
    efc_type: wp.array2d[int], efc_id: wp.array2d[int],
    rownnz: wp.array2d[int], rowadr: wp.array2d[int], contact_dim: wp.array[int],
    counts: wp.array2d[int], dims: wp.array2d[int], row_of: wp.array2d[int],
    contact_of: wp.array2d[int], used: wp.array[int], complete: wp.array[int],
):  # fmt: skip
    # One thread per world. `contact_of` of a contact's rows: how many contacts there are up to and
    # with this one; 0 for other rows. A block that njmax cuts is left out whole: half of a cone is
    # another law.
    w = wp.tid()
    n = wp.min(nefc[w], njmax)
    first = wp.vec4i(0, 0, 0, 0)  # row of the next one of each kind
    for sweep in range(2):
        number = wp.vec4i(0, 0, 0, 0)
        contacts = int(0)
        entries = int(0)
        all_fit = int(nefc[w] <= njmax)
        i = int(0)
        while i < n:
            kind = kind_of(efc_type[w, i])
            dim = int(1)
            if kind == CONTACT:
                dim = contact_dim[efc_id[w, i]]
            fits = i + dim <= n
            for k in range(dim):
                at = wp.min(i + k, n - 1)
                contact = efc_type[w, i] >= CONTACT_FRICTIONLESS
                fits = fits and has_storage(stale, contact, w, at, rownnz, rowadr, njmax_nnz)
                if stale != 0 and rownnz.shape[1] > 0:
                    entries += rownnz[w, at]
            if fits:
                if kind == CONTACT:
                    if sweep == 0:
                        dims[w, contacts] = dim
                    contacts += 1
                if sweep == 1:
                    row = first[kind] + number[kind]
                    for k in range(dim):
                        row_of[w, row + k] = i + k
                        contact_of[w, row + k] = wp.where(kind == CONTACT, contacts, 0)
                number[kind] = number[kind] + dim
            else:
                all_fit = 0
            i += dim
        if sweep == 0:
            first = wp.vec4i(0, number[0], number[0] + number[1], number[0] + number[1] + number[2])
            counts[w, 0] = number[0]
            counts[w, 1] = number[1]
            counts[w, 2] = number[2]
            counts[w, 3] = contacts
        else:
            used[w] = first[3] + number[3]
            complete[w] = wp.where(entries > njmax_nnz, 0, all_fit)
            for row in range(used[w], njmax):
                row_of[w, row] = -1


@wp.kernel(enable_backward=False)
def take_overflow(overflow: wp.array[int], before: wp.array[int]):
    w = wp.tid()
    before[w] = overflow[w]
    overflow[w] = 0


@wp.kernel(enable_backward=False)
def judge_capacity(
    bad_input: int,
    over_capacity: int,
    njmax: int,
    timestep: wp.array[float],
    nefc: wp.array[int],
    complete: wp.array[int],
    before: wp.array[int],
    overflow: wp.array[int],
    status: wp.array[int],
    rows_needed: wp.array[int],
    own: wp.array[int],
):
    # A verdict on a part of the rows is none.
    w = wp.tid()
    own[w] = overflow[w]
    overflow[w] = overflow[w] | before[w]
    h = timestep[w % timestep.shape[0]]
    if not (h > 0.0 and h < wp.inf):
        status[w] = bad_input
    fits = nefc[w] <= njmax and complete[w] != 0 and (own[w] & OVERFLOW_BITS) == 0
    if not fits and status[w] != bad_input:
        status[w] = over_capacity
    rows_needed[w] = wp.max(rows_needed[w], nefc[w])
