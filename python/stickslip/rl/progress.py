"""What a training prints: rsl_rl's numbers, or one line for some updates."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

from rsl_rl.utils.logger import Logger

from stickslip._src.text import told

EVERY = 10  #: updates for a line


def silent(wanted: bool) -> contextlib.AbstractContextManager[Any]:
    """rsl_rl has no option to print nothing."""
    return contextlib.redirect_stdout(io.StringIO()) if wanted else contextlib.nullcontext()


class RunLogger(Logger):
    """rsl_rl's logger, which prints one line for `EVERY` updates unless `verbose`, and which keeps
    nothing of the repository that the packages may be installed in."""

    def __init__(self, verbose: bool, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._verbose = verbose
        self._unsolved: list[float] = []  # share in each step since the last line
        self._told_steps, self._told_time = 0, 0.0  # at the last line
        self.git_status_repos.clear()

    def init_logging_writer(self) -> None:
        super().init_logging_writer()
        self._told_steps, self._told_time = self.tot_timesteps, self.tot_time
        if self.writer is not None:
            with contextlib.suppress(OSError):  # it has something
                (Path(self.log_dir) / "git").rmdir()

    def log(self, it: int, start_it: int, total_it: int, **numbers: Any) -> None:
        if self._verbose:
            super().log(it, start_it, total_it, **numbers)
            return
        self._unsolved += [each["contacts/unsolved"] for each in self.ep_extras]
        with silent(True):
            super().log(it, start_it, total_it, **numbers)
        if self.writer is not None and ((it - start_it) % EVERY == 0 or it == total_it - 1):
            print(self._line(), flush=True)

    @property
    def mean_return(self) -> float | None:
        """Of the last 100 episodes."""
        return sum(self.rewbuffer) / len(self.rewbuffer) if self.rewbuffer else None

    def _line(self) -> str:
        """Return, and what counts from the last line on."""
        earned = self.mean_return
        told_return = "no episode ended yet" if earned is None else f"return {told(earned)}"
        unsolved = 100 * sum(self._unsolved) / len(self._unsolved)
        speed = (self.tot_timesteps - self._told_steps) / (self.tot_time - self._told_time)
        self._unsolved.clear()
        self._told_steps, self._told_time = self.tot_timesteps, self.tot_time
        parts = told_return, f"unsolved {unsolved:.3g} %", f"{speed:,.0f} steps/s"
        return ", ".join((f"{self.tot_timesteps:,} steps", *parts))
