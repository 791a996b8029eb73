"""The files that `python -m gallery` writes to docs/gallery: pictures, tables, the index."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from gallery.record import Record
from gallery.registry import DOCUMENTS, Entry, all_entries

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOISE = 1e-8  # smaller values are rounding, or the solver's tolerance: they differ by machine
DIGITS = 4


def shown(value: float) -> str:
    """A number for a table; values at the level of rounding have one digit."""
    return f"{value:.0e}" if 0 < abs(value) < NOISE else f"{value:.{DIGITS}g}"


def table(record: Record, variations: int) -> str:
    """Checks and numbers, Markdown."""
    rows = [(check.name, shown(check.value), f"{check.bound:.3g}") for check in record.checks]
    rows += [(name, shown(value), "") for name, value in record.numbers.items()]
    if any("|" in cell for row in rows for cell in row):
        raise ValueError("names in a table must not contain |")
    lines = [f"{variations:,} variations:", "", "| | found | at most |", "|---|---|---|"]
    lines += [f"| {name} | {value} | {bound} |" for name, value, bound in rows]
    return "\n".join(lines)


def insert(page: str, marker: str, text: str) -> str:
    """The page with `text` between the lines `<!-- marker -->` and `<!-- end -->`."""
    pattern = rf"(^<!-- {marker} -->\n).*?(^<!-- end -->$)"
    new, count = re.subn(
        pattern, lambda m: f"{m[1]}\n{text}\n\n{m[2]}", page, flags=re.DOTALL | re.MULTILINE
    )
    if count != 1:
        raise ValueError(f"expected once: <!-- {marker} --> with <!-- end --> after it")
    return new


def index() -> str:
    """The table of all entries, with thumbnails, Markdown."""
    lines = ["| | | document |", "|---|---|---|"]
    for entry in all_entries():
        page, image = f"{entry.name}.md", f"images/{entry.name}.png"
        thumbnail = f'<a href="{page}"><img src="{image}" width="320" alt="{entry.title}"></a>'
        document = f"{entry.document}: {DOCUMENTS[entry.document]}"
        lines.append(f"| {thumbnail} | [{entry.title}]({page}) | {document} |")
    return "\n".join(lines)


def png(figure: Figure) -> bytes:
    """The picture in 256 colours; its bytes depend only on the drawing."""
    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=100, metadata={"Software": None})
    Image.open(drawn).convert("RGB").quantize(256).save(small, format="png", optimize=True)
    return small.getvalue()


def write(folder: Path, found: Iterable[tuple[Entry, Record, int]]) -> list[Path]:
    """Updates picture and table of each (entry, record, variations), and the index README.md.

    Returns the files. Raises OSError or ValueError for a page that is missing or has no place.
    """
    written = []
    for entry, record, variations in found:
        page = folder / f"{entry.name}.md"
        page.write_text(insert(page.read_text(), "checks", table(record, variations)))
        image = folder / "images" / f"{entry.name}.png"
        image.parent.mkdir(exist_ok=True)
        image.write_bytes(png(entry.draw(record)))
        written += [page, image]
    readme = folder / "README.md"
    readme.write_text(insert(readme.read_text(), "entries", index()))
    return [*written, readme]
