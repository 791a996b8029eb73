"""Newton: springs and dampers in the contacts, differentiated backward by Warp's tape.

Of its solvers the semi-implicit one, which its examples differentiate (newton.examples.diffsim).
The default contacts are too stiff for one step of 5 ms: 50 substeps each, contacts found once a
step.
"""

from functools import cache

import newton
import numpy as np
import warp as wp
from scenes import FOOT, HALF, IN, MASS, OUT, RADIUS, SETTLE, SIDE, G, H, Scene, study

SUBSTEPS = 50


@wp.kernel
def begin(x: wp.array[float], q: wp.array[wp.transform], qd: wp.array[wp.spatial_vector],
          to_q: wp.array[wp.transform], to_qd: wp.array[wp.spatial_vector],
          mu: wp.array[float]):  # fmt: skip
    shape = wp.tid()
    mu[shape] = x[4]
    if shape == 0:
        to_q[0] = q[0]
        to_qd[0] = qd[0] + wp.spatial_vector(x[0], 0.0, x[1], 0.0, 0.0, x[2])


@wp.kernel
def push(x: wp.array[float], force: wp.array[wp.spatial_vector]):
    force[0] = wp.spatial_vector(x[3], 0.0, 0.0, 0.0, 0.0, 0.0)


@wp.kernel
def pick(q: wp.array[wp.transform], qd: wp.array[wp.spatial_vector], out: wp.array[float]):
    place = wp.transform_get_translation(q[0])
    out[0] = place[0]
    out[1] = place[2]
    out[2] = qd[0][0]
    out[3] = qd[0][5]
    out[4] = qd[0][2]


class Simulation:
    """One scene, with a state for each substep of `steps`."""

    def __init__(self, scene: Scene, steps: int) -> None:
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z, gravity=(0.0, 0.0, -G))
        config = newton.ModelBuilder.ShapeConfig(density=0.0)
        height = RADIUS + scene.above if scene.above else HALF
        moment = MASS * 2 * HALF**2 / 3
        body = builder.add_body(
            xform=wp.transform((0.0, 0.0, height), wp.quat_identity()), mass=MASS,
            inertia=wp.mat33(moment, 0.0, 0.0, 0.0, moment, 0.0, 0.0, 0.0, moment),
        )  # fmt: skip
        places = [(x * SIDE, y * SIDE, FOOT - HALF) for x in (-1, 1) for y in (-1, 1)]
        radius = RADIUS if scene.above else FOOT
        for place in [(0.0, 0.0, 0.0)] if scene.above else places:
            xform = wp.transform(place, wp.quat_identity())
            builder.add_shape_sphere(body, xform=xform, radius=radius, cfg=config)
        builder.add_ground_plane(cfg=config)
        self.model = builder.finalize(requires_grad=True, device="cpu")
        self.solver = newton.solvers.SolverSemiImplicit(self.model)
        self.states = [self.model.state() for _ in range(steps * SUBSTEPS + 1)]
        self.pipeline = newton.CollisionPipeline(self.model, requires_grad=True)
        self.contacts = [self.pipeline.contacts() for _ in range(steps)]
        self.control, self.steps = self.model.control(), steps
        self.rest = self.model.state()
        self.out = wp.zeros(len(OUT), dtype=float, requires_grad=True, device="cpu")

    def forward(self, x: wp.array) -> None:
        first = self.states[0]
        mu = self.model.shape_material_mu
        wp.launch(begin, dim=len(mu), inputs=[x, self.rest.body_q, self.rest.body_qd],
                  outputs=[first.body_q, first.body_qd, mu], device="cpu")  # fmt: skip
        for k in range(self.steps * SUBSTEPS):
            now, after = self.states[k : k + 2]
            contacts = self.contacts[k // SUBSTEPS]
            if k % SUBSTEPS == 0:
                self.pipeline.collide(now, contacts)
            wp.launch(push, dim=1, inputs=[x], outputs=[now.body_f], device="cpu")
            self.solver.step(now, after, self.control, contacts, H / SUBSTEPS)
        last = self.states[-1]
        wp.launch(pick, dim=1, inputs=[last.body_q, last.body_qd], outputs=[self.out],
                  device="cpu")  # fmt: skip


@cache
def prepared(scene: Scene) -> Simulation:
    found = Simulation(scene, scene.steps)
    one = Simulation(scene, 1)
    x = np.zeros(len(IN))
    x[IN.index("mu")] = scene.inputs()[IN.index("mu")]
    for _ in range(0 if scene.above else SETTLE):
        one.forward(wp.array(x, dtype=float, device="cpu"))
        for sim in (one, found):
            wp.copy(sim.rest.body_q, one.states[-1].body_q)
            wp.copy(sim.rest.body_qd, one.states[-1].body_qd)
    return found


def run(scene: Scene, x: np.ndarray) -> np.ndarray:
    sim = prepared(scene)
    sim.forward(wp.array(x, dtype=float, device="cpu"))
    return sim.out.numpy().astype(float)


def derive(scene: Scene, x: np.ndarray, output: str) -> tuple[np.ndarray, str]:
    sim = prepared(scene)
    given = wp.array(x, dtype=float, requires_grad=True, device="cpu")
    with wp.Tape() as tape:
        sim.forward(given)
    one = wp.array(np.eye(len(OUT))[OUT.index(output)], dtype=float, device="cpu")
    tape.backward(grads={sim.out: one})
    found = given.grad.numpy().astype(float)
    tape.zero()
    return found, ""


def main() -> None:
    about = f"newton {newton.__version__}, warp {wp.__version__}; float, {SUBSTEPS} substeps"
    study("Newton, semi-implicit", about, run, derive, by=1e-2)


if __name__ == "__main__":
    main()
