"""Steps a batch and records the results: the part of `stickslip run` between its arguments and its
table."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stickslip._core import Solver, Status
from stickslip._src import json_numbers
from stickslip._src.aliases import Control, Float64
from stickslip._src.interrupt import ctrl_c
from stickslip._src.sim import BatchSim
from stickslip.files import ContactProblem, from_simulation
from stickslip.files.problems import stored_residual

STAGES = ("mujoco", "gather", "delassus", "solve", "apply", "scatter")
QUANTILES = (0.5, 0.9, 0.99, 0.999)
_HOLD = 10  # steps for which random controls are held
_MAX_FILMED, _MAX_FRAMES = 32, 200  # environments and instants kept for the picture


class Controller:
    """Controls (N, nu) around `centre` with half the actuators' range as amplitude."""

    def __init__(self, model: Any, num_envs: int, kind: Control, seed: int) -> None:
        limited = model.actuator_ctrllimited.astype(bool)[:, None]
        low, high = np.where(limited, model.actuator_ctrlrange, [-1.0, 1.0]).T
        self.low, self.high = low, high
        self.centre = model.key_ctrl[0].copy() if model.nkey else (low + high) / 2
        if kind == "zero" and not model.nkey:
            self.centre = np.zeros(model.nu)
        self.kind = kind
        self.rng = np.random.default_rng(seed)
        self.phase = self.rng.uniform(0, 2 * np.pi, (num_envs, model.nu))
        self.values = np.tile(self.centre, (num_envs, 1))

    def __call__(self, step: int, seconds: float) -> Float64:
        if self.kind == "zero":
            return self.values
        if self.kind == "sine":
            wave = np.sin(2 * np.pi * seconds + self.phase)  # 1 Hz
        elif step % _HOLD == 0:
            wave = self.rng.uniform(-1, 1, self.values.shape)
        else:
            return self.values
        amplitude = (self.high - self.low) / 4
        self.values = np.clip(self.centre + amplitude * wave, self.low, self.high)
        return self.values


class ResidualHistogram:
    """Residuals by decade, 20 bins each, so that memory does not grow with the run."""

    edges = np.logspace(-18, 6, 24 * 20 + 1)

    def __init__(self) -> None:
        self.counts = np.zeros(len(self.edges) + 1, np.int64)  # below, the bins, above
        self.infinite = 0

    def add(self, residual: Float64) -> None:
        finite = residual[np.isfinite(residual)]
        self.infinite += int(np.isinf(residual).sum())
        bins = np.searchsorted(self.edges, finite, side="right")
        self.counts += np.bincount(bins, minlength=len(self.counts))

    def quantile(self, q: float) -> float:
        """Upper edge of the bin that holds the quantile (at most 12 % too much); NaN if empty."""
        total = self.counts.sum() + self.infinite
        if total == 0:
            return float("nan")
        at = int(np.searchsorted(np.cumsum(self.counts), q * total))
        return float(self.edges[at]) if at < len(self.edges) else float("inf")


@dataclass
class RunRecord:
    """The record of a run."""

    num_envs: int
    steps: int = 0
    seconds: float = 0.0  #: wall time in BatchSim.step
    interrupted: bool = False  #: by Ctrl-C, after `steps`
    stages: dict[str, float] = field(default_factory=dict)  #: seconds
    status: Float64 = field(default_factory=lambda: np.zeros(len(Status), np.int64))
    solver: Float64 = field(default_factory=lambda: np.zeros(len(Solver), np.int64))
    contacts: list[tuple[float, int]] = field(default_factory=list)  #: (mean, max) by step
    rows: list[tuple[float, int]] = field(default_factory=list)
    residuals: ResidualHistogram = field(default_factory=ResidualHistogram)
    worst: dict[str, Any] = field(default_factory=dict)
    filmed: list[Float64] = field(default_factory=list)  #: qpos of the first environments
    filmed_steps: list[int] = field(default_factory=list)  #: of these, from 0 on

    @property
    def env_steps_per_second(self) -> float:
        return self.num_envs * self.steps / self.seconds if self.seconds else 0.0

    def add(self, sim: BatchSim, film: bool) -> None:
        self.status += np.bincount(sim.status, minlength=len(self.status))
        self.solver += np.bincount(sim.solver, minlength=len(self.solver))
        self.contacts.append((float(sim.num_contacts.mean()), int(sim.num_contacts.max())))
        self.rows.append((float(sim.num_rows.mean()), int(sim.num_rows.max())))
        self.residuals.add(sim.residual)
        if film:
            self.filmed.append(sim.qpos[:_MAX_FILMED].copy())
            self.filmed_steps.append(self.steps)
        env = int(np.argmax(sim.residual))
        if sim.residual[env] > self.worst.get("residual", -1.0):
            self.worst = {
                "environment": env,
                "step": self.steps,
                "residual": float(sim.residual[env]),
                "status": Status(sim.status[env]).name,
                "contacts": int(sim.num_contacts[env]),
                "rows": int(sim.num_rows[env]),
            }
        self.steps += 1

    def as_dict(self) -> dict[str, Any]:
        """Everything except the film, ready for JSON (infinite numbers as the text "inf")."""
        return {
            "environments": self.num_envs,
            "steps": self.steps,
            "interrupted": self.interrupted,
            "seconds": self.seconds,
            "env_steps_per_second": self.env_steps_per_second,
            "stage_seconds": self.stages,
            "contacts_per_environment": _summary(self.contacts),
            "rows_per_environment": _summary(self.rows),
            "status": {s.name: int(self.status[s]) for s in Status},
            "solver": {s.name: int(self.solver[s]) for s in Solver if self.solver[s]},
            "residual_quantiles": {
                str(q): json_numbers.number(self.residuals.quantile(q)) for q in QUANTILES
            },
            "worst": {k: json_numbers.number(v) for k, v in self.worst.items()},
        }


class WorstProblems:
    """Is called after every step, and keeps the problems of the environments with the worst
    residuals: the worst of each step, and one per environment."""

    def __init__(self, sim: BatchSim, most: int = 5) -> None:
        self.sim, self.most = sim, most
        self._found: dict[int, ContactProblem] = {}

    @property
    def problems(self) -> list[ContactProblem]:
        """The worst first; none with the law mujoco."""
        return sorted(self._found.values(), key=stored_residual, reverse=True)

    def __call__(self, record: RunRecord) -> None:
        if self.sim.law == "mujoco":
            return
        env = int(np.argmax(self.sim.residual))
        residual, found = self.sim.residual[env], self._found
        if env in found:
            beaten = stored_residual(found[env])
        else:
            beaten = stored_residual(self.problems[-1]) if len(found) == self.most else -1.0
        if residual <= beaten:
            return
        found[env] = from_simulation(self.sim, env, f"env{env}_step{record.steps}")
        if len(found) > self.most:
            del found[min(found, key=lambda e: stored_residual(found[e]))]


def simulate(
    sim: BatchSim,
    controller: Controller,
    steps: int,
    on_step: Callable[[RunRecord], None] = lambda record: None,
) -> RunRecord:
    """Steps the batch; calls `on_step` after every step. Ctrl-C ends it after the step in progress,
    a second one at once, with KeyboardInterrupt."""
    record = RunRecord(sim.num_envs)
    before = sim.timings()
    every = max(1, steps // _MAX_FRAMES)
    with ctrl_c() as pressed:
        for step in range(steps):
            ctrl = controller(step, step * sim.timestep)
            start = time.perf_counter()
            sim.step(ctrl)
            record.seconds += time.perf_counter() - start
            record.add(sim, film=step % every == 0 or step == steps - 1)
            on_step(record)
            if pressed:
                record.interrupted = True
                break
    after = sim.timings()
    record.stages = {stage: after[stage] - before[stage] for stage in STAGES}
    record.stages["other"] = max(0.0, record.seconds - sum(record.stages.values()))
    return record


def _summary(by_step: list[tuple[float, int]]) -> dict[str, float]:
    means, maxima = zip(*by_step, strict=True) if by_step else ((0.0,), (0,))
    return {"mean": float(np.mean(means)), "max": int(np.max(maxima))}
