"""The friction and the mass of boxes, each identified from one trajectory of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import stickslip
from gallery import Check, Record, vary
from gallery.box import Box, G

TITLE = "Friction and mass of boxes, identified"
DOCUMENT = "derivatives"

H, STEPS = 0.01, 40  # s, 1
START = (0.4, 1.2)  # the first guess: mu, m in kg
NOISE = 0.01  # m/s, rad/s
ITERATIONS, LATER = 6, 12
BOX = Box((0.2, 0.15, 0.1), softness=1e-3, creep=1e-3)
OPTIONS = stickslip.SolveOptions(atol=1e-11, rtol=1e-11)
UNKNOWNS = {"μ": "-", "m, relative": "--"}  # and the style of their lines
SHARES = {50: "C0", 90: "C1", 99: "C3"}  # % of the boxes, and the colour


@dataclass
class Trajectories:
    velocity: np.ndarray  #: (T, E, 6)
    sensitivity: np.ndarray  #: (T, E, 6, 2), by log mu and log m
    valid: np.ndarray  #: (E,) all derivatives are


class Experiment:
    """Boxes that start with different velocities and are pushed in different phases."""

    def __init__(self, boxes: int) -> None:
        self.phase = vary(boxes, 0, 0, 2 * np.pi)
        nothing = 0 * self.phase
        along, across = vary(boxes, 1, -1.7, 1.7), vary(boxes, 2, -1.7, 1.7)  # m/s
        turning = vary(boxes, 3, -3.4, 3.4)  # rad/s
        self.start = np.stack([along, across, nothing, nothing, nothing, turning], axis=1)
        self.mu, self.mass = vary(boxes, 4, 0.1, 0.8), np.exp(vary(boxes, 5, *np.log([0.5, 3])))

    def push(self, time: float) -> np.ndarray:
        """(E, 6) N and N m, at the centre of the box."""
        nothing, phase = 0 * self.phase, self.phase
        along, across = 6 * np.sin(6 * time + phase), 5 * np.cos(4 * time + phase)
        turning = 0.3 * np.sin(5 * time + phase)
        return np.stack([along, across, nothing, nothing, nothing, turning], axis=1)

    def run(self, mu: np.ndarray, mass: np.ndarray) -> Trajectories:
        """All steps with these unknowns, (E,) each."""
        boxes, inverse = len(mu), BOX.M_inverse / mass[:, None]
        W = BOX.W / mass[:, None, None]
        friction, R = np.repeat(mu[:, None], 4, axis=1), BOX.R / mass[:, None]
        v, S, warm = self.start, np.zeros((boxes, 6, 2)), None
        velocities, sensitivities, valid = [], [], np.ones(boxes, bool)
        for k in range(STEPS):
            v, S = turn(v, S)
            force = self.push(k * H) * inverse
            v_free = v + H * force
            v_free[:, 2] -= H * G
            b = v_free @ BOX.J.T
            solution = stickslip.solve(W, b, friction, R=R, options=OPTIONS, warm_start=warm)
            warm = solution.impulse
            gained = (warm @ BOX.J) * inverse
            v, S = v_free + gained, S.copy()
            S[:, :, 1] -= H * force  # of v_free by log m
            # of mu, W and R by log mu, log m
            changes: tuple[dict[str, Any], ...] = ({"dmu": friction}, {"dW": -W, "dR": -R})
            for j, change in enumerate(changes):
                found = stickslip.jvp(W, b, friction, solution, db=S[:, :, j] @ BOX.J.T, R=R,
                                      options=OPTIONS, **change)  # fmt: skip
                valid &= found.ok
                S[:, :, j] += (found.impulse @ BOX.J) * inverse - j * gained
            velocities.append(v)
            sensitivities.append(S)
        return Trajectories(np.array(velocities), np.array(sensitivities), valid)


def turn(v: np.ndarray, S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Velocities in the frame of the box that has turned by a step, and their sensitivities."""
    c, s = np.cos(H * v[:, 5]), np.sin(H * v[:, 5])
    v, S = v.copy(), S.copy()
    x, y = v[:, 0].copy(), v[:, 1].copy()
    v[:, 0], v[:, 1] = c * x + s * y, c * y - s * x
    c, s, by_x, by_y = c[:, None], s[:, None], S[:, 0].copy(), S[:, 1].copy()
    S[:, 0] = c * by_x + s * by_y + H * v[:, 1, None] * S[:, 5]
    S[:, 1] = c * by_y - s * by_x - H * v[:, 0, None] * S[:, 5]
    return v, S


def normal_matrices(S: np.ndarray) -> np.ndarray:
    """(E, 2, 2) Σ SᵀS of each box over its steps."""
    return np.einsum("teic,teid->ecd", S, S)


def identify(experiment: Experiment, observed: np.ndarray) -> dict[str, np.ndarray]:
    """Gauss-Newton: estimates (iterations + 1, E, 2) of mu and m, the validity of the derivatives
    (iterations, E), and the matrices Σ SᵀS at the end, (E, 2, 2)."""
    boxes = len(experiment.mu)
    guess = np.log(np.tile(START, (boxes, 1)))
    damping, estimates, valid = np.full(boxes, 1e-3), [np.exp(guess)], []
    at = experiment.run(*np.exp(guess.T))
    loss = squares(at, observed)
    for _ in range(LATER):
        S = at.sensitivity
        A = normal_matrices(S)
        g = np.einsum("teic,tei->ec", S, observed - at.velocity)
        scale = damping[:, None] * np.einsum("ecc->ec", A) + 1e-12
        step = np.linalg.solve(A + scale[:, :, None] * np.eye(2), g[:, :, None])[:, :, 0]
        tried = guess + np.clip(step, -1, 1)
        new = experiment.run(*np.exp(tried.T))
        better = squares(new, observed) < loss
        damping = np.where(better, damping / 5, damping * 10)
        guess = np.where(better[:, None], tried, guess)
        at.velocity[:, better] = new.velocity[:, better]
        at.sensitivity[:, better] = new.sensitivity[:, better]
        loss = squares(at, observed)
        estimates.append(np.exp(guess))
        valid.append(new.valid)
    return {"estimates": np.array(estimates), "valid": np.array(valid),
            "normal": normal_matrices(at.sensitivity)}  # fmt: skip


def squares(found: Trajectories, observed: np.ndarray) -> np.ndarray:
    return ((found.velocity - observed) ** 2).sum(axis=(0, 2))


def run(variations: int) -> Record:
    experiment = Experiment(variations)
    true = experiment.run(experiment.mu, experiment.mass)
    record = Record([_sensitivities(experiment, true)])
    truth = np.stack([experiment.mu, experiment.mass], axis=1)
    rng = np.random.default_rng(1)
    noise = NOISE * rng.normal(size=(variations, STEPS, 6)).transpose(1, 0, 2)
    record.series.update({"true": truth, "exact": true.velocity, "observed": true.velocity + noise})
    for name, of_mu, of_mass in (("exact", 1e-7, 3e-7), ("observed", 1e-3, 3e-3)):
        label = "no noise" if name == "exact" else f"noise {NOISE:g} m/s"
        found = identify(experiment, record.series[name])
        errors = abs(found["estimates"] - truth)
        errors[:, :, 1] /= truth[:, 1]
        record.series.update({f"{name}: estimates": found["estimates"], f"{name}: errors": errors})
        early, late = np.median(errors[ITERATIONS], axis=0), errors[LATER]
        record.checks.extend(
            [
                Check(f"{label}: median error of mu after {ITERATIONS}", float(early[0]), of_mu),
                Check(f"{label}: the same of m, relative", float(early[1]), of_mass),
                Check(f"{label}: share of derivatives not valid", float((~found["valid"]).mean()),
                      1e-3),
            ]
        )  # fmt: skip
        near = (late[:, 0] < 0.01 * truth[:, 0]) & (late[:, 1] < 0.01)
        record.numbers[f"{label}: both within 1 % after {LATER}, % of the boxes"] = float(
            100 * near.mean()
        )
    spread = NOISE * np.sqrt(np.linalg.inv(found["normal"])[:, 0, 0]) * truth[:, 0]
    record.series["predicted, actual error of mu"] = np.array([spread, late[:, 0]])
    record.numbers[f"{label}: median of the error of mu over its predicted standard deviation"] = (
        float(np.median(late[:, 0] / spread))
    )
    return record


def _sensitivities(experiment: Experiment, true: Trajectories) -> Check:
    """Against central differences of whole trajectories, of log mu and log m."""
    worst = np.zeros(len(experiment.mu))
    for j in range(2):
        by = 1e-5 * np.eye(2)[j]
        ends = [experiment.run(experiment.mu * np.exp(s * by[0]),
                               experiment.mass * np.exp(s * by[1])).velocity
                for s in (1, -1)]  # fmt: skip
        numeric = (ends[0] - ends[1]) / 2e-5
        error = abs(true.sensitivity[..., j] - numeric).max(axis=(0, 2))
        worst = np.maximum(worst, error / abs(numeric).max(axis=(0, 2)))
    return Check("sensitivities against differences, relative, median", float(np.median(worst)),
                 1e-6)  # fmt: skip


def draw(record: Record) -> Figure:
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    axes = figure.subplots(2, 3)
    _trajectory(axes[0, 0], record)
    _convergence(axes[0, 1], record.series["exact: errors"], "no noise")
    _convergence(axes[0, 2], record.series["observed: errors"], f"noise {NOISE:g} m/s")
    for share, colour in SHARES.items():
        axes[0, 1].plot([], [], colour, label=f"{share} % of the boxes")
    for name, style in UNKNOWNS.items():
        axes[0, 2].plot([], [], "k", linestyle=style, label=name)
    axes[0, 1].legend(fontsize=8, loc="lower left")
    axes[0, 2].legend()
    _estimates(axes[1, 0], record, 0, "μ")
    _estimates(axes[1, 1], record, 1, "m [kg]")
    _spread(axes[1, 2], record)
    return figure


def _trajectory(axes: Any, record: Record) -> None:
    time = H * np.arange(1, STEPS + 1)
    for i, label in ((0, "along x"), (1, "along y")):
        axes.plot(time, record.series["exact"][:, 0, i], f"C{i}", label=label)
        axes.plot(time, record.series["observed"][:, 0, i], f"C{i}.", markersize=3)
    axes.set(xlabel="time [s]", ylabel="velocity in the box's frame [m/s]")
    axes.set_title("one box (dots: with noise)")
    axes.legend()


def _convergence(axes: Any, errors: np.ndarray, title: str) -> None:
    for i, style in enumerate(UNKNOWNS.values()):
        for share, colour in SHARES.items():
            values = np.percentile(errors[:, :, i], share, axis=1)
            axes.semilogy(np.maximum(values, 1e-17), colour, linestyle=style)
    axes.set(xlabel="Gauss–Newton iterations", ylabel="at most this error", title=title)


def _estimates(axes: Any, record: Record, which: int, label: str) -> None:
    truth = record.series["true"][:, which]
    for k, colour in ((1, "0.8"), (2, "C1"), (ITERATIONS, "C0")):
        found = record.series["observed: estimates"][k, :, which]
        axes.plot(truth, found, ".", color=colour, markersize=3, label=f"after {k}")
    axes.axline((truth.min(), truth.min()), slope=1, color="k", linewidth=0.6)
    axes.set(xlabel=f"true {label}", ylabel=f"identified {label}")
    axes.set_title(f"noise {NOISE:g} m/s")
    axes.set_ylim(0, 1.25 * truth.max())
    axes.legend(markerscale=3)


def _spread(axes: Any, record: Record) -> None:
    predicted, actual = record.series["predicted, actual error of mu"]
    axes.loglog(predicted, actual, ".", markersize=3)
    ends = np.array([predicted.min(), predicted.max()])
    for factor, style, label in ((1, "k-", "equal"), (3, "k:", "three times as large")):
        axes.loglog(ends, factor * ends, style, linewidth=0.8, label=label)
    axes.set(xlabel="predicted standard deviation of μ", ylabel="error of μ")
    axes.set_title(f"noise {NOISE:g} m/s, after {LATER}")
    axes.legend()
