"""A scripted policy: pick up, carry, place, let go."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

CLEAR = 0.12  # m: above the thing before it is gripped; height over the floor at which it travels
#: Phases: seconds, and whether the hand is closed.
PHASES = {
    "above": (2.5, False),
    "down": (1.0, False),
    "grip": (0.5, True),
    "lift": (1.0, True),
    "carry": (2.0, True),
    "lower": (1.0, True),
    "release": (0.5, False),
    "leave": (1.0, False),
}


def pick_and_place(env: gymnasium.vector.VectorEnv, observations: np.ndarray) -> np.ndarray:
    """(N, 5) actions of the script for a `PickPlace`, or a wrapper of one. It knows the phase of
    each environment by the steps of its episode, and all else by the observations (N, ...)."""
    env: Any = env.unwrapped
    seconds, closed = (np.array(each) for each in zip(*PHASES.values(), strict=True))
    phase = np.searchsorted(np.cumsum(seconds), env.dt * env.elapsed, side="right")
    phase = np.minimum(phase, len(PHASES) - 1)
    seen = env.parts(observations)
    target, grip, goal = seen["target"], seen["grip"], seen["goal"]
    up = np.array([0.0, 0.0, 1.0])
    lift = (CLEAR + env.rest - seen["place"][:, 2:]) * up
    ways = {
        "above": grip + CLEAR * up,
        "down": grip,
        "grip": grip,
        "lift": lift,
        "carry": goal * (1 - up) + lift,
        "lower": goal,
        "release": target,
        "leave": target + CLEAR * up,
    }
    way = np.array(list(ways.values()))[phase, np.arange(len(phase))] - target
    turn = 2 * np.arctan2(seen["quat"][:, 3], seen["quat"][:, 0]) - seen["heading"][:, 0]
    turn = (turn + env.symmetry / 2) % env.symmetry - env.symmetry / 2
    turn *= phase < list(PHASES).index("grip")
    moves = np.concatenate([way, turn[:, None]], axis=1) / (env.dt * env.speed)
    return np.concatenate([np.clip(moves, -1, 1), 2.0 * closed[phase, None] - 1], axis=1)
