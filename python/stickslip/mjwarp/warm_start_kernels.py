"""Kernels that keep impulses from one step to the next: `warm_start.py`."""

# ruff: noqa: RUF046, UP018 - Warp: int(0) declares a variable that changes in loops

import warp as wp

from stickslip.mjwarp.row_kernels import CONTACT_FRICTIONLESS, real


@wp.func
def key_of(
    w: int, i: int, efc_type: wp.array2d[int], efc_id: wp.array2d[int],
    efc_address: wp.array2d[int], geom: wp.array[wp.vec2i], collisionid: wp.array[int],
):  # fmt: skip
    kind = efc_type[w, i]
    what = efc_id[w, i]
    if kind >= CONTACT_FRICTIONLESS:
        # rows of a contact differ in the axis, or in the edge of the pyramid
        place = 16 * collisionid[what] + i - efc_address[what, 0]
        return wp.vec4i(kind, geom[what][0], geom[what][1], place)
    place = int(0)
    while i > place and efc_type[w, i - place - 1] == kind and efc_id[w, i - place - 1] == what:
        place += 1
    return wp.vec4i(kind, what, -1, place)


@wp.func
def find(w: int, row: int, n: int, key: wp.vec4i, kept: wp.array2d[wp.vec4i]):
    # The kept row with this key, or -1. Most rows are where they were.
    for s in range(n):
        k = (row + s) % n
        other = kept[w, k]
        if other[0] == key[0] and other[1] == key[1] and other[2] == key[2] and other[3] == key[3]:
            return k
    return -1


@wp.kernel(enable_backward=False)
def forget(mask: wp.array[wp.bool], kept: wp.array[int]):
    w = wp.tid()
    if mask[w]:
        kept[w] = 0


@wp.func
def turn(
    w: int, start: int, dim: int, axes: wp.mat33, to_world: bool, row: int,
    source: wp.array2d[real], target: wp.array2d[real],
):  # fmt: skip
    # A contact's rows from row `start` of `source`, in its frame or the world's, to `target`.
    for first in range(0, dim, 3):
        if first + 3 > dim:  # torsion alone
            target[w, row + first] = source[w, start + first]
        else:
            for k in range(3):
                x = real(0.0)
                for j in range(3):
                    a = wp.where(to_world, axes[j, k], axes[k, j])
                    x += real(a) * source[w, start + first + j]
                target[w, row + first + k] = x


@wp.kernel(enable_backward=False)
def recall(
    enabled: int, time: wp.array[float], row_of: wp.array2d[int], contact_of: wp.array2d[int],
    efc_type: wp.array2d[int], efc_id: wp.array2d[int], efc_address: wp.array2d[int],
    geom: wp.array[wp.vec2i], collisionid: wp.array[int], frame: wp.array[wp.mat33],
    dim: wp.array[int], kept: wp.array[int], kept_time: wp.array[float],
    kept_key: wp.array2d[wp.vec4i], kept_impulse: wp.array2d[real],
    key: wp.array2d[wp.vec4i], start: wp.array2d[real],
):  # fmt: skip
    w, row = wp.tid()
    i = row_of[w, row]
    if i < 0:
        return
    key[w, row] = key_of(w, i, efc_type, efc_id, efc_address, geom, collisionid)
    n = kept[w]
    if enabled == 0 or n == 0 or not time[w] > kept_time[w]:
        start[w, row] = real(0.0)
        return
    c = int(-1)
    if contact_of[w, row] > 0:
        c = efc_id[w, i]
        if i != efc_address[c, 0]:
            return  # the normal's thread writes the whole block
    found = find(w, row, n, key[w, row], kept_key)
    if found < 0:
        start[w, row] = real(0.0)
        if c >= 0:
            for k in range(1, dim[c]):
                start[w, row + k] = real(0.0)
    elif c < 0:
        start[w, row] = kept_impulse[w, found]
    else:
        turn(w, found, dim[c], frame[c], False, row, kept_impulse, start)


@wp.kernel(enable_backward=False)
def remember(
    solved: int, time: wp.array[float], status: wp.array[int], used: wp.array[int],
    row_of: wp.array2d[int], contact_of: wp.array2d[int], efc_id: wp.array2d[int],
    efc_address: wp.array2d[int], frame: wp.array[wp.mat33], dim: wp.array[int],
    key: wp.array2d[wp.vec4i], impulse: wp.array2d[real], kept: wp.array[int],
    kept_time: wp.array[float], kept_key: wp.array2d[wp.vec4i], kept_impulse: wp.array2d[real],
):  # fmt: skip
    w, row = wp.tid()
    if row == 0:
        kept[w] = wp.where(status[w] == solved, used[w], 0)
        kept_time[w] = time[w]
    if row >= used[w]:
        return
    kept_key[w, row] = key[w, row]
    if contact_of[w, row] == 0:
        kept_impulse[w, row] = impulse[w, row]
        return
    i = row_of[w, row]
    c = efc_id[w, i]
    if i == efc_address[c, 0]:
        turn(w, row, dim[c], frame[c], True, row, impulse, kept_impulse)
