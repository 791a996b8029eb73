"""Counts the lines of the library, by folder: `python tests/lint/count_lines.py [COMMIT]`.

Lines of C++, CUDA and Python files that git has, without those of the gallery, the oracle and the
comparison with other solvers, wherever they lay.
"""

import re
import subprocess
import sys
from collections import Counter

FOLDERS = ("include", "kernels", "src", "python")
SUFFIXES = (".hpp", ".cpp", ".cu", ".cuh", ".in", ".py")
WORKSHOP = re.compile(r"gallery|src/(reference|rigid)/|/rigid\.hpp$|/compare[./]|/profiles\.py$")


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


def main() -> None:
    commit = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    lines: Counter[str] = Counter()
    for name in git("ls-tree", "-r", "--name-only", commit, *FOLDERS).splitlines():
        if name.endswith(SUFFIXES) and not WORKSHOP.search(name):
            lines[name.split("/")[0]] += git("show", f"{commit}:{name}").count("\n")
    for folder in FOLDERS:
        print(f"{folder:8} {lines[folder]:6,}")
    print(f"{'all':8} {lines.total():6,}")


if __name__ == "__main__":
    main()
