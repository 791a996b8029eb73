"""llms.txt (https://llmstxt.org): the pages for programs that read text, one line for each.

Titles are those of the pages. Summaries are those of the tables in docs/README.md and
docs/gallery/README.md.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

_INDEX, _GALLERY = "docs/README.md", "docs/gallery/README.md"
_LINK = re.compile(r"\]\(([^)\s#]+\.md)\)")


@dataclass(frozen=True)
class Page:
    """A line of llms.txt."""

    section: str
    title: str
    path: str  #: of its Markdown, from the root of the repository
    summary: str


def pages(root: Path) -> list[Page]:
    """The pages that the tables name, in their order, each once."""
    found = [
        *_table(root, _INDEX, "Pages"),
        *_table(root, _GALLERY, "Gallery: examples, and the document of each"),
    ]
    return list({page.path: page for page in reversed(found)}.values())[::-1]


def _table(root: Path, index: str, section: str) -> list[Page]:
    """What the tables of a page name. A line that ends with a colon begins a section."""
    found = []
    for line in (root / index).read_text().splitlines():
        if re.fullmatch(r"[A-Z][^|`]*:", line):
            section = line[:-1]
        if line.startswith("|"):
            *cells, summary = line.strip("| ").split(" | ")
            for link in _LINK.findall(" ".join(cells)):
                path = os.path.normpath(os.path.join(os.path.dirname(index), link))
                found.append(Page(section, _title(root / path), path, summary))
    return found


def _title(page: Path) -> str:
    """The first line, without the mark of headings."""
    return page.read_text().partition("\n")[0].removeprefix("# ")


def contents(root: Path, version: str) -> str:
    """The text of llms.txt, which is beside README.md."""
    name, summary = (root / "README.md").read_text().split("\n\n")[:2]
    lines = [
        name,
        f"\n> {' '.join(summary.split())}\n",
        f"Version {version}. The links lead to Markdown; with .html in place of .md they lead to",
        "the same pages in HTML. [llms-full.txt](llms-full.txt) has all of them.",
        "Every public class and function: [API reference](docs/sphinx/api.html).",
    ]
    section = ""
    for page in pages(root):
        if page.section != section:
            section = page.section
            lines.append(f"\n## {section}\n")
        lines.append(f"- [{page.title}]({page.path}): {page.summary}")
    return "\n".join(lines) + "\n"


def full(root: Path, version: str) -> str:
    """The text of llms-full.txt: README.md and all pages, each after its path."""
    paths = ["README.md", *(page.path for page in pages(root))]
    text = "<!-- stickslip {}: {} -->\n\n{}"
    return "\n".join(text.format(version, path, (root / path).read_text()) for path in paths)
