"""Solves bound to their arrays: checked once, called often, on the host or on a GPU."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from stickslip import _arrays as check
from stickslip import _core
from stickslip._core import Law, Precision, Solver
from stickslip.contact import Backend, SolveOptions, make_options


@dataclass(frozen=True, eq=False)
class BoundResult:
    """Arrays of the results of a `BoundSolver`, given by the caller or allocated by the solver.

    Allocated ones are numpy arrays on the host; on a GPU, arrays that every framework takes by
    DLPack without a copy (`torch.from_dlpack`, `cupy.from_dlpack`).
    """

    impulse: Any  #: (E, n), N s; rows beyond an environment's own are 0
    residual: Any  #: (E,) float64, m/s
    status: Any  #: (E,) int32, as all below; members of `Status`
    iterations: Any  #: sweeps, Newton steps, pivots together
    solver: Any  #: members of `Solver`: which produced the impulse
    rows_needed: Any  #: more than n where the status is over_capacity
    rung: Any  #: of the ladder, from 0: which produced the impulse
    v_next: Any = None  #: (E, nv), m/s; with `v_free` only
    #: (E, n) float64, proofs of what is infeasible, 0 elsewhere; with `certificates` only
    certificate: Any = None


class BoundSolver:
    """Solves the problems in given arrays each time it is called, in place.

    The arrays may be of numpy, torch, CuPy, JAX, Warp or any library with DLPack or
    `__cuda_array_interface__`. They are checked once, here. All are in host memory or all on one
    GPU, and are solved there. A call reads their contents at that time. On a GPU it only launches
    kernels: it does not allocate, wait, or copy to or from the host, and can be captured in a CUDA
    graph; a replay gives the same bits, which are those of the CPU. A second call at the same time
    raises RuntimeError: two threads or two streams need two solvers. The caller must wait for work
    on the arrays on other streams.

    Args:
        W: (E, n, n) Delassus matrices, 1/kg; or, in its place,
        M, J: (E, nv, nv) mass matrices and (E, n, nv) Jacobians: W = J M^-1 J^T is formed where it
            is used. With `v_free` (E, nv) the velocities v_free + M^-1 J^T r go to `out.v_next`
            (where the status is bad_input or over_capacity: v_free).
        b, mu: (E, n) free velocities, m/s; (E, k) coefficients, one per tangential row, or a
            number.
        dims, n_free, n_nonneg, lo, hi, R, warm_start: as in `solve`. `dims` is a list of numbers,
            or an (E, p) int32 array in the same memory as the others.
        counts: (E, 4) int32, free, nonneg, box rows and contacts of each environment; read at each
            call. More than n rows, or than p contacts, give `over_capacity`. lo and hi
            then have n columns.
        certificates: fill `certificate` of the results, as in `solve`.
        out: arrays for some of the results, by name (`BoundResult`); the others are allocated here.
        stream: CUDA stream of the calls: a number, or an object of CuPy, torch, Warp or any with
            `__cuda_stream__`. Default: the legacy default stream. A call may name another.
        law, solver, precision, tol, options, threads: as in `solve`.
        backend: "auto", or the one of the arrays' memory: "cpu", "cuda".

    Arrays other than W and J may omit the environment axis; all environments then share them.
    Raises TypeError and ValueError, naming the argument.
    """

    def __init__(
        self,
        *,
        W: Any = None,
        M: Any = None,
        J: Any = None,
        b: Any,
        mu: Any,
        dims: Any = None,
        n_free: int = 0,
        n_nonneg: int = 0,
        lo: Any = None,
        hi: Any = None,
        R: Any = None,
        warm_start: Any = None,
        v_free: Any = None,
        counts: Any = None,
        certificates: bool = False,
        out: dict[str, Any] | None = None,
        stream: Any = None,
        law: str | Law = "coulomb",
        solver: str | Solver = "auto",
        precision: str | Precision = "double",
        tol: float | None = None,
        options: SolveOptions | None = None,
        backend: Backend = "auto",
        threads: int | None = None,
    ) -> None:
        name = _leader(W, M, J, v_free)
        self._gpu, shape, dtype = _core.describe(name, W if name == "W" else J)
        _require_backend(backend, "cpu" if self._gpu < 0 else "cuda")
        self._stream = self._handle(stream)
        core_options = make_options(law, solver, precision, tol, options)
        num_envs, n, dtype = _sizes(name, shape, dtype, core_options.precision)
        check.require_memory(name, num_envs * n, dtype.itemsize)
        kinds = _Kinds(n, dims, n_free, n_nonneg, lo, hi, counts)
        arrays = {
            "W": W, "M": M, "J": J, "b": b, "R": R, "lo": lo, "hi": hi,
            "warm_start": warm_start, "v_free": v_free,
            "mu": self._friction(mu, kinds, dtype),
            "dims": self._placed(kinds.dims),
            "counts": self._placed(kinds.shape) if counts is None else counts,
        }  # fmt: skip
        own = {"impulse": ((n,), dtype), "residual": ((), np.dtype(float))}
        if v_free is not None:
            own["v_next"] = ((shape[-1],), dtype)
        if check.flag("certificates", certificates):
            own["certificate"] = ((n,), np.dtype(float))
        self.out = self._results(out, num_envs, own)
        results = {field.name: getattr(self.out, field.name) for field in fields(BoundResult)}
        self._bound = _core.BoundSolve(
            arrays, results, contacts=kinds.contacts, box=kinds.box, mu=kinds.mu,
            ragged=counts is not None, options=core_options, threads=check.thread_count(threads),
        )  # fmt: skip

    def __call__(self, stream: Any = None) -> BoundResult:
        """Solves, or, on a GPU, enqueues the solve on `stream` (default: the bound one)."""
        self._bound.run(self._stream if stream is None else self._handle(stream))
        return self.out

    def _handle(self, stream: Any) -> int:
        """The cudaStream_t of a stream, as a number."""
        if stream is None:
            return 0
        if self._gpu < 0:
            raise ValueError("stream: expected None because the arrays are in host memory")
        if hasattr(stream, "__cuda_stream__"):
            return int(stream.__cuda_stream__()[1])
        for attribute in ("cuda_stream", "ptr"):  # torch and Warp; CuPy
            stream = getattr(stream, attribute, stream)
        if isinstance(stream, bool) or not isinstance(stream, int):
            raise TypeError(f"stream: expected a CUDA stream, got {type(stream).__name__}")
        return stream

    def _placed(self, array: Any) -> Any:
        """A new array in the same memory as the caller's arrays."""
        own = self._gpu >= 0 and isinstance(array, np.ndarray)
        return _core.to_device(np.ascontiguousarray(array), self._gpu) if own else array

    def _friction(self, mu: Any, kinds: _Kinds, dtype: np.dtype) -> Any:
        if isinstance(mu, bool) or not isinstance(mu, int | float | np.number):
            return mu
        return self._placed(np.full(kinds.mu, mu, dtype))

    def _results(
        self, out: dict[str, Any] | None, num_envs: int, own: dict[str, tuple]
    ) -> BoundResult:
        """The caller's arrays, and new ones. `own`: shape and type of an environment's part of the
        results that are not int32 numbers; None among the results where optional ones are absent.
        """
        if not isinstance(out, dict | None):
            raise TypeError(f"out: expected a dict of arrays, got {type(out).__name__}")
        given = {} if out is None else out
        numbers = {
            f.name: ((), np.dtype(np.int32)) for f in fields(BoundResult) if f.default is not None
        }
        parts = numbers | own
        unknown = [name for name in given if name not in parts]
        if unknown:
            raise ValueError(f"out: expected names of {', '.join(parts)}, got {unknown[0]!r}")
        for name, array in given.items():
            if array is None:
                raise TypeError(f"out[{name!r}]: expected an array, got None")
        new = {
            name: self._placed(np.zeros((num_envs, *shape), dtype))
            for name, (shape, dtype) in parts.items()
            if name not in given
        }
        return BoundResult(**given, **new)


def _require_backend(backend: Any, own: str) -> None:
    """Refuses a backend other than that of the arrays' memory."""
    check.one_of("backend", backend, ("auto", "cpu", "cuda"))
    if backend not in ("auto", own):
        where = "host memory" if own == "cpu" else "the memory of a GPU"
        raise ValueError(
            f"backend: expected 'auto' or {own!r} because the arrays are in {where}, where a "
            f"BoundSolver solves them, got {backend!r}"
        )


def _leader(W: Any, M: Any, J: Any, v_free: Any) -> str:
    """Name of the argument that determines the sizes."""
    if W is not None:
        for name, value in (("M", M), ("J", J), ("v_free", v_free)):
            if value is not None:
                raise ValueError(f"{name}: expected None because W is given")
        return "W"
    for name, value in (("M", M), ("J", J)):
        if value is None:
            raise ValueError(f"{name}: expected an array because W is None, got None")
    return "J"


def _sizes(
    name: str, shape: tuple[int, ...], dtype: str, precision: Precision
) -> tuple[int, int, np.dtype]:
    """Environments, rows, and the type of all numbers."""
    if len(shape) != 3:
        expected = "(E, n, n)" if name == "W" else "(E, n, nv)"
        raise ValueError(f"{name}: expected shape {expected}, got {shape}")
    if dtype not in ("float32", "float64"):
        raise TypeError(f"{name}: expected float32 or float64, got {dtype}")
    if dtype == "float32" and precision != Precision.float:
        raise TypeError(
            f"{name}: expected float64 because precision is {precision.name!r}, got float32"
        )
    return shape[0], shape[1], np.dtype(dtype)


class _Kinds:
    """The number of rows of each kind, or its maximum."""

    dims: Any = None  #: None: all 3
    shape: np.ndarray | None = None  #: (4,), where all environments are alike

    def __init__(
        self, n: int, dims: Any, n_free: Any, n_nonneg: Any, lo: Any, hi: Any, counts: Any
    ) -> None:
        if (lo is None) != (hi is None):
            missing, present = ("lo", "hi") if lo is None else ("hi", "lo")
            raise ValueError(f"{missing}: expected an array because {present} is given, got None")
        self.box = 0 if lo is None else (0, *_core.describe("lo", lo)[1])[-1]
        fixed = [check.count("n_free", n_free), check.count("n_nonneg", n_nonneg), self.box]
        if dims is None:
            self.contacts = n // 3 if counts is not None else max(n - sum(fixed), 0) // 3
            self.mu = 2 * self.contacts
            rows = 3 * self.contacts
        elif isinstance(dims, list | tuple):
            self.dims = _dimensions(dims)
            self.contacts, rows = len(dims), int(self.dims.sum())
            self.mu = rows - self.contacts
        elif counts is None:
            raise TypeError(
                "dims: expected a list of numbers because counts is None, "
                f"got {type(dims).__name__}"
            )
        else:
            self.dims, self.contacts = dims, (0, *_core.describe("dims", dims)[1])[-1]
            self.mu = min(5 * self.contacts, 5 * n // 6)  # of contacts of dimension 6
        if counts is not None:
            if any(fixed[:2]):
                raise ValueError("n_free, n_nonneg: expected 0 because counts has them")
            self.box = n if lo is not None else 0
        elif sum(fixed) + rows != n:
            kinds = f"n_free {fixed[0]}, n_nonneg {fixed[1]}, n_box {self.box}, contacts {rows}"
            raise ValueError(f"rows: expected {sum(fixed) + rows} ({kinds}), got {n}")
        else:
            self.shape = np.array([*fixed, self.contacts], np.int32)


def _dimensions(dims: list | tuple) -> np.ndarray:
    for dim in dims:
        if dim not in (3, 4, 6):
            raise ValueError(f"dims: expected 3, 4 or 6, got {dim!r}")
    return np.array(dims, np.int32)
