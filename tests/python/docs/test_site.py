"""What `make docs` writes: a folder that a static host serves, complete and without warnings."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stickslip import __version__

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.xdist_group("site")  # one process runs Sphinx


@pytest.fixture
def llms(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs/sphinx")
    return importlib.import_module("llms")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder, which had two older versions, and a page of an earlier build."""
    pytest.importorskip("sphinx", reason="Sphinx is not installed: scripts/setup.sh docs")
    pytest.importorskip("myst_parser", reason="myst-parser is not installed: scripts/setup.sh docs")
    folder = tmp_path_factory.mktemp("docs") / "html"
    for name in ("0.0.9/README", "0.0.10/README", f"{__version__}/gone"):
        page = folder / f"{name}.html"
        page.parent.mkdir(parents=True)
        page.write_text("old")
    command = [sys.executable, ROOT / "docs/sphinx/publish.py", folder]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return folder


def pages_of(site):
    """The pages of this version that are no reference of C++."""
    version = site / __version__
    return [page for page in version.rglob("*.html") if page.relative_to(version).parts[0] != "cpp"]


def test_the_reference_has_the_names_of_the_package(site):
    reference = (site / __version__ / "docs/sphinx/api.html").read_text()
    names = "solve", "BatchSim", "SolveOptions", "Status", "envs.BatchEnv", "rl.train.Trainer"
    for name in names:
        assert f'id="stickslip.{name}"' in reference or f"stickslip.{name}" in reference, name


def test_other_versions_stay_and_latest_leads_to_the_newest(site):
    assert (site / "0.0.9/README.html").read_text() == "old"
    listed = re.findall(r'href="([\d.]+)/README.html"', (site / "versions.html").read_text())
    assert listed == [__version__, "0.0.10", "0.0.9"]
    pages, latest = (
        {page.relative_to(site / folder) for page in (site / folder).rglob("*.html")}
        for folder in (__version__, "latest")
    )
    assert latest == pages
    assert Path("gone.html") not in pages
    page = (site / "latest/docs/laws.html").read_text()
    assert f'location.replace("../../{__version__}/docs/laws.html" + ' in page


def test_links_of_all_pages_lead_somewhere(site):
    own = [page for page in site.rglob("*.html") if "cpp" not in page.relative_to(site).parts]
    assert len(own) > 2 * 50
    for page in own:
        for target in re.findall(r'\b(?:href|src|url)="?([^"#?:>]+)["#?]', page.read_text()):
            assert (page.parent / target).exists(), (page.relative_to(site), target)


def test_pages_need_no_other_host_and_have_a_search(site):
    loads = re.compile(r'<(?:script|img|link)\b[^>]*\b(?:src|href)="(?:https?:)?//')
    for page in pages_of(site):
        assert not loads.search(page.read_text()), page
    index = (site / __version__ / "searchindex.js").read_text()
    assert index.startswith("Search.setIndex(")
    assert "painlev" in index
    laws = (site / __version__ / "docs/laws.html").read_text()
    assert 'action="../search.html"' in laws
    assert "../../versions.html" in laws
    assert (site / ".nojekyll").exists()


@pytest.mark.parametrize("place", ["", __version__])
def test_links_of_llms_txt_lead_somewhere(site, place):
    text = (site / place / "llms.txt").read_text()
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) > 50
    for link in links:
        assert (site / place / link).exists(), link
        assert (site / place / link.replace(".md", ".html")).exists(), link


def test_the_schemas_of_reports_are_there(site):
    assert (site / __version__ / "schemas/run.schema.json").exists()


def test_llms_txt_has_every_page_with_a_summary(llms):
    found = llms.pages(ROOT)
    paths = [page.path for page in found]
    wanted = {page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md")}
    assert set(paths) >= wanted - {"docs/README.md"} | {"CHANGELOG.md", "bench/README.md"}
    assert len(set(paths)) == len(paths)
    for page in found:
        assert page.title.strip("# "), page
        assert 5 < len(page.summary) < 150, page
        assert "](" not in page.summary, page
    (laws,) = [page for page in found if page.path == "docs/laws.md"]
    assert (laws.section, laws.title) == ("Using it", "Which law when")


def test_llms_txt_has_the_form_that_its_readers_expect(llms):
    """A heading, a quoted summary, then sections that are lists of links."""
    head, *sections = llms.contents(ROOT, "1.2").split("\n## ")
    assert re.match(r"# stickslip\n\n> stickslip solves [^\n]*\.\n\n", head)
    assert "Version 1.2." in head
    assert len(sections) == 5
    for section in sections:
        _, *lines = section.strip().split("\n")
        assert all(re.fullmatch(r"- \[[^\]]+\]\(\S+\): .+", line) for line in lines if line)


def test_llms_full_has_the_text_of_every_page(llms):
    text = llms.full(ROOT, "1.2")
    for path in ("README.md", *(page.path for page in llms.pages(ROOT))):
        assert f"<!-- stickslip 1.2: {path} -->\n\n{(ROOT / path).read_text()}" in text
