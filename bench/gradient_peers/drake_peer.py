"""Drake: discrete MultibodyPlants with the scalar AutoDiffXd, which carries derivatives forward.

Feet and floor touch in points, compliant by default; SAP differentiates its solution by the
implicit function theorem. Coefficients of friction are numbers without derivatives.
"""

from functools import cache
from importlib.metadata import version

import numpy as np
from pydrake.autodiffutils import AutoDiffXd, InitializeAutoDiff
from pydrake.geometry import HalfSpace, Sphere
from pydrake.math import RigidTransform
from pydrake.multibody.plant import (
    AddMultibodyPlantSceneGraph,
    ContactModel,
    CoulombFriction,
    DiscreteContactApproximation,
    MultibodyPlant,
)
from pydrake.multibody.tree import SpatialInertia, UnitInertia
from pydrake.systems.framework import DiagramBuilder
from scenes import FOOT, HALF, IN, MASS, OUT, RADIUS, SETTLE, SIDE, H, Scene, study

APPROXIMATIONS = {
    "SAP": DiscreteContactApproximation.kSap,
    "TAMSI": DiscreteContactApproximation.kTamsi,
}
VELOCITIES = {"wz": 9, "vx": 10, "vz": 12}  # of (q, v): quaternion, position, w, v


@cache
def diagram(scene: Scene, kind: str, mu: float) -> tuple:
    """The diagram, its plant, and both with derivatives."""
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, MultibodyPlant(H))
    plant.set_discrete_contact_approximation(APPROXIMATIONS[kind])
    plant.set_contact_model(ContactModel.kPoint)
    inertia = UnitInertia(*[2 * HALF**2 / 3] * 3)
    body = plant.AddRigidBody("body", SpatialInertia(MASS, np.zeros(3), inertia))
    friction = CoulombFriction(mu, mu)
    places = [[x * SIDE, y * SIDE, FOOT - HALF] for x in (-1, 1) for y in (-1, 1)]
    for i, place in enumerate([[0, 0, 0]] if scene.above else places):
        shape = Sphere(RADIUS if scene.above else FOOT)
        plant.RegisterCollisionGeometry(body, RigidTransform(place), shape, f"{i}", friction)
    plant.RegisterCollisionGeometry(
        plant.world_body(), RigidTransform(), HalfSpace(), "floor", friction
    )
    plant.Finalize()
    plain = builder.Build()
    with_derivatives = plain.ToAutoDiffXd()
    return plain, plant, with_derivatives, with_derivatives.GetSubsystemByName(plant.get_name())


def steps(system, plant, state: np.ndarray, force, count: int) -> np.ndarray:
    """The state after some steps."""
    context = system.CreateDefaultContext()
    own = plant.GetMyContextFromRoot(context)
    plant.SetPositionsAndVelocities(own, state)
    forces = np.array([0 * force] * 3 + [force] + [0 * force] * 2)
    plant.get_applied_generalized_force_input_port().FixValue(own, forces)
    for _ in range(count):
        system.CalcForcedUnrestrictedUpdate(context, context.get_mutable_state())
    return plant.GetPositionsAndVelocities(own)


@cache
def rest(scene: Scene, kind: str, mu: float) -> np.ndarray:
    system, plant, *_ = diagram(scene, kind, mu)
    state = np.zeros(13)
    state[[0, 6]] = 1, RADIUS + scene.above if scene.above else HALF
    return steps(system, plant, state, 0.0, 0 if scene.above else SETTLE)


def started(scene: Scene, kind: str, x: np.ndarray) -> np.ndarray:
    state = rest(scene, kind, scene.inputs()[IN.index("mu")]).copy()
    for name, place in VELOCITIES.items():
        state[place] += x[IN.index(name)]
    return state


def outputs(state: np.ndarray) -> np.ndarray:
    return state[[{"x": 4, "z": 6, **VELOCITIES}[name] for name in OUT]]


def run(scene: Scene, x: np.ndarray, kind: str) -> np.ndarray:
    system, plant, *_ = diagram(scene, kind, x[IN.index("mu")])
    state = started(scene, kind, x)
    return outputs(steps(system, plant, state, x[IN.index("F")], scene.steps))


def derive(scene: Scene, x: np.ndarray, output: str, kind: str) -> tuple[np.ndarray, str]:
    *_, system, plant = diagram(scene, kind, x[IN.index("mu")])
    given = InitializeAutoDiff(x).ravel()
    state = np.array([AutoDiffXd(v, np.zeros(len(IN))) for v in started(scene, kind, 0 * x)])
    for name, place in VELOCITIES.items():
        state[place] = state[place] + given[IN.index(name)]
    found = steps(system, plant, state, given[IN.index("F")], scene.steps)
    one = outputs(found)[OUT.index(output)]
    return one.derivatives(), ""


def main() -> None:
    for kind in APPROXIMATIONS:
        about = f"drake {version('drake')}; double, point contact, default compliance"
        study(f"Drake, {kind}", about, lambda scene, x, kind=kind: run(scene, x, kind),
              lambda scene, x, output, kind=kind: derive(scene, x, output, kind),
              lacks=("mu",))  # fmt: skip


if __name__ == "__main__":
    main()
