// The rungs of the ladder on which law coulomb is solved: shares of 2,000 problems of each family
// and size. In mixed precision, Newton's method of rung 0 factorises in float.
#include <benchmark/benchmark.h>

#include "bench/label.hpp"
#include "bench/problems.hpp"
#include "tests/support/hard_families.hpp"

namespace stickslip::bench {
namespace {

constexpr int kProblems = 2000;

void climb(benchmark::State& state, const std::vector<reference::Problem>& problems,
           Precision precision) {
  SolveOptions options;
  options.precision = precision;
  const HostProblems<double> batch = support::to_batch<double>(problems);
  HostResults<double> results(batch.num_envs(), batch.max_rows());
  Workspace workspace(batch.max_rows(), batch.max_contacts(), 1);
  for (auto _ : state) solve(batch.view(), results.view(), options, workspace);
  count_rungs(state.counters, results, batch.num_envs());
  state.SetItemsProcessed(state.iterations() * batch.num_envs());
}

/// `make` returns the problems; made only if the benchmark runs.
template <class F>
void add(const std::string& label, F&& make) {
  for (const Precision precision : {Precision::float64, Precision::mixed}) {
    const std::string full =
        std::string("rungs/coulomb/auto/") + bench::label(precision) + "/" + label;
    benchmark::RegisterBenchmark(full.c_str(), [=](benchmark::State& state) {
      climb(state, make(), precision);
    })->Unit(benchmark::kMicrosecond);
  }
}

const bool registered = [] {
  for (const Case& c : all_cases({2, 4, 8, 16, 32})) {
    add(name(c), [=] { return support::make_problems(c.family, c.contacts, kProblems); });
  }
  for (const support::HardFamily family : support::kHardFamilies) {
    for (const int contacts : support::kHardSizes) {
      if (!support::exists(family, contacts)) continue;
      add(std::string(support::name(family)) + "/p:" + std::to_string(contacts), [=] {
        std::vector<reference::Problem> problems;
        for (int i = 0; i < kProblems; ++i) {
          problems.push_back(support::make_hard_scene(family, contacts, i).problem);
        }
        return problems;
      });
    }
  }
  return true;
}();

}  // namespace
}  // namespace stickslip::bench
