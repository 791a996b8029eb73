// Derivatives of solves beside the solves, on the families of random problems, with and without
// compliance: one thread. The counters are quantiles over the problems, each timed alone, of
// vjp / solve, and of (solve with vjp - solve) / solve where both are one call.
#include <benchmark/benchmark.h>

#include "bench/problems.hpp"
#include "src/cpu/kernel_table.hpp"

namespace stickslip::bench {
namespace {

constexpr int kProblems = 100;

HostProblems<double> problems_of(const Case& c, double compliance) {
  HostProblems<double> problems = make_batch<double>(c, kProblems);
  for (int env = 0; env < kProblems; ++env) {
    for (int k = 0; k < c.contacts; ++k) {
      const int a = 3 * k;
      const double softness = compliance * problems.W(env)[a * (problems.max_rows() + 1)];
      for (int j = 0; j < 3; ++j) problems.R(env)[a + j] = softness;
    }
  }
  return problems;
}

/// Arrays of a loss with random derivatives by the impulses, and of its gradient.
struct Adjoint {
  std::vector<double> loss, b, R, mu, margin, lost;
  std::vector<GradientStatus> status;
  int rows;

  explicit Adjoint(int max_rows)
      : loss(std::size_t(kProblems) * max_rows),
        b(loss.size()),
        R(loss.size()),
        mu(loss.size()),
        margin(kProblems),
        lost(kProblems),
        status(kProblems),
        rows(max_rows) {
    std::uint32_t seed = 1;
    for (double& value : loss) {
      seed = seed * 1664525U + 1013904223U;
      value = double(seed >> 8) / (1 << 24) - 0.5;
    }
  }
  StepLoss<double> given() const { return {{}, {{loss.data(), rows}, {}}}; }
  StepGradient<double> wanted() {
    StepGradient<double> out;
    out.contacts.b = {b.data(), rows};
    out.contacts.R = {R.data(), rows};
    out.contacts.mu = {mu.data(), rows};
    out.contacts.report = {status.data(), margin.data(), lost.data()};
    return out;
  }
};

void differentiate_families(benchmark::State& state, const Case& c, const SolveOptions& options,
                            double compliance) {
  const HostProblems<double> problems = problems_of(c, compliance);
  HostResults<double> results(kProblems, problems.max_rows());
  const ProblemBatch<double> view = problems.view();
  const ResultBatch<double> result = results.view();
  Adjoint adjoint(problems.max_rows());
  const auto& kernels = kernels::typed<double>(kernels::kernel_table());
  support::AlignedBytes memory(
      kernels.gradient_bytes(view.max_rows, view.max_contacts, /*nv=*/-1));
  const SolutionBatch<double> solution{{result.impulse.data, result.impulse.stride}, result.status};
  SingleSolve<double> solve_one(problems, results, options);
  const auto adjoint_one = [&](int env) {
    kernels.vjp(view, {}, solution, adjoint.given(), adjoint.wanted(), options, env, env + 1,
                memory.data());
  };
  std::vector<double> ratios;
  for (auto _ : state) {
    std::vector<double> solving(kProblems, 1e30), after(kProblems, 1e30);
    for (int round = 0; round < 5; ++round) {
      for (int env = 0; env < kProblems; ++env) {
        double &s = solving[std::size_t(env)], &a = after[std::size_t(env)];
        s = std::min(s, seconds([&] { solve_one(env); }));
        a = std::min(a, seconds([&] { adjoint_one(env); }));
      }
    }
    ratios.clear();
    for (std::size_t env = 0; env < kProblems; ++env) ratios.push_back(after[env] / solving[env]);
  }
  state.counters["ratio_median"] = quantile(ratios, 0.5);
  state.counters["ratio_p95"] = quantile(ratios, 0.95);
  state.counters["solved"] = solved_share(results, kProblems);
  state.counters["valid"] =
      double(std::count(adjoint.status.begin(), adjoint.status.end(), GradientStatus::valid)) /
      kProblems;
  state.SetItemsProcessed(state.iterations() * kProblems);
}

const bool registered = [] {
  for (const Law law : {Law::coulomb, Law::convex}) {
    for (const double compliance : {0.0, 1e-3}) {
      for (const Case& c : all_cases({1, 2, 4, 8, 16, 32})) {
        SolveOptions options;
        options.law = law;
        const std::string label = std::string("gradients/") + stickslip::name(law) +
                                  (compliance > 0.0 ? "/R1e-3/" : "/R0/") + name(c);
        benchmark::RegisterBenchmark(label.c_str(), [=](benchmark::State& state) {
          differentiate_families(state, c, options, compliance);
        })->Unit(benchmark::kMicrosecond);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace stickslip::bench
