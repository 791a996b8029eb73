"""Mixed nonlinear complementarity problems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stickslip import _core
from stickslip._core import Status
from stickslip._src import arrays as check
from stickslip._src.aliases import Float64, Int32
from stickslip._src.solution import Verdicts


@dataclass(frozen=True)
class MncpOptions:
    """Tolerances and budget. solved means residual <= atol + rtol * max |(y, z)| at the start."""

    atol: float | None = None  #: None: 1e-9
    rtol: float | None = None  #: None: 1e-9
    max_newton: int = 100  #: steps of one attempt
    restarts: int = 0  #: further attempts, from points around the start


@dataclass(frozen=True, eq=False, repr=False)
class MncpSolution(Verdicts):
    """Solutions of a batch, and a verdict on each environment.

    For one problem instead of a batch the environment axis is missing.
    """

    x: Float64  #: (E, m), >= 0
    w: Float64  #: (E, n)
    y: Float64  #: (E, m), y(x, w)
    residual: Float64  #: (E,), max of |min(x, y)| and |z|
    status: Int32  #: (E,) int32; compare with members of `Status`
    iterations: Int32  #: (E,) int32, Newton steps

    def __repr__(self) -> str:
        if np.ndim(self.status) == 0:
            return (
                f"MncpSolution({Status(int(self.status)).name}, residual {self.residual:.1e}, "
                f"{self.iterations} iterations)"
            )
        counts = ", ".join(f"{number} {name}" for name, number in self.status_counts.items())
        return f"MncpSolution({len(self.status)} environments: {counts or 'none'})"


def solve_mncp(
    values: Callable[[Float64, Float64, int], tuple[Any, Any]],
    jacobian: Callable[[Float64, Float64, int], Any],
    x: ArrayLike = (),
    w: ArrayLike = (),
    *,
    tol: float | None = None,
    options: MncpOptions | None = None,
) -> MncpSolution:
    """Solves z(x, w) = 0, 0 <= y(x, w) ⟂ x >= 0 by Newton's method on Fischer and Burmeister's
    function; without x it is the Newton-Raphson method.

    Args:
        values: values(x, w, env) returns y (m,) and z (n,) of environment `env` at x (m,), w (n,).
            Where they are not defined they may be NaN: the step there is shortened.
        jacobian: jacobian(x, w, env) returns d(y, z) / d(x, w), (m + n, m + n).
        x, w: where to start: (E, m) and (E, n), or (m,) and (n,) for one problem. Negative numbers
            in x count as 0.
        tol: solved means residual <= tol * (1 + max |(y, z)| at the start); default 1e-9.
            Separate tolerances and the budget: `options`.

    Raises the exceptions of the functions, and TypeError and ValueError for a wrong type, shape or
    value of an argument. An environment whose start or values there are not finite is `bad_input`.
    """
    float64 = np.dtype(np.float64)
    start_x, start_w = (check.floats(name, a, float64) for name, a in (("x", x), ("w", w)))
    if start_x.size == 0 and start_x.ndim == 1 and start_w.ndim == 2:
        start_x = np.zeros((len(start_w), 0))
    if start_w.size == 0 and start_w.ndim == 1 and start_x.ndim == 2:
        start_w = np.zeros((len(start_x), 0))
    batched = start_x.ndim == 2
    if start_x.ndim not in (1, 2) or start_x.shape[:-1] != start_w.shape[:-1]:
        raise ValueError(
            f"x, w: expected shapes (E, m) and (E, n), or (m,) and (n,), got {start_x.shape} and "
            f"{start_w.shape}"
        )
    if not batched:
        start_x, start_w = start_x[None], start_w[None]
    options = MncpOptions() if options is None else options
    if not isinstance(options, MncpOptions):
        raise TypeError(f"options: expected MncpOptions, got {type(options).__name__}")
    (num_envs, m), n = start_x.shape, start_w.shape[1]
    out: dict[str, Any] = {
        **{name: np.zeros((num_envs, size)) for name, size in (("x", m), ("w", n), ("y", m))},
        "residual": np.zeros(num_envs),
        **{name: np.zeros(num_envs, np.int32) for name in ("status", "iterations")},
    }
    _core.solve_mncp(
        _map(values, jacobian, m, n),
        {"start_x": check.slots(start_x), "start_w": check.slots(start_w)},
        out,
        **check.tolerances(tol, options),
        max_newton=check.count("options.max_newton", options.max_newton),
        restarts=check.count("options.restarts", options.restarts),
    )
    solution = MncpSolution(**out)
    return solution if batched else solution.one()


def _map(
    values: Callable[..., Any], jacobian: Callable[..., Any], m: int, n: int
) -> Callable[..., None]:
    """The callback of the library: it fills y, z and, if given, J."""

    def fill(name: str, to: Float64, value: Any, env: int) -> None:
        array = check.float64(name, value)
        if array.shape != to.shape and array.size + to.size:
            raise ValueError(
                f"{name}: expected shape {to.shape}, got {array.shape} in environment {env}"
            )
        to[...] = array.reshape(to.shape)

    def call(env: int, x: Float64, w: Float64, y: Float64, z: Float64, J: Float64 | None) -> None:
        # The solver's memory is valid during this call only.
        given = values(x.copy(), w.copy(), env)
        if not isinstance(given, tuple) or len(given) != 2:
            raise TypeError(f"values: expected a tuple (y, z), got {type(given).__name__}")
        fill("values: y", y, given[0], env)
        fill("values: z", z, given[1], env)
        if J is not None:
            fill("jacobian", J, jacobian(x.copy(), w.copy(), env), env)

    return call
