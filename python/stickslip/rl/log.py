"""What a run has logged."""

from __future__ import annotations

import itertools
from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

_LOGGED = {
    "Train/mean_reward": "return",
    "Train/mean_episode_length": "length",
    "contacts/unsolved": "unsolved",
    "contacts/log10_residual": "log10_residual",
}
_SECONDS = ("Perf/collection_time", "Perf/learning_time")


def curve(run: Path) -> list[dict[str, float]]:
    """The log of a run, one row for each update: its number, `seconds` of training so far,
    `unsolved`, `log10_residual`, and once episodes have ended `return` and `length`."""
    log = EventAccumulator(str(run), size_guidance={"scalars": 0})  # 0: all of them
    log.Reload()
    rows: dict[int, dict[str, float]] = {}
    for tag in (*_LOGGED, *_SECONDS):
        for event in log.Scalars(tag) if tag in log.Tags()["scalars"] else []:
            row = rows.setdefault(event.step, {"update": event.step, "seconds": 0.0})
            if tag in _SECONDS:
                row["seconds"] += event.value
            else:
                row[_LOGGED[tag]] = event.value
    ordered = [rows[update] for update in sorted(rows)]
    for before, row in itertools.pairwise(ordered):
        row["seconds"] += before["seconds"]
    return ordered
