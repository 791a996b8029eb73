"""The gallery: examples from the documents that this library is based on, and of derivatives.

Each entry runs a family of variations, checks them against theory and draws the results. Its
code is `gallery/cpp/NAME.cpp` or, in Python, `run` in its module
`gallery.entries.NAME`. That module draws, and `docs/gallery/NAME.md` explains.
"""

from gallery.record import Check, Record
from gallery.registry import DOCUMENTS, Entry, all_entries, find
from stickslip._gallery import vary

__all__ = ["DOCUMENTS", "Check", "Entry", "Record", "all_entries", "find", "vary"]
