"""The common base of all vector environments: steps, episodes, resets, verdicts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import mujoco
import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from stickslip._core import Status
from stickslip._src import arrays as check
from stickslip._src.aliases import Integrator, SimLawName
from stickslip.envs._arguments import autoreset, check_names, load_first, make_sim, seeds
from stickslip.envs._infos import add_final, add_infos
from stickslip.envs._pictures import RENDER_MODES, Pictures
from stickslip.envs.randomization import Randomization

_Model = str | os.PathLike[str] | mujoco.MjModel
Rows = slice | np.ndarray  #: which environments: all, or those of a mask
ALL = slice(None)


class BatchEnv(VectorEnv):
    """A Gymnasium vector environment on one `BatchSim`. It resets and seeds its environments as
    `gymnasium.vector.SyncVectorEnv` does single ones: environment i draws from its own generator,
    seeded with seed + i.

    A subclass defines the observations (`observation`), the rewards (`outcome`), and the start of
    episodes (`initial_state`). The first two are for all environments at once, the last for one.

    Verdicts: `info["status"]` (N,), always there, holds the worst `Status` of the time steps,
    `info["residual"]` (N,) the largest residual. An environment whose contacts were not solved,
    whose numbers diverged, or whose action is not finite has failed: its episode is truncated with
    reward 0 and the last good observation, it is reset like any other that ended, and `failures`
    (N,) counts it. The bits of the others do not change.

    Args:
        model: path of a model, MJCF text, or a mujoco.MjModel; or a list of models of equal sizes
            (other objects, meshes, dimensions), of which environment i has number i modulo their
            count; then without `randomize` and `render_mode`.
        num_envs: number of environments, N.
        frame_skip: time steps per step.
        fields: arrays of mjData that the subclass reads from `sim.field`.
        max_episode_steps: steps after which an episode is truncated; None: never.
        autoreset_mode: of `gymnasium.vector.AutoresetMode`.
        randomize: ranges of factors, by name: see `Randomization`. Drawn again by each reset of the
            whole batch.
        render_mode: "rgb_array", or None. `render` then returns one picture per environment, as
            Gymnasium's RecordVideo and HumanRendering for vector environments expect.
        width, height, camera: of pictures: pixels, and name or number of one of the model's
            cameras; default "track" if there is one, else one that sees all that moves.
        law, integrator, simulation: of `BatchSim` (solver, precision, backend, threads, ...). The
            default of integrator is the model's; where it is RK4, implicitfast with rigid laws.
    """

    def __init__(
        self,
        model: _Model | Sequence[_Model],
        num_envs: int = 1,
        *,
        frame_skip: int,
        fields: Sequence[str] = (),
        max_episode_steps: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        randomize: Mapping[str, tuple[float, float]] | None = None,
        law: SimLawName = "coulomb",
        integrator: Integrator | None = None,
        render_mode: str | None = None,
        width: int = 480,
        height: int = 480,
        camera: str | int | None = None,
        **simulation: Any,
    ) -> None:
        self.render_mode = render_mode
        self._pictures = Pictures(render_mode, width, height, camera)
        check_names(type(self), simulation)
        self.model = load_first(model, randomize=randomize, render_mode=render_mode)
        simulation |= {"law": law, "fields": fields}
        self.sim = make_sim(type(self), self.model, model, num_envs, integrator, **simulation)
        self.num_envs = self.sim.num_envs
        # These need `forward`.
        self._posed = law == "mujoco" or len(fields) > 0 or self.model.nsensor > 0
        self.frame_skip = check.count("frame_skip", frame_skip, low=1)
        self.max_episode_steps = max_episode_steps
        if max_episode_steps is not None:
            check.count("max_episode_steps", max_episode_steps, low=1)
        self.autoreset_mode = autoreset(autoreset_mode)
        self.metadata = {
            "autoreset_mode": self.autoreset_mode,
            "render_modes": RENDER_MODES,
            "render_fps": round(1.0 / self.dt),
        }
        self.initial_qpos = self.model.qpos0.copy()
        self.randomization = Randomization(self.model, {} if randomize is None else randomize)
        self.failures = np.zeros(self.num_envs, np.int64)
        self._rngs: list[np.random.Generator] = []
        self._seeds: list[int] = []
        self.elapsed = np.zeros(self.num_envs, np.int64)
        self._done = np.zeros(self.num_envs, bool)
        self._observations = np.empty(0)
        self.prepare()
        low, high = self.action_range()
        self.single_action_space = Box(low.astype(np.float32), high.astype(np.float32))
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        shape = self.observation(ALL).shape[1:]
        self.single_observation_space = Box(-np.inf, np.inf, shape, np.float64)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    # Defined by subclasses. Quantities before, during and after a step are arrays (N, ...).

    def prepare(self) -> None:
        """Called when the model and the simulation exist."""

    def initial_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """(qpos, qvel) in which an episode of one environment begins."""
        raise NotImplementedError

    def observation(self, rows: Rows) -> np.ndarray:
        """(environments of rows, size) float64, a new array: of the present state."""
        raise NotImplementedError

    def before(self) -> Any:
        """Values of the state before the step that `outcome` needs."""

    def outcome(
        self, actions: np.ndarray, before: Any
    ) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        """Reward, whether the episode terminates, and info of a step."""
        raise NotImplementedError

    def reset_info(self) -> dict[str, np.ndarray]:
        """Info of environments that begin an episode."""
        return {}

    def begin_episodes(self, ids: np.ndarray, rngs: Sequence[np.random.Generator]) -> None:
        """Called with the environments that begin an episode, in their initial state, and all
        generators."""

    def action_range(self) -> tuple[np.ndarray, np.ndarray]:
        """Of one environment's actions: the actuators' ranges."""
        limited = self.model.actuator_ctrllimited.astype(bool)
        low, high = self.model.actuator_ctrlrange.T
        return np.where(limited, low, -np.inf), np.where(limited, high, np.inf)

    def controls(self, actions: np.ndarray) -> np.ndarray:
        """(N, nu) controls of the actuators."""
        return actions

    # Interface of Gymnasium.

    @property
    def dt(self) -> float:
        """Seconds of a step."""
        return self.sim.timestep * self.frame_skip

    @property
    def np_random(self) -> tuple[np.random.Generator, ...]:
        """The environments' generators."""
        return tuple(self._rngs)

    @property
    def np_random_seed(self) -> tuple[int, ...]:
        """Their seeds."""
        return tuple(self._seeds)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """seed: environment i takes seed + i, or the i-th of a sequence; None continues the
        generators. options["reset_mask"] (N,) bool resets some environments only."""
        if not isinstance(options, dict | None):
            raise TypeError(f"options: expected a dict, got {type(options).__name__}")
        mask = self._reset_mask((options or {}).get("reset_mask"))
        self._seed(seed, mask)
        if mask.all():
            self.randomization.apply(self.sim, self._rngs)
        self._restart(mask)
        self._done &= ~mask
        if mask.all():
            self._observations = self.observation(ALL)
        else:
            self._observations[mask] = self.observation(mask)
        infos: dict[str, Any] = {}
        add_infos(infos, self.reset_info(), mask)
        return self._observations.copy(), infos

    def step(
        self, actions: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        actions, usable = self._checked(actions)
        next_step = self.autoreset_mode is AutoresetMode.NEXT_STEP
        resetting = self._done if next_step else np.zeros(self.num_envs, bool)
        stepped = ~resetting
        before = self.before()
        status = self.sim.step(self.controls(actions), self.frame_skip)
        with np.errstate(over="ignore", invalid="ignore"):  # non-finite values count as failed
            rewards, terminated, values = self.outcome(actions, before)
        usable &= np.isfinite(rewards)
        good = stepped & usable & (status == Status.solved)
        verdict = {
            "status": np.where(usable, status, np.int32(Status.bad_input)) * stepped,
            "residual": np.where(stepped, np.where(usable, self.sim.residual, np.inf), 0.0),
        }
        rewards = np.where(good, rewards, 0.0)
        terminated = terminated & good
        self.elapsed += stepped
        failed = stepped & ~good
        self.failures += failed
        truncated = failed.copy()
        if self.max_episode_steps is not None:
            truncated |= stepped & (self.elapsed >= self.max_episode_steps)
        infos = {**verdict, "_status": stepped, "_residual": stepped.copy()}
        if resetting.any():
            self._restart(resetting)
        observations = self.observation(ALL)
        if failed.any():
            observations[failed] = self._observations[failed]
        self._observations = observations
        self._done = terminated | truncated
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._done.any():
            resetting, self._done = self._done, np.zeros(self.num_envs, bool)
            add_final(infos, self._observations, values, verdict, resetting, good)
            self._restart(resetting)
            self._observations[resetting] = self.observation(resetting)
            good = good & ~resetting
        add_infos(infos, values, good)
        add_infos(infos, self.reset_info() if resetting.any() else {}, resetting)
        return self._observations.copy(), rewards, terminated, truncated, infos

    def render(self) -> tuple[np.ndarray, ...] | None:
        """(height, width, 3) uint8 of each environment, in its present state."""
        return self._pictures.draw(self.sim)

    def close_extras(self, **_: Any) -> None:
        if hasattr(self, "_pictures"):  # the destructor closes what its constructor refused, too
            self._pictures.close()

    # Private.

    def _checked(self, actions: Any) -> tuple[np.ndarray, np.ndarray]:
        """Actions as an array, and which environments' are finite; the others' are zero."""
        if not self._rngs:
            raise gymnasium.error.ResetNeeded("Cannot call env.step() before env.reset()")
        if self.autoreset_mode is AutoresetMode.DISABLED and self._done.any():
            raise gymnasium.error.ResetNeeded(
                f"environments {np.flatnonzero(self._done)} ended: with autoreset_mode DISABLED "
                "reset them, reset(options={'reset_mask': mask})"
            )
        actions = np.asarray(actions)
        if actions.dtype.kind not in "fiu":
            raise TypeError(f"actions: expected an array of numbers, got {actions.dtype}")
        check.require_shape("actions", actions, self.action_space.shape)
        usable = np.isfinite(actions).all(axis=1)
        if not usable.all():
            actions = np.where(usable[:, None], actions, actions.dtype.type(0))
        return actions, usable

    def _reset_mask(self, mask: Any) -> np.ndarray:
        if mask is None:
            return np.ones(self.num_envs, bool)
        if not isinstance(mask, np.ndarray) or mask.dtype != bool:
            raise TypeError(f"options['reset_mask']: expected an array of bool, got {mask!r}")
        check.require_shape("options['reset_mask']", mask, (self.num_envs,))
        if not mask.any():
            raise ValueError("options['reset_mask']: expected at least one environment")
        if not self._rngs and not mask.all():
            raise gymnasium.error.ResetNeeded("the first reset is one of all environments")
        return mask

    def _seed(self, seed: int | Sequence[int | None] | None, mask: np.ndarray) -> None:
        own = seeds(seed, self.num_envs)
        if not self._rngs:
            drawn = [seeding.np_random(each) for each in own]
            self._rngs, self._seeds = [rng for rng, _ in drawn], [s for _, s in drawn]
            return
        for i in np.flatnonzero(mask):
            if own[i] is not None:
                self._rngs[i], self._seeds[i] = seeding.np_random(own[i])

    def _restart(self, mask: np.ndarray) -> None:
        """Begins an episode in the environments of the mask."""
        ids = np.flatnonzero(mask)
        self.sim.reset(mask)
        qpos, qvel = self.sim.qpos, self.sim.qvel
        for i in ids:  # each uses its own generator
            qpos[i], qvel[i] = self.initial_state(self._rngs[i])
        self.elapsed[ids] = 0
        self.begin_episodes(ids, self._rngs)
        if self._posed:
            self.sim.forward(mask)
