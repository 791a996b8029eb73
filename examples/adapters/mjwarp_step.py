"""mujoco_warp's step with the constraint solve of stickslip: a box on a slope, and a driven ant.

    pip install "stickslip[mjwarp]"
    python examples/adapters/mjwarp_step.py    # CPU; about ten seconds, more at the first run

The box rests on a slope of 20 degrees with mu = 0.7. mujoco_warp lets it creep; under Coulomb's law
it stands still. The ant shows the verdict for each world.
"""

from __future__ import annotations

import math
import sys

import mujoco
import mujoco_warp as mjw
import numpy as np

from stickslip import Status, mjwarp, models

SLOPE = math.radians(20)
BOX = f"""<mujoco><option timestep="0.002" integrator="implicitfast" cone="elliptic"
  gravity="{9.81 * math.sin(SLOPE)} 0 {-9.81 * math.cos(SLOPE)}"/><worldbody>
  <geom type="plane" size="5 5 .1" friction=".7 .005 .0001"/>
  <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" friction=".7 .005 .0001"/></body>
</worldbody></mujoco>"""


def put(model: mujoco.MjModel, nworld: int) -> tuple[mjw.Model, mjw.Data]:
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    d = mjw.put_data(model, data, nworld=nworld, nconmax=32, njmax=96)
    return mjw.put_model(model), d


def creep(steps: int) -> dict[str, float]:
    """Speed of the box, m/s, over the second half of the steps."""
    speeds = {}
    for name, step in (("mujoco_warp", mjw.step), ("stickslip", mjwarp.step)):
        m, d = put(mujoco.MjModel.from_xml_string(BOX), 1)
        for number in range(steps):
            if number == steps // 2:
                before = d.qpos.numpy()[0, 0]
            step(m, d)
        seconds = 0.002 * (steps - steps // 2)
        speeds[name] = float(d.qpos.numpy()[0, 0] - before) / seconds
    return speeds


def ants(steps: int, nworld: int) -> dict[str, int]:
    """How many of the ants' steps got which verdict."""
    model = mujoco.MjModel.from_xml_path(str(models.find("ant")))
    model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    m, d = put(model, nworld)
    rng = np.random.default_rng(0)
    solver = mjwarp.ConstraintSolver(m, d, law="coulomb")
    verdicts = dict.fromkeys(Status.__members__, 0)
    for _ in range(steps):
        d.ctrl.assign(rng.uniform(-1, 1, d.ctrl.shape).astype(np.float32))
        result = mjwarp.step(m, d, solver)
        for status in result.status.numpy():
            verdicts[Status(status).name] += 1
    return verdicts


def main(steps: int = 1000) -> None:
    for name, speed in creep(steps).items():
        print(f"box on the slope, {name}: {1e6 * speed:.3g} µm/s")
    counts = ants(steps // 4, nworld=16)
    print("ants:", ", ".join(f"{name} {count}" for name, count in counts.items() if count))


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
