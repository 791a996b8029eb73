"""Bodies that are pushed along a floor, stepped in one function that JAX compiles.

Each body of 1 kg is pushed with another force. Under Coulomb's law it rests up to mu m g, and above
that it accelerates by F / m - mu g. `step` steps one body; `vmap` makes 1,000 of it, `scan` 100
steps.
"""

import jax
import jax.numpy as jnp

import stickslip.jax

MU, G, DT = 0.5, 9.81, 0.01


def step(velocity: jax.Array, force: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The velocity (3,), m/s, after one step, and whether it was solved. Rows of a contact: normal,
    two tangents."""
    free = velocity + DT * (force + jnp.array([-G, 0.0, 0.0]))
    solution = stickslip.jax.solve(jnp.eye(3), free, MU, law="coulomb")
    return free + solution.impulse, solution.ok  # M = 1 kg


def main(bodies: int = 1000, steps: int = 100) -> None:
    jax.config.update("jax_enable_x64", True)
    push = jnp.linspace(0.0, 10.0, bodies)  # N
    force = jnp.stack([jnp.zeros(bodies), push, jnp.zeros(bodies)], axis=1)

    @jax.jit
    def simulate(force: jax.Array) -> tuple[jax.Array, jax.Array]:
        bodies_step = jax.vmap(step)
        return jax.lax.scan(
            lambda velocity, _: bodies_step(velocity, force), jnp.zeros_like(force), length=steps
        )

    velocity, ok = simulate(force)
    expected = jnp.maximum(push - MU * G, 0.0) * steps * DT
    error = jnp.abs(velocity[:, 1] - expected).max()
    print(f"solved {int(ok.sum())} of {bodies * steps}")
    print(f"at rest {int((velocity[:, 1] == 0).sum())}, sliding {int((velocity[:, 1] > 0).sum())}")
    print(f"largest error of a velocity {error:.0e} m/s")
    assert error < 1e-6


if __name__ == "__main__":
    main()
