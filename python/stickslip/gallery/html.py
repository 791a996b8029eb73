"""One self-contained HTML page: pictures as data, equations as MathML, no network."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from typing import Any

from stickslip.gallery import pages
from stickslip.gallery.record import Record
from stickslip.gallery.registry import DOCUMENTS, Entry, all_entries

_STYLE = """
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 sans-serif; }
section { border-top: 1px solid #ccc; margin-top: 3rem; }
img { max-width: 100%; }
table { border-collapse: collapse; }
td, th { padding: 0.1rem 0.8rem 0.1rem 0; text-align: left; vertical-align: top; }
code { background: #f4f4f4; }
math { font-family: "Latin Modern Math", "STIX Two Math", "Cambria Math", math; }
.block { overflow: auto hidden; padding: 0.2rem 0; }
.fails { color: #b00; font-weight: bold; }
"""


def render(found: Sequence[tuple[Entry, Record, int]]) -> str:
    """The HTML page of some (entry, record, variations), well-formed as XML too.

    Raises ImportError where the extra [gallery] is not installed.
    """
    sections = "\n".join(_section(*each) for each in found)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8" />\n'
        f"<title>stickslip gallery</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>stickslip gallery</h1>\n{_contents(found)}\n{sections}\n</body>\n</html>\n"
    )


def _contents(found: Sequence[tuple[Entry, Record, int]]) -> str:
    rows = []
    for entry, record, _ in found:
        document = escape(f"{entry.document}: {DOCUMENTS[entry.document]}")
        holding = sum(check.holds for check in record.checks)
        verdict = f"{holding} of {len(record.checks)} checks hold"
        style = "" if record.holds else ' class="fails"'
        link = f'<a href="#{entry.name}">{escape(entry.title)}</a>'
        rows.append(f"<tr><td>{link}</td><td>{document}</td><td{style}>{verdict}</td></tr>")
    return "<table>\n" + "\n".join(rows) + "\n</table>"


def _section(entry: Entry, record: Record, variations: int) -> str:
    text = pages.insert(entry.page(), "checks", pages.table(record, variations))
    picture = base64.b64encode(pages.png(entry.draw(record))).decode()
    images = {f"images/{entry.name}.png": f"data:image/png;base64,{picture}"}
    return f'<section id="{entry.name}">\n{_renderer(images).render(text)}</section>'


def _renderer(images: dict[str, str]) -> Any:
    """Markdown to HTML, with `images` in place of files and without links to other files."""
    from latex2mathml.converter import convert
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    def math(latex: str, options: dict[str, Any]) -> str:
        return convert(latex.strip(), display="block" if options["display_mode"] else "inline")

    def image(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
        tokens[at].attrSet("src", images[tokens[at].attrGet("src")])
        return self.image(tokens, at, options, env)

    def link(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
        tokens[at].attrs = _target(str(tokens[at].attrGet("href")))
        return self.renderToken(tokens, at, options, env)

    markdown = MarkdownIt("commonmark", {"xhtmlOut": True}).enable("table")
    markdown.use(dollarmath_plugin, renderer=math, double_inline=True)
    markdown.add_render_rule("image", image)
    markdown.add_render_rule("link_open", link)
    return markdown


def _target(link: str) -> dict[str, str | int | float]:
    """Attributes of a link to a place in the page or to the web; other files are not linked."""
    if link.startswith(("https://", "#")):
        return {"href": link}
    name = link.removesuffix(".md")
    return {"href": f"#{name}"} if name in {entry.name for entry in all_entries()} else {}
