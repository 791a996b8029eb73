// The oracle's solver, on problems that are small enough for it to be reliable.
#include <gtest/gtest.h>

#include "tests/support/count.hpp"
#include "tests/support/families.hpp"
#include "tests/support/mixed.hpp"

namespace stickslip::reference {
namespace {

using support::Family;

class ReferenceSolve : public testing::TestWithParam<Law> {};

void expect_solved(const Problem& problem, Law law) {
  const Solution solution = solve(problem, law);
  const double scale = std::max(1.0, problem.b.lpNorm<Eigen::Infinity>());
  EXPECT_LE(solution.residual, 1e-10 * scale);
  EXPECT_EQ(solution.residual, residual(problem, solution.impulse, law));
}

TEST_P(ReferenceSolve, solves_the_families) {
  for (Family family : support::kFamilies) {
    for (int contacts : {1, 2, 4}) {
      if (!exists(family, contacts)) continue;
      for (int i = 0; i < support::test_count(5); ++i) {
        SCOPED_TRACE(testing::Message() << name(family) << " p=" << contacts << " #" << i);
        expect_solved(make_scene(family, contacts, i).problem, GetParam());
      }
    }
  }
}

TEST_P(ReferenceSolve, solves_mixed_rows) {
  for (int i = 0; i < support::test_count(20); ++i) {
    SCOPED_TRACE(testing::Message() << "mixed #" << i);
    expect_solved(support::make_mixed(i).problem, GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(laws, ReferenceSolve,
                         testing::Values(Law::coulomb, Law::convex, Law::pyramid, Law::box,
                                         Law::frictionless));

TEST(ReferenceMechanism, impulses_change_the_velocity_by_the_delassus_matrix) {
  const support::Scene scene = support::make_scene(Family::stack, 8, 3);
  const Matrix M = scene.inverse_mass.cwiseInverse().asDiagonal();
  EXPECT_LE((delassus(M, scene.J) - scene.problem.W).lpNorm<Eigen::Infinity>(), 1e-12);
  const Vector r = Vector::LinSpaced(24, -1.0, 1.0);
  const Vector v = apply_impulse(M, scene.J, r, scene.v_free);
  EXPECT_LE((scene.J * v - velocity(scene.problem, r)).lpNorm<Eigen::Infinity>(), 1e-12);
}

}  // namespace
}  // namespace stickslip::reference
