"""This library: BatchSim.step_vjp, backward through the steps."""

from functools import cache

import numpy as np
from mjcf import mjcf
from scenes import IN, SETTLE, SIDE, Scene, study

import stickslip
from stickslip import BatchSim, GradientStatus, SolveOptions

W_NN = 1 + 3 * SIDE**2 / 0.1**2  # 1/kg, of a foot
KINDS = {  # law, compliance of the normals, 1/kg
    "coulomb": ("coulomb", 0.0),
    "coulomb, R_n": ("coulomb", 1e-3 * W_NN),
    "convex": ("convex", 0.0),  # has MuJoCo's compliance
}
DOFS = {"vx": 0, "vz": 2, "wz": 5}
OPTIONS = SolveOptions(atol=1e-13, rtol=1e-13)


@cache
def prepared(scene: Scene, kind: str) -> tuple[BatchSim, np.ndarray]:
    """The simulation, and its state at rest."""
    law, compliance = KINDS[kind]
    sim = BatchSim(mjcf(scene), 1, law=law, compliance=compliance, integrator="euler", threads=1,
                   options=OPTIONS)  # fmt: skip
    vary(sim, scene.inputs()[IN.index("mu")])
    for _ in range(0 if scene.above else SETTLE):
        sim.step()
    return sim, sim.state.copy()


def vary(sim: BatchSim, mu: float) -> None:
    geoms = sim.model.ngeom
    sim.vary("geom_friction", np.tile([mu, 0.0, 0.0], (1, geoms, 1)))


def states(sim: BatchSim, rest: np.ndarray, scene: Scene, x: np.ndarray) -> list[np.ndarray]:
    """Those that the steps start from; the simulation is in the last one."""
    given = dict(zip(IN, x, strict=True))
    vary(sim, given["mu"])
    sim.state[:] = rest
    for name, dof in DOFS.items():
        sim.qvel[:, dof] += given[name]
    sim.ctrl[:] = given["F"]
    found = []
    for _ in range(scene.steps):
        found.append(sim.state.copy())
        sim.step()
    return found


def run(scene: Scene, x: np.ndarray, kind: str) -> np.ndarray:
    sim, rest = prepared(scene, kind)
    states(sim, rest, scene, x)
    return np.array([*sim.qpos[0, [0, 2]], *sim.qvel[0, [0, 5, 2]]])


def derive(scene: Scene, x: np.ndarray, output: str, kind: str) -> tuple[np.ndarray, str]:
    sim, rest = prepared(scene, kind)
    begun = states(sim, rest, scene, x)
    by_qpos, by_qvel = np.zeros((2, *sim.qvel.shape))
    (by_qvel if output in DOFS else by_qpos)[0, {"x": 0, "z": 2, **DOFS}[output]] = 1
    found, worst = np.zeros(len(IN)), 0
    for state in reversed(begun):
        g = sim.step_vjp(by_qpos, by_qvel, state=state,
                         wrt=("ctrl", "qvel", "qpos", "geom_friction"))  # fmt: skip
        by_qpos, by_qvel = g.qpos, g.qvel
        found[IN.index("F")] += g.ctrl[0, 0]
        found[IN.index("mu")] += g.varied["geom_friction"].reshape(-1, 3)[:, 0].sum()
        worst = max(worst, int(g.status[0]), int(g.qpos_status[0]) if len(begun) > 1 else 0)
    for name, dof in DOFS.items():
        found[IN.index(name)] = by_qvel[0, dof]
    return found, GradientStatus(worst).name


def main() -> None:
    for kind in KINDS:
        study(f"stickslip, {kind}", f"stickslip {stickslip.__version__}; double",
              lambda scene, x, kind=kind: run(scene, x, kind),
              lambda scene, x, output, kind=kind: derive(scene, x, output, kind))  # fmt: skip


if __name__ == "__main__":
    main()
