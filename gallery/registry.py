"""Finds the entries: one module each in `gallery.entries`.

A module has `TITLE`, `DOCUMENT` (a key of `DOCUMENTS`) and `draw(record) -> Figure`. What it draws
was computed by the C++ example of the same name or, where there is none, by its `run(variations)`.
May also have `compare(record) -> list[Check]`: other programs' results for a C++ example.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

from gallery import entries
from gallery.record import Check, Record
from stickslip import _core, _gallery

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOCUMENTS = {
    "000": "Tan, Siu, Liu: Contact Handling for Articulated Rigid Bodies Using LCP",
    "001": "La Barbera: How LCPs are used in physics simulation",
    "002": "Contact Dynamics",
    "003": "Pfrommer: LCP Notes",
    "004": "Hotz et al.: Calculation of Contact Forces",
    "literature": "sources named on the page",
    "derivatives": "what they are good for",
}
_LEAST_BYTES = 1000  # of a variation, in the smallest example


@dataclass(frozen=True)
class Entry:
    """One example of the gallery."""

    name: str
    module: ModuleType

    @property
    def title(self) -> str:
        return self.module.TITLE

    @property
    def document(self) -> str:
        return self.module.DOCUMENT

    @property
    def kind(self) -> str:
        """The language of the program that computes it: "C++" or "Python"."""
        return "C++" if self.name in _gallery.names() else "Python"

    @property
    def source(self) -> str:
        """The file with its code, in the repository."""
        if self.kind == "C++":
            return f"gallery/cpp/{self.name}.cpp"
        return f"gallery/entries/{self.name}.py"

    def run(self, variations: int) -> Record:
        """Runs `variations` variants at once. Raises ValueError for less than 1, and for more than
        this machine's memory can hold."""
        if variations < 1:
            raise ValueError(f"variations: expected at least 1, got {variations}")
        _core.require_memory(_LEAST_BYTES * float(variations), "variations")
        if self.kind == "Python":
            return self.module.run(variations)
        checks, numbers, series = _gallery.run(self.name, variations)
        record = Record([Check(*check) for check in checks], numbers, series)
        if hasattr(self.module, "compare"):
            record.checks.extend(self.module.compare(record))
        return record

    def draw(self, record: Record) -> Figure:
        return self.module.draw(record)


@cache
def all_entries() -> tuple[Entry, ...]:
    """All entries, in the order of the documents."""
    names = [each.name for each in pkgutil.iter_modules(entries.__path__)]
    found = [Entry(n, importlib.import_module(f"{entries.__name__}.{n}")) for n in names]
    documents, examples = list(DOCUMENTS), _gallery.names()

    def order(entry: Entry) -> tuple[int, int, str]:
        place = examples.index(entry.name) if entry.name in examples else len(examples)
        return documents.index(entry.document), place, entry.name

    return tuple(sorted(found, key=order))


def find(name: str) -> Entry:
    """The entry of that name. Raises ValueError, naming all, if there is none."""
    for entry in all_entries():
        if entry.name == name:
            return entry
    known = ", ".join(entry.name for entry in all_entries())
    raise ValueError(f"no example {name} in the gallery; there are {known}")
