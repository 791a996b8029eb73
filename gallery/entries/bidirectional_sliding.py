"""A block is pushed back and forth at random, in two formulations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from gallery import Record

TITLE = "Bidirectional sliding, two formulations"
DOCUMENT = "003"

G = 9.81  # m/s²
BLOCKS = "m, mu, dt, push, fictitious, rests"  # what the series of that name has
SHOWN = 8  # blocks that are drawn as lines


def draw(record: Record) -> Figure:
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    axes = figure.subplots(2, 3)
    _speeds(axes[0, 0], record)
    _both(axes[0, 1], record)
    _forces(axes[0, 2], record)
    _apart(axes[1, 0], record)
    _fictitious(axes[1, 1], record)
    _rests(axes[1, 2], record)
    return figure


def _speeds(axes: Any, record: Record) -> None:
    _, mu, dt, push = record.series[BLOCKS][:4]
    time = np.arange(1, 1 + len(record.series["xdot"]))
    for i in np.argsort(push)[:: max(1, len(push) // SHOWN)]:
        speed = record.series["xdot"][:, i] / (mu[i] * G * dt[i])
        axes.plot(time, speed, linewidth=0.8, label=f"{push[i]:.1f} μ m g")
    axes.set(xlabel="step", ylabel="ẋ / (μ g Δt)", title="pushed to and fro", xlim=(0, 150))
    axes.legend(fontsize="small", title="largest |u|")


def _parts(record: Record) -> tuple[np.ndarray, ...]:
    """xdot before and after, and lambda-, lambda+ over mu m g, of steps 2 to 300."""
    m, mu, dt, _ = record.series[BLOCKS][:4]
    before, after = record.series["xdot"][:-1], record.series["xdot"][1:]
    u, most = record.series["u"][1:], mu * m * G
    minus = (m / dt * (before - np.maximum(after, 0)) + u) / most
    plus = (m / dt * (-before - np.maximum(-after, 0)) - u) / most
    return before, after, minus, plus


def _both(axes: Any, record: Record) -> None:
    """xdot+ against xdot-: lemma 2.1."""
    mu, dt = record.series[BLOCKS][1:3]
    speed = (record.series["xdot"] / (mu * G * dt)).ravel()
    thinned = speed[:: max(1, speed.size // 20_000)]
    axes.plot(np.maximum(thinned, 0), np.maximum(-thinned, 0), ".", markersize=2)
    axes.set(xlabel="ẋ⁺ / (μ g Δt)", ylabel="ẋ⁻ / (μ g Δt)", title="lemma 2.1: never both")


def _forces(axes: Any, record: Record) -> None:
    """The parts of lambda+ and lambda- that are friction, and the others."""
    before, _, minus, plus = _parts(record)
    push = record.series[BLOCKS][3]
    i = int(abs(push - 3).argmin())
    steps = np.arange(2, 2 + len(before))
    axes.plot(steps, plus[:, i], "C0.-", linewidth=0.6, markersize=3, label="λ⁺")
    axes.plot(steps, -minus[:, i], "C1.-", linewidth=0.6, markersize=3, label="-λ⁻")
    axes.axhspan(-1, 1, color="k", alpha=0.15, label="what friction can be")
    axes.set(
        xlabel="step", ylabel="force / (μ m g)", title="one of both is fictitious", xlim=(0, 60)
    )
    axes.legend(fontsize="small")


def _apart(axes: Any, record: Record) -> None:
    apart = record.series["apart"][:, 0]
    thinned = apart[: len(apart) // 100 * 100].reshape(-1, 100).max(axis=1)
    axes.semilogy(100 * np.arange(1, 1 + len(thinned)), thinned, linewidth=0.8)
    blocks = len(record.series["xdot"][0])
    axes.set(xlabel="step", ylabel="largest difference of ẋ [m/s]")
    axes.set_title(f"two formulations, {blocks:,} blocks, {len(apart):,} steps")


def _fictitious(axes: Any, record: Record) -> None:
    push, fictitious = record.series[BLOCKS][3:5]
    axes.plot(push, fictitious, ".", markersize=3)
    axes.axhline(1, color="r", linewidth=0.6, label="most that friction can be")
    axes.set(
        xlabel="largest |u| / (μ m g)", ylabel="largest fictitious force / (μ m g)", yscale="log"
    )
    axes.set_title("the fictitious force has no bound")
    axes.legend()


def _rests(axes: Any, record: Record) -> None:
    push, _, rests = record.series[BLOCKS][3:6]
    axes.plot(push, rests, ".", markersize=3)
    axes.axvline(1, color="r", linewidth=0.6, label="|u| ≤ μ m g: never moves")
    axes.set(
        xlabel="largest |u| / (μ m g)", ylabel="share of steps that end at rest", title="stick"
    )
    axes.legend()
