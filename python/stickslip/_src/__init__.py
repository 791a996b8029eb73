"""The modules behind `stickslip`; programs import the names from there."""

from stickslip._src import interrupt as _interrupt
from stickslip._src import library as _library

# Before any module of the package imports an extension, which takes the first moments of a command.
if _interrupt.in_command():
    _interrupt.print_no_traceback()
_library.load()
