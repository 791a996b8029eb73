"""Contact problems as linear complementarity problems: Stewart and Trinkle's matrices, mixed
problems as standard ones, several articulated systems in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stickslip import _core
from stickslip._src import arrays as check
from stickslip._src.aliases import Float64, Int32
from stickslip._src.lcp import rows_in_use


@dataclass(frozen=True, eq=False, repr=False)
class StandardForm:
    """Standard LCPs 0 <= A x + q ⟂ x >= 0, and the conversion back to the mixed problems.

    For one problem instead of a batch the environment axis is missing.
    """

    A: Float64  #: (E, m, m), F - B D^-1 C; m is the largest number of rows that are left
    q: Float64  #: (E, m), a - B D^-1 r
    T: Float64  #: (E, f, m), -D^-1 C; f is the largest number of free rows
    t: Float64  #: (E, f), -D^-1 r
    counts: Int32  #: (E,) rows in use, for `solve_lcp`
    n_free: Int32  #: (E,) free variables of the mixed problems
    _core: Any = field(repr=False)

    def restore(self, x: ArrayLike) -> Float64:
        """z = (T x + t, x) of the mixed problems, (E, f + m), from solutions x (E, m)."""
        x = check.floats("x", x, np.dtype(np.float64), "M")
        check.require_shape("x", x, self.q.shape)
        batched = self.q.ndim == 2
        given = check.slots(x if batched else x[None])
        z = np.zeros((len(given), self.T.shape[-2] + self.q.shape[-1]))
        if len(given):
            self._core.restore({"x": given}, {"z": z})
        return z if batched else z[0]

    def __repr__(self) -> str:
        return f"StandardForm(A {self.A.shape}, n_free {self.n_free.tolist()!r:.40})"


def standard_form(
    M: ArrayLike,
    q: ArrayLike,
    *,
    n_free: ArrayLike,
    counts: ArrayLike | None = None,
    threads: int | None = None,
) -> StandardForm:
    """Standard LCPs from mixed ones w = M z + q, by eliminating their free variables.

    With M = [[D, C], [B, F]] and q = (r, a), free rows first: A = F - B D^-1 C, q = a - B D^-1 r.
    `solve_lcp` eliminates by itself; this is for other solvers, and for inspecting A.

    Args:
        M, q: (E, n, n) any float64 matrices; (E, n). One problem: omit the environment axis.
        n_free: number of free rows; one number or (E,).
        counts: (E,) rows in use of each environment.
        threads: default all cores.

    Raises TypeError and ValueError for a wrong type, shape or value of an argument, for numbers
    that are not finite, and where D is singular. Free rows that repeat others are no error: they
    are dropped, and their variables stay 0.
    """
    M, batched = check.matrices("M", M)
    if M.dtype != np.float64:
        raise TypeError(f"M: expected float64, got {M.dtype}")
    num_envs, n = M.shape[:2]
    q = check.floats("q", q, M.dtype, "M")
    check.require_shape("q", q, (num_envs, n) if batched else (n,))
    rows = rows_in_use(counts, n_free, num_envs, n, batched)
    q = check.slots(q if batched else q[None])
    core = _core.standard_form({"rows": rows, "M": M, "q": q}, check.thread_count(threads))
    left = rows[:, 0] - rows[:, 1]
    arrays = (core.A, core.q, core.T, core.t, left, rows[:, 1])
    if not batched:
        arrays = tuple(array[0] for array in arrays)
    return StandardForm(*arrays, core)


@dataclass(frozen=True, eq=False)
class ContactLcp:
    """Mixed LCPs in z = (qdot+, f_n, f_d, lambda), for `solve_lcp` or `standard_form`."""

    M: Float64  #: (E, n, n), the matrix of eq. 12
    q: Float64  #: (E, n), (-tau*, 0, 0, 0)
    n_free: int  #: degrees of freedom
    counts: Int32  #: (E,) rows in use
    contacts: Int32  #: (E,) contacts in use
    directions: int  #: d

    def split(self, z: Float64, env: int = 0) -> dict[str, Float64]:
        """qdot, f_n (p,), f_d (p, d) and lambda (p,) in the solution z (n,) of one environment."""
        p, d, nv = int(self.contacts[env]), self.directions, self.n_free
        qdot, f_n, f_d, slip = np.split(z[: self.counts[env]], np.cumsum([nv, p, p * d]))
        return {"qdot": qdot, "f_n": f_n, "f_d": f_d.reshape(p, d), "lambda": slip}


def stewart_trinkle(
    M: ArrayLike,
    tau: ArrayLike,
    N: ArrayLike,
    B: ArrayLike,
    mu: ArrayLike,
    *,
    dt: float,
    directions: int = 4,
    scaled: bool = False,
    counts: ArrayLike | None = None,
) -> ContactLcp:
    """One time step M qdot+ = tau* + dt (N f_n + B f_d) with contacts, as mixed LCPs.

        0 <= f_n ⟂ N^T qdot+ >= 0,  0 <= f_d ⟂ B^T qdot+ + E lambda >= 0,
        0 <= lambda ⟂ mu f_n - E^T f_d >= 0

    (Tan, Siu & Liu, eq. 12; `standard_form` makes it eq. 14). Arrays are float64.

    Args:
        M: (E, nv, nv) mass matrices.
        tau: (E, nv) tau* = M qdot - dt (C - tau), N s.
        N: (E, nv, p), columns J^T n; n points into the body that moves by qdot.
        B: (E, nv, p d), columns J^T d_k of one contact after the other.
        mu: friction coefficients >= 0; a number, (p,) or (E, p).
        dt: time step > 0, s.
        directions: d; 2 (planar problems), 4, 8, 16, 32 or 64.
        scaled: multiplies E, in both places, and mu by dt: entries of one size, the same forces
            (section 5); lambda is divided by dt.
        counts: (E,) contacts in use.

    Raises TypeError and ValueError for a wrong type, shape or value of an argument.
    """
    M, batched = check.matrices("M", M)
    if not batched:
        raise ValueError(f"M: expected shape (E, nv, nv), got {M.shape[1:]}")
    num_envs, nv = M.shape[:2]
    arrays = {name: _float64(name, a) for name, a in (("M", M), ("tau", tau), ("N", N), ("B", B))}
    contacts = arrays["N"].shape[-1]
    d = check.count("directions", directions, low=2)
    check.require_shape("tau", arrays["tau"], (num_envs, nv))
    check.require_shape("N", arrays["N"], (num_envs, nv, contacts))
    check.require_shape("B", arrays["B"], (num_envs, nv, contacts * d))
    coefficients = _float64("mu", mu)
    check.require_shape("mu", coefficients, (num_envs, contacts), (contacts,), ())
    coefficients = np.array(np.broadcast_to(coefficients, (num_envs, contacts)))
    numbers = np.full(num_envs, contacts) if counts is None else check.integers("counts", counts)
    check.require_shape("counts", numbers, (num_envs,))
    used = np.clip(numbers, -1, 2**31 - 1).astype(np.int32)
    given: dict[str, Any] = {name: check.aligned(array) for name, array in arrays.items()}
    given |= {"mu": coefficients, "counts": used}
    core = _core.stewart_trinkle(given, d, check.number("dt", dt), bool(scaled))
    return ContactLcp(core.M, core.q, nv, nv + used * (d + 2), used, d)


def contact_columns(J: ArrayLike, directions: int = 4) -> tuple[Float64, Float64]:
    """N (E, nv, p) and B (E, nv, p d) from Jacobians J (E, 3 p, nv) with rows (n, t1, t2).

    d directions lie at 2 pi k / d from t1 towards t2; d = 2 are t1 and -t1.
    """
    J = check.aligned(_float64("J", J))
    if J.ndim != 3 or J.shape[1] % 3:
        raise ValueError(f"J: expected shape (E, 3 p, nv), got {J.shape}")
    return _core.contact_columns({"J": J}, check.count("directions", directions, low=2))


def stack(
    systems: Sequence[tuple[ArrayLike, ArrayLike, ArrayLike]],
) -> tuple[Float64, Float64, Float64]:
    """Several articulated systems in one problem (Tan, Siu & Liu, eq. 7).

    Args:
        systems: for each (M (E, nv, nv), tau* (E, nv), J (E, n, nv)). J has the rows of all
            contacts: those of the system's point where the normal points into it, their negatives
            where it points out, zeros where the system does not touch.

    Returns M (E, Σnv, Σnv) with the blocks on its diagonal, tau* (E, Σnv), J (E, n, Σnv).
    """
    given = [
        tuple(check.aligned(_float64(f"systems[{k}]", array)) for array in system)
        for k, system in enumerate(systems)
    ]
    if not given:
        raise ValueError("systems: expected at least one, got none")
    num_envs, rows = given[0][2].shape[:2] if given[0][2].ndim == 3 else (0, 0)
    for k, (M, tau, J) in enumerate(given):
        nv = M.shape[-1]
        check.require_shape(f"systems[{k}] M", M, (num_envs, nv, nv))
        check.require_shape(f"systems[{k}] tau", tau, (num_envs, nv))
        check.require_shape(f"systems[{k}] J", J, (num_envs, rows, nv))
    named = [dict(zip(("M", "tau", "J"), system, strict=True)) for system in given]
    return _core.stack(named, num_envs, rows)


def _float64(name: str, value: Any) -> Float64:
    array = check.floats(name, value)
    if array.dtype != np.float64:
        raise TypeError(f"{name}: expected float64, got {array.dtype}")
    return array
