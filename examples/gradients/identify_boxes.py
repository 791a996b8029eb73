"""The friction and the mass of 1,000 boxes, each identified from one trajectory of its own.

A box is pushed by a known force, sticks and slides on a plane, and its velocities are observed. The
unknowns enter the contacts through mu, W, b and R. Two `jvp`s a step carry the sensitivities
forward; Gauss-Newton with a damping of its own for each box does the rest.

    python examples/gradients/identify_boxes.py [--noise 0.01] [--save identify.png]
"""

import argparse
from dataclasses import dataclass

import numpy as np
from box import Box, G

import stickslip

H, STEPS = 0.01, 40
BOX = Box((0.2, 0.15, 0.1), softness=1e-3, creep=1e-3)
OPTIONS = stickslip.SolveOptions(atol=1e-11, rtol=1e-11)


@dataclass
class Trajectories:
    velocity: np.ndarray  #: (T, E, 6)
    sensitivity: np.ndarray  #: (T, E, 6, 2), by log mu and log m
    valid: np.ndarray  #: (E,) all derivatives are
    solves: int


class Experiment:
    """Boxes with random pushes, (E,) phases, and random velocities at the start."""

    def __init__(self, boxes: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.phase = rng.uniform(0, 2 * np.pi, boxes)
        self.start = rng.normal(size=(boxes, 6)) * [1, 1, 0, 0, 0, 2]
        self.mu = rng.uniform(0.1, 0.8, boxes)
        self.mass = np.exp(rng.uniform(np.log(0.5), np.log(3), boxes))

    def push(self, time: float) -> np.ndarray:
        """(E, 6) N and N m, at the centre of the box."""
        nothing, phase = 0 * self.phase, self.phase
        along, across = 6 * np.sin(6 * time + phase), 5 * np.cos(4 * time + phase)
        turning = 0.3 * np.sin(5 * time + phase)
        return np.stack([along, across, nothing, nothing, nothing, turning], axis=1)

    def turn(self, v: np.ndarray, S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Velocities in the frame of the box that has turned by a step, and their sensitivities."""
        c, s = np.cos(H * v[:, 5]), np.sin(H * v[:, 5])
        v, S = v.copy(), S.copy()
        x, y = v[:, 0].copy(), v[:, 1].copy()
        v[:, 0], v[:, 1] = c * x + s * y, c * y - s * x
        c, s, by_x, by_y = c[:, None], s[:, None], S[:, 0].copy(), S[:, 1].copy()
        S[:, 0] = c * by_x + s * by_y + H * v[:, 1, None] * S[:, 5]
        S[:, 1] = c * by_y - s * by_x - H * v[:, 0, None] * S[:, 5]
        return v, S

    def run(self, mu: np.ndarray, mass: np.ndarray) -> Trajectories:
        """All steps with these unknowns, (E,) each."""
        boxes, inverse = len(mu), BOX.M_inverse / mass[:, None]
        W = BOX.W / mass[:, None, None]
        friction, R = np.repeat(mu[:, None], 4, axis=1), BOX.R / mass[:, None]
        v, S, warm = self.start, np.zeros((boxes, 6, 2)), None
        velocities, sensitivities, valid = [], [], np.ones(boxes, bool)
        for k in range(STEPS):
            v, S = self.turn(v, S)
            force = self.push(k * H) * inverse
            v_free = v + H * force
            v_free[:, 2] -= H * G
            b = v_free @ BOX.J.T
            solution = stickslip.solve(W, b, friction, R=R, options=OPTIONS, warm_start=warm)
            warm = solution.impulse
            gained = (warm @ BOX.J) * inverse
            v, S = v_free + gained, S.copy()
            S[:, :, 1] -= H * force  # of v_free by log m
            changes = ({"dmu": friction}, {"dW": -W, "dR": -R})  # of mu, W and R by log mu, log m
            for j, change in enumerate(changes):
                found = stickslip.jvp(W, b, friction, solution, db=S[:, :, j] @ BOX.J.T, R=R,
                                      options=OPTIONS, **change)  # fmt: skip
                valid &= found.ok
                S[:, :, j] += (found.impulse @ BOX.J) * inverse - j * gained
            velocities.append(v)
            sensitivities.append(S)
        return Trajectories(np.array(velocities), np.array(sensitivities), valid, STEPS * boxes)


def squares(found: Trajectories, observed: np.ndarray) -> np.ndarray:
    return ((found.velocity - observed) ** 2).sum(axis=(0, 2))


def identify(experiment: Experiment, observed: np.ndarray, iterations: int) -> list[dict]:
    """Gauss-Newton from mu = 0.4, m = 1.2 kg; errors after each iteration."""
    boxes = len(experiment.mu)
    guess = np.log(np.tile([0.4, 1.2], (boxes, 1)))
    damping, history = np.full(boxes, 1e-3), []
    at = experiment.run(*np.exp(guess.T))
    loss = squares(at, observed)
    for _ in range(iterations):
        S = at.sensitivity
        A = np.einsum("teic,teid->ecd", S, S)
        g = np.einsum("teic,tei->ec", S, observed - at.velocity)
        scale = damping[:, None] * np.einsum("ecc->ec", A) + 1e-12
        step = np.linalg.solve(A + scale[:, :, None] * np.eye(2), g[:, :, None])[:, :, 0]
        tried = guess + np.clip(step, -1, 1)
        new = experiment.run(*np.exp(tried.T))
        better = squares(new, observed) < loss
        damping = np.where(better, damping / 5, damping * 10)
        guess = np.where(better[:, None], tried, guess)
        at.velocity[:, better] = new.velocity[:, better]
        at.sensitivity[:, better] = new.sensitivity[:, better]
        loss = squares(at, observed)
        history.append(errors(experiment, guess, new.valid))
    return history


def errors(experiment: Experiment, guess: np.ndarray, valid: np.ndarray) -> dict:
    mu, mass = np.exp(guess.T)
    of_mu, of_mass = abs(mu - experiment.mu), abs(mass / experiment.mass - 1)
    close = (of_mu < 0.01 * experiment.mu) & (of_mass < 0.01)
    return {"mu": of_mu, "mass": of_mass, "close": close.mean(), "valid": valid.mean()}


def main(boxes: int = 1000, iterations: int = 12, noise: float = 0.0, save: str = "") -> list[dict]:
    experiment = Experiment(boxes, seed=0)
    observed = experiment.run(experiment.mu, experiment.mass).velocity
    observed = observed + noise * np.random.default_rng(1).normal(size=observed.shape)
    history = identify(experiment, observed, iterations)
    print(f"{boxes} boxes, {STEPS} steps each, noise of the velocities {noise:g} m/s")
    print("iteration   |mu error| median, 90 %, 99 %    mass, relative       within 1 %   valid")
    for number, at in enumerate(history, 1):
        texts = ["  ".join(f"{q:.1e}" for q in np.quantile(at[key], [0.5, 0.9, 0.99]))
                 for key in ("mu", "mass")]  # fmt: skip
        shares = f"{100 * at['close']:8.1f} % {100 * at['valid']:7.1f} %"
        print(f"{number:9}   {texts[0]}        {texts[1]} {shares}")
    if save:
        plot(history, noise, save)
    return history


def plot(history: list[dict], noise: float, path: str) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.subplots()
    for share in (50, 90, 99):
        values = [np.quantile(at["mu"], share / 100) for at in history]
        axes.semilogy(range(1, len(history) + 1), values, "o-", label=f"{share} % of the boxes")
    axes.set(xlabel="iteration", ylabel="error of μ", title=f"noise {noise:g} m/s")
    axes.legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boxes", type=int, default=1000)
    parser.add_argument("--iterations", type=int, default=12)
    parser.add_argument("--noise", type=float, default=0.0, help="m/s")
    parser.add_argument("--save", default="", help="a figure")
    main(**vars(parser.parse_args()))
