// Problems at the extremes, each with its proof: solvable ones must be solved and never called
// infeasible; verdicts of solved and infeasible are verified by independent arithmetic.
#include "tests/support/extreme.hpp"
#include "tests/support/count.hpp"
#include "tests/support/judging.hpp"

namespace stickslip {
namespace {

using support::Extreme;
using support::ExtremeProblem;

struct Case {
  Extreme family;
  Law law;
};

class Extremes : public testing::TestWithParam<Case> {
 protected:
  Extremes() { options_.law = GetParam().law; }

  /// Problems whose proofs are valid: rounding of b invalidates some of the choices.
  std::vector<ExtremeProblem> problems(bool solvable) const {
    std::vector<ExtremeProblem> all;
    for (int i = 0; i < support::test_count(400); ++i) {
      ExtremeProblem made = make_extreme(GetParam().family, GetParam().law, solvable, i);
      if (is_proved(made)) all.push_back(std::move(made));
    }
    return all;
  }
  double tolerance(const reference::Problem& p) const {
    return stickslip::tolerance(options_, p.b.lpNorm<Eigen::Infinity>());
  }
  bool is_proved(const ExtremeProblem& made) const {
    const double tol = tolerance(made.problem);
    return made.solution.size() != 0
               ? reference::residual(made.problem, made.solution, GetParam().law) <= 0.01 * tol
               : support::proves_infeasible(made.problem, GetParam().law, made.certificate, tol);
  }

  SolveOptions options_;
};

HostProblems<double> batch_of(const std::vector<ExtremeProblem>& all) {
  std::vector<reference::Problem> problems;
  for (const ExtremeProblem& one : all) problems.push_back(one.problem);
  return support::to_batch<double>(problems);
}

TEST_P(Extremes, what_has_a_solution_is_solved) {
  const auto all = problems(true);
  const auto batch = batch_of(all);
  const auto results = support::solve_batch(batch, options_, 2);
  int unsolved = 0;
  for (int env = 0; env < batch.num_envs(); ++env) {
    SCOPED_TRACE(testing::Message() << "problem " << env);
    unsolved += support::expect_honest(batch, results, env, options_) ? 0 : 1;
    EXPECT_NE(results.status(env), EnvStatus::infeasible);
  }
  RecordProperty("problems", batch.num_envs());
  RecordProperty("unsolved", unsolved);
  EXPECT_GE(batch.num_envs(), support::test_count(400) / 4) << "few proofs hold";
  EXPECT_LE(unsolved, 2 + 0.001 * batch.num_envs()) << "of " << batch.num_envs();
}

TEST_P(Extremes, what_has_none_is_proved_to_have_none) {
  const auto all = problems(false);
  const auto batch = batch_of(all);
  const auto results = support::solve_batch(batch, options_, 2);
  int proved = 0;
  for (int env = 0; env < batch.num_envs(); ++env) {
    SCOPED_TRACE(testing::Message() << "problem " << env);
    EXPECT_FALSE(support::expect_honest(batch, results, env, options_));
    const auto& p = all[std::size_t(env)].problem;
    const Eigen::Map<const reference::Vector> y(results.certificate(env), p.b.size());
    if (results.status(env) != EnvStatus::infeasible) {
      EXPECT_EQ(y.lpNorm<1>(), 0.0);
      continue;
    }
    EXPECT_TRUE(support::proves_infeasible(p, GetParam().law, y, tolerance(p)));
    ++proved;
  }
  RecordProperty("problems", batch.num_envs());
  RecordProperty("proved", proved);
  EXPECT_GE(batch.num_envs(), support::test_count(400) / 4) << "few proofs hold";
  // Masses that differ by 10^12 leave few digits of W for the null space.
  const double share = GetParam().family == Extreme::mass_1e12 ? 0.9 : 0.99;
  EXPECT_GE(proved, share * batch.num_envs()) << "of " << batch.num_envs();
}

// Covering vectors with entries in [1, 2) all end in a ray here.
TEST(SteepPyramids, need_covering_vectors_of_entries_far_apart) {
  SolveOptions options;
  options.law = Law::pyramid;
  for (const int i : {16, 44, 74, 104, 186, 223}) {
    SCOPED_TRACE(testing::Message() << "problem " << i);
    const auto batch = batch_of({make_extreme(Extreme::steep, options.law, true, i)});
    options.max_rung = 0;
    EXPECT_FALSE(support::expect_honest(batch, support::solve_batch(batch, options), 0, options));
    options.max_rung = 1;
    EXPECT_TRUE(support::expect_honest(batch, support::solve_batch(batch, options), 0, options));
  }
}

// The first impulse that Newton finds is 10^6 times as large as this solution, and rounding hides
// whether it solves: that must not end a thorough search.
TEST(NearlySingularContact, has_a_solution_that_rounding_does_not_hide) {
  reference::Problem p;
  p.counts.n_contacts = 1;
  p.dims = {3};
  p.W = reference::Matrix{{18.63243258663283, -17.943404516281518, -12.657451415689714},
                          {-17.943404516281518, 22.49060171781432, 9.389110785866789},
                          {-12.657451415689714, 9.389110785866789, 10.103405651393471}};
  p.b = reference::Vector{{-0.020097516838475323, 0.41596408071259516, -1.108196592066778}};
  p.mu = reference::Vector::Ones(2);
  p.R = reference::Vector::Zero(3);
  const auto batch = support::to_batch<double>(std::vector{p});
  EXPECT_TRUE(support::expect_honest(batch, support::solve_batch(batch, {}), 0, {}));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Extreme family : support::kExtremes) {
    for (const Law law : {Law::coulomb, Law::convex, Law::pyramid, Law::box, Law::frictionless}) {
      all.push_back({family, law});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(families, Extremes, testing::ValuesIn(cases()), [](const auto& info) {
  return std::string(name(info.param.family)) + "_" + name(info.param.law);
});

}  // namespace
}  // namespace stickslip
