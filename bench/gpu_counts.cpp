// Solves a batch of one case on the GPU: what `bench/run.py --only gpu_counts` counts on the
// emulator. Compares its bits with the CPU's, unless LANES are given.
//   stickslip_gpu_counts CASE ROWS [COUNT [SOLVES [LANES]]]
// CASE: one of `kCases`, or `piles_sparse`, `piles_dense`: piles of ROWS / 8 bodies and an arm,
// about ROWS rows, from an engine's mechanisms, which begin without W, or with their W. SOLVES: how
// many times, with one workspace, which knows the work of the solve before. LANES: runs rung 0
// alone, in double, with groups of so many lanes, whatever the plan chooses, and the environments
// in the order of the batch.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/gpu_group.hpp"
#include "bench/problems.hpp"
#include "tests/launch/on_device.hpp"
#include "tests/support/engine_piles.hpp"

namespace stickslip::bench {
namespace {

struct CountedCase {
  const char* name;
  SolveOptions options;
};

const CountedCase kCases[] = {
    {"coulomb_auto_double", {}},
    {"coulomb_auto_mixed", {.precision = Precision::mixed}},
    {"convex_newton_double", {.law = Law::convex, .solver = Solver::newton}},
    {"pyramid_lemke_double", {.law = Law::pyramid, .solver = Solver::lemke}},
    {"coulomb_pgs50_double", {.solver = Solver::pgs, .max_sweeps = 50, .fixed_sweeps = true}},
    {"coulomb_pgs_double", {.solver = Solver::pgs}},
};

template <class Results>
std::uint64_t hash_of(const Results& results, const HostProblems<double>& problems) {
  std::uint64_t hash = 0;
  for (int env = 0; env < problems.num_envs(); ++env) {
    const std::uint64_t own = results.hash(env, problems.max_rows());
    support::hash_bytes(hash, &own, sizeof own);
  }
  return hash;
}

/// Prints how many environments were solved, and whether the bits are equal; returns the latter.
template <class Results>
bool report_bits(const Results& gpu, const Results& cpu, const HostProblems<double>& problems) {
  const auto solved = std::count(gpu.status.begin(), gpu.status.end(), EnvStatus::solved);
  const bool equal = hash_of(gpu, problems) == hash_of(cpu, problems);
  std::printf("%d of %d solved, bits %s\n", int(solved), problems.num_envs(),
              equal ? "equal" : "DIFFER");
  return equal;
}

constexpr int kNoGroup = 3;  ///< exit status: no group of so many lanes

/// Rung 0 with groups of `lanes`: 8, 32, 64 or 128. False if no such group is possible.
bool solve_with(int lanes, const ProblemBatch<double>& problem, const ResultBatch<double>& result,
                const SolveOptions& options, cuda::Stream stream) {
  GroupLaunch group(lanes, problem, options, stream);
  if (!group.possible()) return false;
  group.enqueue(result);
  cuda::wait(stream);
  return true;
}

/// Returns whether GPU and CPU give the same bits; with `lanes`, whether there is such a kernel.
bool solve_case(const SolveOptions& options, int rows, int count, int solves, int lanes) {
  const auto problems = make_batch<double>({support::Family::stack, rows / 3}, count);
  const cuda::Stream stream = support::stream(0);
  support::DeviceMemory memory(stream);
  support::DeviceResults<double> results(count, problems.max_rows(), stream);
  const ProblemBatch<double> problem = memory.copy(problems.view());
  if (lanes > 0) return solve_with(lanes, problem, results.view(), options, stream);
  // The plan of a large batch.
  cuda::Workspace workspace({.num_envs = support::large_batch(count),
                             .max_rows = problems.max_rows(),
                             .max_contacts = problems.max_contacts()});
  for (int i = 0; i < solves; ++i) cuda::solve(problem, results.view(), options, workspace, stream);
  support::PlainResults<double> cpu(count, problems.max_rows());
  Workspace of_cpu(problems.max_rows(), problems.max_contacts(), 1);
  solve(problems.view(), cpu.view(), options, of_cpu);
  return report_bits(results.host(), cpu, problems);
}

/// The same of piles, from their mechanisms or from W.
bool solve_piles(bool dense, int rows, int count, int solves) {
  support::EnginePiles piles(std::vector<int>(std::size_t(count), 2 * rows / 7), rows / 8);
  for (int env = 0; dense && env < count; ++env) piles.form_matrix(env);
  const cuda::Stream stream = support::stream(0);
  support::DeviceMemory memory(stream);
  support::DeviceResults<double> results(count, piles.max_rows, stream);
  const ProblemBatch<double> problem = memory.copy(dense ? piles.problems.view() : piles.view());
  const EngineStep step = memory.copy(piles.step());
  cuda::Workspace workspace({.num_envs = support::large_batch(count),
                             .max_rows = piles.max_rows,
                             .max_contacts = piles.max_contacts,
                             .nv = piles.nv});
  Workspace of_cpu(piles.max_rows, piles.max_contacts, 1);
  support::PlainResults<double> cpu(count, piles.max_rows);
  for (int i = 0; i < solves; ++i) {
    if (dense)
      cuda::solve(problem, results.view(), {}, workspace, stream);
    else
      cuda::solve_mechanism(step, problem, results.view(), {}, workspace, stream);
  }
  if (dense)
    solve(piles.problems.view(), cpu.view(), {}, of_cpu);
  else
    solve_mechanism(piles.step(), piles.view(), cpu.view(), {}, of_cpu);
  return report_bits(results.host(), cpu, piles.problems);
}

}  // namespace
}  // namespace stickslip::bench

int main(int argc, char** argv) {
  using namespace stickslip::bench;
  const auto number = [&](int i, int otherwise) {
    return argc > i ? std::atoi(argv[i]) : otherwise;
  };
  for (const bool dense : {false, true}) {
    if (argc > 2 && std::strcmp(argv[1], dense ? "piles_dense" : "piles_sparse") == 0)
      return solve_piles(dense, number(2, 0), number(3, 16), number(4, 1)) ? 0 : 1;
  }
  for (const auto& [name, options] : kCases) {
    if (argc > 2 && std::strcmp(argv[1], name) == 0) {
      const bool good =
          solve_case(options, number(2, 0), number(3, 16), number(4, 1), number(5, 0));
      return good ? 0 : (number(5, 0) > 0 ? kNoGroup : 1);
    }
  }
  std::fprintf(stderr, "usage: stickslip_gpu_counts CASE ROWS [COUNT [SOLVES [LANES]]]\n");
  for (const auto& c : kCases) std::fprintf(stderr, "  %s\n", c.name);
  return 2;
}
