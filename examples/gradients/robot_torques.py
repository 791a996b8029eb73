"""Joint torques with which ants on the ground reach a velocity of their torso in the next step.

The contacts of each robot are taken from a BatchSim: M, J, b, R of its state. Torques tau move the
free velocities by h M^-1 B tau, so that dL/dtau = h B^T w, where w is the adjoint velocity that
`step_vjp` returns: a gradient costs one solve and no derivative of the simulator. Three of them (of
the torso's velocities ahead, sideways and about the vertical) make a Gauss-Newton step. Beside it:
the same steps from finite differences, and sampling (the best 4 of 16 torques, again and again).

    python examples/gradients/robot_torques.py [--robots 64] [--save torques.png]
"""

import argparse
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

import stickslip
from stickslip import BatchSim, models

COMPLIANCE = 0.01  # of the normals, 1/kg; printed beside W_nn
GOAL = 1e-3  # m/s, rad/s
OPTIONS = stickslip.SolveOptions(atol=1e-10, rtol=1e-10)
TORSO = [0, 1, 5]  # of qvel: ahead, sideways, about the vertical


def standing(robots: int, seed: int) -> BatchSim:
    """Ants that have landed and moved their legs at random."""
    model = models.find("ant")
    sim = BatchSim(model, robots, integrator="implicitfast", compliance=COMPLIANCE, options=OPTIONS)
    rng = np.random.default_rng(seed)
    for _ in range(15):
        sim.step(rng.uniform(-0.3, 0.3, sim.ctrl.shape), substeps=10)
    return sim


class Robots:
    """The contact problems of a simulation's states as one padded batch, torques being zero."""

    def __init__(self, sim: BatchSim) -> None:
        before, self.v = sim.state.copy(), sim.qvel.copy()
        sim.step(np.zeros(sim.ctrl.shape))
        parts = [sim.problem(env) for env in range(sim.num_envs)]
        sim.state[:] = before
        self.h, nv = sim.timestep, sim.qvel.shape[1]
        self.B = self.h * actuation(sim)  # (nv, nu)
        self.M = np.array([p["M"] for p in parts])
        self.v_free = self.v + self.h * np.array([p["a_free"] for p in parts])
        rows = {name: max(len(p[name]) for p in parts) for name in ("b", "mu", "dims", "lo")}
        count = len(parts)
        self.J, self.b0 = np.zeros((count, rows["b"], nv)), np.zeros((count, rows["b"]))
        self.mu, R = np.zeros((count, rows["mu"])), np.zeros((count, rows["b"]))
        dims, counts = np.full((count, rows["dims"]), 3), np.zeros((count, 4), int)
        lo, hi = np.zeros((2, count, rows["lo"]))
        for e, p in enumerate(parts):
            n = len(p["b"])
            self.J[e, :n], self.b0[e, :n], R[e, :n] = p["J"], p["b"], p["R"]
            self.mu[e, : len(p["mu"])], dims[e, : len(p["dims"])] = p["mu"], p["dims"]
            lo[e, : len(p["lo"])], hi[e, : len(p["hi"])] = p["lo"], p["hi"]
            counts[e] = p["n_free"], p["n_nonneg"], p["n_box"], len(p["dims"])
        self.others = {"R": R, "lo": lo, "hi": hi, "dims": dims, "counts": counts,
                       "options": OPTIONS}  # fmt: skip
        self.W = stickslip.delassus(self.M, self.J)
        self.by_torque = np.linalg.solve(self.M, np.broadcast_to(self.B, (count, *self.B.shape)))
        self.solves = 0

    def step(self, torque: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
        """(E, nv) velocities after the step with torques (E, nu); and b, v_free, the solution."""
        moved = (self.by_torque @ torque[:, :, None])[:, :, 0]
        b = self.b0 + (self.J @ moved[:, :, None])[:, :, 0]
        solution = stickslip.solve(self.W, b, self.mu, **self.others)
        v_free = self.v_free + moved
        self.solves += 1
        v = stickslip.apply_impulse(self.M, self.J, solution.impulse, v_free)
        return v, b, v_free, solution

    def exact(self, torque: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The torso's velocity (E, 3), its derivatives by torques (E, 3, nu), their validity."""
        v, b, v_free, solution = self.step(torque)
        slopes, ok = [], np.ones(len(v), bool)
        for dof in TORSO:
            g = np.zeros_like(v)
            g[:, dof] = 1
            found = stickslip.step_vjp(self.M, self.J, b, self.mu, v_free, solution, v_next=g,
                                       **self.others)  # fmt: skip
            slopes.append(found.adjoint @ self.B)
            ok &= found.ok
        return v[:, TORSO], np.stack(slopes, axis=1), ok

    def differences(self, torque: np.ndarray, by: float = 1e-4) -> tuple[np.ndarray, ...]:
        """The same by one more solve for each joint."""
        start, slopes = self.step(torque)[0][:, TORSO], []
        for joint in range(torque.shape[1]):
            step = by * np.eye(torque.shape[1])[joint]
            slopes.append((self.step(torque + step)[0][:, TORSO] - start) / by)
        return start, np.stack(slopes, axis=2), np.ones(len(start), bool)


def actuation(sim: BatchSim) -> np.ndarray:
    """(nv, nu) generalised forces of one unit of each control."""
    model = mujoco.MjModel.from_xml_path(str(models.find("ant")))
    data = mujoco.MjData(model)
    columns = []
    for unit in np.eye(model.nu):
        data.ctrl[:] = unit
        mujoco.mj_forward(model, data)
        columns.append(data.qfrc_actuator.copy())
    return np.array(columns).T


def descend(robots: Robots, target: np.ndarray, derive: Callable, steps: int) -> dict:
    """Levenberg-Marquardt for each robot; torques within [-1, 1]."""
    torque = np.zeros((len(target), robots.B.shape[1]))
    damping, best = np.full(len(target), 1e-3), np.full(len(target), np.inf)
    kept, at, errors = torque.copy(), None, []
    for _ in range(steps):
        v, slope, _ = derive(torque)
        error = np.abs(v - target).max(axis=1)
        better = error < best
        new = (v, slope)
        at = new if at is None else tuple(
            np.where(better.reshape(-1, *[1] * (n.ndim - 1)), n, o)
            for n, o in zip(new, at, strict=True)
        )  # fmt: skip
        kept, best = np.where(better[:, None], torque, kept), np.minimum(error, best)
        damping = np.clip(np.where(better, damping / 4, damping * 8), 1e-8, 1e4)
        errors.append((robots.solves, best.copy()))
        v, slope = at
        A = slope.transpose(0, 2, 1) @ slope
        size = np.einsum("ejj->e", A) / A.shape[1]
        A = A + (damping * size)[:, None, None] * np.eye(A.shape[1])
        g = slope.transpose(0, 2, 1) @ (target - v)[:, :, None]
        torque = np.clip(kept + np.linalg.solve(A, g)[:, :, 0], -1, 1)
    return {"torque": kept, "errors": errors}


def sample(robots: Robots, target: np.ndarray, steps: int) -> dict:
    """Of 16 torques around the mean the best 4 give the next mean and spread."""
    rng = np.random.default_rng(0)
    mean, spread = np.zeros((len(target), robots.B.shape[1])), 0.3
    best, kept, errors = np.full(len(target), np.inf), mean.copy(), []
    for _ in range(steps):
        tried = np.clip(mean + spread * rng.normal(size=(16, *mean.shape)), -1, 1)
        tried[0] = kept
        found = np.array([np.abs(robots.step(t)[0][:, TORSO] - target).max(axis=1) for t in tried])
        order = np.argsort(found, axis=0)[:4]
        elite = np.take_along_axis(tried, order[:, :, None], axis=0)
        better = found.min(axis=0) < best
        kept = np.where(better[:, None], elite[0], kept)
        best = np.minimum(best, found.min(axis=0))
        mean, spread = elite.mean(axis=0), np.maximum(elite.std(axis=0), best[:, None])
        errors.append((robots.solves, best.copy()))
    return {"torque": kept, "errors": errors}


def solves_needed(errors: list[tuple[int, np.ndarray]]) -> np.ndarray:
    """(E,) solves until the goal is reached; infinite where it is not."""
    needed = np.full(len(errors[0][1]), np.inf)
    for solves, error in errors:
        needed = np.where((error < GOAL) & np.isinf(needed), solves, needed)
    return needed


def main(robots: int = 64, save: str = "") -> dict[str, Any]:
    sim = standing(robots, seed=0)
    at = Robots(sim)
    rng = np.random.default_rng(1)
    target = at.step(rng.uniform(-0.5, 0.5, (robots, at.B.shape[1])))[0][:, TORSO]  # reachable
    kinds = {
        "gradients (step_vjp)": lambda r: descend(r, target, r.exact, 40),
        "finite differences": lambda r: descend(r, target, r.differences, 40),
        "sampling": lambda r: sample(r, target, 100),
    }
    normal = np.median(np.diagonal(at.W, axis1=1, axis2=2)[at.others["R"] > 0])
    print(f"{robots} ants; W_nn {normal:.2g} 1/kg, R_n {COMPLIANCE:g} 1/kg")
    print(f"{'':22} reached  solves needed: median   90 %   worst")
    results: dict[str, Any] = {}
    for name, run in kinds.items():
        each = Robots(sim)
        found = run(each)
        needed = solves_needed(found["errors"])
        results[name] = found | {"needed": needed}
        texts = "  ".join(f"{q:6.0f}" for q in np.quantile(needed, [0.5, 0.9, 1], method="higher"))
        print(f"{name:22} {100 * np.isfinite(needed).mean():5.0f} %       {texts}")
    sim.step(results["gradients (step_vjp)"]["torque"])
    results["simulated"] = np.abs(sim.qvel[:, TORSO] - target).max(axis=1)
    results["valid"] = at.exact(results["gradients (step_vjp)"]["torque"])[2].mean()
    off, valid = np.median(results["simulated"]), 100 * results["valid"]
    print(f"BatchSim, stepped with the torques by gradients, is off by {off:.0e} in the median")
    print(f"gradients at these torques: {valid:.0f} % valid")
    if save:
        plot({name: results[name]["errors"] for name in kinds}, save)
    return results


def plot(errors: dict[str, list], path: str) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.subplots()
    for name, found in errors.items():
        axes.loglog([n for n, _ in found], [np.median(e) for _, e in found], ".-", label=name)
    axes.set(xlabel="solves of a robot", ylabel="median error, m/s or rad/s")
    axes.legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robots", type=int, default=64)
    parser.add_argument("--save", default="", help="a figure")
    main(**vars(parser.parse_args()))
