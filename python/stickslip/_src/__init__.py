"""The modules behind `stickslip`; programs import the names from there."""

from stickslip._src import library as _library

_library.load()  # before any module of the package imports an extension
