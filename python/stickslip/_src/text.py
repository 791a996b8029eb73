"""Text on a terminal, also untrusted."""

from __future__ import annotations

from rich.text import Text


def printable(text: object) -> str:
    """`text` on one line, with Python's escapes for what controls a terminal or is hidden: control
    characters, line breaks, marks of direction."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


def told(value: float) -> str:
    """A return; those of table-top tasks are small."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.2f}"


def cell(text: object) -> Text:
    """A cell or title of a table: as `printable`, and "[red]" stays "[red]"."""
    return Text(printable(text))
