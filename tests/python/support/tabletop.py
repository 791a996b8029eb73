"""Random table tops: boxes, cylinders, capsules, compound bodies and convex meshes placed at rest
on a table and on one another."""

import numpy as np
from sim_models import text

CUBE = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
FRUSTUM = np.where(CUBE[:, 2:] > 0, [0.6, 0.6, 1.0], 1.0) * CUBE
HULLS = {"cube": CUBE, "frustum": FRUSTUM}
KINDS = ("box", "cylinder", "capsule", "compound", "cube", "frustum")
FLAT = ("box", "compound", "cube")  # tops that carry others


def geoms(kind, name, size):
    a, b, c = size
    if kind == "cylinder":
        return f'<geom type="cylinder" size="{a} {c}"/>'
    if kind == "capsule":
        return f'<geom type="capsule" size="{c} {a}" euler="90 0 0"/>'
    if kind == "compound":
        legs = "".join(
            f'<geom type="box" size="{a / 5} {b / 5} {c / 2}" '
            f'pos="{s * a * 0.8} {t * b * 0.8} {-c / 2}"/>'
            for s in (-1, 1)
            for t in (-1, 1)
        )
        return f'<geom type="box" size="{a} {b} {c / 2}" pos="0 0 {c / 2}"/>{legs}'
    if kind == "box":
        return f'<geom type="box" size="{a} {b} {c}"/>'
    return f'<geom type="mesh" mesh="{name}"/>'


def tabletop(seed, timestep, most=12):
    """The XML of a scene of 2 to `most` bodies, apart or on one another."""
    rng = np.random.default_rng(seed)
    bodies, meshes, below, places = "", "", None, 0
    for k in range(rng.integers(2, most + 1)):
        kind, size = str(rng.choice(KINDS)), rng.uniform(0.03, 0.09, 3)
        stacked = kind != "capsule" and below is not None and rng.random() < 0.45
        if stacked:
            size[:2] = 0.8 * min(*size[:2], *below["size"][:2])
            size[2] = min(size[2], 0.08)
            x, y = below["place"] + rng.uniform(-0.01, 0.01, 2)
            z = below["top"]
        else:
            x, y, z = 0.3 * (places % 4), 0.3 * (places // 4), 0.0
            places += 1
        if kind in HULLS:
            meshes += f'<mesh name="m{k}" vertex="{text(HULLS[kind] * size)}"/>'
        bodies += (
            f'<body pos="{x:.17g} {y:.17g} {z + size[2]:.17g}" euler="0 0 {rng.uniform(0, 90)}">'
            f"<freejoint/>{geoms(kind, f'm{k}', size)}</body>"
        )
        top = {"size": size, "place": np.array([x, y]), "top": z + 2 * size[2]}
        below = top if kind in FLAT else None
    friction = rng.choice([0.3, 1.0])
    return f"""<mujoco><option timestep="{timestep}"/>
    <default><geom friction="{friction}"/></default>
    <asset>{meshes}</asset><worldbody><geom type="box" size="2 2 .05" pos="0 0 -.05"/>{bodies}
    </worldbody></mujoco>"""
