"""iLQR through contact: a fingertip presses on a box and drags it to a place, by friction alone.

`BatchSim.step_transition` linearises all steps of a roll-out, a batch of them in one call, and the
line search is a batch too: one environment for each step length.

    python examples/ilqr.py
"""

import numpy as np

from stickslip import BatchSim

MODEL = """<mujoco><option timestep=".02" integrator="implicitfast"/><worldbody>
  <geom type="plane" size="5 5 .1" friction=".05"/>
  <body name="box" pos="0 0 .05">
    <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/>
    <geom type="box" size=".1 .1 .05" mass=".5" friction=".05"/></body>
  <body name="finger" pos="0 0 .13">
    <joint name="x" type="slide" axis="1 0 0" damping=".5"/>
    <joint name="z" type="slide" axis="0 0 1" damping=".5"/>
    <geom size=".03" mass=".2" friction="1" priority="1"/></body></worldbody>
  <actuator><motor joint="x"/><motor joint="z"/></actuator></mujoco>"""
STEPS, GOAL, LENGTHS = 50, 0.3, 0.5 ** np.arange(8)
REST = np.array([0.0, -4.0])  # N: it presses
GUESS = np.array([0.8, -4.0])  # moves the box: where it sticks to the floor, derivatives are 0
WEIGHT, OF_PLACE, OF_SPEED = 1e-2, 1e4, 1e3  # of (u - REST)^2; at the end: 1/m^2, s^2/m^2


def roll_out(sim, controls, start=None, gains=None, changes=None):
    """States (T + 1, N, 2 nv) and controls (T, N, nu) of all environments, and the rows of
    `sim.state` from which the steps began. With `gains`, each has its own step length."""
    sim.reset()
    states, applied, begun = [np.concatenate([sim.qpos, sim.qvel], 1)], [], []
    for t in range(STEPS):
        u = np.repeat(controls[t][None], sim.num_envs, 0)
        if gains is not None:
            u += LENGTHS[:, None] * changes[t] + (states[-1] - start[t]) @ gains[t].T
        sim.ctrl[:] = u
        begun.append(sim.state.copy())
        sim.step()
        states.append(np.concatenate([sim.qpos, sim.qvel], 1))
        applied.append(u)
    return np.array(states), np.array(applied), np.array(begun)


def cost(states, controls):
    """(N,)"""
    x, v = states[-1][:, 0], states[-1][:, 5]
    effort = ((controls - REST) ** 2).sum((0, 2))
    return OF_PLACE * (x - GOAL) ** 2 + OF_SPEED * v**2 + WEIGHT * effort


def backward(A, B, end, controls, damping):
    """Gains and changes of the controls (Li and Todorov 2004) for dx' = A dx + B du."""
    n = A.shape[1]
    V, P = np.zeros(n), np.zeros((n, n))
    V[0], V[5] = 2 * OF_PLACE * (end[0] - GOAL), 2 * OF_SPEED * end[5]
    P[0, 0], P[5, 5] = 2 * OF_PLACE, 2 * OF_SPEED
    gains, changes = [], []
    for t in reversed(range(STEPS)):
        Q_u = 2 * WEIGHT * (controls[t] - REST) + B[t].T @ V
        Q_uu = (2 * WEIGHT + damping) * np.eye(2) + B[t].T @ P @ B[t]
        Q_ux = B[t].T @ P @ A[t]
        k, K = -np.linalg.solve(Q_uu, Q_u), -np.linalg.solve(Q_uu, Q_ux)
        V = A[t].T @ V + K.T @ Q_uu @ k + K.T @ Q_u + Q_ux.T @ k
        P = A[t].T @ P @ A[t] + K.T @ Q_uu @ K + K.T @ Q_ux + Q_ux.T @ K
        gains.insert(0, K)
        changes.insert(0, k)
    return gains, changes


def solve(iterations=30):
    """The controls found, and the cost after each iteration."""
    search, steps = BatchSim(MODEL, len(LENGTHS)), BatchSim(MODEL, STEPS)
    controls, damping = np.tile(GUESS, (STEPS, 1)), 1e-3
    states, applied, begun = roll_out(search, controls)
    costs = cost(states, applied)[:1].tolist()
    states, begun = states[:, 0], begun[:, 0]
    for _ in range(iterations):
        t = steps.step_transition(state=begun)
        gains, changes = backward(t.A, t.B, states[-1], controls, damping)
        tried, applied, tried_begun = roll_out(search, controls, states, gains, changes)
        found = cost(tried, applied)
        best = int(found.argmin())
        if found[best] < costs[-1]:
            states, controls, begun = tried[:, best], applied[:, best], tried_begun[:, best]
            costs.append(found[best])
            damping *= 0.3
        else:
            damping *= 10.0
    return controls, costs


if __name__ == "__main__":
    controls, costs = solve()
    sim = BatchSim(MODEL)
    for u in controls:
        sim.step(u)
    print("costs:", " ".join(f"{c:.3g}" for c in costs))
    print(f"the box is at {sim.qpos[0, 0]:.4f} m (goal {GOAL}), at {sim.qvel[0, 0]:.4f} m/s")
