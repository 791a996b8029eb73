"""How long derivatives of time steps take: one environment on one thread, and how many are valid.

    python bench/run_step_gradients.py [OUT.json] [--models ant ...] [--envs 32] [--rounds 7]

The robots have moved under random controls for a second. Times are the best of the rounds, in turns
with the steps themselves.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np

from stickslip import BatchSim, GradientStatus, models
from stickslip._src.run import Controller

MODELS = ("ant", "humanoid", "dm_humanoid", "g1", "go1", "spot", "leap")
LAWS = ("coulomb", "convex")
WRT = {
    "ctrl": ("ctrl",),
    "ctrl_qvel": ("ctrl", "qvel"),
    "all": ("ctrl", "qvel", "qpos"),
    "body_mass": ("body_mass",),
}


def moving(name: str, law: str, num_envs: int) -> tuple[BatchSim, np.ndarray]:
    """A simulation, and a state of it, a second after its start."""
    path = models.find(name)
    model = mujoco.MjModel.from_xml_path(str(path))
    sim = BatchSim(path, num_envs, law=law, integrator="implicitfast", threads=1)
    if model.nkey:
        sim.reset(key=0)
    controller = Controller(model, num_envs, "random", seed=0)
    steps = round(1.0 / sim.timestep)
    for step in range(steps):
        sim.step(controller(step, 0))
    sim.ctrl[:] = controller(steps, 0)
    return sim, sim.state.copy()


def study(name: str, law: str, num_envs: int, rounds: int) -> dict:
    sim, state = moving(name, law, num_envs)
    loss = np.random.default_rng(0).normal(size=(2, *sim.qvel.shape))

    def step() -> None:
        sim.state[:] = state
        sim.step()

    work: dict[str, Callable[[], object]] = {"step": step}
    work |= {key: lambda wrt=wrt: sim.step_vjp(*loss, state=state, wrt=wrt)
             for key, wrt in WRT.items()}  # fmt: skip
    least = dict.fromkeys(work, float("inf"))
    for _ in range(rounds):
        for key, call in work.items():
            start = time.perf_counter()
            call()
            least[key] = min(least[key], time.perf_counter() - start)
    g = sim.step_vjp(*loss, state=state)
    valid = {"valid": g.status, "qpos_valid": g.qpos_status}
    return {"model": name, "law": law, "nv": sim.qvel.shape[1], "nu": sim.ctrl.shape[1],
            **{key: round(1e6 * seconds / num_envs, 1) for key, seconds in least.items()},
            **{key: float((status == GradientStatus.valid).mean())
               for key, status in valid.items()}}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", type=Path)
    parser.add_argument("--models", nargs="*", default=MODELS)
    parser.add_argument("--envs", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    here = models.available()
    results = []
    for name in given.models:
        if name not in here:
            print(f"{name} is not installed, skipped")
            continue
        for law in LAWS:
            results.append(study(name, law, given.envs, given.rounds))
            print(", ".join(f"{key} {value}" for key, value in results[-1].items()), flush=True)
    if given.out:
        given.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
