"""Records contact problems of real robots, for the tests: tests/data/robots.

    python scripts/record_robots.py [ROBOT ...]

MuJoCo steps 16 environments of each robot from seeded states: half of them begin in the robot's
standing pose, half fall from a height in a random pose; half get random controls, half are held
in their pose by a PD controller. At twelve instants the laws coulomb and convex make their
problems of each environment's state. The problems kept have different numbers of rows, and some
have no solution. They depend on the models (tests/models.txt), MuJoCo and the seed, not on the
solvers; the stored impulses and verdicts are those of `stickslip solve`.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import h5py
import mujoco
import numpy as np

from stickslip import BatchSim, files, models
from stickslip._src.run import Controller
from stickslip.files import ContactProblem, StoredSolution, answer

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "data" / "robots"
ENVS = 16
INSTANTS = 12
BETWEEN = 0.1  # s, from one instant to the next
SEED = 22
KEPT = {"coulomb": 6, "recovering_coulomb": 5, "convex": 4}  # problems of a robot, by name
UNSOLVED = 4  # of each, at most so many without a solution
MOST_ROWS = 100
STATE = ("qpos", "qvel", "act", "ctrl", "qfrc_applied")
README = """# Contact problems of robots

Written by `python scripts/record_robots.py`, which says how; the layout is that of docs/files.md.
The files contain numbers that MuJoCo computed from models of these packages, and no part of the
models.

{table}
"""


@dataclass(frozen=True)
class Robot:
    """A model of `stickslip.models`, and boxes that it handles."""

    boxes: tuple[tuple[float, float, float], ...] = ()  #: positions, m
    size: float = 0.02  #: half of a box's edge, m


ROBOTS = {
    **dict.fromkeys(("ant", "humanoid", "walker2d"), Robot()),
    **dict.fromkeys(("dm_dog", "dm_humanoid", "dm_quadruped"), Robot()),
    **dict.fromkeys(("go1", "spot", "g1", "t1", "h1", "apollo", "op3"), Robot()),
    "leap": Robot(tuple((x, y, 0.2) for x in (0.0, 0.05) for y in (0.0, 0.05))),
    "panda": Robot(((0.554, 0.0, 0.525),)),
    "aloha": Robot(((-0.2, -0.019, 0.325), (0.2, -0.019, 0.325)), size=0.035),
}


class Scene:
    """A robot's model with its boxes, and the pose in which it stands."""

    def __init__(self, name: str) -> None:
        robot, path = ROBOTS[name], str(models.find(name))
        self.robot = mujoco.MjModel.from_xml_path(path)
        pose = self.robot.key_qpos[0] if self.robot.nkey else self.robot.qpos0
        spec = mujoco.MjSpec.from_file(path)
        for key in spec.keys:  # they lack the boxes
            spec.delete(key)
        for place in robot.boxes:
            body = spec.worldbody.add_body(pos=place)
            body.add_freejoint()
            body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[robot.size] * 3, mass=0.1)
        self.model = spec.compile()
        self.model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        self.model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        self.pose = self.model.qpos0.copy()
        self.pose[: len(pose)] = pose
        # Hinges and slides, all of them the robot's; and whether it can fall.
        joint = mujoco.mjtJoint
        single = np.isin(self.model.jnt_type, (joint.mjJNT_SLIDE, joint.mjJNT_HINGE))
        self.joints = self.model.jnt_qposadr[single], self.model.jnt_dofadr[single]
        self.floats = self.robot.jnt_type[0] == joint.mjJNT_FREE

    def place(self, sim: BatchSim, rng: np.random.Generator) -> None:
        """Puts the environments into their first states."""
        positions, dofs = self.joints
        falling = np.arange(ENVS) % 4 >= 2
        bend = rng.normal(0, 0.2, (ENVS, len(positions)))
        turn = rng.normal(size=(ENVS, 4))
        sim.qpos[:] = self.pose
        sim.qpos[:, positions] += np.where(falling[:, None], bend, 0.1 * bend)
        sim.qvel[:] = rng.normal(0, 0.1, sim.qvel.shape)
        sim.qvel[:, dofs] *= np.where(falling, 10, 1)[:, None]
        if self.floats:
            sim.qpos[falling, 2] += 0.3
            sim.qpos[falling, 3:7] = (turn / np.linalg.norm(turn, axis=1)[:, None])[falling]

    def hold(self, sim: BatchSim) -> None:
        """A PD controller of 10 rad/s, critically damped, in every second environment."""
        positions, dofs = self.joints
        held = slice(1, None, 2)
        error = self.pose[positions] - sim.qpos[held][:, positions]
        acceleration = 100 * error - 20 * sim.qvel[held][:, dofs]
        sim.qfrc_applied[held, dofs] = acceleration / self.model.dof_invweight0[dofs]


def recovering(problem: ContactProblem, sim: BatchSim, env: int) -> ContactProblem | None:
    """The problem if velocities also recover penetration within the step, at 1 m/s at most, as in
    Stewart and Trinkle's scheme. None if nothing penetrates."""
    gaps = np.array([c["gap"] for c in sim.contacts(env) if c["dim"] > 1])
    if gaps.min(initial=0) == 0:
        return None
    normals = problem.rows - problem.dims.sum() + np.cumsum(problem.dims) - problem.dims
    b = problem.b.copy()
    b[normals] += np.clip(gaps / sim.model.opt.timestep, -1, 0)
    name = problem.name.replace("coulomb", "recovering_coulomb")
    return dataclasses.replace(problem, b=b, name=name)


def states(scene: Scene, instants: int) -> Iterator[BatchSim]:
    """The simulation of a robot by MuJoCo at each instant."""
    sim = BatchSim(scene.model, ENVS, law="mujoco", threads=1)
    scene.place(sim, np.random.default_rng(SEED))
    controls = Controller(scene.robot, ENVS, "random", SEED)
    h = scene.model.opt.timestep
    held = np.arange(ENVS)[:, None] % 2
    for _ in range(instants):
        for step in range(round(BETWEEN / h)):
            scene.hold(sim)
            sim.step(np.where(held, controls.centre, controls(step, step * h)))
        yield sim


def candidates(name: str, instants: int = INSTANTS) -> Iterator[ContactProblem]:
    """All problems of the first instants. Their names say instant, environment and law."""
    scene = Scene(name)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the rigid contacts of law")  # the problems lack the rest
        laws = {
            law: BatchSim(scene.model, ENVS, law=law, threads=1, warm_start=False)
            for law in ("coulomb", "convex")
        }
    for instant, driver in enumerate(states(scene, instants)):
        for law, sim in laws.items():
            sim.reset()
            for key in STATE:
                getattr(sim, key)[...] = getattr(driver, key)
            sim.step()
            for env in map(int, np.flatnonzero(sim.num_contacts)):
                told = files.from_simulation(sim, env, f"{instant:02}_{env:02}_{law}")
                problem = dataclasses.replace(told, warm_start=None, stored=None, notes={})
                yield problem
                if law == "coulomb" and (harder := recovering(problem, sim, env)):
                    yield harder


def judged(problems: list[ContactProblem]) -> list[ContactProblem]:
    """The problems with their solution and verdict."""
    found = []
    for told in answer.solve(problems, threads=1):
        verdict = {k: getattr(told.solution, k) for k in ("status", "tolerance", "certificate")}
        stored = StoredSolution(told.solution.values, **verdict)
        found.append(dataclasses.replace(told.problem, stored=stored))
    return found


def spread(problems: list[ContactProblem], count: int) -> list[ContactProblem]:
    """`count` of the problems, from the smallest to the largest."""
    ordered = sorted(problems, key=lambda p: (p.rows, p.name))
    places = np.linspace(0, len(ordered) - 1, min(count, len(ordered)))
    return [ordered[place] for place in np.unique(np.round(places).astype(int))]


def chosen(problems: list[ContactProblem], count: int) -> list[ContactProblem]:
    solved = [p for p in problems if p.stored.status == "solved"]
    hard = spread([p for p in problems if p.stored.status != "solved"], UNSOLVED)
    return hard + spread(solved, count - len(hard))


def source(name: str) -> dict[str, Any]:
    """What the problems of a robot are made from."""
    package = next(p.name for p in models.find(name).parents if str(p.parent) in sys.path)
    return {
        "model": name,
        "package": package,
        "package_version": version(package),
        "mujoco": mujoco.__version__,
        "script": "scripts/record_robots.py",
        "seed": SEED,
    }


def write(name: str) -> None:
    """Records a robot into its file."""
    problems = judged([p for p in candidates(name) if p.rows <= MOST_ROWS])
    kept = []
    for law, count in KEPT.items():
        kept += chosen([p for p in problems if p.name.split("_", 2)[2] == law], count)
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / f"{name}.h5"
        files.write(plain, kept)
        pack(plain, FOLDER / plain.name, source(name))


def pack(plain: Path, path: Path, attributes: dict[str, Any]) -> None:
    """Copies a file without empty bounds, in HDF5's newest format, which needs less space."""
    with h5py.File(plain) as old, h5py.File(path, "w", libver="latest") as new:
        new.attrs.update(attributes)
        for name, problem in old["problems"].items():
            group = new.create_group(f"problems/{name}")
            group.attrs.update(problem.attrs)
            for key, data in problem.items():
                if data.size or key not in ("lo", "hi"):
                    packed = {"compression": "gzip", "shuffle": True} if data.size > 200 else {}
                    group.create_dataset(key, data=data[()], **packed)


def table() -> str:
    """The sizes of the recorded problems, as a page's table."""
    lines = [
        "| robot | package | problems | rows | contacts | no solution found |",
        "|---|---|---|---|---|---|",
    ]
    for path in sorted(FOLDER.glob("*.h5")):
        with h5py.File(path) as file:
            package = "{package} {package_version}".format(**file.attrs)
        problems = files.read(path).problems
        rows = [p.rows for p in problems]
        contacts = [len(p.dims) for p in problems]
        unsolved = sum(p.stored.status != "solved" for p in problems)
        sizes = f"{min(rows)} to {max(rows)} | {min(contacts)} to {max(contacts)}"
        lines.append(f"| {path.stem} | {package} | {len(problems)} | {sizes} | {unsolved} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robots", nargs="*", metavar="ROBOT", help=f"of {', '.join(ROBOTS)}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in parser.parse_args().robots or ROBOTS:
        write(name)
        print(f"{name}: {(FOLDER / name).with_suffix('.h5').stat().st_size:,} bytes", flush=True)
    (FOLDER / "README.md").write_text(README.format(table=table()))


if __name__ == "__main__":
    main()
