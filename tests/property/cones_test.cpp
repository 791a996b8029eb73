// Diamond, polygon, cone and square: each contains the previous one; the polygon tends to the cone.
#include <cmath>

#include "tests/support/count.hpp"
#include "tests/support/families.hpp"
#include "tests/support/judging.hpp"

namespace stickslip {
namespace {

using reference::Problem;
using reference::Vector;
using support::Family;

constexpr double kRoot2 = 1.4142135623730951;

/// Solves with friction coefficients multiplied; unsolved ones are left empty.
std::vector<Vector> solve_with(const std::vector<Problem>& problems, Law law, double friction,
                               int directions = 4) {
  auto scaled = problems;
  for (auto& p : scaled) p.mu *= friction;
  SolveOptions options;
  options.law = law;
  options.directions = directions;
  options.max_sweeps = 20000;  // the law `box` has no other solver
  const auto batch = support::to_batch<double>(scaled);
  const auto results = support::solve_batch(batch, options, 2);
  std::vector<Vector> impulses(problems.size());
  std::size_t solved = 0;
  for (int env = 0; env < batch.num_envs(); ++env) {
    if (results.status(env) != EnvStatus::solved) continue;
    impulses[std::size_t(env)] =
        support::impulse_of(results, env, reference::rows(problems[std::size_t(env)]));
    ++solved;
  }
  // Sweeps alone converge slowly if masses differ much.
  EXPECT_GE(double(solved), 0.9 * double(problems.size())) << name(law);
  return impulses;
}

/// Every impulse lies in the set of `law` with friction coefficients multiplied.
void expect_inside(const std::vector<Problem>& problems, const std::vector<Vector>& impulses,
                   Law law, double friction) {
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (impulses[i].size() == 0) continue;
    Problem p = problems[i];
    p.mu *= friction;
    EXPECT_LE(reference::measures(p, impulses[i], law).cone_violation,
              1e-12 * impulses[i].lpNorm<Eigen::Infinity>())
        << "problem " << i << " in " << name(law) << " of " << friction << " mu";
  }
}

class Cones : public testing::TestWithParam<Family> {};

TEST_P(Cones, impulses_of_each_law_lie_in_the_sets_around_its_own) {
  const auto problems = make_problems(GetParam(), 8, support::test_count(40));
  const auto cone = solve_with(problems, Law::coulomb, 1.0);
  expect_inside(problems, cone, Law::box, 1.0);
  expect_inside(problems, cone, Law::pyramid, kRoot2);
  for (int directions : {4, 8, 32}) {
    expect_inside(problems, solve_with(problems, Law::pyramid, 1.0, directions), Law::coulomb, 1.0);
  }
  expect_inside(problems, solve_with(problems, Law::box, 1.0 / kRoot2), Law::coulomb, 1.0);
  expect_inside(problems, solve_with(problems, Law::box, 1.0), Law::pyramid, 2.0);
}

INSTANTIATE_TEST_SUITE_P(families, Cones, testing::ValuesIn(support::kFamilies),
                         [](const auto& info) { return std::string(name(info.param)); });

/// The families whose contacts slide.
class Polygons : public testing::TestWithParam<Family> {};

// The polygon's corners are at most pi / d from the direction of sliding: the impulses of d
// directions violate Coulomb's law by a residual of that order.
TEST_P(Polygons, more_directions_come_closer_to_coulombs_law) {
  const auto problems = make_problems(GetParam(), 4, support::test_count(100));
  std::vector<double> mean;
  for (int directions : {4, 8, 16, 32, 64}) {
    const auto impulses = solve_with(problems, Law::pyramid, 1.0, directions);
    double sum = 0.0;
    int count = 0;
    for (std::size_t i = 0; i < problems.size(); ++i) {
      if (impulses[i].size() == 0) continue;
      sum += reference::residual(problems[i], impulses[i], Law::coulomb);
      ++count;
    }
    mean.push_back(sum / count);
  }
  for (std::size_t i = 1; i < mean.size(); ++i) EXPECT_LE(mean[i], 0.6 * mean[i - 1]);
}

INSTANTIATE_TEST_SUITE_P(families, Polygons,
                         testing::Values(Family::box, Family::cage, Family::stack),
                         [](const auto& info) { return std::string(name(info.param)); });

// A particle of mass 1 pushed along the floor keeps the speed |b - P(b)|, P the projection on the
// set of its law: the larger the set, the lower the speed.
TEST(Particle, slides_the_slower_the_larger_its_set) {
  for (int k = 0; k < 60; ++k) {
    const double angle = 0.1047 * k;
    Problem p;
    p.counts.n_contacts = 1;
    p.dims = {3};
    p.W = reference::Matrix::Identity(3, 3);
    p.b = Vector{{-1.0, 2.0 * std::cos(angle), 2.0 * std::sin(angle)}};
    p.mu = Vector{{0.5, 0.5}};
    p.R = Vector::Zero(3);
    p.lo = p.hi = Vector::Zero(0);
    const auto speed = [&](Law law, double friction, int directions = 4) {
      const Vector r = solve_with({p}, law, friction, directions)[0];
      return r.size() == 0 ? -1.0 : (p.b + r).tail(2).norm();
    };
    const double cone = speed(Law::coulomb, 1.0);
    EXPECT_NEAR(cone, 1.5, 1e-8);
    double before = 2.0;
    for (int directions : {4, 8, 16, 32, 64}) {
      const double polygon = speed(Law::pyramid, 1.0, directions);
      EXPECT_GE(polygon, cone - 1e-8);
      EXPECT_LE(polygon, before + 1e-8) << "twice the directions contain the others";
      // Its distance from the cone: at most the sagitta of a side.
      EXPECT_LE(polygon - cone, 0.5 * (1.0 - std::cos(M_PI / directions)) + 1e-8);
      before = polygon;
    }
    EXPECT_LE(speed(Law::box, 1.0), cone + 1e-8);
    EXPECT_LE(speed(Law::pyramid, kRoot2), cone + 1e-8);
    EXPECT_GE(speed(Law::box, 1.0 / kRoot2), cone - 1e-8);
  }
}

}  // namespace
}  // namespace stickslip
