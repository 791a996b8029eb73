"""docs/adding_a_solver.md: its blocks, applied to a copy of the sources, give an honest solver.
docs/{python,files,environments}.md: their examples run. Tables: they are those of the reports."""

import ctypes
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "adding_a_solver.md"
COPIED = [
    "include",
    "kernels",
    "src/batch",
    "src/cpu",
    "src/bindings",
    "tests/support",
    "tests/lint",
]
LAWS = {"coulomb": 0, "convex": 1}
NEWTON, UZAWA = 2, 4
SOLVED, NOT_CONVERGED, BAD_INPUT = 0, 1, 3
TOLERANCE = 1e-9

DRIVER = """
#include "kernels/launch/cpu_batch.hpp"
#include <vector>

using namespace stickslip;

extern "C" void solve_batch(int num_envs, int contacts, const double* W, const double* b,
                            const double* mu, int law, int solver, double* impulse,
                            double* residual, int* status, int* iterations, int* used) {
  const EnvShape shape{0, 0, 0, contacts};
  const int rows = 3 * contacts;
  ProblemBatch<double> problem;
  problem.num_envs = num_envs;
  problem.max_rows = rows;
  problem.max_contacts = contacts;
  problem.shape = {&shape, 0};
  problem.W = {W, std::int64_t(rows) * rows};
  problem.b = {b, rows};
  problem.mu = {mu, 2 * contacts};
  ResultBatch<double> result{{impulse, rows}, residual, reinterpret_cast<EnvStatus*>(status),
                             iterations, reinterpret_cast<Solver*>(used), nullptr};
  SolveOptions options;
  options.law = Law(law);
  options.solver = Solver(solver);
  std::vector<double> scratch(
      kernels::EnvScratch<double, double, double>::bytes(rows, contacts, 0) / sizeof(double) + 16);
  void* aligned = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(scratch.data()) + 63) &
                                          ~std::uintptr_t(63));
  kernels::solve_range<double, double>(problem, result, options, {}, 0, num_envs, aligned,
                                       kernels::Part::whole);
}
"""


def apply_page(tree: Path) -> None:
    """Creates the files and makes the replacements that the page shows."""
    page = PAGE.read_text()
    for path, text in re.findall(r"Create `([^`]+)`:\n\n```cpp\n(.*?)```", page, re.S):
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    for path, body in re.findall(r"```diff\n--- (\S+)\n(.*?)```", page, re.S):
        source = (tree / path).read_text()
        for hunk in re.split(r"^@@\n", body, flags=re.M):
            lines = hunk.splitlines(keepends=True)
            old = "".join(line[1:] for line in lines if line[0] in " -")
            new = "".join(line[1:] for line in lines if line[0] in " +")
            assert source.count(old) == 1, f"{path} has no single place for:\n{old}"
            source = source.replace(old, new)
        (tree / path).write_text(source)


def compile_cxx(tree: Path, *arguments: str) -> None:
    warnings = ["-Wall", "-Wextra", "-Werror"]
    flags = ["-std=c++20", "-march=x86-64-v3", "-ffp-contract=off", "-I.", "-Iinclude", *warnings]
    done = subprocess.run(
        [os.environ.get("CXX", "g++"), *flags, *arguments], cwd=tree, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """A copy of the sources with the page applied."""
    copy = tmp_path_factory.mktemp("tree")
    for folder in COPIED:
        shutil.copytree(ROOT / folder, copy / folder)
    apply_page(copy)
    return copy


@pytest.fixture(scope="module")
def solve_batch(tree):
    if "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("the kernels need AVX2")
    (tree / "driver.cpp").write_text(DRIVER)
    compile_cxx(tree, "-O1", "-shared", "-fPIC", "driver.cpp", "-o", "driver.so")
    function = ctypes.CDLL(str(tree / "driver.so")).solve_batch

    def call(W, b, mu, law, solver):
        num_envs, rows = b.shape
        impulse, residual = np.empty((num_envs, rows)), np.empty(num_envs)
        status, iterations, used = (np.empty(num_envs, np.int32) for _ in range(3))
        tangential = np.repeat(mu, 2, axis=1)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (W, b, tangential)]
        outputs = (impulse, residual, status, iterations, used)
        function(num_envs, rows // 3, *pointers, LAWS[law], solver,
                 *(ctypes.c_void_p(a.ctypes.data) for a in outputs))  # fmt: skip
        return outputs

    return call


def make_problems(count: int, contacts: int, seed: int):
    """Contacts of one body pressed together; mu between 0.2 and 0.9."""
    random = np.random.default_rng(seed)
    rows = 3 * contacts
    J = random.normal(size=(count, rows, 2 * rows))
    W = J @ J.transpose(0, 2, 1) / (2 * rows)
    W = (W + W.transpose(0, 2, 1)) / 2
    b = random.normal(size=(count, rows))
    b[:, ::3] -= 0.5
    return W, b, random.uniform(0.2, 0.9, size=(count, contacts))


def natural_map(W, b, mu, r, law):
    """The residual of docs/mathematics.md §4 for contacts of dimension 3 and R = 0."""
    u = W @ r + b
    worst = 0.0
    for k, m in enumerate(mu):
        block = slice(3 * k, 3 * k + 3)
        rho = 1 / W.diagonal()[block].max()
        velocity, impulse = u[block].copy(), r[block]
        if law == "coulomb":
            velocity[0] += m * np.hypot(*velocity[1:])
        y = impulse - rho * velocity
        length = np.hypot(*y[1:])
        if length <= m * y[0]:
            projected = y
        elif m * length <= -y[0]:
            projected = np.zeros(3)
        else:
            normal = (y[0] + m * length) / (1 + m * m)
            projected = np.array([normal, *(m * normal / length * y[1:])])
        worst = max(worst, np.abs(impulse - projected).max() / rho)
    return worst


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("contacts", [1, 4])
def test_the_new_solvers_verdicts_are_honest(solve_batch, law, contacts):
    W, b, mu = make_problems(100, contacts, seed=contacts)
    impulse, residual, status, iterations, used = solve_batch(W, b, mu, law, UZAWA)
    true = np.array([natural_map(*problem, law) for problem in zip(W, b, mu, impulse, strict=True)])
    np.testing.assert_allclose(residual, true, rtol=1e-9, atol=1e-13)
    solved = true <= TOLERANCE * (1 + np.abs(b).max(axis=1))
    np.testing.assert_array_equal(status, np.where(solved, SOLVED, NOT_CONVERGED))
    assert solved.mean() >= 0.9
    assert set(used[iterations > 0]) == {UZAWA}


def test_its_neighbours_are_as_before(solve_batch):
    W, b, mu = make_problems(20, 4, seed=7)
    b[3, 5] = np.nan
    for solver in (NEWTON, UZAWA):
        impulse, _, status, _, _ = solve_batch(W, b, mu, "convex", solver)
        assert status[3] == BAD_INPUT
        assert not impulse[3].any()
        assert (np.delete(status, 3) == SOLVED).all()


def test_the_rest_of_the_page_compiles_and_keeps_the_house_rules(tree):
    compile_cxx(tree, "-fsyntax-only", '-DSTICKSLIP_VERSION="page"', "src/batch/info.cpp")
    assert '"uzawa", Solver::uzawa' in (tree / "src/bindings/types.cpp").read_text()
    rules = subprocess.run([sys.executable, "tests/lint/rules.py"], cwd=tree, capture_output=True)
    assert rules.returncode == 0, rules.stdout.decode()


@pytest.mark.parametrize(
    ("page", "examples"), [("python.md", 4), ("files.md", 2), ("environments.md", 5)]
)
def test_the_examples_of_the_pages_for_python_run(page, examples, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    models = pytest.importorskip("stickslip.models")
    if "hopper" not in models.available():
        pytest.skip("gymnasium's models are not installed")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(), re.S)
    assert len(blocks) >= examples
    exec(compile("\n".join(blocks), page, "exec"), {})


@pytest.fixture
def tables(monkeypatch):
    """bench/tables.py as a module."""
    monkeypatch.syspath_prepend(ROOT / "bench")
    spec = importlib.util.spec_from_file_location("tables", ROOT / "bench" / "tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tables_are_those_of_the_reports():
    check = [sys.executable, ROOT / "bench" / "tables.py", "--check"]
    found = subprocess.run(check, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("amd-epyc/delassus plain", "delassus/tower/p:8"),
        ("nowhere/delassus plain", "Not measured yet."),
    ],
)
def test_a_table_is_written_where_the_page_says(tables, place, expected):
    page = f"before\n<!-- table: {place} -->\n\nstale\n<!-- end -->\nafter"
    text = tables.BLOCK.sub(tables.block, page)
    assert expected in text
    assert "stale" not in text
    assert text.startswith("before\n<!-- table")
    assert text.endswith("\n<!-- end -->\nafter")
