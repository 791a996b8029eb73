"""`python -m stickslip`: the command `stickslip`."""

from stickslip.cli import main

main()
