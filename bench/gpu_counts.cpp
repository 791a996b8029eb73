// Solves a batch of one case on the GPU: what `bench/run.py --only gpu_counts` counts on the
// emulator. Compares its bits with the CPU's, unless LANES are given.
//   stickslip_gpu_counts CASE ROWS [COUNT [SOLVES [LANES]]]
// CASE: one of `kCases`. SOLVES: how many times, with one workspace, which knows the work of the
// solve before. LANES: runs rung 0 alone, in double, with groups of so many lanes, whatever the
// plan chooses, and the environments in the order of the batch.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "bench/problems.hpp"
#include "src/cuda/launch.hpp"
#include "src/cuda/plan.hpp"
#include "src/cuda/workspace.hpp"
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
    {"coulomb_pgs50_double", {.solver = Solver::pgs, .max_sweeps = 50, .exact_sweeps = true}},
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

/// Rung 0 with groups of `lanes`: 8, 32, 64 or 128. False if there is no such kernel or the scratch
/// does not fit shared memory.
bool solve_with(int lanes, const ProblemBatch<double>& problem, const ResultBatch<double>& result,
                const SolveOptions& options, cuda::Stream stream) {
  using kernels::Program, kernels::SolveKernels;
  const kernels::Ladder ladder(options);
  const SolveKernels k = ladder.program == Program::sweeping
                             ? kernels::solve_kernels<double, double, double, Program::sweeping>()
                         : ladder.program == Program::pivoting
                             ? kernels::solve_kernels<double, double, double, Program::pivoting>()
                             : kernels::solve_kernels<double, double, double, Program::first>();
  cuda::LaunchPlan plan{.lanes = lanes, .max_rows = problem.max_rows};
  plan.kernel = lanes == SolveKernels::kNarrowLanes ? k.narrow
                : lanes == 32                       ? k.wide
                : lanes == SolveKernels::kPairLanes ? k.pair
                                                    : k.block;
  plan.max_contacts = problem.max_contacts;
  plan.group_bytes = k.bytes(plan.max_rows, plan.max_contacts, 0, plan.nv);
  if (plan.groups() > 1) plan.group_bytes = cuda::in_other_banks(plan.group_bytes);
  plan.shared_bytes = plan.group_bytes * std::size_t(plan.groups());
  plan.blocks = (problem.num_envs - 1) / plan.groups() + 1;
  if (plan.kernel == nullptr || plan.shared_bytes > cuda::device_limits().shared_per_block) {
    return false;
  }

  std::vector<std::int32_t> list(std::size_t(problem.num_envs) + 2, 0);  // then its end, the next
  std::iota(list.begin(), list.end() - 2, 0);
  list[list.size() - 2] = problem.num_envs;
  cuda::Buffer memory(list.size() * sizeof list[0]);
  memory.upload(list.data(), memory.bytes(), stream);
  auto* const envs = static_cast<std::int32_t*>(memory.data());
  const kernels::WorkList work{envs, envs + problem.num_envs, envs + problem.num_envs + 1};
  SS_CUDA(cudaFuncSetAttribute(plan.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               int(plan.shared_bytes)));
  cuda::launch(plan.kernel, plan.blocks, plan.threads(), plan.shared_bytes, stream, problem, result,
               ladder, kernels::MatrixSource<double>{},
               kernels::GroupScratch{plan.max_rows, plan.max_contacts, 0, plan.nv, plan.group_bytes,
                                     nullptr},
               work);
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
  cuda::Workspace workspace(count, problems.max_rows(), problems.max_contacts());
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
