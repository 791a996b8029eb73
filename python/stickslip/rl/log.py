"""What a run has logged."""

from __future__ import annotations

from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

_LOGGED = {
    "Train/mean_reward": "return",
    "Train/mean_episode_length": "length",
    "contacts/unsolved": "unsolved",
    "contacts/largest_residual": "largest_residual",
    "Perf/collection_time": "collection_seconds",
    "Perf/learning_time": "learning_seconds",
}


def curve(run: Path) -> list[dict[str, float]]:
    """The log of a run, one row for each update: `update`, and what was logged."""
    log = EventAccumulator(str(run), size_guidance={"scalars": 0})  # 0: all of them
    log.Reload()
    rows: dict[int, dict[str, float]] = {}
    for tag, name in _LOGGED.items():
        for event in log.Scalars(tag) if tag in log.Tags()["scalars"] else []:
            rows.setdefault(event.step, {"update": event.step})[name] = event.value
    return [rows[update] for update in sorted(rows)]
