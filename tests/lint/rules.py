"""Checks the rules of docs/architecture.md that can be checked automatically.

Prints each violation as `file:line: rule` and exits with 1 if there is one.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CXX = {".hpp", ".cpp", ".cu", ".cuh"}
FOLDERS = ["include", "kernels", "src", "python", "emulator", "tests", "examples", "bench",
           "scripts", "docs"]  # fmt: skip
MAX_FILE = 300
MAX_FUNCTION = 60

# folder -> what its files must not include. The dependency rule: include <- kernels <- src.
OTHERS = r"Eigen/|mujoco/|thrust/|cub/|nanobind/"
FORBIDDEN_INCLUDES = [
    ("include/", rf"^(kernels/|src/|cuda|omp\.h|{OTHERS})"),
    ("kernels/", r"^(src/|Eigen/|mujoco/|nanobind/|vector$|string$|map$|memory$|iostream$)"),
    ("src/", r"^(python/|tests/)"),
    ("src/reference/", r"^(kernels/|src/(?!reference/)|cuda)"),
    ("src/batch/", rf"^({OTHERS})"),
    ("src/cpu/", rf"^(cuda|{OTHERS})"),
    ("examples/", r"^(kernels/|src/)"),
    ("emulator/", r"^(stickslip/|kernels/|src/)"),  # a project of its own
    ("emulator/ptx/", r"^(runtime/|cuda)"),
]
TESTS = ("tests/", "bench/", "emulator/tests/")  # macros and kernels of their own
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]')
TESTS_ONLY = ["kernels/group/thread_group.hpp"]  # no kernel is shipped with it
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b")
NOT_A_FUNCTION = re.compile(
    r"^\s*(namespace|class|struct|enum|union|if|for|while|switch|catch|else|do|try|extern)\b"
)


def files() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in CXX | {".py", ".md", ".sh", ".cmake", ".txt"}:
                yield path


def check_includes(name: str, lines: list[str]) -> Iterator[tuple[int, str]]:
    solver = re.match(r"kernels/solver/(\w+)/", name)
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match[1]
        for folder, pattern in FORBIDDEN_INCLUDES:
            if name.startswith(folder) and name not in TESTS_ONLY and re.search(pattern, header):
                yield number, f"{folder} must not include {header}"
        other = re.match(r"kernels/solver/(\w+)/", header)
        if solver and other and other[1] != solver[1]:
            yield number, f"a solver must not include another: {header}"


def check_source(name: str, lines: list[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines, 1):
        code = line.split("//")[0]
        macro = re.match(r"\s*#\s*define\s+(\w+)", code)
        if macro and not macro[1].startswith("SS_") and not name.startswith(TESTS):
            yield number, f"macro {macro[1]}: only SS_ macros are allowed"
        if "__global__" in code and not name.startswith(("kernels/launch/", "emulator/", *TESTS)):
            yield number, "__global__ functions live in kernels/launch"
        if (
            name.startswith("kernels/")
            and name not in TESTS_ONLY
            and re.search(r"\b(throw|new|malloc|std::vector)\b", code)
        ):
            yield number, "kernels neither allocate nor throw"


def without_text(source: str) -> str:
    """The source with comments and the contents of literals removed, lines kept."""
    pattern = r'//[^\n]*|/\*.*?\*/|R"\((.*?)\)"|"(\\.|[^"\\\n])*"|(?<!\w)\'(\\.|[^\'\\\n])+\''
    return re.sub(pattern, lambda m: "\n" * m[0].count("\n"), source, flags=re.S)


def cxx_functions(source: str) -> Iterator[tuple[int, int]]:
    """First line and number of lines of every outermost function body."""
    text = without_text(source)
    depth, head, start, line = 0, "", None, 1
    for char in text:
        line += char == "\n"
        if char == "{":
            depth += 1
            name = re.sub(r"^\s*(template\s*<[^{]*?>|#.*$)", "", head, flags=re.M).strip()
            if start is None and ")" in head and not NOT_A_FUNCTION.match(name):
                start = (line - name.count("\n"), depth)
            head = ""
        elif char == "}":
            if start and depth == start[1]:
                yield start[0], line - start[0] + 1
                start = None
            depth -= 1
            head = ""
        else:
            head = "" if char == ";" and head.count("(") == head.count(")") else head + char


def python_functions(source: str) -> Iterator[tuple[int, int]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = node.end_lineno - node.lineno + 1
            if ast.get_docstring(node):  # not counted, like comments above a function in C++
                length -= node.body[0].end_lineno - node.body[0].lineno + 1
            yield node.lineno, length


def check_sizes(path: Path, source: str) -> Iterator[tuple[int, str]]:
    count = source.count("\n")
    if count > MAX_FILE:
        yield count, f"file of {count} lines, at most {MAX_FILE}"
    functions = python_functions if path.suffix == ".py" else cxx_functions
    for line, length in functions(source):
        if length > MAX_FUNCTION:
            yield line, f"function of {length} lines, at most {MAX_FUNCTION}"


def check(path: Path) -> Iterator[tuple[int, str]]:
    name = path.relative_to(ROOT).as_posix()
    source = path.read_text()
    lines = source.splitlines()
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            yield number, "unfinished work"
    if path.suffix in CXX:
        yield from check_includes(name, lines)
        yield from check_source(name, lines)
    if path.suffix in CXX | {".py"}:
        yield from check_sizes(path, source)


def main() -> int:
    violations = [(path, *found) for path in files() for found in check(path)]
    for path, line, message in violations:
        print(f"{path.relative_to(ROOT)}:{line}: {message}")
    return bool(violations)


if __name__ == "__main__":
    sys.exit(main())
