"""A box at rest is pushed to a target by a constant force that starts inside the friction cone.

There the box sticks, and nothing it does depends on the force: with rigid contacts the exact
gradient is zero and a descent never begins. Compliance of the normals, R_n = 1e-3 W_nn, lets the
box tilt by a little under the force: the gradient is small, but it has the right direction, and
Adam, which divides a gradient by its size, follows it. Beside it: gradients averaged over 16 random
forces (solved as one batch), and the estimate from their losses alone.

    python examples/gradients/push_box.py [--save push.png]
"""

import argparse
from collections.abc import Callable

import numpy as np
from box import Box, G

import stickslip

H, STEPS, MU = 0.01, 30, 0.5
HALF = (0.2, 0.15, 0.05)
OPTIONS = stickslip.SolveOptions(atol=1e-10, rtol=1e-10)
SAMPLES = 16
Estimate = Callable[[np.ndarray, int], np.ndarray]


class Push:
    """E boxes of 1 kg that slide for 30 steps; L = |x - target|^2 / (0.1 m)^2 at the end."""

    def __init__(self, target: np.ndarray, softness: float) -> None:
        self.box, self.target = Box(HALF, softness, creep=0.0), target
        self.solves = 0

    def step(self, force: np.ndarray, v: np.ndarray, warm: np.ndarray | None) -> tuple:
        """Free velocities, the solution, and the velocities after a step. A plane box: it does not
        rise, tilt or turn from step to step."""
        v_free = v.copy()
        v_free[:, :2] += H * force
        v_free[:, 2] -= H * G
        W = np.broadcast_to(self.box.W, (len(v), 12, 12))
        b = v_free @ self.box.J.T
        solution = stickslip.solve(W, b, MU, R=self.box.R, options=OPTIONS, warm_start=warm)
        v = v_free + (solution.impulse @ self.box.J) * self.box.M_inverse
        v[:, 2:] = 0
        self.solves += len(v)
        return v_free, solution, v

    def run(self, force: np.ndarray) -> tuple[np.ndarray, np.ndarray, list]:
        """The losses (E,), the ends (E, 2) and what the way back needs."""
        v, x, warm, tape = np.zeros((len(force), 6)), np.zeros((len(force), 2)), None, []
        for _ in range(STEPS):
            v_free, solution, v = self.step(force, v, warm)
            warm = solution.impulse
            tape.append((v_free, solution))
            x = x + H * v[:, :2]
        return (((x - self.target) / 0.1) ** 2).sum(axis=1), x, tape

    def gradient(self, force: np.ndarray) -> np.ndarray:
        """dL/dF (E, 2): backward in time, one `step_vjp` each."""
        _, x, tape = self.run(force)
        by_x, by_v, by_force = 2 * (x - self.target) / 0.01, np.zeros((len(force), 6)), 0.0
        M, J = np.diag(1 / self.box.M_inverse), self.box.J
        for v_free, solution in reversed(tape):
            by_v[:, :2] += H * by_x
            by_v[:, 2:] = 0
            envs = len(force)
            found = stickslip.step_vjp(
                np.broadcast_to(M, (envs, 6, 6)),
                np.broadcast_to(J, (envs, *J.shape)),
                v_free @ J.T,
                MU,
                v_free,
                solution,
                v_next=by_v,
                R=self.box.R,
                options=OPTIONS,
            )
            by_v = found.v_free
            by_force = by_force + H * by_v[:, :2]
        return by_force


def sampled(problem: Push, order: int) -> Estimate:
    """The mean of gradients (order 1), or the slope of losses (0), at random forces around."""

    def estimate(force: np.ndarray, iteration: int) -> np.ndarray:
        rng, spread = np.random.default_rng(iteration), 2.0 if iteration < 10 else 0.8
        half = rng.normal(size=(SAMPLES // 2, *force.shape))
        z = np.concatenate([half, -half])
        forces = (force + spread * z).reshape(-1, 2)
        many = Push(np.tile(problem.target, (SAMPLES, 1)), 0.0)
        many.box = problem.box
        if order == 1:
            found = many.gradient(forces).reshape(z.shape).mean(axis=0)
        else:
            loss = many.run(forces)[0].reshape(SAMPLES, -1, 1)
            found = ((loss - loss.mean(axis=0)) * z / spread).mean(axis=0)
        problem.solves += many.solves
        return found

    return estimate


def descend(problem: Push, force: np.ndarray, estimate: Estimate, iterations: int) -> np.ndarray:
    """Adam with steps of 1.5 N, then 0.45 N. Distances to the target, (iterations + 1, E)."""
    mean, square = np.zeros_like(force), np.zeros_like(force)
    distances = []
    for k in range(iterations + 1):
        end = Push(problem.target, 0.0)
        end.box = problem.box
        distances.append(np.linalg.norm(end.run(force)[1] - problem.target, axis=1))
        gradient = estimate(force, k)
        mean, square = 0.8 * mean + 0.2 * gradient, 0.95 * square + 0.05 * gradient**2
        rate = 1.5 if k < 15 else 0.45
        scale = np.sqrt(square / (1 - 0.95 ** (k + 1))) + 1e-9
        force = force - rate * mean / (1 - 0.8 ** (k + 1)) / scale
    return np.array(distances)


def tasks(boxes: int) -> tuple[np.ndarray, np.ndarray]:
    """Targets, m, and forces at the start: 30 to 80 % of mu m g, 1 rad off."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, boxes)
    far, strong = rng.uniform(0.05, 0.3, boxes), rng.uniform(0.3, 0.8, boxes) * MU * G
    way = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    off = np.stack([np.cos(angle + 1), np.sin(angle + 1)], axis=1)
    return far[:, None] * way, strong[:, None] * off


def main(boxes: int = 20, iterations: int = 25, save: str = "") -> dict[str, dict]:
    target, force = tasks(boxes)
    rigid, soft = Push(target, 0.0), Push(target, 1e-3)
    runs: dict[str, tuple[Push, Estimate]] = {
        "exact, R = 0": (rigid, lambda force, k: rigid.gradient(force)),
        "exact, R_n = 1e-3 W_nn": (soft, lambda force, k: soft.gradient(force)),
        "mean of 16 gradients, R_n": (Push(target, 1e-3), None),
        "from 16 losses, R_n": (Push(target, 1e-3), None),
    }
    results = {}
    print(f"{boxes} boxes, {iterations} iterations of Adam; largest |dL/dF| at the start:")
    for name, problem in (("R = 0", rigid), ("R_n = 1e-3 W_nn", soft)):
        print(f"  {name}: {abs(problem.gradient(force)).max():.1e} 1/N")
        problem.solves = 0
    print(f"{'':28} distance, m: median  worst   within 2 cm   solves of a box")
    for order, (name, (problem, estimate)) in zip((0, 0, 1, 0), runs.items(), strict=True):
        estimate = estimate or sampled(problem, order)
        distances = descend(problem, force, estimate, iterations)
        last = distances[-1]
        found = {"distances": distances, "within": (last < 0.02).mean(),
                 "solves": problem.solves / boxes}  # fmt: skip
        print(f"{name:28} {np.median(last):19.3f} {last.max():6.3f} {100 * found['within']:11.0f} %"
              f"   {found['solves']:10,.0f}")  # fmt: skip
        results[name] = found
    if save:
        plot(results, save)
    return results


def plot(results: dict[str, dict], path: str) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.subplots()
    for name, found in results.items():
        axes.semilogy(np.median(found["distances"], axis=1), label=name)
    axes.set(xlabel="iteration", ylabel="median distance to the target, m")
    axes.legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boxes", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=25)
    parser.add_argument("--save", default="", help="a figure")
    main(**vars(parser.parse_args()))
