"""`python -m stickslip.cli`"""

from stickslip.cli import main

main()
