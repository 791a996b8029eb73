"""A box at rest is pushed to a target by a constant force that starts inside the friction cone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import stickslip
from gallery import Check, Record, vary
from gallery.box import Box, G

TITLE = "A push from inside the friction cone"
DOCUMENT = "derivatives"

H, STEPS, MU = 0.01, 30, 0.5
HALF = (0.2, 0.15, 0.05)
SOFTNESS = 1e-3  # R_n / W_nn
UNIT = 0.1  # m, of the loss
OPTIONS = stickslip.SolveOptions(atol=1e-10, rtol=1e-10)
ITERATIONS = 25
SAMPLES = 16
FEWER = 100  # boxes, at most, whose gradients are sampled
NEAR = 0.02  # m, from the target
EXACT, SOFT = "exact gradients, R = 0", "exact gradients, R_n = 1e-3 W_nn"
OF_GRADIENTS, OF_LOSSES = "mean of 16 gradients, R_n", "from 16 losses, R_n"
COLOURS = {EXACT: "C3", SOFT: "C0", OF_GRADIENTS: "C1", OF_LOSSES: "C2"}
Estimate = Callable[[np.ndarray, int], np.ndarray]


class Push:
    """E boxes of 1 kg that are pushed for 30 steps; L = |x - target|² / (0.1 m)² at the end."""

    def __init__(self, target: np.ndarray, softness: float) -> None:
        self.box, self.target = Box(HALF, softness, creep=0.0), target
        self.solves = 0  # of a box

    def step(self, force: np.ndarray, v: np.ndarray, warm: np.ndarray | None) -> tuple[Any, ...]:
        """Free velocities, the solution, and the velocities after a step. A plane box: it does not
        rise, tilt or turn from step to step."""
        v_free = v.copy()
        v_free[:, :2] += H * force
        v_free[:, 2] -= H * G
        W = np.broadcast_to(self.box.W, (len(v), 12, 12))
        b = v_free @ self.box.J.T
        solution = stickslip.solve(W, b, MU, R=self.box.R, options=OPTIONS, warm_start=warm)
        v = v_free + (solution.impulse @ self.box.J) * self.box.M_inverse
        v[:, 2:] = 0
        return v_free, solution, v

    def run(self, force: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[Any]]:
        """The losses (E,), the ends (E, 2) and what the way back needs."""
        v, x, warm, tape = np.zeros((len(force), 6)), np.zeros((len(force), 2)), None, []
        for _ in range(STEPS):
            v_free, solution, v = self.step(force, v, warm)
            warm = solution.impulse
            tape.append((v_free, solution))
            x = x + H * v[:, :2]
        self.solves += STEPS * len(force) // len(self.target)
        return (((x - self.target) / UNIT) ** 2).sum(axis=1), x, tape

    def gradient(self, force: np.ndarray) -> np.ndarray:
        """dL/dF (E, 2): backward in time, one `step_vjp` each."""
        _, x, tape = self.run(force)
        by_x, by_v = 2 * (x - self.target) / UNIT**2, np.zeros((len(force), 6))
        by_force, J = np.zeros_like(by_x), self.box.J
        M = np.broadcast_to(np.diag(1 / self.box.M_inverse), (len(force), 6, 6))
        Js = np.broadcast_to(J, (len(force), *J.shape))
        for v_free, solution in reversed(tape):
            by_v[:, :2] += H * by_x
            by_v[:, 2:] = 0
            found = stickslip.step_vjp(M, Js, v_free @ J.T, MU, v_free, solution, d_v_next=by_v,
                                       R=self.box.R, options=OPTIONS)  # fmt: skip
            by_v = found.v_free
            by_force += H * by_v[:, :2]
        return by_force


class Sampled(Push):
    """Estimates from 16 random forces around the present one, solved as one batch."""

    def around(self, force: np.ndarray, iteration: int) -> tuple[Push, np.ndarray, float]:
        """All sampled boxes, their random numbers (16, E, 2), and how far these spread, N."""
        rng, spread = np.random.default_rng(iteration), 2.0 if iteration < 10 else 0.8
        half = rng.normal(size=(len(force), SAMPLES // 2, 2)).transpose(1, 0, 2)
        many = Push(np.tile(self.target, (SAMPLES, 1)), SOFTNESS)
        self.solves += SAMPLES * STEPS
        return many, np.concatenate([half, -half]), spread

    def mean_gradient(self, force: np.ndarray, iteration: int) -> np.ndarray:
        many, z, spread = self.around(force, iteration)
        forces = (force + spread * z).reshape(-1, 2)
        return many.gradient(forces).reshape(z.shape).mean(axis=0)

    def slope(self, force: np.ndarray, iteration: int) -> np.ndarray:
        """Of the losses alone."""
        many, z, spread = self.around(force, iteration)
        loss = many.run((force + spread * z).reshape(-1, 2))[0].reshape(SAMPLES, -1, 1)
        return ((loss - loss.mean(axis=0)) * z / spread).mean(axis=0)


def descend(problem: Push, force: np.ndarray, estimate: Estimate) -> np.ndarray:
    """Adam with steps of 1.5 N, then 0.45 N. Ends (iterations + 1, E, 2)."""
    mean, square = np.zeros_like(force), np.zeros_like(force)
    ends, judge = [], Push(problem.target, problem.box.R[0] / problem.box.W[0, 0])
    for k in range(ITERATIONS + 1):
        ends.append(judge.run(force)[1])
        gradient = estimate(force, k)
        mean, square = 0.8 * mean + 0.2 * gradient, 0.95 * square + 0.05 * gradient**2
        rate = 1.5 if k < 15 else 0.45
        scale = np.sqrt(square / (1 - 0.95 ** (k + 1))) + 1e-9
        force = force - rate * mean / (1 - 0.8 ** (k + 1)) / scale
    return np.array(ends)


def tasks(boxes: int) -> tuple[np.ndarray, np.ndarray]:
    """Targets, m, and forces at the start: 30 to 80 % of mu m g, 1 rad off."""
    angle = vary(boxes, 0, 0, 2 * np.pi)
    far, strong = vary(boxes, 1, 0.05, 0.3), vary(boxes, 2, 0.3, 0.8) * MU * G
    way = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    off = np.stack([np.cos(angle + 1), np.sin(angle + 1)], axis=1)
    return far[:, None] * way, strong[:, None] * off


def travel(box: Box) -> np.ndarray:
    """dx/dF (2,), m/N, of a box that sticks: in closed form, of the page."""
    half, inertia = np.array(HALF), 1 / box.M_inverse[3:5][::-1]  # about y for x, about x for y
    c = 1 / (1 + (inertia + 4 * half[:2] ** 2 / box.R[0]) / half[2] ** 2)
    powers = c ** np.arange(1, STEPS + 1)[:, None]
    return H**2 * np.cumsum(powers, axis=0).sum(axis=0)


def run(variations: int) -> Record:
    target, force = tasks(variations)
    few = slice(min(variations, FEWER))
    rigid, soft = Push(target, 0.0), Push(target, SOFTNESS)
    some = [Sampled(target[few], SOFTNESS) for _ in range(2)]
    record = Record(_at_the_start(rigid, soft, force), {}, {"target": target, "force": force})
    rigid.solves = soft.solves = 0
    descents: dict[str, tuple[Push, Estimate]] = {
        EXACT: (rigid, lambda force, k: rigid.gradient(force)),
        SOFT: (soft, lambda force, k: soft.gradient(force)),
        OF_GRADIENTS: (some[0], some[0].mean_gradient),
        OF_LOSSES: (some[1], some[1].slope),
    }
    for name, (problem, estimate) in descents.items():
        ends = descend(problem, force[: len(problem.target)], estimate)
        away = np.linalg.norm(ends - problem.target, axis=2)
        record.series.update({f"{name}: ends": ends, f"{name}: distances": away})
        record.numbers[f"{name}: within 2 cm, % of the boxes"] = 100 * float(
            (away[-1] < NEAR).mean()
        )
        record.numbers[f"{name}: solves of a box"] = problem.solves
    moved = np.abs(record.series[f"{EXACT}: ends"]).max()
    missed = (record.series[f"{SOFT}: distances"][-1] >= NEAR).mean()
    record.checks.append(Check(f"{EXACT}: way that a box moves, m", float(moved), 1e-6))
    record.checks.append(Check(f"{SOFT}: share farther than 2 cm", float(missed), 0.15))
    return record


def _at_the_start(rigid: Push, soft: Push, force: np.ndarray) -> list[Check]:
    """Gradients inside the cone; and where all boxes slide, beside differences."""
    exact = soft.gradient(force)
    per_newton = travel(soft.box)
    closed = 2 * (per_newton * force - soft.target) / UNIT**2 * per_newton
    away = abs(exact - closed).max(axis=1) / abs(closed).max(axis=1)
    strong = 2.5 * MU * G * force / np.linalg.norm(force, axis=1)[:, None]
    sliding, numeric = soft.gradient(strong), np.zeros_like(strong)
    for j, step in enumerate(1e-6 * np.eye(2)):
        numeric[:, j] = (soft.run(strong + step)[0] - soft.run(strong - step)[0]) / 2e-6
    off = abs(sliding - numeric).max(axis=1) / abs(numeric).max(axis=1)
    zero = float(abs(rigid.gradient(force)).max())
    return [
        Check("R = 0, inside the cone: largest entry of dL/dF, 1/N", zero, 1e-9),
        Check("R_n, inside: dL/dF against the closed form, relative", float(away.max()), 5e-5),
        Check("R_n, sliding: dL/dF against differences, relative", float(off.max()), 1e-5),
    ]


def draw(record: Record) -> Figure:
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    axes = figure.subplots(2, 3)
    _landscape(axes[0, 0])
    _distances(axes[0, 1], record)
    _solves(axes[0, 2], record)
    for place, name in zip(axes[1], (EXACT, SOFT, OF_GRADIENTS), strict=True):
        _ends(place, record, name)
    return figure


def _landscape(axes: Any) -> None:
    """The gradient of one box by how hard it is pushed towards a target 0.2 m ahead."""
    share = np.r_[np.linspace(0.05, 0.95, 10), np.linspace(1.02, 2, 40)]
    force = np.stack([share * MU * G, 0 * share], axis=1)
    target = np.tile([0.2, 0.0], (len(share), 1))
    for softness, style, label in ((0.0, "C3o", "R = 0"), (SOFTNESS, "C0.", "R_n = 1e-3 W_nn")):
        slope = abs(Push(target, softness).gradient(force)[:, 0])
        axes.semilogy(share, np.maximum(slope, 1e-14), style, label=label, markersize=4)
    axes.axvline(1, color="k", linewidth=0.8)
    axes.set(xlabel="F / (μ m g)", ylabel="|dL/dF| [1/N]", title="inside and outside the cone")
    axes.legend()


def _distances(axes: Any, record: Record) -> None:
    for name, colour in COLOURS.items():
        away = record.series[f"{name}: distances"]
        axes.semilogy(np.median(away, axis=1), colour, label=name)
    axes.axhline(NEAR, color="k", linewidth=0.6)
    axes.set(xlabel="iterations of Adam", ylabel="median distance to the target [m]")
    axes.set_title("four kinds of gradients")
    axes.legend(fontsize=8)


def _solves(axes: Any, record: Record) -> None:
    """The share that has arrived, by the solves that it took."""
    for name, colour in COLOURS.items():
        near = record.series[f"{name}: distances"] < NEAR
        each = record.numbers[f"{name}: solves of a box"] / len(near)
        solves = each * np.arange(1, len(near) + 1)
        axes.semilogx(solves, 100 * near.mean(axis=1), f"{colour}.-", label=name)
    axes.set(xlabel="solves of a box", ylabel="boxes within 2 cm [%]")
    axes.set_title("what they take (colours as there)")


def _ends(axes: Any, record: Record, name: str) -> None:
    """Where boxes end, in units of the way to their target, which is at (1, 0)."""
    ends = record.series[f"{name}: ends"]
    target = record.series["target"][: ends.shape[1]]
    along = target / (target**2).sum(axis=1)[:, None]
    across = np.stack([-along[:, 1], along[:, 0]], axis=1)
    for k, colour in ((5, "0.75"), (10, "C1"), (ITERATIONS, "C0")):
        x, y = (np.einsum("ei,ei->e", ends[k], way) for way in (along, across))
        axes.plot(x, y, ".", color=colour, markersize=4, label=f"after {k}")
    axes.plot(0, 0, "ks", markersize=9, fillstyle="none", label="start")
    axes.plot(1, 0, "r+", markersize=12, label="target")
    axes.set(xlabel="along / distance of the target", ylabel="across / distance")
    axes.set_title(f"{name}\n{len(target):,} boxes")
    axes.set(xlim=(-0.3, 2.3), ylim=(-1, 1))
    axes.legend(fontsize=8, loc="upper right")
