"""Environments of different models that step together."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stickslip._src import arrays as check
from stickslip._src import sim_arguments as given
from stickslip._src.aliases import Float64, Int32
from stickslip._src.model_source import Model
from stickslip._src.sim import BatchSim

#: What is written there takes effect in the next call.
_WRITABLE = (
    "time", "qpos", "qvel", "act", "ctrl", "qacc", "qfrc_applied", "xfrc_applied",
    "eq_active", "mocap_pos", "mocap_quat", "mocap_velocity",
)  # fmt: skip
_RESULTS = (
    "sensordata", "contact_force", "contact_friction", "contact_force_mean",
    "contact_friction_mean", "contact_slip", "status", "residual", "iterations", "solver",
    "num_contacts", "num_rows", "position_rounds", "penetration", "failures",
)  # fmt: skip


class MixedBatchSim:
    """Environments of different models: other objects, sizes, robots. Each model has a `BatchSim`
    of its own (`parts`); all step at once, and each environment has the bits of its part alone.

    The arrays of `BatchSim` for states and results are here under the same names, (N, ...), in the
    order of `models`. They are copies: what is written there reaches the parts in the next call,
    which brings them up to date. Where models differ in size, an array has the size of the largest,
    and what an environment does not have is unused, 0 at first. All else, as derivatives and
    statistics, is that of `parts`; `places` tells whose.

    Args:
        models: of each environment, as in `BatchSim`. The same object, path or text again is the
            same model.
        num_envs: None, one for each of `models`; else environment i has models[i % len(models)].
        threads: CPU threads of all parts together; default all cores.
        arguments: of `BatchSim`, for all parts.

    Raises:
        TypeError, ValueError: as `BatchSim`, with the model's number.
    """

    def __init__(
        self,
        models: Sequence[Model],
        num_envs: int | None = None,
        *,
        threads: int | None = None,
        **arguments: Any,
    ) -> None:
        if isinstance(models, str | os.PathLike) or not isinstance(models, Sequence) or not models:
            raise TypeError(f"models: expected a sequence of models, got {models!r:.60}")
        count = len(models) if num_envs is None else check.count("num_envs", num_envs, low=1)
        self.num_envs = count
        of_env = [_key(models[i % len(models)]) for i in range(count)]
        keys = list(dict.fromkeys(of_env))
        #: For each part, the numbers of its environments.
        self.places: tuple[NDArray[np.intp], ...] = tuple(
            np.array([i for i, own in enumerate(of_env) if own == key]) for key in keys
        )
        workers = check.thread_count(threads) or len(os.sched_getaffinity(0))
        own = max(1, workers // len(keys))
        self.parts: tuple[BatchSim, ...] = tuple(
            _made(models, int(where[0]) % len(models), len(where), own, arguments)
            for where in self.places
        )
        self._open(workers)

    def _open(self, workers: int) -> None:
        self._workers = workers
        self._pool = ThreadPoolExecutor(min(workers, len(self.parts)))
        self._caller = threading.Lock()
        self._stop = np.zeros(1, np.uint8)  # Ctrl-C: Python tells its first thread alone
        for part in self.parts:
            part._core.stop_when(self._stop)
        self._arrays: dict[str, NDArray[Any]] = {}
        self._known: dict[str, NDArray[Any]] = {}  #: the writable ones, as the parts have them
        self._own = frozenset((*vars(self), "_own"))

    def __setattr__(self, name: str, value: Any) -> None:
        """AttributeError for arrays, which are written into, and for names that there are not."""
        if "_own" in vars(self) and name not in self._own and name != "state":
            arrays = name in (*_WRITABLE, *_RESULTS)
            raise AttributeError(
                f"MixedBatchSim: write into the array, {name}[...] = ..." if arrays
                else f"MixedBatchSim has no attribute {name!r}"
            )  # fmt: skip
        super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        self._write()
        return _restored, (self.parts, self.places, self._workers)

    def __repr__(self) -> str:
        return f"MixedBatchSim({len(self.parts)} models, num_envs={self.num_envs})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in (*_WRITABLE, *_RESULTS):
            raise AttributeError(f"MixedBatchSim has no attribute {name!r}")
        if name not in self._arrays:
            self._arrays[name] = values = self._gathered(name)
            if name in _WRITABLE:
                self._known[name] = values.copy()
        return self._arrays[name]

    def _gathered(self, name: str) -> NDArray[Any]:
        """The arrays of the parts in one."""
        return self._joined([getattr(part, name) for part in self.parts])

    def _joined(self, values: list[NDArray[Any]]) -> NDArray[Any]:
        shape = np.max([each.shape[1:] for each in values], axis=0).astype(int)
        joined = np.zeros((self.num_envs, *shape), values[0].dtype)
        for own, where in zip(values, self.places, strict=True):
            _corner(joined, own.shape)[where] = own
        return joined

    @property
    def state(self) -> Float64:
        """(N, nstate of the largest) everything a restart needs, as of `BatchSim`: a copy, with
        what was written into the other arrays. Assign one to go back: `sim.state = saved`."""
        self._write()
        return self._gathered("state")

    @state.setter
    def state(self, values: ArrayLike) -> None:
        saved = check.float64("state", values)
        shape = (self.num_envs, max(part.state.shape[1] for part in self.parts))
        check.require_shape("state", saved, shape)
        for part, where in zip(self.parts, self.places, strict=True):
            part.state[...] = _corner(saved, part.state.shape)[where]
        self._read()

    @property
    def law(self) -> str:
        return self.parts[0].law

    @property
    def timestep(self) -> float:
        """s, of all parts; ValueError where they differ."""
        steps = {part.timestep for part in self.parts}
        if len(steps) > 1:
            raise ValueError(f"timestep: the models differ, {sorted(steps)}: give one as argument")
        return steps.pop()

    def part_of(self, env: int) -> tuple[BatchSim, int]:
        """The simulation that has an environment, and its number there."""
        number = check.count("env", env)
        for part, where in zip(self.parts, self.places, strict=True):
            found = np.flatnonzero(where == number)
            if found.size:
                return part, int(found[0])
        raise IndexError(f"env: expected 0 ... {self.num_envs - 1}, got {number}")

    def step(self, ctrl: ArrayLike | None = None, substeps: int = 1) -> Int32:
        """As `BatchSim.step`; ctrl: (N, nu of the largest), or (nu,) for all."""
        if ctrl is not None:
            values = check.float64("ctrl", ctrl)
            check.require_shape("ctrl", values, self.ctrl.shape, self.ctrl.shape[1:])
            self.ctrl[...] = values
        steps = check.count("substeps", substeps, low=1)
        self._call(lambda part, _: part.step(substeps=steps))
        return self.status

    def reset(self, mask: ArrayLike | None = None, *, key: int | None = None) -> None:
        """As `BatchSim.reset`."""
        chosen = given.mask(mask, self.num_envs)
        number = -1 if key is None else check.count("key", key)
        for part, where in zip(self.parts, self.places, strict=True):
            if key is not None and chosen[where].any() and number >= part.model.nkey:
                raise ValueError(
                    f"key: the model of environment {where[chosen[where]][0]} has "
                    f"{part.model.nkey} keyframes, got {number}"
                )

        def reset(part: BatchSim, where: NDArray[np.intp]) -> None:
            if chosen[where].any():
                part.reset(chosen[where], key=key)

        self._call(reset)

    def forward(self, mask: ArrayLike | None = None) -> None:
        """As `BatchSim.forward`."""
        chosen = given.mask(mask, self.num_envs)
        self._call(lambda part, where: part.forward(chosen[where]))

    def field(self, name: str) -> Float64:
        """As `BatchSim.field`: (N, ...) of the largest; a copy."""
        return self._joined([part.field(name) for part in self.parts])

    def vary(self, field: str, values: ArrayLike) -> None:
        """As `BatchSim.vary`, where all models have as many numbers of the field; else `vary` of
        `parts`."""
        numbers = check.float64("values", values)
        if numbers.ndim == 0 or len(numbers) != self.num_envs:
            raise ValueError(f"values: expected shape ({self.num_envs}, ...), got {numbers.shape}")
        for part, where in zip(self.parts, self.places, strict=True):
            part.vary(field, numbers[where])

    def contacts(self, env: int) -> list[dict[str, Any]]:
        """As `BatchSim.contacts`."""
        part, number = self.part_of(env)
        return part.contacts(number)

    def problem(self, env: int) -> dict[str, Any]:
        """As `BatchSim.problem`."""
        part, number = self.part_of(env)
        return part.problem(number)

    def data(self, env: int) -> Any:
        """As `BatchSim.data`."""
        self._write()
        part, number = self.part_of(env)
        return part.data(number)

    def _call(self, run: Callable[[BatchSim, NDArray[np.intp]], Any]) -> None:
        """Runs all parts at once, with what was written here; then reads what they have."""
        if not self._caller.acquire(blocking=False):
            raise RuntimeError("MixedBatchSim: a call is under way in another thread")
        try:
            self._write()
            calls = [
                self._pool.submit(run, *each) for each in zip(self.parts, self.places, strict=True)
            ]
            try:
                for call in calls:
                    call.result()
            except BaseException:
                self._stop[0] = 1
                wait(calls)
                raise
            finally:
                self._stop[0] = 0
                self._read()
        finally:
            self._caller.release()

    def _read(self) -> None:
        """Brings the arrays up to date."""
        for name, values in self._arrays.items():
            for part, where in zip(self.parts, self.places, strict=True):
                own = getattr(part, name)
                _corner(values, own.shape)[where] = own
            if name in _WRITABLE:
                self._known[name] = values.copy()

    def _write(self) -> None:
        """Gives the parts what was written into arrays."""
        for name in _WRITABLE:
            if name not in self._known:
                continue
            values, known = self._arrays[name], self._known[name]
            if np.array_equal(values, known, equal_nan=values.dtype.kind == "f"):
                continue
            for part, where in zip(self.parts, self.places, strict=True):
                own = getattr(part, name)
                new, old = (_corner(array, own.shape)[where] for array in (values, known))
                changed = new != old
                own[changed] = new[changed]


def _corner(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The part of an array (N, ...) that models of this shape have."""
    return array[(slice(None), *(slice(size) for size in shape[1:]))]


def _key(model: Any) -> Any:
    return model if isinstance(model, str | os.PathLike) else id(model)


def _made(
    models: Sequence[Model], number: int, envs: int, threads: int, arguments: dict[str, Any]
) -> BatchSim:
    try:
        return BatchSim(models[number], envs, threads=threads, **arguments)
    except (TypeError, ValueError) as error:
        raise type(error)(f"models[{number}]: {error}") from error


def _restored(
    parts: tuple[BatchSim, ...], places: tuple[NDArray[np.intp], ...], workers: int
) -> MixedBatchSim:
    sim = object.__new__(MixedBatchSim)
    sim.parts, sim.places = parts, places
    sim.num_envs = sum(map(len, places))
    sim._open(workers)
    return sim
