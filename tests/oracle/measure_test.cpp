// The library's measures of arbitrary impulses against the oracle's.
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

/// Impulses of several kinds: zero, random, and (by the oracle) a solution.
Vector draw_impulse(const Problem& problem, Law law, int index, support::Random& random) {
  Vector r = Vector::Zero(reference::rows(problem));
  if (index % 4 == 0) return r;
  if (index % 4 == 1) return reference::solve(problem, law).impulse;
  for (double& x : r) x = random.chance(0.2) ? 0.0 : random.normal();
  return r;
}

class Measure : public testing::TestWithParam<Law> {};

template <class Scalar>
void compare(Law law, int count, int directions = 4) {
  const auto problems = support::make_mixed_problems(count);
  const auto batch = support::to_batch<Scalar>(problems);
  std::vector<Scalar> impulses(std::size_t(count) * batch.max_rows());
  support::Random random(7);
  for (int env = 0; env < count; ++env) {
    const Vector r = draw_impulse(problems[std::size_t(env)], law, env, random);
    for (Eigen::Index i = 0; i < r.size(); ++i) impulses[env * batch.max_rows() + i] = Scalar(r[i]);
  }
  std::vector<Measures> measures(static_cast<std::size_t>(count));
  Workspace workspace(batch.max_rows(), batch.max_contacts(), 1);
  measure(batch.view(), EnvArray<const Scalar>{impulses.data(), batch.max_rows()}, law,
          measures.data(), workspace, directions);
  for (int env = 0; env < count; ++env) {
    SCOPED_TRACE(testing::Message() << "environment " << env);
    Problem problem = reference::from_batch(batch.view(), env);
    problem.directions = directions;
    Vector r(reference::rows(problem));
    for (Eigen::Index i = 0; i < r.size(); ++i) r[i] = impulses[env * batch.max_rows() + i];
    const Measures expected = reference::measures(problem, r, law);
    const Measures& m = measures[std::size_t(env)];
    const double slack = support::rounding(problem, r);
    const double size = r.size() == 0 ? 0.0 : r.norm();
    // Circular coordinates scale impulses by up to mu_1 / mu_j = 100 here.
    EXPECT_NEAR(m.residual, expected.residual, 100.0 * slack + 1e-13 * expected.residual);
    EXPECT_NEAR(m.penetration, expected.penetration, slack);
    EXPECT_NEAR(m.cone_violation, expected.cone_violation, 1e-13 * size);
    EXPECT_NEAR(m.complementarity, expected.complementarity, slack * size);
    EXPECT_NEAR(m.misalignment, expected.misalignment, 100.0 * size * (slack + 1e-14));
  }
}

TEST_P(Measure, of_double_data) { compare<double>(GetParam(), support::test_count(400)); }
TEST_P(Measure, of_float_data) { compare<float>(GetParam(), support::test_count(100)); }

TEST(MeasureOfPolygons, of_pyramids_with_more_directions) {
  for (int directions : {8, 16, 64}) compare<double>(Law::pyramid, 100, directions);
}

INSTANTIATE_TEST_SUITE_P(laws, Measure, testing::ValuesIn(support::laws()),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(MeasureOfBadInput, is_infinite) {
  const auto problems = support::make_mixed_problems(3);
  auto batch = support::to_batch<double>(problems);
  batch.b(1)[0] = std::nan("");
  std::vector<double> zero(std::size_t(3 * batch.max_rows()));
  std::vector<Measures> measures(3);
  Workspace workspace(batch.max_rows(), batch.max_contacts(), 1);
  measure(batch.view(), EnvArray<const double>{zero.data(), batch.max_rows()}, Law::coulomb,
          measures.data(), workspace);
  EXPECT_TRUE(std::isfinite(measures[0].residual));
  EXPECT_TRUE(std::isinf(measures[1].residual));
  EXPECT_TRUE(std::isfinite(measures[2].residual));
  zero[0] = std::nan("");
  measure(batch.view(), EnvArray<const double>{zero.data(), batch.max_rows()}, Law::coulomb,
          measures.data(), workspace);
  EXPECT_TRUE(std::isinf(measures[0].residual));
}

}  // namespace
}  // namespace stickslip
