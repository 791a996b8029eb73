"""A bolt slides into a conical hole: contact forces by three methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from gallery import Record

TITLE = "Bolt into a conical hole, three methods"
DOCUMENT = "004"

DT = 1e-3  # s
STEPS = (2e-3, 1e-3, 5e-4, 2.5e-4)  # s, of the comparison
METHODS = {"linearised": "C7", "release": "C3", "Fischer": "C0", "fixpoint": "C2"}
SHOWN = 60  # bolts that are drawn as lines


def draw(record: Record) -> Figure:
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    axes = figure.subplots(2, 3)
    _tips(axes[0, 0], record)
    _tilts(axes[1, 0], record)
    _penetrations(axes[0, 1], record)
    _energies(axes[1, 1], record)
    _solves(axes[0, 2], record)
    _apart(axes[1, 2], record)
    return figure


def _tips(axes: Any, record: Record) -> None:
    """From the mouth of the hole to its floor; bolts that contacts pulled back stay above."""
    for name in ("release", "fixpoint"):
        rho, z = (1e3 * record.series[f"{name}: {quantity}"] for quantity in ("rho", "z"))
        lines = axes.plot(rho[:, :SHOWN], z[:, :SHOWN], METHODS[name], linewidth=0.6)
        lines[0].set_label(name)
    axes.axhline(0, color="k", linewidth=0.6)
    axes.annotate("cone above, bore below ", (axes.get_xlim()[1], -1), ha="right", va="top")
    axes.set(xlabel="tip from the hole's axis [mm]", ylabel="tip's height [mm]")
    axes.set_title("it slides into the right direction")
    axes.legend(loc="lower right")


def _tilts(axes: Any, record: Record) -> None:
    for name in ("release", "fixpoint"):
        tilt = np.rad2deg(record.series[f"{name}: tilt"])
        axes.plot(_time(tilt), tilt[:, :SHOWN], METHODS[name], linewidth=0.6)
    axes.set(xlabel="time [s]", ylabel="tilt [°]", title="the bore straightens it")


def _penetrations(axes: Any, record: Record) -> None:
    for name, colour in METHODS.items():
        deepest = np.maximum.accumulate(record.series[f"{name}: penetration"].max(axis=1))
        axes.semilogy(_time(deepest), np.maximum(deepest, 1e-16), colour, label=name)
    axes.axhline(1e-10, color="k", linewidth=0.6, linestyle="--", label="ε")
    axes.set(xlabel="time [s]", ylabel="deepest so far, of all bolts [m]", ylim=(1e-13, 1e-3))
    axes.set_title("penetration at the end of a step")
    axes.legend(loc="center right")


def _energies(axes: Any, record: Record) -> None:
    energy = record.series["fixpoint: energy"]
    axes.plot(_time(energy), (energy - energy[0])[:, :SHOWN], METHODS["fixpoint"], linewidth=0.6)
    work = energy - record.series["fixpoint: balance"]
    lines = axes.plot(_time(work), work[:, :SHOWN], "k", linewidth=0.6)
    lines[0].set_label("work of gap corrections")
    axes.set(xlabel="time [s]", ylabel="J/kg", title="energy less that at first, fixpoint")
    axes.legend(loc="lower left")


def _solves(axes: Any, record: Record) -> None:
    edges = np.arange(record.series["fixpoint: solves"].max() + 2) - 0.5
    names = [name for name in METHODS if name != "linearised"]
    counts = [record.series[f"{name}: solves"][1:].ravel() for name in names]
    axes.hist(counts, edges, color=[METHODS[name] for name in names], label=names)
    axes.set(xlabel="solves in a step", ylabel="steps", yscale="log")
    axes.set_title("Newton steps, or LCPs of the fixpoint")
    axes.legend()


def _apart(axes: Any, record: Record) -> None:
    for name, apart in zip(METHODS, record.series["apart"].T, strict=False):
        axes.loglog(1e3 * np.array(STEPS), np.maximum(apart, 1e-16), METHODS[name], marker=".")
    axes.set_xticks(1e3 * np.array(STEPS), [f"{1e3 * dt:g}" for dt in STEPS])
    axes.minorticks_off()
    axes.set(xlabel="Δt [ms]", ylabel="median of the largest [m]", title="tips from the fixpoint's")


def _time(values: np.ndarray) -> np.ndarray:
    """Of the rows, s."""
    return DT * np.arange(len(values))
