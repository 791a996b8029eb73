"""Performance profiles (Dolan & Moré 2002): the share of problems that a solver solves within a
multiple of the time of the fastest solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stickslip._src.aliases import Flags, Float64


@dataclass(frozen=True)
class Entry:
    """Results of one solver for P problems; a time is NaN where it cannot take the problem."""

    name: str
    about: str
    ours: bool
    able: Flags  #: (P,) bool; the other arrays count only where this is true
    claimed: Flags  #: (P,) bool, the solver's own verdict
    solved: Flags  #: (P,) bool, the oracle's
    finite: Flags  #: (P,) bool, no NaN or infinity
    residual: Float64  #: (P,) m/s, the oracle's
    us: Float64  #: (P, rounds) microseconds

    @property
    def median_us(self) -> Float64:
        """(P,) median over the rounds."""
        return np.median(self.us, axis=1)


def performance_ratios(times: Float64) -> Float64:
    """(S, P) time over the least time of the problem. A time is infinite where the solver fails;
    so is its ratio, even where all fail."""
    best = times.min(axis=0)
    solvable = np.isfinite(best)
    ratios = np.full(times.shape, np.inf)
    ratios[:, solvable] = times[:, solvable] / best[solvable]
    return ratios


def performance_profile(times: Float64, tau: Float64) -> Float64:
    """(S, T) share of the P problems that solver s solves within tau times the least time."""
    ratios = performance_ratios(times)
    return (ratios[:, :, None] <= tau).mean(axis=1)


def times_of(entries: list[Entry]) -> Float64:
    """(S, P) microseconds, infinite where the oracle does not call the problem solved."""
    return np.array([np.where(e.able & e.solved, e.median_us, np.inf) for e in entries])


def ratios_per_round(us: Float64, first: Float64) -> Float64:
    """(rounds,) ratio of the medians over the problems, of (P, rounds) microseconds."""
    return np.median(us, axis=0) / np.median(first, axis=0) if len(us) else np.empty(0)


def draw(path: Path, entries: list[Entry], title: str) -> None:
    """Writes the PNG: profiles, and the share of each solver's claims that are wrong."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    times = times_of(entries)
    ratios = performance_ratios(times)
    finite = ratios[np.isfinite(ratios)]
    tau = np.geomspace(1.0, max(2.0, 1.2 * finite.max(initial=1.0)), 400)
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(12, 4.6), width_ratios=(3, 2), layout="constrained"
    )
    profile = performance_profile(times, tau)
    for entry, line in zip(entries, profile, strict=True):
        left.step(tau, 100 * line, where="post", label=entry.name, lw=2.2 if entry.ours else 1.3,
                  ls="-" if entry.ours else "--")  # fmt: skip
    left.set(xscale="log", xlim=(1, tau[-1]), ylim=(0, 102), ylabel="problems solved, %")
    left.set_xlabel("time / least time of the problem")
    left.legend(fontsize=8, loc="lower right")
    left.grid(alpha=0.3)
    _draw_verdicts(right, entries)
    figure.suptitle(title, parse_math=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw_verdicts(axes: Any, entries: list[Entry]) -> None:
    """Share of each verdict, and whether it is correct."""
    kinds: dict[str, tuple[str, Callable[[Entry], Flags]]] = {
        "solved, and says so": ("#4c9f70", lambda e: e.solved & e.claimed),
        "solved, denies it": ("#a8d5ba", lambda e: e.solved & ~e.claimed),
        "not solved, claims it": ("#c8553d", lambda e: ~e.solved & e.claimed),
        "not solved, says so": ("#cccccc", lambda e: ~e.solved & ~e.claimed),
    }
    names = [e.name for e in entries][::-1]
    left = np.zeros(len(names))
    for label, (colour, which) in kinds.items():
        share = np.array([100 * which(e)[e.able].mean() for e in entries])[::-1]
        axes.barh(names, share, left=left, color=colour, label=label)
        left += share
    axes.set(xlim=(0, 100), xlabel="verdicts, % of the problems it takes")
    axes.legend(fontsize=7, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    axes.tick_params(labelsize=8)
