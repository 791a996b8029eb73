"""Makes a problem of a file from a simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stickslip import _core
from stickslip._core import Solver, Status
from stickslip._src.options import SolveOptions
from stickslip._src.solve import solve
from stickslip.files.problems import ContactProblem, StoredSolution

if TYPE_CHECKING:
    from stickslip._src.sim import BatchSim


def from_simulation(sim: BatchSim, env: int, name: str | None = None) -> ContactProblem:
    """The problem of `env` in the latest solve, with its impulse and the verdict on it.

    A warm start is part of the problem where there was one: the bits depend on it. Raises
    ValueError for a simulation of law "mujoco", whose problems MuJoCo solves.
    """
    if sim.law == "mujoco":
        raise ValueError("law: expected one whose problems are solved here, got 'mujoco'")
    p = sim.problem(env)
    scale = float(np.abs(p["b"]).max(initial=0.0))
    return ContactProblem(
        name=name or f"env{env}_step{sim.timings()['steps']}",
        **{key: p[key] for key in ("W", "b", "mu", "dims", "lo", "hi", "R")},
        n_free=p["n_free"],
        n_nonneg=p["n_nonneg"],
        warm_start=p["warm_start"] if p["warm_start"].any() else None,
        start_selected=p["start_selected"],
        law=sim.law,
        directions=sim._options.directions,
        level="acceleration" if sim.law == "convex" else "velocity",
        stored=StoredSolution(
            values=p["impulse"],
            status=Status(p["status"]).name,
            residual=float(p["residual"]),
            iterations=int(p["iterations"]),
            solver=Solver(p["solver"]).name,
            tolerance=_core.tolerance(sim._options, scale),
            certificate=_proof(p, sim),
        ),
        notes={"source": "stickslip.BatchSim", "environment": env, "time": float(sim.time[env])},
    )


def _proof(p: dict[str, Any], sim: BatchSim) -> np.ndarray | None:
    """The proof that the problem has no solution, computed again: steps do not keep it."""
    if p["status"] != Status.infeasible:
        return None
    keys = ("W", "b", "mu", "dims", "n_free", "n_nonneg", "lo", "hi", "R")
    atol, rtol = (tol if tol >= 0 else None for tol in (sim._options.atol, sim._options.rtol))
    arguments: dict[str, Any] = {"law": sim.law, **{key: p[key] for key in keys}}
    told = solve(**arguments, options=SolveOptions(atol, rtol), certificates=True)
    return told.certificate if told.status == Status.infeasible else None
