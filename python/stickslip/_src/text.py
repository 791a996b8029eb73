"""Untrusted text on a terminal."""

from __future__ import annotations

from rich.text import Text


def printable(text: object) -> str:
    """`text` on one line, with Python's escapes for what controls a terminal or is hidden: control
    characters, line breaks, marks of direction."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


def cell(text: object) -> Text:
    """A cell or title of a table: as `printable`, and "[red]" stays "[red]"."""
    return Text(printable(text))
