"""The status of environments over time, in memory that does not grow with the run."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from stickslip._src.aliases import Float64, Int32

_MOST_ROWS, _MOST_COLUMNS = 256, 1000
QUANTILES = (0.5, 0.99, 1.0)


class Timeline:
    """Worst status by environment and step, and quantiles of the residual by step.

    Long runs and large batches are stored coarsely: a row stands for neighbouring environments, a
    column for neighbouring steps, and each cell keeps the worst value.

    Args:
        num_envs: number of environments.
        steps: how many there will be.
    """

    def __init__(self, num_envs: int, steps: int) -> None:
        self.num_envs, self.steps = num_envs, steps
        rows, columns = min(num_envs, _MOST_ROWS), min(steps, _MOST_COLUMNS)
        self._first_env = np.arange(rows) * num_envs // rows
        self.status = np.zeros((rows, columns), np.uint8)  #: of `Status`
        self.residual = np.zeros((columns, len(QUANTILES)))  #: of those that are finite

    def add(self, step: int, status: Int32, residual: Float64) -> None:
        """Adds a step's status and residual, both (N,)."""
        column = step * self.status.shape[1] // self.steps
        worst = np.maximum.reduceat(status.astype(np.uint8), self._first_env)
        np.maximum(self.status[:, column], worst, out=self.status[:, column])
        finite = residual[np.isfinite(residual)]
        if len(finite):
            quantiles = np.quantile(finite, QUANTILES)
            np.maximum(self.residual[column], quantiles, out=self.residual[column])

    def end(self, steps: int) -> None:
        """Leaves out the steps from `steps` on, which were not made."""
        columns = -(-steps * self.status.shape[1] // self.steps)
        self.steps, self.status, self.residual = (
            steps,
            self.status[:, :columns],
            self.residual[:columns],
        )

    def save(self, file: Path) -> None:
        """Writes it as an .npz file."""
        np.savez_compressed(
            file,
            status=self.status,
            residual=self.residual,
            num_envs=self.num_envs,
            steps=self.steps,
        )

    @classmethod
    def load(cls, file: Path) -> Timeline:
        """Reads a file of `save`."""
        with np.load(file) as saved:
            timeline = cls(int(saved["num_envs"]), int(saved["steps"]))
            timeline.status, timeline.residual = saved["status"], saved["residual"]
        return timeline
