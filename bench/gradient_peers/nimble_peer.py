"""Nimble: contacts as a linear complementarity problem, differentiated analytically.

Through its layer of PyTorch, `nimblephysics.timestep`. Coefficients of friction are numbers without
derivatives. The floor is a box, because planes have no contacts with spheres there.
"""

from functools import cache
from importlib.metadata import version

import nimblephysics as nimble
import numpy as np
import torch
from scenes import FOOT, HALF, IN, MASS, OUT, RADIUS, SETTLE, SIDE, G, H, Scene, study

# (rotation, place, angular velocity, velocity) of the free joint; the vertical is y, because the
# program warns of wrong gradients through contacts whose normal is near z
VELOCITIES = {"wz": 7, "vx": 9, "vz": 10}


@cache
def world(scene: Scene) -> tuple:
    """The world and what has a coefficient of friction."""
    found = nimble.simulation.World()
    found.setGravity([0, -G, 0])
    found.setTimeStep(H)
    floor = nimble.dynamics.Skeleton()
    _, ground = floor.createWeldJointAndBodyNodePair()
    node = ground.createShapeNode(nimble.dynamics.BoxShape([20, 0.2, 20]))
    node.setRelativeTranslation([0, -0.1, 0])
    node.createCollisionAspect()
    found.addSkeleton(floor)
    skeleton = nimble.dynamics.Skeleton()
    _, body = skeleton.createFreeJointAndBodyNodePair()
    places = [[x * SIDE, FOOT - HALF, z * SIDE] for x in (-1, 1) for z in (-1, 1)]
    for place in [[0, 0, 0]] if scene.above else places:
        radius = RADIUS if scene.above else FOOT
        node = body.createShapeNode(nimble.dynamics.SphereShape(radius))
        node.setRelativeTranslation(place)
        node.createCollisionAspect()
    moment = MASS * 2 * HALF**2 / 3
    body.setInertia(nimble.dynamics.Inertia(MASS, np.zeros(3), moment * np.eye(3)))
    found.addSkeleton(skeleton)
    return found, (ground, body)


def states(scene: Scene, x: torch.Tensor, start: np.ndarray, steps: int) -> torch.Tensor:
    """The state after some steps."""
    w, bodies = world(scene)
    for body in bodies:
        body.setFrictionCoeff(float(x[IN.index("mu")].detach()))
    state = torch.tensor(start)
    change = [torch.zeros((), dtype=torch.float64)] * len(start)
    for name, place in VELOCITIES.items():
        change[place] = x[IN.index(name)]
    state = state + torch.stack(change)
    force = torch.zeros(6, dtype=torch.float64).index_put(
        (torch.tensor([3]),), x[IN.index("F")].reshape(1)
    )
    for _ in range(steps):
        state = nimble.timestep(w, state, force)
    return state


@cache
def rest(scene: Scene) -> np.ndarray:
    start = np.zeros(12)
    start[4] = RADIUS + scene.above if scene.above else HALF
    x = torch.zeros(len(IN), dtype=torch.float64)
    x[IN.index("mu")] = scene.inputs()[IN.index("mu")]
    return states(scene, x, start, 0 if scene.above else SETTLE).detach().numpy()


def outputs(state: torch.Tensor) -> torch.Tensor:
    return state[[{"x": 3, "z": 4, **VELOCITIES}[name] for name in OUT]]


def run(scene: Scene, x: np.ndarray) -> np.ndarray:
    return outputs(states(scene, torch.tensor(x), rest(scene), scene.steps)).detach().numpy()


def derive(scene: Scene, x: np.ndarray, output: str) -> tuple[np.ndarray, str]:
    given = torch.tensor(x, requires_grad=True)
    found = outputs(states(scene, given, rest(scene), scene.steps))
    found[OUT.index(output)].backward()
    return given.grad.numpy(), ""


def main() -> None:
    about = f"nimblephysics {version('nimblephysics')}, torch {torch.__version__}; double, defaults"
    study("Nimble", about, run, derive, lacks=("mu",))


if __name__ == "__main__":
    main()
