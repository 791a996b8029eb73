"""Solves bound to their arrays: checked once, called often, on the host or on a GPU."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Generic, Unpack, overload

import numpy as np

from stickslip import _core
from stickslip._core import Law, Precision, Solver, Status
from stickslip._src import arrays as check
from stickslip._src.aliases import Array, Backend, LawName, Numbers, PrecisionName, SolverName
from stickslip._src.bound_arguments import (
    bound_layout,
    describe,
    friction_columns,
    leader_of,
    require_backend,
    require_type,
    sizes_of,
)
from stickslip._src.engine import EngineMechanism
from stickslip._src.keywords import BoundKeywords
from stickslip._src.options import SolveOptions, make_options


@dataclass(frozen=True, eq=False)
class BoundResult(Generic[Array]):
    """Arrays of the results of a `BoundSolver`, given by the caller or allocated by the solver.

    Allocated ones are numpy arrays on the host; on a GPU, arrays that every framework takes by
    DLPack without a copy (`torch.from_dlpack`, `cupy.from_dlpack`).
    """

    impulse: Array  #: (E, n), N s; rows beyond an environment's own are 0
    residual: Array  #: (E,) float64, m/s
    status: Array  #: (E,) int32, as all below; members of `Status`
    iterations: Array  #: sweeps, Newton steps, pivots together
    solver: Array  #: members of `Solver`: which produced the impulse
    rows_needed: Array  #: more than n where the status is over_capacity
    rung: Array  #: of the ladder, from 0: which produced the impulse
    v_next: Any = None  #: (E, nv), m/s; with `v_free` only
    #: (E, n) float64, proofs of what is infeasible, 0 elsewhere; with `certificates` only
    certificate: Any = None

    def __repr__(self) -> str:
        """Only shapes: on a GPU the numbers may not be there yet."""
        own = ((name, value) for name, value in vars(self).items() if value is not None)
        return f"BoundResult({', '.join(f'{n} {tuple(v.shape)}' for n, v in own)})"


@dataclass(frozen=True, eq=False)
class BoundGradient(Generic[Array]):
    """dL/d(problem), per environment, also for arrays that environments share: arrays that
    `BoundSolver.vjp` writes to, always the same, in the memory of those of a `BoundResult`.
    `stickslip.Gradient` explains the verdicts."""

    b: Array  #: (E, n)
    mu: Array  #: (E, p) if `mu` was an array per contact, else (E, k), per tangential row
    R: Array  #: (E, n)
    lo: Array | None  #: (E, n_box), as `lo` of the problem
    hi: Array | None
    status: Array  #: (E,) int32, members of `GradientStatus`
    kink_distance: Array  #: (E,) float64, m/s
    inconsistency: Array  #: (E,) float64
    redundant: Array  #: (E,) int32


class BoundSolver(Generic[Array]):
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
        engine: M and J in the arrays of a simulator, in float32; the other arrays are float64.
        b, mu: (E, n) free velocities, m/s; coefficients: (E, p) per contact, (E, k) per tangential
            row (with counts perhaps more columns, but not p), or one number.
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

    out: BoundResult[Array]
    _gradient: BoundGradient[Array] | None = None
    _loss: tuple[Any, Any] = (None, None)

    @overload
    def __init__(
        self: BoundSolver[Numbers],
        *,
        W: Numbers | None = None,
        M: Numbers | None = None,
        J: Numbers | None = None,
        **others: Unpack[BoundKeywords],
    ) -> None: ...
    @overload
    def __init__(
        self: BoundSolver[Any],
        *,
        W: Any = None,
        M: Any = None,
        J: Any = None,
        engine: EngineMechanism | None = None,
        **others: Unpack[BoundKeywords],
    ) -> None: ...
    def __init__(
        self,
        *,
        W: Any = None,
        M: Any = None,
        J: Any = None,
        engine: EngineMechanism | None = None,
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
        law: LawName | Law = "coulomb",
        solver: SolverName | Solver = "auto",
        precision: PrecisionName | Precision = "float64",
        tol: float | None = None,
        options: SolveOptions | None = None,
        backend: Backend = "auto",
        threads: int | None = None,
    ) -> None:
        name = leader_of(W, M, J, engine, v_free)
        leader = engine.J if engine is not None else W if name == "W" else J
        self._gpu, shape, given = describe(name, leader)
        require_backend(backend, "cpu" if self._gpu < 0 else "cuda")
        self._stream, self._owner = self._handle(stream), stream  # which lives until we end
        core_options = make_options(law, solver, precision, tol, options)
        num_envs, n, dtype = sizes_of(name, shape, given, b)
        check.require_memory(name, num_envs * n, dtype.itemsize)
        layout, box = bound_layout(n, dims, n_free, n_nonneg, lo, hi, counts)
        arrays = {
            "W": W, "M": M, "J": J, "b": b, "R": R, "lo": lo, "hi": hi,
            "warm_start": warm_start, "v_free": v_free,
            "mu": self._friction(mu, layout.tangential, dtype),
            "dims": self._placed(dims),
            "counts": self._placed(layout.counts) if counts is None else counts,
        }  # fmt: skip
        for key, value in arrays.items():
            require_type(key, value, "int32" if key in ("dims", "counts") else str(dtype), name)
        own = {"impulse": ((n,), dtype), "residual": ((), np.dtype(float))}
        if v_free is not None:
            own["v_next"] = ((shape[-1] if engine is None else engine.nv,), dtype)
        if check.flag("certificates", certificates):
            own["certificate"] = ((n,), np.dtype(float))
        self.out = self._results(out, num_envs, own)
        arrays["engine"] = None if engine is None else vars(engine)
        friction = friction_columns(arrays["mu"], num_envs, layout)
        self._bound = _core.BoundSolve(
            arrays, vars(self.out), contacts=layout.contacts, box=box, **friction,
            options=core_options, threads=check.thread_count(threads), rows=n,
        )  # fmt: skip
        self._sizes = (name, dtype, num_envs, n, friction["mu"], None if lo is None else box)

    def __repr__(self) -> str:
        leader, dtype, num_envs, n, *_ = self._sizes
        place = "host memory" if self._gpu < 0 else f"the memory of GPU {self._gpu}"
        return f"BoundSolver({leader} of {num_envs} × {n} rows, {dtype}, in {place})"

    def __call__(self, stream: Any = None) -> BoundResult[Array]:
        """Solves, or, on a GPU, enqueues the solve on `stream` (default: the bound one)."""
        self._bound.run(self._stream if stream is None else self._handle(stream))
        return self.out

    def vjp(
        self, *, d_impulse: Any = None, d_velocity: Any = None, stream: Any = None
    ) -> BoundGradient[Array]:
        """dL/d(problem) of a loss L of the results of the last call, in place: the bits of
        `stickslip.vjp`, in arrays that are allocated the first time. On a GPU it is enqueued as
        the solve is. A call that allocates or checks arrays cannot be captured: make one with the
        same objects before the capture.

        Args:
            d_impulse, d_velocity: (E, n) or (n,) dL/dr and dL/du, where u = (W + diag R) r + b, of
                the type of W; None: 0. Checked when an object is given that the call before was not
                given; what they hold is read at each call.
            stream: as in a call.

        Raises NotImplementedError for M and J in place of W (`stickslip.step_vjp`); TypeError and
        ValueError, naming the argument.
        """
        handle = self._stream if stream is None else self._handle(stream)
        known = self._loss
        if self._gradient is None or known[0] is not d_impulse or known[1] is not d_velocity:
            self._bind_loss(d_impulse, d_velocity)
        self._bound.vjp(handle)
        return self._gradient  # type: ignore[return-value]

    def _bind_loss(self, d_impulse: Any, d_velocity: Any) -> None:
        leader, dtype, num_envs, n, mu, box = self._sizes
        if leader != "W":
            raise NotImplementedError(
                "BoundSolver.vjp: expected a solver of W, got M and J, which stickslip.step_vjp "
                "takes as numpy arrays"
            )
        given = self._gradient
        if given is None:
            numbers: list[Any] = [
                None if width is None else self._placed(np.zeros((num_envs, width), dtype))
                for width in (n, mu, n, box, box)
            ]
            types = (np.int32, float, float, np.int32)
            verdict = [self._placed(np.zeros(num_envs, each)) for each in types]
            given = BoundGradient(*numbers, *verdict)
        self._bound.bind_vjp({"d_impulse": d_impulse, "d_velocity": d_velocity}, vars(given))
        self._gradient, self._loss = given, (d_impulse, d_velocity)

    def _handle(self, stream: Any) -> int:
        """The cudaStream_t of a stream, as a number."""
        if stream is None:
            return 0
        if self._gpu < 0:
            raise ValueError(
                f"stream: expected None because the arrays are in host memory, got {stream!r:.60}"
            )
        if hasattr(stream, "__cuda_stream__"):
            return int(stream.__cuda_stream__()[1])
        for attribute in ("cuda_stream", "ptr"):  # torch and Warp; CuPy
            stream = getattr(stream, attribute, stream)
        if isinstance(stream, bool) or not isinstance(stream, int):
            raise TypeError(f"stream: expected a CUDA stream, got {type(stream).__name__}")
        return stream

    def _placed(self, array: Any) -> Any:
        """A new array in the same memory as the caller's arrays; a list is one of int32."""
        array = np.array(array, np.int32) if isinstance(array, list | tuple) else array
        own = self._gpu >= 0 and isinstance(array, np.ndarray)
        return _core.to_device(np.ascontiguousarray(array), self._gpu) if own else array

    def _friction(self, mu: Any, rows: int, dtype: np.dtype[Any]) -> Any:
        if isinstance(mu, bool) or not isinstance(mu, int | float | np.number):
            return mu
        return self._placed(np.full(rows, mu, dtype))

    def _results(
        self, out: dict[str, Any] | None, num_envs: int, own: dict[str, tuple[Any, Any]]
    ) -> BoundResult[Any]:
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
            check.refuse_gradient(f"out[{name!r}]", array)
            if type(array).__module__.partition(".")[0] in ("jax", "jaxlib"):
                raise TypeError(f"out[{name!r}]: expected a writable array, got an array of JAX")
        start = {"status": Status.not_converged}  # before the first call
        new = {
            name: self._placed(np.full((num_envs, *shape), start.get(name, 0), dtype))
            for name, (shape, dtype) in parts.items()
            if name not in given
        }
        return BoundResult(**given, **new)
