// Every solver, law and precision: the library's verdicts agree with the oracle.
#include "tests/support/cases.hpp"
#include "tests/support/count.hpp"
#include "tests/support/families.hpp"
#include "tests/support/judging.hpp"
#include "tests/support/mixed.hpp"

namespace stickslip {
namespace {

using support::Case;
using support::Family;

class Solve : public testing::TestWithParam<Case> {};

TEST_P(Solve, verdicts_on_the_families_are_the_oracles) {
  int solved = 0;
  int total = 0;
  for (Family family : support::kFamilies) {
    for (int contacts : {1, 3, 4, 8}) {
      if (!exists(family, contacts)) continue;
      SCOPED_TRACE(testing::Message() << name(family) << " p=" << contacts);
      const auto problems = make_problems(family, contacts, support::test_count(10));
      const auto batch = support::to_batch<double>(problems);
      const auto results = support::solve_batch(batch, GetParam().options());
      solved += support::count_solved(batch, results, GetParam().options());
      total += batch.num_envs();
    }
  }
  EXPECT_GT(solved, total / 2);
}

TEST_P(Solve, verdicts_on_mixed_rows_are_the_oracles) {
  const auto problems =
      support::make_mixed_problems(support::test_count(200), support::kinds_for(GetParam().law));
  const auto batch = support::to_batch<double>(problems);
  const auto results = support::solve_batch(batch, GetParam().options());
  const int solved = support::count_solved(batch, results, GetParam().options());
  EXPECT_GT(solved, int(problems.size()) / 2);
}

TEST_P(Solve, float_data) {
  if (GetParam().precision != Precision::float32) GTEST_SKIP() << "float data are solved in float";
  const auto problems =
      support::make_mixed_problems(support::test_count(100), support::kinds_for(GetParam().law));
  const auto batch = support::to_batch<float>(problems);
  const auto results = support::solve_batch(batch, GetParam().options());
  const int solved = support::count_solved(batch, results, GetParam().options());
  EXPECT_GT(solved, int(problems.size()) / 2);
}

TEST_P(Solve, no_rows_are_solved_by_nothing) {
  reference::Problem none;
  none.mu = none.R = none.b = none.lo = none.hi = reference::Vector::Zero(0);
  none.W = reference::Matrix::Zero(0, 0);
  const auto batch = support::to_batch<double>(std::vector{none});
  const auto results = support::solve_batch(batch, GetParam().options());
  EXPECT_EQ(results.status(0), EnvStatus::solved);
  EXPECT_EQ(results.residual(0), 0.0);
  EXPECT_EQ(results.iterations(0), 0);
}

INSTANTIATE_TEST_SUITE_P(all, Solve, testing::ValuesIn(support::supported_cases()),
                         support::case_name);

// With full rank or compliance everywhere the impulses of the convex laws are unique.
class UniqueImpulse : public testing::TestWithParam<Case> {};

TEST_P(UniqueImpulse, is_the_one_the_oracle_finds) {
  support::MixedOptions kind;
  kind.full_rank = true;
  const SolveOptions options = GetParam().options();
  const auto problems = support::make_mixed_problems(support::test_count(60), kind);
  const auto batch = support::to_batch<double>(problems);
  const auto results = support::solve_batch(batch, options);
  for (int env = 0; env < batch.num_envs(); ++env) {
    if (results.status(env) != EnvStatus::solved) continue;
    SCOPED_TRACE(testing::Message() << "environment " << env);
    const reference::Problem problem = reference::from_batch(batch.view(), env);
    const auto exact = reference::solve(problem, options.law);
    ASSERT_LE(exact.residual, 1e-10);
    // Strong monotonicity converts residuals to distances: error <= (residual / rho) / lambda_min.
    const reference::Matrix A = problem.W + reference::Matrix(problem.R.asDiagonal());
    const double smallest =
        A.size() == 0 ? 1.0 : Eigen::SelfAdjointEigenSolver<reference::Matrix>(A).eigenvalues()[0];
    const double condition = A.norm() / smallest;
    const reference::Vector r = support::impulse_of(results, env, reference::rows(problem));
    const double error = r.size() == 0 ? 0.0 : (r - exact.impulse).norm();
    EXPECT_LE(error,
              100.0 * condition * (results.residual(env) + exact.residual) / smallest + 1e-9);
  }
}

std::vector<Case> unique_cases() {
  std::vector<Case> cases;
  for (const Case& c : support::supported_cases()) {
    if (c.law == Law::convex || c.law == Law::frictionless) cases.push_back(c);
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(all, UniqueImpulse, testing::ValuesIn(unique_cases()), support::case_name);

}  // namespace
}  // namespace stickslip
