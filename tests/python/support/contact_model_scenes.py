"""Models with restitution, springs and static friction of geoms."""

import numpy as np

from stickslip import BatchSim

H, G = 1e-3, 9.81  # s, m/s^2


def tuples(**numbers):
    """restitution={"geom ball": 0.5, ...}"""
    text = ""
    for name, elements in numbers.items():
        text += f'<tuple name="stickslip_{name}">'
        for element, value in elements.items():
            kind, of = element.split()
            text += f'<element objtype="{kind}" objname="{of}" prm="{value}"/>'
        text += "</tuple>"
    return f"<custom>{text}</custom>" if text else ""


def ball(h=H, gravity=0.0, contact="", of_ball="", of_floor="", mass=1.0, **numbers):
    return f"""<mujoco><option timestep="{h}" gravity="0 0 {-gravity}"/>{tuples(**numbers)}
      <asset><material name="rubber"/><material name="steel"/></asset>
      <worldbody><geom name="floor" type="plane" size="5 5 .1" {of_floor}/>
        <body pos="0 0 .1"><freejoint/>
          <geom name="ball" type="sphere" size=".1" mass="{mass}" {of_ball}/></body>
      </worldbody><contact>{contact}</contact></mujoco>"""


def balls_in_a_box(**numbers):
    """Three different bodies between walls, which meet all the time."""
    walls = "".join(
        f'<geom name="wall{k}" type="plane" size="5 5 .1" pos="{x} {y} 0" zaxis="{-x} {-y} 0"/>'
        for k, (x, y) in enumerate([(0.3, 0), (-0.3, 0), (0, 0.3), (0, -0.3)])
    )
    bodies = "".join(
        f'<body pos="{0.15 * k - 0.15} {0.05 * k} {0.2 + 0.1 * k}"><freejoint/>'
        f'<geom name="body{k}" {shape} friction="{0.2 + 0.3 * k}"/></body>'
        for k, shape in enumerate(
            ['type="sphere" size=".06"', 'type="box" size=".05 .06 .04"',
             'type="capsule" size=".03 .05"']
        )
    )  # fmt: skip
    return f"""<mujoco><option timestep=".002"/>{tuples(**numbers)}<worldbody>
      <geom name="floor" type="plane" size="5 5 .1"/>{walls}{bodies}</worldbody></mujoco>"""


GEOMS = ("floor", "wall0", "wall1", "wall2", "wall3", "body0", "body1", "body2")


def thrown(model, num_envs, steps=300, **options):
    sim = BatchSim(model, num_envs, **options)
    rng = np.random.default_rng(7)
    sim.qvel[...] = rng.uniform(-2, 2, sim.qvel.shape)
    return sim, steps


def after(sim, steps):
    sim.step(substeps=steps)
    return np.concatenate([sim.qpos, sim.qvel], axis=1)
