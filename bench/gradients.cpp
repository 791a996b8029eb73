// Derivatives of solves beside the solves, on the families of random problems, with and without
// compliance: one thread. The counters are vjp / solve (`after`), and (solve with vjp - solve) /
// solve where both are one call (`together`): of the means over the problems, and medians over
// them.
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
  std::vector<double> loss, b, R, mu, kink_distance, inconsistency;
  std::vector<GradientStatus> status;
  int rows;

  explicit Adjoint(int max_rows)
      : loss(std::size_t(kProblems) * max_rows),
        b(loss.size()),
        R(loss.size()),
        mu(loss.size()),
        kink_distance(kProblems),
        inconsistency(kProblems),
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
    out.contacts.report = {status.data(), kink_distance.data(), inconsistency.data()};
    return out;
  }
};

/// Least seconds of each way over some rounds, in turns.
struct Times {
  double solve = 1e30, after = 1e30, together = 1e30;
};

void differentiate_families(benchmark::State& state, const Case& c, const SolveOptions& options,
                            double compliance) {
  const HostProblems<double> problems = problems_of(c, compliance);
  HostResults<double> results(kProblems, problems.max_rows());
  const ProblemBatch<double> view = problems.view();
  const ResultBatch<double> result = results.view();
  const SolutionBatch<double> solution{{result.impulse.data, result.impulse.stride}, result.status};
  Adjoint adjoint(problems.max_rows());
  const StepLoss<double> loss = adjoint.given();
  const StepGradient<double> out = adjoint.wanted();
  const kernels::AdjointCall<double> call{loss.contacts, out.contacts};
  const auto& kernels = kernels::typed<double>(kernels::kernel_table());
  const std::int32_t n = view.max_rows, p = view.max_contacts;
  support::AlignedBytes memory(kernels.solve_bytes(n, p, 0, {}) + kernels.gradient_bytes(n, p, -1));
  const kernels::Ladder ladder(options);
  const auto solve = [&](int env, const kernels::AdjointCall<double>* with) {
    kernels.solve[int(options.precision)](view, result, ladder, {}, env, env + 1, memory.data(),
                                          kernels::Rungs::all, with);
  };
  std::vector<Times> times(kProblems);
  for (auto _ : state) {
    for (int round = 0; round < 7; ++round) {
      for (int env = 0; env < kProblems; ++env) {
        Times& t = times[std::size_t(env)];
        t.solve = std::min(t.solve, seconds([&] { solve(env, nullptr); }));
        t.after = std::min(t.after, seconds([&] {
                             kernels.vjp(view, {}, solution, loss, out, options, env, env + 1,
                                         memory.data());
                           }));
        t.together = std::min(t.together, seconds([&] { solve(env, &call); }));
      }
    }
  }
  Times sum{0.0, 0.0, 0.0};
  std::vector<double> after, together;
  for (const Times& t : times) {
    after.push_back(t.after / t.solve);
    together.push_back((t.together - t.solve) / t.solve);
    sum = {sum.solve + t.solve, sum.after + t.after, sum.together + t.together};
  }
  state.counters["solve_us"] = 1e6 * sum.solve / kProblems;
  state.counters["after_of_means"] = sum.after / sum.solve;
  state.counters["after_median"] = quantile(after, 0.5);
  state.counters["together_of_means"] = (sum.together - sum.solve) / sum.solve;
  state.counters["together_median"] = quantile(together, 0.5);
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
