// Solves a batch of one case on the GPU: what `bench/run.py --only gpu_counts` counts on the
// emulator. Compares its bits with the CPU's, unless LANES are given.
//   stickslip_gpu_counts CASE ROWS [COUNT [SOLVES [LANES]]]
// CASE: one of `kCases`. SOLVES: how many times, with one workspace, which knows the work of the
// solve before. LANES: runs rung 0 alone, in double, with groups of so many lanes, whatever the
// plan chooses, and the environments in the order of the batch.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/gpu_group.hpp"
#include "bench/problems.hpp"
#include "tests/launch/on_device.hpp"

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
  const auto& gpu = results.host();

  support::PlainResults<double> cpu(count, problems.max_rows());
  Workspace of_cpu(problems.max_rows(), problems.max_contacts(), 1);
  solve(problems.view(), cpu.view(), options, of_cpu);
  const auto solved = std::count(gpu.status.begin(), gpu.status.end(), EnvStatus::solved);
  const bool equal = hash_of(gpu, problems) == hash_of(cpu, problems);
  std::printf("%d of %d solved, bits %s\n", int(solved), count, equal ? "equal" : "DIFFER");
  return equal;
}

}  // namespace
}  // namespace stickslip::bench

int main(int argc, char** argv) {
  using namespace stickslip::bench;
  const auto number = [&](int i, int otherwise) {
    return argc > i ? std::atoi(argv[i]) : otherwise;
  };
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
