"""mujoco_warp's own step beside stickslip.mjwarp.step on a GPU, in thousands of worlds of robots: a
program of the part engines.

    python engine_steps.py FOLDER SITE SECONDS     FOLDER: with site/ and models/; SITE: stickslip
    python engine_steps.py --child kernels FOLDER ROBOT WORLDS LAW     one step, to profile

First, one process per robot compiles Warp's kernels (minutes otherwise). Then each robot is stepped
in 4,096, 1,024 and 8,192 worlds by both, as CUDA graphs if they can be captured. Also the drift of
a box on a slope. Prints one JSON object per line.
"""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROBOTS = {  # contacts and rows of a world for which there is memory
    "humanoid": (24, 96),
    "go1": (32, 96),
    "ant": (24, 64),
    "g1": (48, 160),
}
DRY = bool(os.environ.get("GPU_CHECK_DRY"))  # on the CPU, a few worlds: whether everything runs
WORLDS = (3,) if DRY else (4096, 1024, 8192)
STEPS, SETTLE = (2, 1) if DRY else (100, 50)
LAWS = (None, "coulomb", "convex")  # None: mujoco_warp's own step
SLOPE = """<mujoco><option timestep="0.002" gravity="3.3552 0 -9.2184"/><worldbody>
<geom type="plane" size="5 5 .1" friction=".7 .005 .0001"/><body pos="0 0 .0999"><freejoint/>
<geom type="box" size=".1 .1 .1" friction=".7 .005 .0001"/></body></worldbody></mujoco>"""


def put(folder: Path, name: str, nworld: int):
    """mujoco_warp's model and data on the GPU, with random controls."""
    import mujoco
    import mujoco_warp as mjw
    import numpy as np

    if name == "slope":
        model, (contacts, rows) = mujoco.MjModel.from_xml_string(SLOPE), (8, 32)
    else:
        model = mujoco.MjModel.from_binary_path(str(folder / "models" / f"{name}.mjb"))
        contacts, rows = ROBOTS[name]
    model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    m = mjw.put_model(model)
    m.opt.warn_overflow = 0
    d = mjw.put_data(model, data, nworld=nworld, nconmax=contacts, njmax=rows)
    if model.nu:
        rng = np.random.default_rng(0)
        d.ctrl.assign(rng.uniform(-1, 1, d.ctrl.shape).astype(np.float32))
    return m, d


def stepper(m, d, law: str | None):
    """A function that takes a step, and the solver (None: mujoco_warp's own)."""
    import mujoco_warp as mjw

    if law is None:
        return (lambda: mjw.step(m, d)), None
    from stickslip import SolveOptions, mjwarp

    solver = mjwarp.ConstraintSolver(m, d, law=law, options=SolveOptions(thorough=False))
    return (lambda: mjwarp.step(m, d, solver)), solver


def replayed(step):
    """The step as a CUDA graph; as it is if it cannot be captured (then also why)."""
    import warp as wp

    step()
    wp.synchronize()
    try:
        with wp.ScopedCapture() as capture:
            step()
        graph = capture.graph
        wp.capture_launch(graph)
        wp.synchronize()
        return (lambda: wp.capture_launch(graph)), ""
    except Exception as error:
        return step, str(error)[:200]


def seconds_of(step, on_gpu: bool) -> tuple[float, float]:
    """Seconds of STEPS steps: on the device, by events, and on the wall."""
    import warp as wp

    begin, end = (wp.Event(enable_timing=True) if on_gpu else None for _ in range(2))
    start = time.perf_counter()
    if on_gpu:
        wp.record_event(begin)
    for _ in range(STEPS):
        step()
    if on_gpu:
        wp.record_event(end)
    wp.synchronize()
    wall = time.perf_counter() - start
    return (1e-3 * wp.get_event_elapsed_time(begin, end) if on_gpu else wall), wall


def verdicts(solver) -> dict:
    import numpy as np

    from stickslip import Status

    status, counts = np.unique(solver.result.status.numpy(), return_counts=True)
    return {
        "status": {Status(int(s)).name: int(c) for s, c in zip(status, counts, strict=True)},
        "residual_most": float(np.nanmax(solver.result.residual.numpy())),
        "iterations_mean": float(solver.result.iterations.numpy().mean()),
        "iterations_most": int(solver.result.iterations.numpy().max()),
        "iterations_99.9": float(np.quantile(solver.result.iterations.numpy(), 0.999)),
    }


def measure(folder: Path, name: str, nworld: int, law: str | None) -> dict:
    import numpy as np
    import warp as wp

    m, d = put(folder, name, nworld)
    step, solver = stepper(m, d, law)
    step, why_not = replayed(step)
    for _ in range(SETTLE):
        step()
    wp.synchronize()
    rows, before = d.nefc.numpy(), d.qpos.numpy()[:, 0].copy()
    seconds, wall = seconds_of(step, d.qpos.device.is_cuda)
    result = {
        "robot": name,
        "worlds": nworld,
        "step": law or "mujoco_warp",
        "ms_per_step": round(1e3 * seconds / STEPS, 4),
        "wall_ms_per_step": round(1e3 * wall / STEPS, 4),
        "world_steps_per_s": round(nworld * STEPS / seconds),
        "graph": not why_not,
        "rows_mean": round(float(rows.mean()), 1),
        "rows_most": int(rows.max()),
        "finite": bool(np.isfinite(d.qpos.numpy()).all()),
    }
    if why_not:
        result["no_graph"] = why_not
    if name == "slope":
        drift = (d.qpos.numpy()[:, 0] - before) / (0.002 * STEPS)
        result["drift_um_per_s"] = float(1e6 * np.abs(drift).max())
    if solver is None:
        return result | {"iterations_mean": float(d.solver_niter.numpy().mean())}
    return result | verdicts(solver)


def compile_kernels(folder: Path, name: str, nworld: int, law: str | None) -> dict:
    import warp as wp

    start = time.perf_counter()
    m, d = put(folder, name, nworld)
    stepper(m, d, law)[0]()
    wp.synchronize()
    seconds = round(time.perf_counter() - start, 1)
    return {"robot": name, "step": law or "mujoco_warp", "compiled_s": seconds}


def profile_step(folder: Path, name: str, nworld: int, law: str) -> int:
    """One step of settled worlds, alone in the range that a profiler sees."""
    import warp as wp
    from torch.cuda import profiler

    wp.config.quiet = True
    m, d = put(folder, name, nworld)
    step, _ = stepper(m, d, law)
    for _ in range(SETTLE):
        step()
    wp.synchronize()
    profiler.start()
    step()
    wp.synchronize()
    profiler.stop()
    return 0


def run_robot(mode: str, folder: Path, name: str, worlds: int) -> int:
    """One robot in this process, under each law; one that fails does not stop the others."""
    import warp as wp

    wp.config.quiet = True
    wp.init()
    if not wp.is_cuda_available() and not DRY:
        sys.exit("no GPU for Warp")
    for law in LAWS:
        try:
            result = (compile_kernels if mode == "compile" else measure)(folder, name, worlds, law)
        except Exception as error:
            result = {"robot": name, "worlds": worlds, "step": law or "mujoco_warp",
                      "error": f"{type(error).__name__}: {error}"[:500]}  # fmt: skip
        print(json.dumps(result), flush=True)
    return 0


def child(site: str, limit: float, mode: str, folder: Path, name: str, worlds: int) -> bool:
    """One robot in a process of its own; prints what it prints, and what went wrong."""
    environment = os.environ | {"PYTHONPATH": f"{site}:{folder / 'site'}"}
    command = [sys.executable, __file__, "--child", mode, folder, name, worlds]
    try:
        done = subprocess.run([*map(str, command)], env=environment, capture_output=True,
                              text=True, timeout=limit)  # fmt: skip
        text, error = done.stdout, done.stderr[-800:] if done.returncode else ""
    except subprocess.TimeoutExpired as stopped:
        text, error = (stopped.stdout or b"").decode(), f"over {limit:.0f} s"
    lines = [line for line in text.splitlines() if line.startswith("{")]
    print("\n".join(lines), flush=True)
    if error:
        print(f"engines: {mode} {name} {worlds}: {error}", flush=True)
    return not error and not any('"error"' in line for line in lines)


def main() -> int:
    if sys.argv[1:3] == ["--child", "kernels"]:
        return profile_step(Path(sys.argv[3]), sys.argv[4], int(sys.argv[5]), sys.argv[6])
    if sys.argv[1] == "--child":
        return run_robot(sys.argv[2], Path(sys.argv[3]), sys.argv[4], int(sys.argv[5]))
    folder, site, limit = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    deadline = time.monotonic() + limit
    names = ["slope", *(n for n in ROBOTS if (folder / "models" / f"{n}.mjb").exists())]

    def compile_robot(name: str) -> bool:
        return child(site, 0.55 * limit, "compile", folder, name, 2 if DRY else 64)

    with ThreadPoolExecutor(len(names)) as pool:
        good = all([*pool.map(compile_robot, names)])
    for worlds in WORLDS:
        for name in names:
            left = deadline - time.monotonic()
            if left < 8 or (name == "slope" and worlds != WORLDS[0]):
                continue
            good = child(site, min(60.0, left), "measure", folder, name, worlds) and good
    return not good


if __name__ == "__main__":
    sys.exit(main())
