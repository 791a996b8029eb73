"""Training with rsl_rl's proximal policy optimization, on one process or under torchrun."""

from __future__ import annotations

import copy
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.nn  # before there is a group: see Trainer.close
from rsl_rl.runners import OnPolicyRunner

from stickslip.rl import runs
from stickslip.rl.progress import RunLogger, silent
from stickslip.rl.vec_env import RslRlEnv


@contextmanager
def raised_by_ctrl_c() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, also where a shell has started the program in the background
    with the signal ignored. Only the main thread gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


class Trainer(OnPolicyRunner):
    """rsl_rl's runner for one process of a run. Under torchrun each process has its own batch of
    environments; rsl_rl averages gradients and scales, so that all hold the same agent.

    Args:
        settings: of the run.
        run: its folder; made if absent.
        resume: continue from the newest checkpoint in `run`, in new episodes.
        verbose: print all that rsl_rl prints of each update, instead of a line for some.
    """

    def __init__(
        self, settings: runs.Settings, run: Path, resume: bool = False, verbose: bool = False
    ) -> None:
        self.settings, self.run = settings, run
        self.processes, self.rank = int(os.getenv("WORLD_SIZE", "1")), int(os.getenv("RANK", "0"))
        self.interrupted = False
        device = settings.device
        if device == "cuda":
            device = f"cuda:{os.getenv('LOCAL_RANK', '0')}"
        torch.manual_seed(settings.seed)
        envs = RslRlEnv(settings.env, settings.num_envs, device, **settings.options)
        config = copy.deepcopy(settings.rsl_rl)
        # An update of a short run has no more steps than the run.
        share = -(-settings.steps // (settings.num_envs * self.processes))
        config["num_steps_per_env"] = min(config["num_steps_per_env"], share)
        with silent(not verbose):  # it prints the networks
            super().__init__(envs, config, str(run), device)
        self.logger = self._own_logger(verbose)
        if resume:
            self._continue()
        # Other actions and episodes in each process, and after `resume` than at the start.
        torch.manual_seed(settings.seed + 1 + self.rank + self.done_steps)
        envs.seed(settings.seed + self.rank * settings.num_envs + self.done_steps)

    @property
    def done_steps(self) -> int:
        """Environment steps of all processes so far; counted in the first process."""
        return self.logger.tot_timesteps

    @property
    def mean_return(self) -> float | None:
        """Of the last 100 episodes in the first process."""
        return self.logger.mean_return

    def train(self) -> None:
        """Runs at least to `settings.steps`, in whole updates. Ctrl-C saves and ends it
        (`interrupted`); it can be resumed."""
        if self.rank == 0:
            runs.save(self.settings, self.run)
        each = self.cfg["num_steps_per_env"] * self.settings.num_envs * self.processes
        try:
            with raised_by_ctrl_c():
                self.learn(-(-(self.settings.steps - self.done_steps) // each))
        except KeyboardInterrupt:
            self.interrupted = True
            if self.rank == 0:
                self.save(str(self.run / f"model_{self.current_learning_iteration}.pt"))
        self.close()

    def _own_logger(self, verbose: bool) -> RunLogger:
        """With the arguments that rsl_rl's runner gives to its own."""
        return RunLogger(
            verbose,
            log_dir=str(self.run),
            cfg=self.cfg,
            env_cfg=self.env.cfg,
            num_envs=self.env.num_envs,
            is_distributed=self.is_distributed,
            gpu_world_size=self.gpu_world_size,
            gpu_global_rank=self.gpu_global_rank,
            device=self.device,
        )

    def save(self, path: str, infos: dict[str, Any] | None = None) -> None:
        """As rsl_rl does, and what its own checkpoints do not count."""
        counts = {"steps": self.logger.tot_timesteps, "seconds": self.logger.tot_time}
        super().save(path, (infos or {}) | counts)

    def _continue(self) -> None:
        """From the newest checkpoint, the counts included; rsl_rl's `load` leaves those at zero."""
        saved = runs.weights(self.run, self.device)
        self.alg.load(saved, None, strict=True)
        self.current_learning_iteration = saved["iter"] + 1
        self.logger.tot_timesteps = saved["infos"]["steps"]
        self.logger.tot_time = saved["infos"]["seconds"]

    def close(self) -> None:
        """Writes the log's last lines, leaves the process group and ends its threads. Otherwise
        gloo's threads may abort the program at its end, if they still hold tensors
        (pytorch/pytorch#190489).

        The threads end when nothing refers to the group. Functions of torch.distributed.nn have it
        as a default argument if they are defined while there is one, as when an optimizer imports
        them: so this module imports them first."""
        if hasattr(self.logger.writer, "close"):
            self.logger.writer.close()
        self.env.envs.close()
        if dist.is_initialized():
            dist.destroy_process_group()

    def _configure_multi_gpu(self) -> None:
        """Also without GPUs: rsl_rl itself averages between GPUs only."""
        if self.device != "cpu" or self.processes == 1:
            super()._configure_multi_gpu()
            return
        self.is_distributed, self.gpu_world_size = True, self.processes
        self.gpu_global_rank, self.gpu_local_rank = self.rank, int(os.environ["LOCAL_RANK"])
        self.cfg["multi_gpu"] = {
            "global_rank": self.gpu_global_rank,
            "local_rank": self.gpu_local_rank,
            "world_size": self.gpu_world_size,
        }
        dist.init_process_group("gloo")
