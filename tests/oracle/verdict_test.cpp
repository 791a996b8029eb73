// Near the tolerance: the library accepts what the oracle accepts, and rejects what it rejects.
#include <algorithm>
#include <cmath>

#include "tests/support/cases.hpp"
#include "tests/support/count.hpp"
#include "tests/support/judging.hpp"
#include "tests/support/mixed.hpp"
#include "tests/support/random.hpp"

namespace stickslip {
namespace {

using reference::Problem;
using reference::Vector;

constexpr double kTolerance = 1e-6;

class Verdict : public testing::TestWithParam<Law> {
 protected:
  /// The impulses nearest to zero.
  static Vector rest_of(const Problem& p) {
    Vector rest = Vector::Zero(reference::rows(p));
    const int first = p.counts.n_free + p.counts.n_nonneg;
    for (int i = 0; i < p.counts.n_box; ++i) rest[first + i] = std::clamp(0.0, p.lo[i], p.hi[i]);
    return rest;
  }
  /// The solution with larger normal impulses, so that it stays in its set, and changed ones on
  /// free rows, until the oracle's residual is `target`; empty if there is no such point.
  static Vector at_residual(const Problem& problem, const Vector& solution, double target,
                            support::Random& random) {
    Vector direction = Vector::Zero(solution.size());
    const int scalars = problem.counts.n_free + problem.counts.n_nonneg;
    for (int i = 0; i < scalars; ++i) {
      direction[i] = i < problem.counts.n_free ? random.normal() : random.uniform();
    }
    int row = scalars + problem.counts.n_box;
    for (int dim : problem.dims) {
      direction[row] = random.uniform();
      row += dim;
    }
    double low = 0.0, high = 1.0;  // the residual is continuous
    if (reference::residual(problem, solution, GetParam()) > target ||
        reference::residual(problem, solution + direction, GetParam()) < target) {
      return {};
    }
    for (int i = 0; i < 200; ++i) {
      const double middle = 0.5 * (low + high);
      const double value = reference::residual(problem, solution + middle * direction, GetParam());
      (value > target ? high : low) = middle;
    }
    return solution + low * direction;
  }
};

// A warm start is the first candidate: if the library accepts it, no solver runs.
TEST_P(Verdict, is_the_oracles_on_both_sides_of_the_tolerance) {
  SolveOptions options;
  options.law = GetParam();
  options.atol = kTolerance;
  options.rtol = 0.0;
  const auto problems =
      support::make_mixed_problems(support::test_count(200), support::kinds_for(options.law));
  support::Random random(9);
  auto batch = support::to_batch<double>(problems);
  std::vector<double> targets(problems.size());
  for (int env = 0; env < batch.num_envs(); ++env) {
    const Problem& p = problems[std::size_t(env)];
    if (reference::rows(p) == 0) continue;
    const double target = kTolerance * (env % 2 == 0 ? 1.0 - 1e-5 : 1.0 + 1e-5);
    const Vector r = at_residual(p, reference::solve(p, options.law).impulse, target, random);
    std::copy_n(r.data(), r.size(), batch.warm_start(env));
    if (r.size() != 0 && std::abs(reference::residual(p, r, options.law) - target) < 1e-13) {
      targets[std::size_t(env)] = target;
    }
  }
  std::vector<Measures> measures(problems.size());
  Workspace workspace(batch.max_rows(), batch.max_contacts(), 1);
  const EnvArray<const double> starts{batch.warm_start(0), batch.max_rows()};
  measure(batch.view(), starts, options.law, measures.data(), workspace);
  const auto results = support::solve_batch(batch, options);
  int accepted = 0, rejected = 0;
  for (int env = 0; env < batch.num_envs(); ++env) {
    const double target = targets[std::size_t(env)];
    if (target == 0.0) continue;
    const Problem& p = problems[std::size_t(env)];
    SCOPED_TRACE(testing::Message() << "environment " << env);
    const double measured = measures[std::size_t(env)].residual;
    EXPECT_NEAR(measured, target, 1e-12);
    EXPECT_EQ(measured <= kTolerance, target <= kTolerance);
    if (target <= kTolerance) {
      ++accepted;
      EXPECT_EQ(results.status(env), EnvStatus::solved);
      // Where no impulse is needed none is the answer, but of `box`, whose rung 0 is sweeps; where
      // contacts are redundant another solution may be selected.
      const double at_rest = reference::residual(p, rest_of(p), options.law);
      const bool rests = options.law != Law::box && at_rest <= kTolerance;
      if (results.iterations(env) == 0) {
        EXPECT_NEAR(results.residual(env), rests ? at_rest : target, 1e-12);
      }
    } else {
      ++rejected;
    }
    const double residual =
        reference::residual(p, support::impulse_of(results, env, reference::rows(p)), options.law);
    EXPECT_NEAR(results.residual(env), residual, 1e-12 + 1e-9 * residual);
    EXPECT_EQ(results.status(env) == EnvStatus::solved, results.residual(env) <= kTolerance);
  }
  EXPECT_GE(accepted, batch.num_envs() / 4);
  EXPECT_GE(rejected, batch.num_envs() / 4);
}

INSTANTIATE_TEST_SUITE_P(laws, Verdict, testing::ValuesIn(support::laws()),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace stickslip
