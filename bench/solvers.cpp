// Every solver, law and precision over the families of random problems, p = 1 ... 32 contacts, on
// one thread. An iteration solves kProblems different problems.
#include <benchmark/benchmark.h>

#include "bench/problems.hpp"

namespace stickslip::bench {
namespace {

constexpr int kProblems = 200;

struct Setup {
  const char* name;
  SolveOptions options;
};

SolveOptions make_options(Law law, Solver solver, Precision precision) {
  SolveOptions o;
  o.law = law;
  o.solver = solver;
  o.precision = precision;
  return o;
}

SolveOptions fifty_sweeps(Law law, Precision precision) {
  SolveOptions o = make_options(law, Solver::pgs, precision);
  o.max_sweeps = 50;
  o.fixed_sweeps = true;
  return o;
}

std::vector<Setup> setups() {
  const auto automatic = Solver::automatic;
  return {{"coulomb/auto/double", make_options(Law::coulomb, automatic, Precision::float64)},
          {"coulomb/auto/mixed", make_options(Law::coulomb, automatic, Precision::mixed)},
          {"coulomb/auto/float", make_options(Law::coulomb, automatic, Precision::float32)},
          {"coulomb/newton/double", make_options(Law::coulomb, Solver::newton, Precision::float64)},
          {"coulomb/pgs50/double", fifty_sweeps(Law::coulomb, Precision::float64)},
          {"coulomb/pgs50/float", fifty_sweeps(Law::coulomb, Precision::float32)},
          {"convex/auto/double", make_options(Law::convex, automatic, Precision::float64)},
          {"pyramid/lemke/double", make_options(Law::pyramid, Solver::lemke, Precision::float64)},
          {"pyramid/lemke/float", make_options(Law::pyramid, Solver::lemke, Precision::float32)},
          {"box/pgs50/double", fifty_sweeps(Law::box, Precision::float64)}};
}

template <class Scalar>
void solve_families(benchmark::State& state, const Case& c, const SolveOptions& options) {
  const HostProblems<Scalar> problems = make_batch<Scalar>(c, kProblems);
  HostResults<Scalar> results(kProblems, problems.max_rows());
  Workspace workspace(problems.max_rows(), problems.max_contacts(), 1);
  const auto problem = problems.view();
  const auto result = results.view();
  for (auto _ : state) solve(problem, result, options, workspace);

  const auto each = seconds_each(problems, results, options);
  state.counters["us_median"] = 1e6 * quantile(each, 0.5);
  state.counters["us_p95"] = 1e6 * quantile(each, 0.95);
  state.counters["solved"] = solved_share(results, kProblems);
  state.SetItemsProcessed(state.iterations() * kProblems);
}

const bool registered = [] {
  for (const Setup& setup : setups()) {
    for (const Case& c : all_cases({1, 2, 4, 8, 16, 32})) {
      const SolveOptions options = setup.options;
      const std::string label = std::string("solve/") + setup.name + "/" + name(c);
      const bool single_precision = options.precision == Precision::float32;
      benchmark::RegisterBenchmark(label.c_str(), [=](benchmark::State& state) {
        single_precision ? solve_families<float>(state, c, options)
                         : solve_families<double>(state, c, options);
      })->Unit(benchmark::kMicrosecond);
    }
  }
  benchmark::AddCustomContext("compiler", __VERSION__);
  benchmark::AddCustomContext("isa", cpu_isa());
  benchmark::AddCustomContext("stickslip", version());
  return true;
}();

}  // namespace
}  // namespace stickslip::bench
