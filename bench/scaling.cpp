// Throughput as a function of the number of threads and of the batch size, up to 16,384
// environments; also on the GPU, if one is available.
#include <benchmark/benchmark.h>

#include <thread>

#include "bench/problems.hpp"

namespace stickslip::bench {
namespace {

constexpr Case kCase{support::Family::stack, 8};
constexpr int kDistinct = 256;

/// `count` environments over kDistinct different problems, similar to a batch from simulation.
HostProblems<double> repeated(int count) {
  auto problems = support::make_problems(kCase.family, kCase.contacts, std::min(count, kDistinct));
  problems.reserve(std::size_t(count));
  for (int i = kDistinct; i < count; ++i) problems.push_back(problems[std::size_t(i - kDistinct)]);
  return support::to_batch<double>(problems);
}

/// Easy and hard problems, whose work differs by a factor of 100: one of `period` is hard, or, with
/// period 0, the last quarter of the batch.
HostProblems<double> mixed(int count, int period) {
  const auto easy = support::make_problems(support::Family::boxrest, 2, kDistinct);
  const auto hard = support::make_problems(support::Family::stack, 16, kDistinct);
  std::vector<support::Problem> problems;
  for (int i = 0; i < count; ++i) {
    const bool is_hard = period > 0 ? i % period == 0 : 4 * i >= 3 * count;
    problems.push_back((is_hard ? hard : easy)[std::size_t(i % kDistinct)]);
  }
  return support::to_batch<double>(problems);
}

void report(benchmark::State& state, const HostResults<double>& results, int count) {
  state.SetItemsProcessed(state.iterations() * count);
  state.counters["solved"] = solved_share(results, count);
}

void scale_cpu(benchmark::State& state, const HostProblems<double>& problems) {
  const int count = int(state.range(0)), threads = int(state.range(1));
  HostResults<double> results(count, problems.max_rows());
  Workspace workspace(problems.max_rows(), problems.max_contacts(), threads);
  const SolveOptions options;
  for (auto _ : state) solve(problems.view(), results.view(), options, workspace);
  report(state, results, count);
}

void scale_alike(benchmark::State& state) { scale_cpu(state, repeated(int(state.range(0)))); }

template <int kPeriod>
void scale_mixed(benchmark::State& state) {
  scale_cpu(state, mixed(int(state.range(0)), kPeriod));
}

void scale_gpu(benchmark::State& state) {
  if (!cuda::available()) {
    state.SkipWithError("no GPU answers here");
    return;
  }
  const int count = int(state.range(0));
  const HostProblems<double> problems = repeated(count);
  HostResults<double> results(count, problems.max_rows());
  const SolveOptions options;
  for (auto _ : state) cuda::solve_host(problems.view(), results.view(), options);
  report(state, results, count);
}

void batch_sizes(benchmark::internal::Benchmark* b, const std::vector<int>& threads) {
  for (const int t : threads) {
    for (int count = 1; count <= 16384; count *= 4) b->Args({count, t});
  }
  b->ArgNames({"envs", "threads"})->UseRealTime()->Unit(benchmark::kMicrosecond);
}

const bool registered = [] {
  std::vector<int> threads;
  const int cores = int(std::thread::hardware_concurrency());
  for (int t = 1; t <= std::max(cores, 1); t *= 2) threads.push_back(t);
  batch_sizes(benchmark::RegisterBenchmark("scaling/cpu", scale_alike), threads);
  batch_sizes(benchmark::RegisterBenchmark("scaling/cpu_mixed", scale_mixed<8>), threads);
  batch_sizes(benchmark::RegisterBenchmark("scaling/cpu_hard_last", scale_mixed<0>), threads);
  if (cuda::available()) {
    batch_sizes(benchmark::RegisterBenchmark("scaling/gpu_with_copies", scale_gpu), {0});
  }
  return true;
}();

}  // namespace
}  // namespace stickslip::bench
