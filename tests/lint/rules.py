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
FOLDERS = ["include", "kernels", "src", "python", "emulator", "gallery", "tests", "examples",
           "bench", "scripts", "docs"]  # fmt: skip
MAX_FILE = 300
MAX_FUNCTION = 60

# Folders from below to above: a file includes only files of its own folder and of lines above its
# line here. Folders in one line know nothing of each other.
ORDER = [
    ["include/"],
    ["kernels/group/"],
    ["kernels/linalg/"],
    ["kernels/cone/"],
    ["kernels/problem/"],
    ["kernels/law/"],
    ["kernels/scaling/"],
    ["kernels/residual/"],
    ["kernels/delassus/"],
    ["kernels/velocity/"],
    [f"kernels/solver/{name}/" for name in ("pgs", "newton", "interior", "lemke", "lcp", "farkas")],
    ["kernels/gradient/"],
    ["kernels/ladder/"],
    ["kernels/env/"],
    ["kernels/cpu/", "kernels/gpu/"],
    ["src/api/"],
    ["src/cpu/"],
    ["src/cuda/", "src/formulation/", "src/mujoco/model/"],
    ["src/mujoco/contacts/"],
    ["src/mujoco/problem/"],
    ["src/mujoco/step/"],
    ["src/mujoco/derivative/"],
    ["src/mujoco/"],
    ["src/bindings/"],
]
RANK = {folder: rank for rank, folders in enumerate(ORDER) for folder in folders}
# Folder -> what its files must not include.
OTHERS = r"Eigen/|mujoco/|thrust/|cub/|nanobind/"  # other programs' headers
WORKSHOP = r"tests/|bench/|gallery/|examples/"  # no part of the library and the package
FORBIDDEN_INCLUDES = [
    ("include/", rf"^(cuda|omp\.h|{OTHERS}|{WORKSHOP})"),
    ("kernels/", rf"^({WORKSHOP}|Eigen/|mujoco/|nanobind/|vector$|string$|map$|memory$|iostream$)"),
    ("src/", rf"^(Eigen/|python/|{WORKSHOP})"),
    ("src/api/", rf"^({OTHERS})"),
    ("src/cpu/", rf"^(cuda|{OTHERS})"),
    ("examples/", r"^(kernels/|src/)"),
    ("gallery/", r"^(kernels/|src/|tests/)"),
    ("gallery/rigid/", r"^gallery/cpp/"),
    ("tests/reference/", r"^(kernels/|src/|cuda)"),  # it is independent of what it judges
    ("emulator/", r"^(stickslip/|kernels/|src/)"),  # a project of its own
    ("emulator/ptx/", r"^(runtime/|cuda)"),
]
TESTS = ("tests/", "bench/", "emulator/tests/")  # macros and kernels of their own
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]')
TESTS_ONLY = ["kernels/group/thread_group.hpp"]  # no kernel is shipped with it
HOST_ONLY = ["kernels/ladder/ladder.cpp"]  # no kernel calls it
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b")
NOT_A_FUNCTION = re.compile(
    r"^\s*(namespace|class|struct|enum|union|if|for|while|switch|catch|else|do|try|extern)\b"
)


def files() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in CXX | {".py", ".md", ".sh", ".cmake", ".txt"}:
                yield path


def folder_of(name: str) -> str:
    """The folder of ORDER that holds the file; "" if none does."""
    return max((folder for folder in RANK if name.startswith(folder)), key=len, default="")


def check_includes(name: str, lines: list[str]) -> Iterator[tuple[int, str]]:
    here = folder_of(name)
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match or name in TESTS_ONLY:
            continue
        header = match[1]
        for folder, pattern in FORBIDDEN_INCLUDES:
            if name.startswith(folder) and re.search(pattern, header):
                yield number, f"{folder} must not include {header}"
        there = folder_of(header)
        if here and there and here != there and RANK[here] <= RANK[there]:
            yield number, f"{here} must not include {header}: ORDER in tests/lint/rules.py"


def check_source(name: str, lines: list[str]) -> Iterator[tuple[int, str]]:
    lists = any("mjxmacro.h" in line for line in lines)  # MuJoCo's lists call a macro X
    for number, line in enumerate(lines, 1):
        code = line.split("//")[0]
        macro = re.match(r"\s*#\s*define\s+(\w+)", code)
        allowed = macro and (macro[1].startswith("SS_") or (lists and macro[1] == "X"))
        if macro and not allowed and not name.startswith(TESTS):
            yield number, f"macro {macro[1]}: only SS_ macros are allowed"
        if "__global__" in code and not name.startswith(("kernels/gpu/", "emulator/", *TESTS)):
            yield number, "__global__ functions live in kernels/gpu"
        if (
            name.startswith("kernels/")
            and name not in TESTS_ONLY + HOST_ONLY
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


def imports_of(source: str, modules: set[str]) -> set[str]:
    """The modules of the package that a module imports at its top, for type checkers too."""
    found = set()
    tops = list(ast.parse(source).body)
    for node in tops:
        if isinstance(node, ast.If):  # if TYPE_CHECKING
            tops += node.body + node.orelse
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names} & modules
            found |= inner or {node.module}
    return found & modules


def check_circles() -> Iterator[tuple[Path, int, str]]:
    """Modules of the Python package that import each other, perhaps through others."""
    package = ROOT / "python"
    paths = {
        ".".join(path.relative_to(package).with_suffix("").parts): path
        for path in sorted(package.rglob("*.py"))
        if path.name != "__init__.py"
    }
    arrows = {name: imports_of(path.read_text(), set(paths)) for name, path in paths.items()}

    def leads_nowhere(name: str) -> bool:
        return not arrows[name] & arrows.keys() or all(name not in ends for ends in arrows.values())

    while done := [name for name in arrows if leads_nowhere(name)]:
        for name in done:
            del arrows[name]
    for name, ends in arrows.items():
        yield paths[name], 1, f"a circle of imports: {', '.join(sorted(ends & arrows.keys()))}"


def check_sizes(path: Path, source: str) -> Iterator[tuple[int, str]]:
    count = source.count("\n")
    if count > MAX_FILE:
        yield count, f"file of {count} lines, at most {MAX_FILE}"
    functions = python_functions if path.suffix == ".py" else cxx_functions
    for line, length in functions(source):
        if length > MAX_FUNCTION:
            yield line, f"function of {length} lines, at most {MAX_FUNCTION}"


def check_targets(name: str, lines: list[str]) -> Iterator[tuple[int, str]]:
    """The library and the package are built from product code alone."""
    for number, line in enumerate(lines, 1):
        if name.startswith("src/") and re.search(r"/(tests|bench|gallery)/", line.split("#")[0]):
            yield number, "product targets contain nothing of tests, bench and gallery"


def check(path: Path) -> Iterator[tuple[int, str]]:
    name = path.relative_to(ROOT).as_posix()
    source = path.read_text()
    lines = source.splitlines()
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            yield number, "unfinished work"
    if path.name == "CMakeLists.txt":
        yield from check_targets(name, lines)
    if path.suffix in CXX:
        yield from check_includes(name, lines)
        yield from check_source(name, lines)
    if path.suffix in CXX | {".py"}:
        yield from check_sizes(path, source)


def main() -> int:
    violations = [(path, *found) for path in files() for found in check(path)]
    violations += check_circles()
    for path, line, message in violations:
        print(f"{path.relative_to(ROOT)}:{line}: {message}")
    return bool(violations)


if __name__ == "__main__":
    sys.exit(main())
