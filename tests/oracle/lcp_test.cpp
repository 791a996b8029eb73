// Linear complementarity problems against the oracle: residual, verdict, and the share solved.
#include "tests/reference/lcp.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/count.hpp"
#include "tests/support/lcp_batch.hpp"

namespace stickslip {
namespace {

using support::LcpAnswers;
using support::LcpCase;
using support::LcpKind;

class Lcp : public testing::TestWithParam<LcpCase> {};

/// Residual and status agree with the oracle; z is inside its bounds. Returns the solved ones.
template <class Scalar>
int count_honest(const LcpBatch<Scalar>& batch, const LcpAnswers<Scalar>& answers,
                 const LcpOptions& o) {
  int solved = 0;
  for (int env = 0; env < batch.num_envs; ++env) {
    SCOPED_TRACE(testing::Message() << "environment " << env);
    const auto e = std::size_t(env);
    const reference::Lcp problem = reference::from_batch(batch, o.cfm, env);
    const Eigen::Map<const Eigen::VectorX<Scalar>> given(&answers.z[e * answers.max_rows],
                                                         problem.q.size());
    const reference::Vector z = given.template cast<double>();
    const double residual = reference::residual(problem, z);
    const double size = (problem.M.cwiseAbs() * z.cwiseAbs() + problem.q.cwiseAbs()).maxCoeff();
    const double sizes = size + 2.0 * (z.size() == 0 ? 0.0 : z.lpNorm<Eigen::Infinity>());
    EXPECT_LE(residual, answers.residual[e] + 4e-16 * sizes);  // the oracle's own rounding
    EXPECT_LE(answers.residual[e], residual + 1e-14 * sizes + 1e-12 * residual);
    const double standard = o.precision == Precision::float32 ? 1e-5 : 1e-9;
    const double tol = standard * (1.0 + problem.q.template lpNorm<Eigen::Infinity>());
    EXPECT_EQ(answers.status[e] == EnvStatus::solved, answers.residual[e] <= tol);
    solved += residual <= tol * (1.0 + 1e-6) ? 1 : 0;
    const auto [lo, hi] = reference::bounds(problem, z);
    const double rounding = sizeof(Scalar) == 8 ? 1e-15 : 1e-6;
    for (Eigen::Index i = 0; i < z.size() && answers.status[e] == EnvStatus::solved; ++i) {
      EXPECT_GE(z[i], lo[i] - rounding * (1.0 + std::abs(z[i])));
      EXPECT_LE(z[i], hi[i] + rounding * (1.0 + std::abs(z[i])));
    }
  }
  return solved;
}

TEST_P(Lcp, verdicts_are_the_oracles_and_problems_with_solutions_are_solved) {
  const int count = support::test_count(300);
  const support::LcpProblems<double> problems(count, 24, GetParam().kind);
  const auto answers = support::solve_problems(problems.view(), GetParam().options());
  const int solved = count_honest(problems.view(), answers, GetParam().options());
  if (GetParam().method == LcpMethod::automatic) {
    EXPECT_EQ(solved, count);
  }
  if (GetParam().method == LcpMethod::lemke) {
    const bool in_double = GetParam().precision == Precision::float64;
    EXPECT_GE(solved, in_double ? count : count * 99 / 100);
  }
  // Newton alone stalls if M is singular.
  EXPECT_GE(solved, count * 9 / 10);
}

TEST_P(Lcp, of_float_data) {
  if (GetParam().precision != Precision::float32) return;
  const int count = support::test_count(100);
  const support::LcpProblems<float> problems(count, 16, GetParam().kind);
  const auto answers = support::solve_problems(problems.view(), GetParam().options());
  EXPECT_GE(count_honest(problems.view(), answers, GetParam().options()), count * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(all, Lcp, testing::ValuesIn(support::lcp_cases()),
                         [](const auto& info) { return name(info.param); });

/// No solution: 0 <= z ⟂ M z + q with M z + q < 0 for all z >= 0; a dependent free row that
/// contradicts another.
TEST(LcpWithoutSolution, is_not_called_solved) {
  const double ray[] = {-1.0}, right[] = {-1.0};
  const double joints[] = {1.0, 1.0, 1.0, 1.0}, moved[] = {1.0, 2.0};
  for (LcpMethod method : {LcpMethod::automatic, LcpMethod::lemke, LcpMethod::newton}) {
    LcpOptions options;
    options.method = method;
    LcpBatch<double> p;
    p.num_envs = 1;
    p.max_rows = 1;
    p.M = {ray, 1};
    p.q = {right, 1};
    const EnvStatus failed =
        method == LcpMethod::newton ? EnvStatus::not_converged : EnvStatus::infeasible;
    EXPECT_EQ(support::solve_problems(p, options).status[0], failed);
    const std::int32_t free = 2;
    p.max_rows = 2;
    p.n_free = {&free, 0};
    p.M = {joints, 4};
    p.q = {moved, 2};
    EXPECT_EQ(support::solve_problems(p, options).status[0], failed);
  }
}

}  // namespace
}  // namespace stickslip
