"""Bodies that are pushed along a floor, stepped in a function that torch compiles.

Each body of 1 kg is pushed with another force. Under Coulomb's law it rests up to mu m g, and above
that it accelerates by F / m - mu g. The batch has 1,000 bodies, one contact each.
"""

import torch

import stickslip.torch

MU, G, DT = 0.5, 9.81, 0.01


def step(velocity: torch.Tensor, force: torch.Tensor, W: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The velocities (E, 3), m/s, after one step, and which environments were solved. Rows of a
    contact: normal, two tangents."""
    weight = torch.tensor([-G, 0.0, 0.0], dtype=velocity.dtype)
    free = velocity + DT * (force + weight)
    solution = stickslip.torch.solve(W, free, MU, law="coulomb")
    return free + solution.impulse, solution.ok  # M = 1 kg


def main(bodies: int = 1000, steps: int = 100) -> None:
    push = torch.linspace(0.0, 10.0, bodies, dtype=torch.float64)  # N
    force = torch.stack([torch.zeros_like(push), push, torch.zeros_like(push)], dim=1)
    W = torch.eye(3, dtype=torch.float64).expand(bodies, 3, 3)  # 1/kg
    velocity = torch.zeros_like(force)
    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    solved = 0
    for _ in range(steps):
        velocity, ok = compiled(velocity, force, W)
        solved += int(ok.sum())
    expected = (push - MU * G).clamp(min=0.0) * steps * DT
    error = (velocity[:, 1] - expected).abs().max()
    print(f"solved {solved} of {bodies * steps}")
    print(f"at rest {int((velocity[:, 1] == 0).sum())}, sliding {int((velocity[:, 1] > 0).sum())}")
    print(f"largest error of a velocity {error:.0e} m/s")
    assert error < 1e-6


if __name__ == "__main__":
    main()
