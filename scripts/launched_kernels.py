"""Checks that every kernel of the library ran: scripts/launched_kernels.py REPORT LIBRARY...

REPORT: written by the emulator, one line of JSON per launch. LIBRARY: archives with the kernels'
host functions, which have the kernels' names. Lists kernels that were never launched, and fails.
"""

import json
import re
import subprocess
import sys
from collections import Counter

KERNEL = re.compile(r"^(void )?stickslip::kernels::\S*_kernel(?:<|\([^)])[^\[]*$")


def kernels_of(library: str) -> set[str]:
    command = ["nm", "--defined-only", "--demangle", "--format=just-symbols", library]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {name for name in text.splitlines() if KERNEL.match(name)}


def main() -> int:
    report, *libraries = sys.argv[1:]
    with open(report) as lines:
        launches = Counter(json.loads(line)["kernel"] for line in lines)
    kernels = set().union(*(kernels_of(library) for library in libraries))
    missing = sorted(kernels - set(launches))
    print(f"{sum(launches.values())} launches of {len(kernels) - len(missing)} of {len(kernels)}")
    for kernel in missing:
        print("never launched:", kernel.partition("(stickslip::")[0])
    return 1 if missing or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
