"""Coefficients of friction of bodies, found by gradient descent through their contacts.

Bodies of 1 kg are pushed along a floor, each harder than the one before, and only their velocities
are seen. A torch optimizer changes all coefficients until the simulated velocities are those.
"""

import torch

import stickslip.torch

G, DT = 9.81, 0.01
STEPS = 20


def simulate(mu: torch.Tensor, push: torch.Tensor) -> torch.Tensor:
    """Velocities (E, 3), m/s, after some steps, with a coefficient (E, 1) for each body. Rows of a
    contact: normal, two tangents."""
    bodies = len(push)
    W = torch.eye(3, dtype=torch.float64).expand(bodies, 3, 3)  # 1/kg
    R = torch.full((3,), 1e-3, dtype=torch.float64)  # makes derivatives unique
    weight = torch.full_like(push, -G)
    force = torch.stack([weight, push, torch.zeros_like(push)], dim=1)
    velocity = torch.zeros_like(force)
    for _ in range(STEPS):
        free = velocity + DT * force
        velocity = free + stickslip.torch.solve(W, free, mu, R=R).impulse  # M = 1 kg
    return velocity


def main(bodies: int = 200, iterations: int = 300) -> None:
    generator = torch.Generator().manual_seed(0)
    true = 0.2 + 0.6 * torch.rand(bodies, 1, dtype=torch.float64, generator=generator)
    push = torch.linspace(10.0, 20.0, bodies, dtype=torch.float64)  # N: all slide
    seen = simulate(true, push)
    mu = torch.full_like(true, 0.5, requires_grad=True)
    optimizer = torch.optim.Adam([mu], lr=0.02)
    for _ in range(iterations):
        optimizer.zero_grad()
        loss = ((simulate(mu, push) - seen) ** 2).sum()
        loss.backward()
        optimizer.step()
    error = (mu.detach() - true).abs().max()
    print(f"largest error of {bodies} coefficients: {error:.0e}")
    assert error < 1e-3


if __name__ == "__main__":
    main()
