"""docs/adding_a_solver.md and adding_a_law.md: their blocks, applied to a copy of the sources,
give a correct solver and a correct law, with the bits that the pages store."""

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = ["adding_a_solver.md", "adding_a_law.md"]
COPIED = [
    "include",
    "kernels",
    "src/api",
    "src/cpu",
    "src/bindings",
    "python",
    "tests/lint",
    "tests/parity",
    "tests/reference",
    "tests/support",
]
pytestmark = pytest.mark.xdist_group("guides")  # one process compiles the copy
LAWS = {"coulomb": 0, "convex": 1, "tresca": 5}
PGS, NEWTON, UZAWA = 1, 2, 4
SOLVED, NOT_CONVERGED, BAD_INPUT = 0, 1, 3
TOLERANCE = 1e-9

# The library for one instruction set, without threads and packs.
DRIVER = """
#include <cstdlib>
#include <vector>

#include "kernels/cpu/cpu_batch.hpp"
#include "src/cpu/kernel_table.hpp"
#include "stickslip/stickslip.hpp"

namespace stickslip {
const kernels::KernelTable& kernels::kernel_table() { std::abort(); }  // not used here

template <class Real, class Factor, class In>
void solve_all(const ProblemBatch<In>& p, const ResultBatch<In>& r, const SolveOptions& o) {
  std::vector<double> scratch(8 + kernels::EnvScratch<Real, Factor, In>::bytes(
                                      p.max_rows, p.max_contacts, kernels::lcp_directions(o)) /
                                      sizeof(double));
  const auto at = reinterpret_cast<std::uintptr_t>(scratch.data());
  void* aligned = reinterpret_cast<void*>((at + 63) & ~std::uintptr_t(63));
  const kernels::AdjointCall<In>* nothing = nullptr;
  kernels::solve_range<Real, Factor>(p, r, o, {}, 0, p.num_envs, aligned, kernels::Rungs::all,
                                     nothing);
}

template <class In>
void solve(const ProblemBatch<In>& p, const ResultBatch<In>& r, const SolveOptions& o) {
  if (o.precision == Precision::float32) return solve_all<float, float>(p, r, o);
  if constexpr (sizeof(In) == 8) {
    if (o.precision == Precision::mixed) return solve_all<double, float>(p, r, o);
    solve_all<double, double>(p, r, o);
  }
}
template void solve(const ProblemBatch<double>&, const ResultBatch<double>&, const SolveOptions&);
template <>
void solve(const ProblemBatch<float>&, const ResultBatch<float>&, const SolveOptions&) {
  std::abort();
}
}  // namespace stickslip

using namespace stickslip;

extern "C" void solve_batch(int num_envs, int contacts, const double* W, const double* b,
                            const double* mu, int law, int solver, double* impulse,
                            double* residual, int* status, int* iterations, int* used) {
  const RowCounts counts{0, 0, 0, contacts};
  const int rows = 3 * contacts;
  ProblemBatch<double> problem;
  problem.num_envs = num_envs;
  problem.max_rows = rows;
  problem.max_contacts = contacts;
  problem.counts = {&counts, 0};
  problem.W = {W, std::int64_t(rows) * rows};
  problem.b = {b, rows};
  problem.mu = {mu, 2 * contacts};
  ResultBatch<double> result{{impulse, rows}, residual, reinterpret_cast<EnvStatus*>(status),
                             iterations, reinterpret_cast<Solver*>(used), nullptr};
  SolveOptions options;
  options.law = Law(law);
  options.solver = Solver(solver);
  solve(problem, result, options);
}
"""


def apply_page(name: str, tree: Path) -> None:
    """Creates the files and makes the replacements of a page."""
    page = (ROOT / "docs" / name).read_text()
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
    """A copy of the sources with both pages applied."""
    copy = tmp_path_factory.mktemp("tree")
    for folder in COPIED:
        shutil.copytree(ROOT / folder, copy / folder)
    for page in PAGES:
        apply_page(page, copy)
    return copy


@pytest.fixture(scope="module")
def library(tree) -> Path:
    if "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("the kernels need AVX2")
    (tree / "driver.cpp").write_text(DRIVER)
    version = '-DSTICKSLIP_VERSION="page"'
    kernels = "kernels/ladder/ladder.cpp", "src/cpu/solve_sparse_kernels.cpp"
    sources = "driver.cpp", "src/cpu/info.cpp", *kernels
    compile_cxx(tree, "-O1", "-shared", "-fPIC", version, *sources, "-o", "libdriver.so")
    return tree / "libdriver.so"


@pytest.fixture(scope="module")
def solve_batch(library):
    function = ctypes.CDLL(str(library)).solve_batch

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
    """Contacts of one body that are pressed together; mu between 0.2 and 0.9."""
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
        projected = tresca_disk(y, m) if law == "tresca" else circular_cone(y, m)
        worst = max(worst, np.abs(impulse - projected).max() / rho)
    return worst


def circular_cone(y, mu):
    length = np.hypot(*y[1:])
    if length <= mu * y[0]:
        return y
    if mu * length <= -y[0]:
        return np.zeros(3)
    normal = (y[0] + mu * length) / (1 + mu * mu)
    return np.array([normal, *(mu * normal / length * y[1:])])


def tresca_disk(y, bound):
    return np.array([max(y[0], 0), *(y[1:] * min(1, bound / np.hypot(*y[1:])))])


CASES = [("coulomb", UZAWA), ("convex", UZAWA), ("tresca", PGS)]


@pytest.mark.parametrize(("law", "solver"), CASES)
@pytest.mark.parametrize("contacts", [1, 4])
def test_the_new_verdicts_are_honest(solve_batch, law, solver, contacts):
    W, b, mu = make_problems(100, contacts, seed=contacts)
    impulse, residual, status, iterations, used = solve_batch(W, b, mu, law, solver)
    true = np.array([natural_map(*problem, law) for problem in zip(W, b, mu, impulse, strict=True)])
    np.testing.assert_allclose(residual, true, rtol=1e-9, atol=1e-11)  # plus a bound of rounding
    assert np.all(true <= residual * (1 + 1e-9) + 1e-15)
    solved = residual <= TOLERANCE * (1 + np.abs(b).max(axis=1))
    np.testing.assert_array_equal(status, np.where(solved, SOLVED, NOT_CONVERGED))
    assert solved.mean() >= 0.9
    assert set(used[iterations > 0]) == {solver}


def test_trescas_friction_is_bounded_by_the_coefficient_alone(solve_batch):
    """A box pushed down and sideways: it slides against mu N s, whatever presses it."""
    W, mu = np.tile(np.eye(3), (3, 1, 1)), np.full((3, 1), 0.5)
    b = np.array([[-1.0, 2.0, 0], [-100.0, 2.0, 0], [-1.0, 0.25, 0]])
    impulse, _, status, _, _ = solve_batch(W, b, mu, "tresca", PGS)
    assert (status == SOLVED).all()
    expected = [[1, -0.5, 0], [100, -0.5, 0], [1, -0.25, 0]]
    np.testing.assert_allclose(impulse, expected, atol=1e-8)


def test_its_neighbours_are_as_before(solve_batch):
    W, b, mu = make_problems(20, 4, seed=7)
    b[3, 5] = np.nan
    for solver in (NEWTON, UZAWA):
        impulse, _, status, _, _ = solve_batch(W, b, mu, "convex", solver)
        assert status[3] == BAD_INPUT
        assert not impulse[3].any()
        assert (np.delete(status, 3) == SOLVED).all()


def test_the_stored_bits_are_those_of_the_pages(tree, library):
    if not any(Path(p).exists() for p in ("/usr/include/gtest", "/usr/local/include/gtest")):
        pytest.skip("GoogleTest is not installed for all users")
    libraries = [f"-Wl,-rpath,{tree}", "-L.", "-ldriver", "-lgtest", "-lgtest_main", "-lpthread"]
    compile_cxx(tree, "-O1", "tests/parity/golden_test.cpp", "-o", "golden", *libraries)
    command = [tree / "golden", "--gtest_filter=*GoldenSolve*"]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout[-3000:]
    for case in ("coulomb_uzawa_float64", "tresca_pgs_float64"):
        assert f"GoldenSolve.bits/{case}" in found.stdout


def literal(path: Path, name: str) -> list[str]:
    """The strings of `name = Literal[...]` in a file."""
    return re.findall(
        r'"(\w+)"', re.search(rf"^{name} = Literal\[(.*)\]", path.read_text(), re.M)[1]
    )


def test_the_rest_of_the_pages_compiles_and_keeps_the_house_rules(tree):
    eigen = "-isystem/usr/include/eigen3", "-isystem/usr/local/include/eigen3"
    compile_cxx(tree, "-fsyntax-only", *eigen, "tests/reference/residual.cpp")
    bindings = (tree / "src/bindings/types.cpp").read_text()
    for enum in ("Law", "Solver"):
        names = re.findall(rf'\.value\("(\w+)", {enum}::', bindings)
        assert {"Law": "tresca", "Solver": "uzawa"}[enum] in names
        assert names == literal(tree / "python/stickslip/_src/aliases.py", f"{enum}Name")
    rules = subprocess.run([sys.executable, "tests/lint/rules.py"], cwd=tree, capture_output=True)
    assert rules.returncode == 0, rules.stdout.decode()
