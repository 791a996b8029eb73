"""A feedback law for a block that slides on rough ground, learnt from analytic derivatives.

    python examples/policy_gradient.py    # a few seconds

Two motors push each block to its own target, where it shall stop. The forces are linear in what the
environment observes; their coefficients follow the gradient of the mean reward over a short
horizon. It goes backwards through the time steps by `BatchSim.step_vjp` (docs/gradients_step.md).
"""

from __future__ import annotations

import numpy as np

from stickslip.envs.base import BatchEnv

BLOCK = """<mujoco><option timestep=".01" integrator="implicitfast"/><worldbody>
  <site name="world"/><geom type="plane" size="5 5 .1" friction=".4"/>
  <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1" friction=".4"/>
    <site name="centre"/></body>
</worldbody><actuator>
  <motor site="centre" gear="1 0 0 0 0 0" refsite="world"/>
  <motor site="centre" gear="0 1 0 0 0 0" refsite="world"/>
</actuator></mujoco>"""
HORIZON = 60
SLOW, WEAK = 0.02, 1e-4  # weights of speed and force
START = 12.0  # N/m; a block that friction holds does not depend on its force: there is no gradient


class Block(BatchEnv):
    """Observes the way to the target and the velocity, (N, 4) m and m/s. One time step each."""

    def __init__(self, num_envs: int) -> None:
        self.target = np.zeros((num_envs, 2))
        super().__init__(BLOCK, num_envs, frame_skip=1, compliance=1e-3)

    def initial_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return self.initial_qpos, np.zeros(6)

    def begin_episodes(self, ids: np.ndarray, rngs: list[np.random.Generator]) -> None:
        for i in ids:
            self.target[i] = rngs[i].uniform(-0.5, 0.5, 2)

    def observation(self, rows: slice | np.ndarray) -> np.ndarray:
        return np.hstack([self.sim.qpos[rows, :2] - self.target[rows], self.sim.qvel[rows, :2]])

    def outcome(
        self, actions: np.ndarray, before: None
    ) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        way, velocity = np.hsplit(self.observation(slice(None)), 2)
        cost = (way**2).sum(1) + SLOW * (velocity**2).sum(1) + WEAK * (actions**2).sum(1)
        return -cost, np.zeros(self.num_envs, bool), {}


def gradient(env: Block, gains: np.ndarray, seed: int) -> tuple[float, np.ndarray, float]:
    """Mean reward of an episode, its derivative by the gains (2, 4), and the share of the time
    steps whose derivatives are valid."""
    observations, total, steps = env.reset(seed=seed)[0], 0.0, []
    for _ in range(HORIZON):
        actions = observations @ gains.T
        env.sim.ctrl[:] = actions
        state = env.sim.state.copy()
        seen = observations
        observations, rewards, *_ = env.step(actions)
        steps.append((state, seen, actions, observations))
        total += rewards.mean()
    by_qpos, by_qvel = np.zeros((2, env.num_envs, 6))
    by_gains, valid = np.zeros_like(gains), 0.0
    for state, seen, actions, after in reversed(steps):
        by_qpos[:, :2] -= 2 * after[:, :2]
        by_qvel[:, :2] -= 2 * SLOW * after[:, 2:]
        g = env.sim.step_vjp(by_qpos, by_qvel, state=state)
        by_actions = g.ctrl - 2 * WEAK * actions
        by_gains += by_actions.T @ seen / env.num_envs
        by_qpos, by_qvel = g.qpos, g.qvel
        by_qpos[:, :2] += by_actions @ gains[:, :2]
        by_qvel[:, :2] += by_actions @ gains[:, 2:]
        valid += g.qpos_ok.mean() / HORIZON
    return total, by_gains, valid


def learn(iterations: int = 40, num_envs: int = 16, rate: float = 1.0) -> list[float]:
    """Rewards of the iterations. Adam's steps (arXiv:1412.6980)."""
    env, gains = Block(num_envs), np.hstack([-START * np.eye(2), np.zeros((2, 2))])
    mean, square, rewards = 0.0, 0.0, []
    for k in range(1, iterations + 1):
        reward, slope, valid = gradient(env, gains, seed=0)
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        gains = gains + rate * mean / (1 - 0.9**k) / (np.sqrt(square / (1 - 0.99**k)) + 1e-8)
        rewards.append(reward)
        if k % 10 == 1 or k == iterations:
            print(f"iteration {k:3}  reward {reward:8.3f}  valid derivatives {valid:.0%}")
    print("gains (N/m, N s/m):", np.round(gains, 1).tolist())
    return rewards


if __name__ == "__main__":
    learn()
