"""Settings of `make docs`. The sources are the Markdown pages of the repository, where they are."""

from __future__ import annotations

import re
import shutil
from typing import Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

import stickslip

project = "stickslip"
author = "The stickslip authors"
version = release = stickslip.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "README"
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/**.md",
    "docs/sphinx/api.rst",
    "kernels/**.md",
    "bench/README.md",
    "scripts/gpu/README.md",
    "emulator/README.md",
]
exclude_patterns = ["build", "out", ".venv", "src", "tests", "python", "third_party", "gpu-bundle"]

myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath", "html_image"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_inherit_docstrings = False
autodoc_mock_imports = ["rsl_rl", "tensorboard", "tensordict", "torch"]
default_role = "code"

smartquotes = False

html_theme = "alabaster"
html_theme_options = {"page_width": "72rem", "sidebar_width": "16rem"}
html_math_renderer = "mathml"
html_copy_source = False  # publish.py copies the pages
templates_path = ["templates"]
html_sidebars = {
    "**": ["about.html", "searchfield.html", "navigation.html", "relations.html", "versions.html"]
}
html_context = {"cpp_reference": shutil.which("doxygen") is not None}

CONTENTS = """
```{toctree}
:hidden:
:maxdepth: 1

docs/README
API reference of the Python package <docs/sphinx/api>
CHANGELOG
CONTRIBUTING
```
"""
PAGES = """
```{toctree}
:hidden:
:maxdepth: 1
:glob:

*
gallery/*
../kernels/README
../kernels/solver/*/README
../bench/README
../scripts/gpu/README
../emulator/README
```
"""


def add_contents(_: Any, name: str, source: list[str]) -> None:
    """The pages name each other in tables; Sphinx needs lists. It leaves links in HTML alone."""
    source[0] = re.sub(r'<a href="(\w+)\.md">', r'<a href="\1.html">', source[0])
    source[0] += {"README": CONTENTS, "docs/README": PAGES}.get(name, "")


def plain_text(*arguments: Any) -> None:
    """Docstrings are written for `help`: bars are bars, and blocks may end without a blank line."""
    lines: list[str] = arguments[-1]
    text: list[str] = []
    for line in lines:
        before = text[-1] if text else ""
        if line.strip() and before.strip() and _indent(line) < _indent(before):
            text.append("")
        text.append(line.replace("|", r"\|"))
    lines[:] = text


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def visit_math(self: Any, node: Any) -> None:
    display = "inline" if node.tagname == "math" else "block"
    self.body.append(convert(node.astext(), display=display))
    raise SkipNode


def setup(app: Any) -> None:
    app.connect("source-read", add_contents)
    app.connect("autodoc-process-docstring", plain_text, priority=400)  # before napoleon
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math, None))
