"""Joint torques with which ants on the ground reach a velocity of their torso in the next step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import stickslip
from gallery import Check, Record
from stickslip import BatchSim, models

TITLE = "Joint torques of ants for a velocity"
DOCUMENT = "derivatives"

COMPLIANCE = 0.01  # of the normals, 1/kg; W_nn is about 1
GOAL = 1e-3  # m/s, rad/s
OPTIONS = stickslip.SolveOptions(atol=1e-10, rtol=1e-10)
TORSO = {0: "ahead", 1: "sideways", 5: "about the vertical"}  # of qvel
SAMPLES, ELITE = 16, 4
GRADIENTS, DIFFERENCES, SAMPLING = "gradients", "finite differences", "sampling"
COLOURS = {GRADIENTS: "C0", DIFFERENCES: "C1", SAMPLING: "C2"}
Derive = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def standing(robots: int, seed: int) -> BatchSim:
    """Ants that have landed and moved their legs at random."""
    model = models.find("ant")
    sim = BatchSim(model, robots, integrator="implicitfast", compliance=COMPLIANCE, options=OPTIONS)
    ctrl = np.random.default_rng(seed).uniform(-0.3, 0.3, (robots, 15, sim.ctrl.shape[1]))
    for k in range(ctrl.shape[1]):
        sim.step(ctrl[:, k], substeps=10)
    return sim


def counts(problem: Mapping[str, Any]) -> tuple[int, ...]:
    """Numbers of free, unilateral and bounded rows, and of contacts."""
    return (*(problem[f"n_{kind}"] for kind in ("free", "nonneg", "box")), len(problem["dims"]))


class Robots:
    """The contact problems of a simulation's states as one padded batch, torques being zero."""

    def __init__(self, sim: BatchSim) -> None:
        before, v = sim.state.copy(), sim.qvel.copy()
        sim.step(np.zeros(sim.ctrl.shape))
        parts = [sim.problem(env) for env in range(sim.num_envs)]
        sim.state[:] = before
        h, nv = sim.timestep, sim.qvel.shape[1]
        self.B = h * actuation()  # (nv, nu)
        self.M = np.array([p["M"] for p in parts])
        self.v_free = v + h * np.array([p["a_free"] for p in parts])
        rows = {name: max(len(p[name]) for p in parts) for name in ("b", "mu", "dims", "lo")}
        count = len(parts)
        self.J, self.b0 = np.zeros((count, rows["b"], nv)), np.zeros((count, rows["b"]))
        self.mu, R = np.zeros((count, rows["mu"])), np.zeros((count, rows["b"]))
        dims, numbers = np.full((count, rows["dims"]), 3), np.zeros((count, 4), int)
        lo, hi = np.zeros((2, count, rows["lo"]))
        for e, p in enumerate(parts):
            n = len(p["b"])
            self.J[e, :n], self.b0[e, :n], R[e, :n] = p["J"], p["b"], p["R"]
            self.mu[e, : len(p["mu"])], dims[e, : len(p["dims"])] = p["mu"], p["dims"]
            lo[e, : len(p["lo"])], hi[e, : len(p["hi"])] = p["lo"], p["hi"]
            numbers[e] = counts(p)
        self.others: dict[str, Any] = {"R": R, "lo": lo, "hi": hi, "dims": dims, "counts": numbers,
                                       "options": OPTIONS}  # fmt: skip
        self.W = stickslip.delassus(self.M, self.J)
        self.by_torque = np.linalg.solve(self.M, np.broadcast_to(self.B, (count, *self.B.shape)))
        self.solves = 0
        self.valid = np.ones(count, bool)  # the derivatives of `exact` that came last

    def step(self, torque: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
        """(E, nv) velocities after the step with torques (E, nu); and b, v_free, the solution."""
        moved = (self.by_torque @ torque[:, :, None])[:, :, 0]
        b = self.b0 + (self.J @ moved[:, :, None])[:, :, 0]
        solution = stickslip.solve(self.W, b, self.mu, **self.others)
        v_free = self.v_free + moved
        self.solves += 1
        v = stickslip.apply_impulse(self.M, self.J, solution.impulse, v_free)
        return v, b, v_free, solution

    def reached(self, torque: np.ndarray) -> np.ndarray:
        """The torso's velocity (E, 3)."""
        return self.step(torque)[0][:, list(TORSO)]

    def exact(self, torque: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The torso's velocity and its derivatives by torques (E, 3, nu)."""
        v, b, v_free, solution = self.step(torque)
        slopes = []
        self.valid = np.ones(len(v), bool)
        for dof in TORSO:
            g = np.zeros_like(v)
            g[:, dof] = 1
            found = stickslip.step_vjp(self.M, self.J, b, self.mu, v_free, solution, d_v_next=g,
                                       **self.others)  # fmt: skip
            slopes.append(found.adjoint @ self.B)
            self.valid &= found.ok
        return v[:, list(TORSO)], np.stack(slopes, axis=1)

    def differences(self, torque: np.ndarray, by: float = 1e-4) -> tuple[np.ndarray, np.ndarray]:
        """The same by one more solve for each joint."""
        start, slopes = self.reached(torque), []
        for step in by * np.eye(torque.shape[1]):
            slopes.append((self.reached(torque + step) - start) / by)
        return start, np.stack(slopes, axis=2)


def actuation() -> np.ndarray:
    """(nv, nu) generalised forces of one unit of each control."""
    import mujoco

    model = models.load(models.find("ant"))
    data = mujoco.MjData(model)
    columns = []
    for unit in np.eye(model.nu):
        data.ctrl[:] = unit
        mujoco.mj_forward(model, data)
        columns.append(data.qfrc_actuator.copy())
    return np.array(columns).T


def descend(robots: Robots, target: np.ndarray, derive: Derive) -> dict[str, Any]:
    """40 steps of Levenberg-Marquardt for each robot; torques within [-1, 1]."""
    tried = kept = np.zeros((len(target), robots.B.shape[1]))
    damping, best = np.full(len(target), 1e-3), np.full(len(target), np.inf)
    v, slope = np.zeros_like(target), np.zeros((*target.shape, robots.B.shape[1]))
    errors = []
    for _ in range(40):
        new_v, new_slope = derive(tried)
        error = abs(new_v - target).max(axis=1)
        better = error < best
        kept, best = np.where(better[:, None], tried, kept), np.minimum(error, best)
        v = np.where(better[:, None], new_v, v)
        slope = np.where(better[:, None, None], new_slope, slope)
        damping = np.clip(np.where(better, damping / 4, damping * 8), 1e-8, 1e4)
        errors.append((robots.solves, best))
        A = slope.transpose(0, 2, 1) @ slope
        size = np.einsum("ejj->e", A) / A.shape[1]
        A = A + (damping * size)[:, None, None] * np.eye(A.shape[1])
        g = slope.transpose(0, 2, 1) @ (target - v)[:, :, None]
        tried = np.clip(kept + np.linalg.solve(A, g)[:, :, 0], -1, 1)
    return {"torque": kept, "errors": errors}


def sample(robots: Robots, target: np.ndarray) -> dict[str, Any]:
    """Of 16 torques around the mean the best 4 give the next mean and spread, 100 times."""
    rng = np.random.default_rng(0)
    kept = mean = np.zeros((len(target), robots.B.shape[1]))
    spread: Any = 0.3
    best, errors = np.full(len(target), np.inf), []
    for _ in range(100):
        z = rng.normal(size=(len(target), SAMPLES, mean.shape[1])).transpose(1, 0, 2)
        tried = np.clip(mean + spread * z, -1, 1)
        tried[0] = kept
        found = np.array([abs(robots.reached(t) - target).max(axis=1) for t in tried])
        order = np.argsort(found, axis=0)[:ELITE]
        elite = np.take_along_axis(tried, order[:, :, None], axis=0)
        better = found.min(axis=0) < best
        kept = np.where(better[:, None], elite[0], kept)
        best = np.minimum(best, found.min(axis=0))
        mean, spread = elite.mean(axis=0), np.maximum(elite.std(axis=0), best[:, None])
        errors.append((robots.solves, best))
    return {"torque": kept, "errors": errors}


def solves_needed(errors: list[tuple[int, np.ndarray]]) -> np.ndarray:
    """(E,) solves until the goal is reached; infinite where it is not."""
    needed = np.full(len(errors[0][1]), np.inf)
    for solves, error in errors:
        needed = np.where((error < GOAL) & np.isinf(needed), solves, needed)
    return needed


def run(variations: int) -> Record:
    sim = standing(variations, seed=0)
    at = Robots(sim)
    torque = np.random.default_rng(1).uniform(-0.5, 0.5, (variations, at.B.shape[1]))
    target = at.reached(torque)  # so it can be reached
    record = Record([_derivatives(at, torque)])
    record.series.update({"start": at.reached(0 * torque), "target": target})
    kinds: dict[str, Callable[[Robots], dict[str, Any]]] = {
        GRADIENTS: lambda r: descend(r, target, r.exact),
        DIFFERENCES: lambda r: descend(r, target, r.differences),
        SAMPLING: lambda r: sample(r, target),
    }
    found = {name: method(Robots(sim)) for name, method in kinds.items()}
    for name, result in found.items():
        needed = solves_needed(result["errors"])
        record.numbers[f"{name}: reached, % of the ants"] = 100 * float(np.isfinite(needed).mean())
        for share in (50, 90):
            value = np.percentile(needed, share, method="higher")
            record.numbers[f"{name}: solves that {share} % of the ants need"] = float(value)
        record.series.update({f"{name}: needed": needed, f"{name}: torque": result["torque"]})
        record.series[f"{name}: solves"] = np.array([n for n, _ in result["errors"]])
        record.series[f"{name}: errors"] = np.array([e for _, e in result["errors"]])
    reached = at.reached(found[GRADIENTS]["torque"])
    record.series["reached"] = reached
    sim.step(found[GRADIENTS]["torque"])
    # A torque may close a contact that the step without torques does not have.
    same = np.array([counts(sim.problem(env)) for env in range(variations)]) == at.others["counts"]
    same = same.all(axis=1)
    record.numbers["other contacts without torques, % of the ants"] = 100 * float((~same).mean())
    off = abs(sim.qvel[:, list(TORSO)] - reached)[same].max()
    record.checks.append(
        Check("BatchSim with these torques against the solve, m/s or rad/s", float(off), 1e-6)
    )
    _costs(record)
    return record


def _derivatives(at: Robots, torque: np.ndarray) -> Check:
    """At the torques that reach the target, of the ants whose derivatives are valid."""
    exact = at.exact(torque)[1]
    valid = at.valid
    numeric = at.differences(torque, 1e-5)[1]
    error = abs(exact - numeric).max(axis=(1, 2)) / abs(numeric).max(axis=(1, 2))
    middle = float(np.median(error[valid]))
    return Check("derivatives against differences, relative, median", middle, 1e-4)


def _costs(record: Record) -> None:
    needed = {name: record.series[f"{name}: needed"] for name in COLOURS}
    missed = float(np.isinf(needed[GRADIENTS]).mean())
    record.checks.append(Check("gradients: share of ants that miss the target", missed, 0.1))
    for name, bound in ((DIFFERENCES, 1 / 8), (SAMPLING, 1 / 50)):
        ratio = np.median(needed[GRADIENTS]) / np.median(needed[name])
        record.checks.append(Check(f"median solves, gradients / {name}", float(ratio), bound))


def draw(record: Record) -> Figure:
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    axes = figure.subplots(2, 3)
    for place, i in zip(axes[0], range(3), strict=True):
        _velocities(place, record, i)
    _errors(axes[1, 0], record)
    _needed(axes[1, 1], record)
    _torques(axes[1, 2], record)
    return figure


def _velocities(axes: Any, record: Record, which: int) -> None:
    """Of the torso, beside those without torques: wanted, and as gradients have made them."""
    start, target = record.series["start"][:, which], record.series["target"][:, which]
    near = record.series[f"{GRADIENTS}: errors"][-1] < GOAL
    for of, colour, label in ((near, "C0", "reached"), (~near, "C3", "missed")):
        wanted, found = (v[of] - start[of] for v in (target, record.series["reached"][:, which]))
        axes.plot(wanted, found, ".", color=colour, markersize=3, label=label)
    axes.axline((0, 0), slope=1, color="k", linewidth=0.6)
    unit = "rad/s" if which == 2 else "m/s"
    axes.set(xlabel=f"wanted change [{unit}]", ylabel=f"change by the torques [{unit}]")
    axes.set_title(f"the torso's velocity {list(TORSO.values())[which]}")
    axes.legend(markerscale=3, loc="upper left")


def _errors(axes: Any, record: Record) -> None:
    for name, colour in COLOURS.items():
        errors = np.median(record.series[f"{name}: errors"], axis=1)
        errors = np.maximum(errors, 1e-17)
        axes.loglog(record.series[f"{name}: solves"], errors, f"{colour}.-", label=name)
    axes.axhline(GOAL, color="k", linewidth=0.6)
    axes.set(xlabel="solves of an ant", ylabel="median error [m/s or rad/s]")
    axes.set_title("how fast errors fall")
    axes.legend()


def _needed(axes: Any, record: Record) -> None:
    for name, colour in COLOURS.items():
        needed = np.sort(record.series[f"{name}: needed"])
        share = 100 * np.arange(1, len(needed) + 1) / len(needed)
        axes.step(needed, share, colour, where="post", label=name)
    axes.set_xscale("log")
    axes.set(xlabel="solves of an ant", ylabel="ants that have reached it [%]")
    axes.set_title(f"to {GOAL:g} m/s and rad/s")
    axes.legend(loc="lower right")


def _torques(axes: Any, record: Record) -> None:
    sizes = [abs(record.series[f"{name}: torque"]).max(axis=1) for name in COLOURS]
    axes.hist(sizes, bins=np.linspace(0, 1, 21), label=list(COLOURS), color=list(COLOURS.values()))
    axes.set(xlabel="largest control of an ant, of 1", ylabel="ants", title="what is applied")
    axes.legend()
