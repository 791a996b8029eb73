"""Usage: isa.py NM NAMESPACE OBJECT...

Kernels are compiled once per instruction set and selected at run time. An inline function that is
not in their namespace could be compiled with AVX-512 and then be the copy that the linker keeps for
all callers, so weak symbols outside `stickslip::...::NAMESPACE` are rejected. (DW.ref. symbols are
pointers to the C++ runtime, not code.)
"""

import subprocess
import sys


def main(nm: str, namespace: str, objects: list[str]) -> int:
    listing = subprocess.run(
        [nm, "--demangle", *objects], check=True, capture_output=True, text=True
    ).stdout
    leaks = []
    for line in listing.splitlines():
        kind, _, symbol = line[17:].partition(" ")
        ours = f"::{namespace}::" in symbol or symbol.startswith("DW.ref.")
        if kind in {"W", "V", "u"} and not ours:
            leaks.append(symbol)
    print(*leaks, sep="\n")
    return bool(leaks)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
