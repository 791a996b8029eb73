"""BatchSim with the MuJoCo that is installed: of which series, and with which structs."""

import re
from pathlib import Path
from types import SimpleNamespace

import mujoco
import pytest

from stickslip import BatchSim
from stickslip._src import mujoco_part as versions

PART = versions.mujoco_part()


@pytest.fixture
def fresh():
    """mujoco_part as in a new process; afterwards as it was."""
    versions.mujoco_part.cache_clear()
    yield
    versions.mujoco_part.cache_clear()


def test_the_extension_is_that_of_the_installed_series():
    series = "_".join(mujoco.__version__.split(".")[:2])
    assert PART.__name__ == f"stickslip._mujoco_{series}"
    assert series in versions.SERIES
    assert PART.version // 1000 == mujoco.mj_version() // 1000
    assert PART.mujoco_version() == mujoco.__version__


def test_its_structs_are_those_of_mujocos_bindings():
    """Python's bindings are a program apart, compiled with the library's own headers."""
    assert versions.differences(PART) == []
    model = mujoco.MjModel.from_xml_string(versions.SAMPLE)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    layout = PART.layout(model._address, data._address)
    arrays, numbers = {**layout[0], **layout[2]}, {**layout[1], **layout[3]}
    assert len(arrays) > 500
    assert len(numbers) > 100
    assert [numbers[name] for name in ("nv", "ncon", "nefc")] == [7, 2, data.nefc]


@pytest.mark.parametrize("struct", range(4))
def test_every_difference_is_found(struct):
    def altered(model, data):
        layout = [dict(part) for part in PART.layout(model, data)[:4]]
        name = ("geom_pos", "ngeom", "qM" if "qM" in layout[2] else "qpos", "nefc")[struct]
        layout[struct][name] += 8
        return *layout, PART.layout(model, data)[4]

    found = versions.differences(SimpleNamespace(layout=altered))
    assert len(found) == 1

    def larger(model, data):
        return *PART.layout(model, data)[:4], PART.layout(model, data)[4] + 8

    assert versions.differences(SimpleNamespace(layout=larger)) == ["mjContact"]


def test_another_patch_is_used_if_its_structs_are_the_same(fresh, monkeypatch):
    """mujoco 4.0.1 beside an extension that was built with 4.0.0."""
    library = versions._library()
    series = PART.version // 1000 * 1000
    for patch, accepted in ((7, True), (8, False)):
        other = SimpleNamespace(version=series + patch, layout=PART.layout, number=patch)
        monkeypatch.setattr(versions, "_load", lambda _, part=other: part)
        versions.mujoco_part.cache_clear()
        if accepted:
            assert versions.mujoco_part().number == patch
            monkeypatch.setattr(versions, "differences", lambda _: ["nefc", "qpos"])
            continue
        text = re.escape(f"the structs of {versions._version_of(library)} are not those of")
        with pytest.raises(ImportError, match=text + r".*\.8, for which this build is: nefc, qpos"):
            versions.mujoco_part()


def test_a_series_without_an_extension_is_named(fresh, monkeypatch, tmp_path):
    library = tmp_path / "libmujoco.so.5.1.0"
    library.touch()
    monkeypatch.setattr(versions, "_library", lambda: library)
    expected = (
        r"pip install 'mujoco>=3.17,<4.1' \(installed: .*; this build is for MuJoCo [34]\..*"
        rf"-DSTICKSLIP_MUJOCO_ALSO={tmp_path}"
    )
    with pytest.raises(ImportError, match=expected):
        versions.mujoco_part()


def package(folder: Path, *libraries: str, headers: int | None = None) -> SimpleNamespace:
    """The spec of a package mujoco with these libraries, whose headers have that number."""
    for version in libraries:
        (folder / f"libmujoco.so.{version}").write_bytes(b"no library")
    if headers is not None:
        header = folder / "include/mujoco/mujoco.h"
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(f"// MuJoCo\n#define mjVERSION_HEADER {headers}\n")
    return SimpleNamespace(submodule_search_locations=[str(folder)])


@pytest.mark.parametrize(
    ("headers", "taken"), [(3_017_000, "3.17.0"), (4_000_000, "4.0.0"), (None, "3.17.0")]
)
def test_of_two_libraries_that_of_the_bindings_is_taken(monkeypatch, tmp_path, headers, taken):
    """Where mujoco 3.17 was installed over mujoco 4.0, which leaves that of mujoco-core, also in a
    folder without metadata: another library than that of the bindings would step silently."""
    spec = package(tmp_path, "3.17.0", "4.0.0", headers=headers)
    monkeypatch.setattr(versions, "find_spec", lambda _: spec)
    assert versions._library() == tmp_path / f"libmujoco.so.{taken}"


def test_a_damaged_library_is_named_with_what_mends_it(fresh, monkeypatch, tmp_path):
    version = mujoco.__version__
    package(tmp_path, version)
    library = tmp_path / f"libmujoco.so.{version}"
    monkeypatch.setattr(versions, "_library", lambda: library)
    with pytest.raises(ImportError, match=rf"{library}.*--force-reinstall mujoco mujoco-core"):
        versions.mujoco_part()
    from stickslip import info

    assert "--force-reinstall" in info.facts()["MuJoCo"]


def test_a_library_with_the_name_of_another_version_is_refused(fresh, monkeypatch, tmp_path):
    series = ".".join(mujoco.__version__.split(".")[:2])
    library = tmp_path / f"libmujoco.so.{series}.9"
    library.symlink_to(versions._library())
    monkeypatch.setattr(versions, "_library", lambda: library)
    with pytest.raises(ImportError, match=f"is MuJoCo {mujoco.__version__}"):
        versions.mujoco_part()


def test_without_mujoco_the_error_says_what_to_install(fresh, monkeypatch):
    monkeypatch.setattr(versions, "find_spec", lambda _: None)
    monkeypatch.setattr(versions, "installed_mujoco", lambda: None)
    with pytest.raises(ImportError, match=r"mujoco>=3.17,<4.1' \(installed: none; no libmujoco\)"):
        BatchSim("<mujoco/>")
