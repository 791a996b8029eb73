"""The extension of BatchSim, for the MuJoCo that is installed."""

from __future__ import annotations

import ctypes
import functools
import importlib
import re
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SERIES = ("4_0", "3_17")  # also in pyproject.toml and cmake/FindMuJoCo.cmake
WANTED = "mujoco>=3.17,<4.1"

#: A model whose arrays of bodies, contacts and constraints are not empty.
SAMPLE = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body pos="0 0 .09"><freejoint/><geom name="ball" size=".1"/><site name="s"/></body>
<body pos="1 0 .09"><joint name="j" axis="0 1 0" damping="1" frictionloss="1" range="0 1"/>
<geom size=".1" pos=".5 0 0"/></body></worldbody><actuator><motor joint="j"/></actuator>
<sensor><jointpos joint="j"/></sensor></mujoco>"""


@functools.cache
def mujoco_part() -> Any:
    """The extension for the series of MuJoCo that is installed; the rest of the package needs
    none. Raises ImportError where there is no MuJoCo that it works with."""
    try:
        library = _library()
        part = _load(library)
        if _version_of(library) != _text_of(part.version):
            _refuse(library, part, differences(part))
    except ImportError as error:
        raise ImportError(
            f"BatchSim needs MuJoCo in the same environment: pip install '{WANTED}' "
            f"(installed: {installed_mujoco() or 'none'}; {error})"
        ) from error
    return part


def installed_mujoco() -> str | None:
    """The version of the package mujoco; None: it is not installed."""
    try:
        return metadata.version("mujoco")
    except metadata.PackageNotFoundError:
        return None


def differences(part: Any) -> list[str]:
    """Where the structs of MuJoCo's bindings have other places or numbers than those of `part`,
    the extension's."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(SAMPLE)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    model_arrays, model_numbers, data_arrays, data_numbers, contact_size = part.layout(
        model._address, data._address
    )
    wrong = [] if data.contact.dist.strides == (contact_size,) else ["mjContact"]
    for struct, arrays, numbers in (
        (model, model_arrays, model_numbers),
        (data, data_arrays, data_numbers),
    ):
        for name, address in arrays.items():
            array = functools.reduce(_field, name.split("."), struct)
            if getattr(array, "size", 0) > 0 and array.ctypes.data != address:
                wrong.append(name)
        for name, number in numbers.items():
            shown = getattr(struct, name, None)
            if isinstance(shown, int | float) and shown != number:
                wrong.append(name)
    return wrong


def _field(struct: Any, name: str) -> Any:
    return getattr(struct, name, None)


def _library() -> Path:
    """libmujoco of the package mujoco, which is not imported: that would choose how to render."""
    spec = find_spec("mujoco")
    folders = (spec.submodule_search_locations or ()) if spec else ()
    for folder in map(Path, folders):
        # An older mujoco installed over a newer one leaves the library of mujoco-core beside its
        # own; the headers are those of the bindings.
        found, version = sorted(folder.glob("libmujoco.so.*")), _version_of_headers(folder)
        if found:
            return max(found, key=lambda library: _version_of(library) == version)
    raise ImportError("no libmujoco")


def _version_of_headers(folder: Path) -> str | None:
    try:
        text = (folder / "include/mujoco/mujoco.h").read_text()
    except OSError:
        return None
    number = re.search(r"#define mjVERSION_HEADER (\d+)", text)
    return _text_of(int(number[1])) if number else None


def _version_of(library: Path) -> str:
    return library.name.removeprefix("libmujoco.so.")


def _text_of(number: int) -> str:
    return f"{number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}"


def _load(library: Path) -> Any:
    series = "_".join(_version_of(library).split(".")[:2])
    name = f"stickslip._mujoco_{series}"
    if find_spec(name) is None:
        built = [s.replace("_", ".") for s in SERIES if find_spec(f"stickslip._mujoco_{s}")]
        raise ImportError(
            f"this build is for MuJoCo {' and '.join(built)}; one for yours too: "
            f"CMAKE_ARGS=-DSTICKSLIP_MUJOCO_ALSO={library.parent} pip install <its source>"
        )
    # The extension is not linked to one file, whose name has the version in it: its functions are
    # those of what is loaded. libmujoco exports names of MuJoCo alone.
    try:
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise ImportError(f"{error}: pip install --force-reinstall mujoco mujoco-core") from error
    part = importlib.import_module(name)
    if part.mujoco_version() != _version_of(library):
        raise ImportError(f"{library} is MuJoCo {part.mujoco_version()}")
    return part


def _refuse(library: Path, part: Any, wrong: list[str]) -> None:
    if wrong:
        raise ImportError(
            f"the structs of {_version_of(library)} are not those of {_text_of(part.version)}, "
            f"for which this build is: {', '.join(wrong[:3])} and {max(len(wrong) - 3, 0)} others"
        )
