// Motions known in closed form.
#include <cmath>

#include "tests/support/cases.hpp"
#include "tests/support/judging.hpp"
#include "tests/support/scene.hpp"

namespace stickslip {
namespace {

using Eigen::Vector3d;
using reference::Problem;
using reference::Vector;
using support::Scene;

constexpr double kStep = 0.01;
constexpr double kGravity = 9.81;

class Analytic : public testing::TestWithParam<support::Case> {
 protected:
  /// Impulses by the solver under test, which must solve the problem.
  Vector solve_one(const Problem& problem) {
    const auto batch = support::to_batch<double>(std::vector{problem});
    const auto results = support::solve_batch(batch, GetParam().options());
    EXPECT_TRUE(support::expect_honest(batch, results, 0, GetParam().options()));
    return support::impulse_of(results, 0, reference::rows(problem));
  }
  double precision() const { return GetParam().precision == Precision::float32 ? 2e-4 : 1e-7; }
};

/// A contact of dimension 3 with diagonal W.
Problem single(const Vector& diagonal, const Vector& b, double mu) {
  Problem p;
  p.counts.n_contacts = 1;
  p.dims = {int(b.size())};
  p.W = diagonal.asDiagonal();
  p.b = b;
  p.mu = Vector::Constant(b.size() - 1, mu);
  p.R = Vector::Zero(b.size());
  p.lo = p.hi = Vector::Zero(0);
  return p;
}

// A ball of mass m hits the floor at speed v with restitution e and slides at s. The mobility of
// its surface is 7/2 of that of its centre: it sticks if 2/7 m s <= mu m (1 + e) v, else it slides.
TEST_P(Analytic, ball_that_grips) {
  const double m = 2.0, v = 1.5, e = 0.5, s = 0.6, mu = 0.4;
  const Vector r =
      solve_one(single(Vector{{1 / m, 3.5 / m, 3.5 / m}}, Vector{{-v - e * v, s, 0.0}}, mu));
  EXPECT_NEAR(r[0], m * (1 + e) * v, precision());
  EXPECT_NEAR(r[1], -2.0 / 7.0 * m * s, precision());
  EXPECT_NEAR(r[2], 0.0, precision());
}

TEST_P(Analytic, ball_that_slides) {
  if (GetParam().law == Law::convex) GTEST_SKIP() << "lifts off instead";
  const double m = 2.0, v = 1.5, e = 0.5, s = 20.0, mu = 0.4;
  const Vector r =
      solve_one(single(Vector{{1 / m, 3.5 / m, 3.5 / m}}, Vector{{-v - e * v, 0.0, -s}}, mu));
  EXPECT_NEAR(r[0], m * (1 + e) * v, precision());
  EXPECT_NEAR(r[1], 0.0, precision());
  EXPECT_NEAR(r[2], mu * m * (1 + e) * v, precision());
}

// A disc of mass m and inertia I spins on its face: torsional friction of radius mu_t slows it by
// mu_t N h / I per step until it stops.
TEST_P(Analytic, spinning_disc) {
  const double m = 1.5, inertia = 0.2, mu_t = 0.03, weight = m * kGravity * kStep;
  const double fast = 5.0, slow = 0.5 * mu_t * weight / inertia;
  for (double omega : {fast, slow}) {
    if (omega == fast && GetParam().law == Law::convex) continue;
    Problem p = single(Vector{{1 / m, 1 / m, 1 / m, 1 / inertia}},
                       Vector{{-kGravity * kStep, 0.0, 0.0, omega}}, 0.5);
    p.mu[2] = mu_t;
    const Vector r = solve_one(p);
    EXPECT_NEAR(r[0], weight, precision());
    EXPECT_NEAR(r[3], -std::min(mu_t * weight, inertia * omega), precision());
  }
}

/// A box on four contacts on a slope that descends along x; gravity acts for one step.
Scene box_on_slope(double slope, double mu, const Vector3d& velocity) {
  Scene scene = support::empty_scene(1, 4);
  const double m = 1.2;
  const Vector3d half(0.3, 0.2, 0.05);  // flat enough not to tip over
  scene.inverse_mass << Vector3d::Constant(1 / m),
      Vector3d(3 / (m * (0.04 + 0.0025)), 3 / (m * (0.09 + 0.0025)), 3 / (m * (0.09 + 0.04)));
  for (int corner = 0; corner < 4; ++corner) {
    const Vector3d arm((corner & 1) != 0 ? half.x() : -half.x(),
                       (corner & 2) != 0 ? half.y() : -half.y(), -half.z());
    add_contact(scene, corner, Vector3d::UnitZ(), 0, arm, -1, arm);
  }
  scene.v_free.head<3>() =
      velocity + kStep * kGravity * Vector3d(std::sin(slope), 0.0, -std::cos(slope));
  scene.problem.mu.setConstant(mu);
  form_problem(scene);
  return scene;
}

Vector velocity_after(const Scene& scene, const Vector& r) {
  return scene.v_free + scene.inverse_mass.cwiseProduct(scene.J.transpose() * r);
}

TEST_P(Analytic, block_below_the_friction_angle_sticks) {
  const double slope = 0.4;
  const Scene scene = box_on_slope(slope, 1.05 * std::tan(slope), Vector3d::Zero());
  const Vector v = velocity_after(scene, solve_one(scene.problem));
  EXPECT_LE(v.lpNorm<Eigen::Infinity>(), precision());
}

TEST_P(Analytic, block_above_the_friction_angle_slides) {
  if (GetParam().law == Law::convex) GTEST_SKIP() << "lifts off instead";
  const double slope = 0.4, mu = 0.5 * std::tan(slope), speed = 2.0;
  const Scene scene = box_on_slope(slope, mu, Vector3d(speed, 0.0, 0.0));
  const Vector v = velocity_after(scene, solve_one(scene.problem));
  const double gain = kStep * kGravity * (std::sin(slope) - mu * std::cos(slope));
  EXPECT_NEAR(v[0], speed + gain, precision());
  EXPECT_LE(v.tail(5).lpNorm<Eigen::Infinity>(), precision());
}

std::vector<support::Case> laws_with_friction() {
  std::vector<support::Case> cases;
  for (const auto& c : support::supported_cases()) {
    if (c.law != Law::frictionless) cases.push_back(c);
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(all, Analytic, testing::ValuesIn(laws_with_friction()),
                         support::case_name);

}  // namespace
}  // namespace stickslip
