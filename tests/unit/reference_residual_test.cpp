// The oracle's residual on a point mass on a plane, where the solution of every law is known.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/scene.hpp"

namespace stickslip::reference {
namespace {

/// One contact of a particle of 1/2 kg (W = 2 I) that would move with velocity b.
Problem particle(const Vector& b, const Vector& mu) {
  support::Scene scene = support::empty_scene(1, 1);
  Problem p = scene.problem;
  p.W = 2.0 * Matrix::Identity(3, 3);
  p.b = b;
  p.mu = mu;
  return p;
}
Problem particle(const Vector& b, double mu) { return particle(b, Vector{{mu, mu}}); }

TEST(ReferenceResidual, sliding_by_each_law) {
  // Approaches at 1 m/s and slides at (3, 4) m/s: friction 0.2 cannot stop it.
  const Problem p = particle(Vector{{-1.0, 3.0, 4.0}}, 0.2);
  // Coulomb: u_n = 0, so r_n = 0.5, and r_t = -0.1 (0.6, 0.8).
  EXPECT_NEAR(residual(p, Vector{{0.5, -0.06, -0.08}}, Law::coulomb), 0.0, 1e-15);
  // Box: every axis pushes with mu r_n; frictionless: none does.
  EXPECT_NEAR(residual(p, Vector{{0.5, -0.1, -0.1}}, Law::box), 0.0, 1e-15);
  EXPECT_NEAR(residual(p, Vector{{0.5, 0.0, 0.0}}, Law::frictionless), 0.0, 1e-15);
  // Pyramid: all friction along the axis of fastest sliding.
  EXPECT_NEAR(residual(p, Vector{{0.5, 0.0, -0.1}}, Law::pyramid), 0.0, 1e-15);
  // Convex: the impulse is the projection of -b / 2 = (0.5, -1.5, -2) on the cone; it opens.
  const double n = (0.5 + 0.2 * 2.5) / 1.04;
  const Vector convex{{n, -0.6 * 0.2 * n, -0.8 * 0.2 * n}};
  EXPECT_NEAR(residual(p, convex, Law::convex), 0.0, 1e-15);
  EXPECT_GT(velocity(p, convex)[0], 0.1);
  EXPECT_GT(residual(p, convex, Law::coulomb), 0.1);
}

TEST(ReferenceResidual, sticking_is_the_same_for_all_laws_with_friction) {
  const Problem p = particle(Vector{{-1.0, 0.1, -0.1}}, 0.5);
  for (Law law : {Law::coulomb, Law::convex, Law::pyramid, Law::box}) {
    EXPECT_NEAR(residual(p, Vector{{0.5, -0.05, 0.05}}, law), 0.0, 1e-15);
  }
}

TEST(ReferenceResidual, separating_contact_takes_no_impulse) {
  const Problem p = particle(Vector{{0.5, 3.0, 0.0}}, 0.5);
  for (Law law : {Law::coulomb, Law::convex, Law::pyramid, Law::box, Law::frictionless}) {
    // The associated cone of `convex` attracts a contact that slides faster than u_n / mu.
    const double expected = law == Law::convex ? (3.0 * 0.5 - 0.5) / 1.25 : 0.0;
    EXPECT_NEAR(residual(p, Vector::Zero(3), law), expected, 1e-15);
  }
}

TEST(ReferenceResidual, compliance_adds_to_the_velocity) {
  Problem p = particle(Vector{{-1.0, 3.0, 4.0}}, 0.2);
  p.R.setConstant(2.0);  // W + R = 4 I: half the impulse
  EXPECT_NEAR(residual(p, Vector{{0.25, -0.03, -0.04}}, Law::coulomb), 0.0, 1e-15);
}

TEST(ReferenceResidual, anisotropic_friction_is_circular_in_scaled_coordinates) {
  // Sliding along t2 alone, where the coefficient is twice that of t1.
  const Problem p = particle(Vector{{-1.0, 0.0, 4.0}}, Vector{{0.2, 0.4}});
  EXPECT_NEAR(residual(p, Vector{{0.5, 0.0, -0.2}}, Law::coulomb), 0.0, 1e-15);
  EXPECT_NEAR(residual(p, Vector{{0.5, 0.0, -0.2}}, Law::pyramid), 0.0, 1e-15);
  EXPECT_NEAR(residual(p, Vector{{0.5, 0.0, -0.2}}, Law::box), 0.0, 1e-15);
}

TEST(ReferenceResidual, rows_without_friction_count_their_impulse) {
  const Problem p = particle(Vector{{-1.0, 0.0, 4.0}}, Vector{{0.2, 0.0}});
  EXPECT_NEAR(residual(p, Vector{{0.5, 0.0, 0.0}}, Law::coulomb), 0.0, 1e-15);
  EXPECT_NEAR(residual(p, Vector{{0.5, 0.0, 0.01}}, Law::coulomb), 2.0 * 0.01, 1e-15);
}

TEST(ReferenceResidual, rows_that_are_not_contacts) {
  Problem p;
  p.counts = {1, 1, 2, 0};
  p.W = 2.0 * Matrix::Identity(4, 4);
  p.b = Vector{{-1.0, -3.0, 5.0, 0.5}};
  p.R = Vector::Zero(4);
  p.lo = Vector{{-1.0, -1.0}};
  p.hi = Vector{{1.0, 1.0}};
  EXPECT_NEAR(residual(p, Vector{{0.5, 1.5, -1.0, -0.25}}, Law::coulomb), 0.0, 1e-15);
  EXPECT_NEAR(residual(p, Vector{{0.0, 1.5, -1.0, -0.25}}, Law::coulomb), 1.0, 1e-15);
  EXPECT_NEAR(residual(p, Vector{{0.5, 0.0, -1.0, -0.25}}, Law::coulomb), 3.0, 1e-15);
  EXPECT_NEAR(residual(p, Vector{{0.5, 1.5, -1.5, -0.25}}, Law::coulomb), 1.0, 1e-15);
}

TEST(ReferenceResidual, not_a_number_is_infinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Problem p = particle(Vector{{-1.0, 0.0, 4.0}}, 0.2);
  EXPECT_TRUE(std::isinf(residual(p, Vector{{0.5, nan, 0.0}}, Law::coulomb)));
  Problem poisoned = p;
  poisoned.W(2, 0) = nan;  // multiplies a zero impulse
  EXPECT_TRUE(std::isinf(residual(poisoned, Vector::Zero(3), Law::frictionless)));
}

TEST(ReferenceMeasures, name_each_violation) {
  const Problem p = particle(Vector{{-1.0, 3.0, 4.0}}, 0.2);
  const Measures solved = measures(p, Vector{{0.5, -0.06, -0.08}}, Law::coulomb);
  EXPECT_NEAR(solved.penetration, 0.0, 1e-15);
  EXPECT_NEAR(solved.cone_violation, 0.0, 1e-15);
  EXPECT_NEAR(solved.complementarity, 0.0, 1e-15);
  EXPECT_NEAR(solved.misalignment, 0.0, 1e-15);
  const Measures none = measures(p, Vector::Zero(3), Law::coulomb);
  EXPECT_NEAR(none.penetration, 1.0, 1e-15);
  const Measures wrong = measures(p, Vector{{0.4, 0.3, 0.0}}, Law::coulomb);
  EXPECT_NEAR(wrong.penetration, 0.2, 1e-15);
  EXPECT_NEAR(wrong.complementarity, 0.08, 1e-15);
  EXPECT_NEAR(wrong.cone_violation, 0.3 - 0.2 * 0.4, 1e-15);
  // u_t = (3.6, 4): |r_t||u_t| + r_t . u_t
  EXPECT_NEAR(wrong.misalignment, 0.3 * std::hypot(3.6, 4.0) + 0.3 * 3.6, 1e-14);
}

}  // namespace
}  // namespace stickslip::reference
