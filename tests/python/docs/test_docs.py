"""The pages in docs/: their examples run, they name every option and status, links lead somewhere.
Tables equal those of the reports."""

import dataclasses
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stickslip import SolveOptions, Status, __version__, info

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(ROOT).as_posix() for page in DOCS.rglob("*.md"))
TOP = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"]
EXAMPLES = {  # pages with examples in Python, and how many at least
    "python.md": 4,
    "files.md": 2,
    "environments.md": 7,
    "laws.md": 1,
    "tuning.md": 1,
    "statuses.md": 1,
    "embedding.md": 1,
    "gradients_step.md": 2,
    "faq.md": 1,
    "from_mujoco.md": 4,
    "tutorial.md": 2,
    "manipulation.md": 3,
    "gradients.md": 3,
}
SAVED = re.compile(r"Save as `([^`]+)`:\n\n```\w+\n(.*?)```", re.DOTALL)


def text_of(page):
    return (ROOT / page).read_text()


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text_of(page), re.DOTALL | re.MULTILINE)


# Gymnasium's hopper sets fields that rigid laws do not use.
@pytest.mark.filterwarnings("ignore:the rigid contacts of law")
@pytest.mark.parametrize("page", EXAMPLES)
def test_the_examples_of_the_pages_for_python_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    models = pytest.importorskip("stickslip.models")
    if "hopper" not in models.available():
        pytest.skip("gymnasium's models are not installed")
    if page == "manipulation.md" and "panda" not in models.available():
        pytest.skip("panda: its model is not installed")
    text = text_of(f"docs/{page}")
    for name, contents in SAVED.findall(text):
        (tmp_path / name).write_text(contents)
    found = re.findall(r"```python\n(.*?)```", SAVED.sub("", text), re.DOTALL)
    assert len(found) >= EXAMPLES[page]
    exec(compile("\n".join(found), page, "exec"), {})


def test_every_page_with_examples_in_python_is_run():
    with_examples = {Path(page).name for page in PAGES if blocks(page, "python")}
    elsewhere = {"training.md", "torch.md", "jax.md"}  # tests/rl and tests/adapters run them
    assert with_examples - elsewhere == set(EXAMPLES)


def test_tuning_and_help_have_every_field_of_the_options():
    page, text = text_of("docs/tuning.md"), SolveOptions.__doc__
    for field in dataclasses.fields(SolveOptions):
        assert f"\n| `{field.name}` | " in page, field.name
        assert re.search(rf"^ +{field.name}: ", text, re.MULTILINE), field.name


def test_every_status_has_a_section():
    page = text_of("docs/statuses.md")
    sections = re.findall(r"^## `(\w+)`$", page, re.MULTILINE)
    assert sections == [status.name for status in Status]


def test_the_table_of_laws_is_the_codes():
    assert info.support_markdown() + "\n" in text_of("docs/laws.md")


def test_cpp_examples_are_those_that_are_compiled_and_run():
    names = "quickstart", "mechanism", "device_arrays"
    examples = [text_of(f"examples/{name}.cpp") for name in names]
    assert blocks("docs/embedding.md", "cpp") == examples
    project = text_of("tests/consumer/CMakeLists.txt")
    for block in blocks("docs/embedding.md", "cmake"):
        assert block in project


def anchors(page):
    """Those that GitHub gives the headings of a page."""
    prose = re.sub(r"^```.*?^```", "", text_of(page), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    kept = (re.sub(r"[^\w\- ]", "", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", title)) for title in titles)
    return {title.strip().lower().replace(" ", "-") for title in kept}


@pytest.mark.parametrize("page", [*TOP, *PAGES])
def test_links_lead_somewhere(page):
    prose = re.sub(r"^```.*?^```", "", text_of(page), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s:]+)\)", prose):
        path, _, anchor = target.partition("#")
        file = (ROOT / page).parent / path if path else ROOT / page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file.resolve().relative_to(ROOT)), target


def test_the_index_has_every_page():
    index = text_of("docs/README.md")
    for page in PAGES:
        if "/gallery/" not in page and page != "docs/README.md":
            assert f"({Path(page).name})" in index, page


@pytest.mark.parametrize("page", ["docs/performance.md", "docs/comparison.md"])
def test_pages_of_numbers_begin_with_conclusions(page):
    before_sections = text_of(page).split("\n## ")[0]
    assert re.findall(r"^(\d)\. ", before_sections, re.MULTILINE) == list("12345")


def test_the_version_to_cite_is_this_one():
    assert f"\nversion: {__version__}\n" in text_of("CITATION.cff")
    assert __version__ in text_of("CHANGELOG.md")


@pytest.fixture
def tables(monkeypatch):
    """bench/tables.py as a module."""
    monkeypatch.syspath_prepend(ROOT / "bench")
    spec = importlib.util.spec_from_file_location("tables", ROOT / "bench" / "tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tables_are_those_of_the_reports():
    check = [sys.executable, ROOT / "bench" / "tables.py", "--check"]
    found = subprocess.run(check, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


def test_times_of_a_gpu_are_told_beside_the_least_that_counts_allow(tmp_path):
    """A report as `make gpu-check` writes it: its cases that were counted, and their ratio."""
    names = ["coulomb/auto/double/stack/p:4", "coulomb/auto/double/box/p:4", "copy"]
    report = {"machine": {"gpu": "NVIDIA H100"},
              "results": [{"name": f"gpu/{name}", "us": 0.05} for name in names]}  # fmt: skip
    path = tmp_path / "gpu.json"
    path.write_text(json.dumps(report))
    command = [sys.executable, ROOT / "bench" / "tables_gpu.py", path]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert len(lines) == 3
    case, rows, measured, least, more = (cell.strip() for cell in lines[2].split("|")[1:-1])
    assert (case, rows, measured) == ("`coulomb`, double", "12", "50.0")
    assert float(more) == pytest.approx(50.0 / float(least.split()[0]), rel=0.02)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("amd-epyc/delassus plain", "delassus/tower/p:8"),
        ("nowhere/delassus plain", "Not measured yet."),
    ],
)
def test_a_table_is_written_where_the_page_says(tables, place, expected):
    page = f"before\n<!-- table: {place} -->\n\nstale\n<!-- end -->\nafter"
    text = tables.BLOCK.sub(tables.block, page)
    assert expected in text
    assert "stale" not in text
    assert text.startswith("before\n<!-- table")
    assert text.endswith("\n<!-- end -->\nafter")
