"""The gallery: its examples agree with theory, and its pages with the results of the examples."""

import re
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import qmc
from typer.testing import CliRunner

from gallery import Check, Entry, Record, all_entries, find, pages, vary
from gallery.command import app
from stickslip import _gallery

ROOT = Path(__file__).resolve().parents[3]
# Card houses are also solved by sweeps alone, as the page states.
pytestmark = pytest.mark.filterwarnings("ignore:.*not solved:UserWarning")
PAGES = ROOT / "docs" / "gallery"
FEW = 8
RELATIVE = 1e-3  # as docs/gallery/README.md says
NAN = float("nan")

# The tests of an entry share its results, so one process runs them.
each_entry = pytest.mark.parametrize(
    "entry",
    [pytest.param(e, marks=pytest.mark.xdist_group(e.name)) for e in all_entries()],
    ids=lambda entry: entry.name,
)


def call(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


@cache
def few(name: str) -> Record:
    return find(name).run(FEW)


@pytest.fixture
def folder(tmp_path):
    """A copy of docs/gallery."""
    return Path(shutil.copytree(PAGES, tmp_path / "gallery"))


@pytest.fixture
def broken(monkeypatch):
    """The first entry, whose record has a check that fails."""
    record = Record([Check("fine", 0.0, 1.0), Check("broken", NAN, 1.0)])
    monkeypatch.setattr(Entry, "run", lambda self, variations: record)
    return all_entries()[0].name


@each_entry
def test_checks_hold(entry):
    record = few(entry.name)
    failing = [check for check in record.checks if not check.holds]
    assert record.holds, failing
    assert len({check.name for check in record.checks}) == len(record.checks)


@pytest.mark.parametrize(
    ("checks", "holds"),
    [
        ([Check("", 1.0, 1.0)], True),
        ([Check("", 1.0, 1.0), Check("", 1.1, 1.0)], False),
        ([Check("", NAN, 1.0)], False),
        ([Check("", 1.0, NAN)], False),
        ([], False),
    ],
)
def test_a_record_holds_if_all_its_checks_do(checks, holds):
    assert Record(checks).holds is holds


def test_every_example_has_an_entry():
    names = {entry.name for entry in all_entries()}
    assert set(_gallery.names()) <= names
    for entry in all_entries():
        assert (entry.kind == "Python") == hasattr(entry.module, "run"), entry.name
        assert (ROOT / entry.source).is_file()


@pytest.mark.parametrize("name", ["pendulum", "double_pendulum", "four_bar"])
def test_a_comparison_notices_a_wrong_parameter(name):
    module, record = find(name).module, few(name)
    assert all(check.holds for check in module.compare(record))
    parameters = record.series[module.PARAMETERS].copy()
    parameters[1] *= 1.001  # a length, or a mass
    wrong = Record([], {}, record.series | {module.PARAMETERS: parameters})
    assert not all(check.holds for check in module.compare(wrong))


def test_variations_are_halton_s():
    sequence = qmc.Halton(8, scramble=False)
    sequence.fast_forward(1)
    expected = sequence.random(1000)
    for parameter in range(8):
        np.testing.assert_allclose(vary(1000, parameter, 0, 1), expected[:, parameter], rtol=1e-13)
    assert (vary(10, 3, 2, 5) == vary(1000, 3, 2, 5)[:10]).all()


@pytest.mark.parametrize("arguments", [("no_such_thing", 1), (_gallery.names()[0], 0)])
def test_the_module_refuses_what_it_cannot_run(arguments):
    with pytest.raises(ValueError, match=r"no_such_thing|variations"):
        _gallery.run(*arguments)


def test_mujoco_lifts_a_sliding_box_as_the_page_says():
    cube = find("sliding_cube").module
    heights, speeds = cube.mujoco_box("mujoco", cube.STIFF, [1.0, 2.0], 100)
    np.testing.assert_allclose(heights[1], cube.DT * cube.MU * speeds[1], rtol=1e-3)
    assert (heights.max(axis=0) > [5e-3, 20e-3]).all()
    heights, _ = cube.mujoco_box("mujoco", cube.DEFAULT, [2.0], 300)
    assert 1e-3 < heights.max() < 2e-3
    heights, _ = cube.mujoco_box("coulomb", cube.DEFAULT, [1.0, 2.0], 300)
    assert np.abs(heights).max() < 2e-9


@each_entry
def test_the_page_shows_the_picture_and_names_the_code(entry):
    page = (PAGES / f"{entry.name}.md").read_text()
    assert page.startswith(f"# {entry.title}\n")
    assert f"](../../{entry.source})" in page
    assert f"](images/{entry.name}.png)" in page
    assert (PAGES / "images" / f"{entry.name}.png").read_bytes().startswith(b"\x89PNG")
    for target in re.findall(r"\]\(([^)#:]+)\)", page):
        assert (PAGES / target).exists(), target


def table_of(page: str) -> tuple[int, list[list[str]]]:
    """Number of variations, and the rows of the table, of a page."""
    text = re.search(r"<!-- checks -->\n(.*)<!-- end -->", page, re.DOTALL)[1]
    variations = int(re.search(r"^([\d,]+) variations:$", text, re.MULTILINE)[1].replace(",", ""))
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in text.splitlines()
        if "|" in line
    ]
    return variations, rows[2:]


def agree(page: str, value: float) -> bool:
    """Two values that are both rounding errors agree."""
    if max(abs(float(page)), abs(value)) < pages.NOISE:
        return True
    return bool(np.isclose(float(page), value, rtol=RELATIVE, atol=0))


@pytest.mark.pages
@each_entry
def test_the_page_has_the_numbers_of_a_fresh_run(entry):
    variations, rows = table_of((PAGES / f"{entry.name}.md").read_text())
    assert variations >= 1000
    record = entry.run(variations)
    assert record.holds
    bounds = [f"{check.bound:.3g}" for check in record.checks] + [""] * len(record.numbers)
    names = [check.name for check in record.checks] + list(record.numbers)
    values = [check.value for check in record.checks] + list(record.numbers.values())
    assert [row[0] for row in rows] == names
    assert [row[2] for row in rows] == bounds
    for (name, page, _), value in zip(rows, values, strict=True):
        assert agree(page, value), (name, page, value)


def test_numbers_that_differ_do_not_agree():
    assert agree("1.234", 1.2344)
    assert not agree("1.234", 1.236)
    assert agree("3e-16", 0.0)
    assert not agree("3e-16", 1e-7)
    assert not agree("nan", 1.0)


def test_the_index_is_the_registry():
    assert pages.index() in (PAGES / "README.md").read_text()


def test_writing_renews_pages_and_pictures(folder):
    name = all_entries()[0].name
    shutil.rmtree(folder / "images")
    shown = call(name, "--variations", FEW, "--write", folder)
    assert shown.exit_code == 0, shown.output
    page = (folder / f"{name}.md").read_text()
    assert table_of(page)[0] == FEW
    assert (folder / "images" / f"{name}.png").read_bytes() == pages.png(find(name).draw(few(name)))
    call(name, "--variations", FEW, "--write", folder)
    assert (folder / f"{name}.md").read_text() == page


def test_writing_without_a_name_renews_the_index(folder):
    readme = (folder / "README.md").read_text()
    (folder / "README.md").write_text(readme.replace(all_entries()[0].title, "Something else"))
    assert call("--write", folder).exit_code == 0
    assert (folder / "README.md").read_text() == readme


def test_a_name_that_would_break_the_table_is_refused():
    with pytest.raises(ValueError, match="must not contain"):
        pages.table(Record([Check("|x|, m", 0.0, 1.0)]), FEW)


def test_a_page_without_a_place_for_the_table_is_refused(folder):
    name = all_entries()[0].name
    (folder / f"{name}.md").write_text("# nothing\n")
    shown = call(name, "--variations", FEW, "--write", folder)
    assert shown.exit_code == 2
    assert "<!-- checks -->" in shown.stderr


def test_the_command_lists_all():
    shown = call()
    assert shown.exit_code == 0
    for entry in all_entries():
        assert entry.name in shown.output


def test_an_unknown_name_is_refused_in_one_line():
    shown = call("no_such_thing")
    assert shown.exit_code == 2
    assert shown.stderr.count("\n") == 1
    assert "no_such_thing" in shown.stderr
    assert all_entries()[0].name in shown.stderr


def no_memory(self, variations):
    raise MemoryError


@pytest.mark.parametrize(
    ("variations", "run", "message"),
    [
        (2**31, Entry.run, "--variations"),
        (2 * 10**9, Entry.run, "variations: expected sizes that fit this machine's memory"),
        (FEW, no_memory, f"--variations: expected what fits this machine's memory, got {FEW}"),
    ],
)
def test_variations_that_no_memory_holds_are_misuse(variations, run, message, monkeypatch):
    monkeypatch.setattr(Entry, "run", run)
    shown = call(all_entries()[0].name, "--variations", variations)
    assert shown.exit_code == 2
    assert message in shown.stderr


def test_a_check_that_fails_is_an_exit_code(broken):
    shown = call(broken)
    assert shown.exit_code == 1
    assert "FAILS" in shown.output
    assert broken in shown.stderr
