// Of float problems that have a solution none is called infeasible, though W is nearly singular and
// rounded (docs/mathematics.md §5). With STICKSLIP_TEST_COUNT=1500, 100,000 of them.
#include <cmath>

#include "tests/support/count.hpp"
#include "tests/support/extreme.hpp"
#include "tests/support/hard_families.hpp"
#include "tests/support/judging.hpp"

namespace stickslip {
namespace {

using support::Random;

/// Up to rung 1, which searches for certificates.
SolveOptions options_of(Law law) {
  SolveOptions options;
  options.law = law;
  options.precision = Precision::float32;
  options.max_rung = 1;
  return options;
}

/// Solves the problems in float; the number of those that are called infeasible.
int called_infeasible(const std::vector<reference::Problem>& problems, Law law) {
  if (problems.empty()) return 0;
  const auto batch = support::to_batch<float>(problems);
  const auto results = support::solve_batch(batch, options_of(law), 2);
  int called = 0;
  for (int env = 0; env < batch.num_envs(); ++env) {
    called += results.status(env) == EnvStatus::infeasible ? 1 : 0;
  }
  return called;
}

/// The problem with its numbers rounded to float.
reference::Problem in_float(const reference::Problem& p) {
  return reference::from_batch(support::to_batch<float>(std::vector{p}).view(), 0);
}

class FloatVerdicts : public testing::TestWithParam<Law> {};

TEST_P(FloatVerdicts, extremes_with_a_solution_are_not_called_infeasible) {
  const Law law = GetParam();
  for (const support::Extreme family : support::kExtremes) {
    SCOPED_TRACE(name(family));
    std::vector<reference::Problem> solvable;
    for (int i = 0; i < support::test_count(100); ++i) {
      const auto made = make_extreme(family, law, true, i);
      const reference::Problem p = in_float(made.problem);
      const reference::Vector r = made.solution.cast<float>().cast<double>();
      const double limit = tolerance(options_of(law), p.b.lpNorm<Eigen::Infinity>());
      if (reference::residual(p, r, law) <= limit) solvable.push_back(p);
    }
    EXPECT_GE(int(solvable.size()), support::test_count(100) / 2);
    EXPECT_EQ(called_infeasible(solvable, law), 0);
  }
}

/// 2 to 6 bodies at rest on each other, each up to 10^4 times heavier or lighter than the one
/// below. Diagonal entries are rounded up, so W is positive definite and each law has a solution.
reference::Problem make_stack(Random& random) {
  const int n = 2 + random.integer(5);
  reference::Problem p;
  p.counts.n_nonneg = n;
  p.W = reference::Matrix::Zero(n, n);
  p.b = p.R = reference::Vector::Zero(n);
  p.mu = p.lo = p.hi = reference::Vector::Zero(0);
  const bool heavy_on_light = random.chance(0.8);
  float below = 0.0F;
  for (int k = 0; k < n; ++k) {
    const double ratio = support::power_of_ten(random.uniform(0.0, 4.0));
    const double next = heavy_on_light ? below / ratio : below * ratio;
    const float own = k == 0 ? 1.0F : float(next);
    const double exact = double(own) + double(below);
    float sum = float(exact);
    if (sum < exact) sum = std::nextafter(sum, 1e30F);
    p.W(k, k) = sum;
    if (k > 0) p.W(k, k - 1) = p.W(k - 1, k) = -double(below);
    p.b[k] = k == 0 ? -0.0981 : random.chance(0.5) ? -random.uniform() : 0.0;
    below = own;
  }
  return p;
}

TEST_P(FloatVerdicts, stacks_of_masses_far_apart_are_not_called_infeasible) {
  Random random(53);
  std::vector<reference::Problem> stacks;
  for (int i = 0; i < 2 * support::test_count(100); ++i) stacks.push_back(make_stack(random));
  EXPECT_EQ(called_infeasible(stacks, GetParam()), 0);
}

INSTANTIATE_TEST_SUITE_P(laws, FloatVerdicts,
                         testing::Values(Law::coulomb, Law::convex, Law::pyramid, Law::box,
                                         Law::frictionless),
                         [](const auto& info) { return std::string(name(info.param)); });

// Rods that jam stay proved: their two contacts are opposed in every digit.
TEST(FloatVerdictsOf, hard_families) {
  for (const support::HardFamily family : support::kHardFamilies) {
    for (const int contacts : support::kHardSizes) {
      if (!exists(family, contacts)) continue;
      SCOPED_TRACE(testing::Message() << name(family) << " " << contacts);
      std::vector<reference::Problem> solvable, jammed;
      for (int i = 0; i < support::test_count(100); ++i) {
        const auto scene = make_hard_scene(family, contacts, i);
        (scene.jam.size() == 0 ? solvable : jammed).push_back(scene.problem);
      }
      EXPECT_EQ(called_infeasible(solvable, Law::coulomb), 0);
      EXPECT_EQ(called_infeasible(jammed, Law::coulomb), int(jammed.size()));
    }
  }
}

}  // namespace
}  // namespace stickslip
