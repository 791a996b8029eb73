"""MJX, of MuJoCo: contacts are soft, and JAX differentiates the iterations of the solver.

Reverse mode needs one iteration, because a loop of unknown length has none; forward mode has any.
"""

from functools import cache, partial
from importlib.metadata import version

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
from mjcf import mjcf
from mujoco import mjx
from scenes import IN, OUT, SETTLE, Scene, study

jax.config.update("jax_enable_x64", True)
MODES = {"forward": (100, 50), "reverse": (1, 4)}  # iterations of solver and line search
CONES = ("pyramidal", "elliptic")  # MuJoCo's default is the first


@cache
def model(scene: Scene, cone: str, mode: str) -> mjx.Model:
    found = mujoco.MjModel.from_xml_string(mjcf(scene, cone))
    found.opt.iterations, found.opt.ls_iterations = MODES[mode]
    return mjx.put_model(found)


@cache
def rest(scene: Scene, cone: str) -> mjx.Data:
    m = model(scene, cone, "forward")
    return settled(m, mjx.make_data(m), 0 if scene.above else SETTLE)


@partial(jax.jit, static_argnums=2)
def settled(m, d, steps: int):
    return jax.lax.fori_loop(0, steps, lambda _, d: mjx.step(m, d), d)


def outputs(m, d, steps: int, x):
    x = dict(zip(IN, x, strict=True))
    friction = jnp.zeros_like(m.geom_friction).at[:, 0].set(x["mu"])
    m = m.replace(geom_friction=friction)
    qvel = d.qvel.at[jnp.array([0, 2, 5])].add(jnp.array([x["vx"], x["vz"], x["wz"]]))
    d = d.replace(qvel=qvel, ctrl=jnp.array([x["F"]]))
    d = jax.lax.scan(lambda d, _: (mjx.step(m, d), None), d, None, length=steps)[0]
    found = {"x": d.qpos[0], "z": d.qpos[2], "vx": d.qvel[0], "vz": d.qvel[2], "wz": d.qvel[5]}
    return jnp.stack([found[name] for name in OUT])


values = partial(jax.jit, static_argnums=2)(outputs)


@partial(jax.jit, static_argnums=2)
def forward(m, d, steps, x, chosen):
    return chosen @ jax.jacfwd(partial(outputs, m, d, steps))(x)


@partial(jax.jit, static_argnums=2)
def reverse(m, d, steps, x, chosen):
    return jax.vjp(partial(outputs, m, d, steps), x)[1](chosen)[0]


def judge(cone: str, mode: str) -> None:
    derivative = {"forward": forward, "reverse": reverse}[mode]

    def run(scene: Scene, x: np.ndarray) -> np.ndarray:
        m, d = model(scene, cone, mode), rest(scene, cone)
        return np.asarray(values(m, d, scene.steps, jnp.asarray(x)))

    def derive(scene: Scene, x: np.ndarray, output: str) -> tuple[np.ndarray, str]:
        m, d = model(scene, cone, mode), rest(scene, cone)
        chosen = jnp.asarray(np.eye(len(OUT))[OUT.index(output)])
        return np.asarray(derivative(m, d, scene.steps, jnp.asarray(x), chosen)), ""

    packages = ", ".join(f"{name} {version(name)}" for name in ("mujoco-mjx", "mujoco", "jax"))
    solver, search = MODES[mode]
    about = f"{packages}; double, {solver} iterations, {search} of the line search"
    study(f"MJX, {mode} mode, {cone}", about, run, derive)


if __name__ == "__main__":
    for cone in CONES:
        for mode in MODES:
            judge(cone, mode)
