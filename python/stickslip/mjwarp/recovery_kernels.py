"""Kernels of the correction of overlap in the positions: `recovery.py`."""

# ruff: noqa: RUF046, UP018 - Warp: int(0) declares a variable that changes in loops

import warp as wp
from mujoco_warp._src.types import JointType

from stickslip._core import Status
from stickslip.mjwarp.problem_kernels import row_product
from stickslip.mjwarp.row_kernels import real

SOLVED = wp.constant(int(Status.solved))
SLIDE = wp.constant(int(JointType.SLIDE))
FREE_JOINT = wp.constant(int(JointType.FREE))
MOST_TURN = wp.constant(0.1)  # rad in a step
MOST_SHIFT = wp.constant(10.0)  # times the gap that is missing


@wp.kernel(enable_backward=False)
def select_worlds(
    deep: wp.array[int],
    status: wp.array[int],
    counts: wp.array2d[int],
    selected: wp.array2d[int],
):
    w = wp.tid()
    for k in range(4):
        selected[w, k] = 0
        if deep[w] != 0 and status[w] == SOLVED:
            selected[w, k] = counts[w, k]


@wp.kernel(enable_backward=False)
def mark_deep(
    tolerance: float, timestep: wp.array[float], row_of: wp.array2d[int],
    efc_id: wp.array2d[int], gap: wp.array[float], sparse: int, rownnz: wp.array2d[int],
    rowadr: wp.array2d[int], colind: wp.array3d[int], J: wp.array3d[float],
    v_next: wp.array2d[real], b: wp.array2d[real], recovering: wp.array2d[real],
    deep: wp.array[int],
):  # fmt: skip
    # Only normals of overlapping contacts have two biases.
    w, row = wp.tid()
    i = row_of[w, row]
    if i < 0 or b[w, row] == recovering[w, row]:
        return
    speed = row_product(w, i, sparse, rownnz, rowadr, colind, J, v_next)
    end = real(gap[efc_id[w, i]]) + real(timestep[w % timestep.shape[0]]) * speed
    if end < -real(tolerance):
        deep[w] = 1  # whichever thread writes it


@wp.kernel(enable_backward=False)
def limit_shift(
    timestep: wp.array[float], jnt_type: wp.array[int], dof_jntid: wp.array[int],
    used: wp.array[int], selected: wp.array2d[int], status: wp.array[int],
    b: wp.array2d[real], recovering: wp.array2d[real], v_next: wp.array2d[real],
    v_recovering: wp.array2d[real], shift: wp.array2d[float],
):  # fmt: skip
    # One thread per world. Where a gap hardly depends on the joints, the linear gap asks for
    # any motion, so motions are limited.
    w = wp.tid()
    rows = selected[w, 0] + selected[w, 1] + selected[w, 2] + selected[w, 3]
    valid = rows > 0 and status[w] == SOLVED
    missing = real(0.0)  # m/s
    if valid:
        for row in range(used[w]):
            missing = wp.max(missing, b[w, row] - recovering[w, row])
    most_turn = real(MOST_TURN) / real(timestep[w % timestep.shape[0]])
    most_shift = real(MOST_SHIFT) * missing
    share = real(1.0)
    first = int(0)
    for k in range(shift.shape[1]):
        joint = dof_jntid[k]
        if k == 0 or dof_jntid[k - 1] != joint:
            first = k
        x = real(0.0)
        if valid:
            x = v_recovering[w, k] - v_next[w, k]
        shift[w, k] = float(x)
        most = most_turn
        if jnt_type[joint] == SLIDE or (jnt_type[joint] == FREE_JOINT and k - first < 3):
            most = most_shift
        if wp.abs(x) > most:
            share = wp.min(share, most / wp.abs(x))
    for k in range(shift.shape[1]):
        shift[w, k] = shift[w, k] * float(share)
