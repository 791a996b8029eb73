// The gaps of gallery/cpp/bolt.hpp: unit normals that are their gradients, and distances that
// agree with a search.
#include <gtest/gtest.h>

#include <random>

#include "gallery/cpp/bolt.hpp"

namespace {

using namespace stickslip;
using namespace stickslip::gallery;
using Eigen::Vector3d;

struct Poses {
  std::mt19937 generator{1};
  double uniform(double lo, double hi) {
    return std::uniform_real_distribution<double>(lo, hi)(generator);
  }
  Vector3d vector(double size) {
    return {uniform(-size, size), uniform(-size, size), uniform(-size, size)};
  }
  rigid::Pose next() {
    const Vector3d axis = vector(1.).normalized();
    const Eigen::Quaterniond q(Eigen::AngleAxisd(uniform(-0.3, 0.3), axis));
    Vector3d x = vector(4e-3);
    x.z() = uniform(-kDepth + kHalf, 2. * kHalf);
    return {array(x), {q.w(), q.x(), q.y(), q.z()}};
  }
};

rigid::Pose moved(const rigid::Pose& pose, const Vector3d& shift, const Vector3d& turn) {
  const double angle = turn.norm();
  Eigen::Quaterniond q = quaternion(pose.rotation);
  if (angle > 0.) q = Eigen::AngleAxisd(angle, turn / angle) * q;
  return {array(vec(pose.position) + shift), {q.w(), q.x(), q.y(), q.z()}};
}

TEST(BoltGaps, normals_are_the_gradients) {
  constexpr double kStep = 1e-6;
  Poses poses;
  int touched = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const rigid::Pose pose = poses.next();
    for (const rigid::Contact& contact : bolt_in_hole(poses.uniform(0.3, 0.8))) {
      const rigid::Gap gap = contact.gap({}, pose);
      if (gap.distance < -0.5 * kRound) continue;  // deeper than any step of the example
      touched += gap.distance < kRound;
      const Vector3d n = vec(gap.normal), r = vec(gap.point) - vec(pose.position);
      ASSERT_NEAR(n.norm(), 1., 1e-14);
      for (int k = 0; k < 6; ++k) {
        const Vector3d e = Vector3d::Unit(k % 3) * (k < 3 ? kStep : kStep / kHalf);
        const auto at = [&](double sign) {
          const Vector3d shift = k < 3 ? Vector3d(sign * e) : Vector3d::Zero();
          const Vector3d turn = k < 3 ? Vector3d::Zero() : Vector3d(sign * e);
          return contact.gap({}, moved(pose, shift, turn)).distance;
        };
        // Curvatures are at most 1 / kRound; they jump by that amount where two surfaces meet.
        const double expected = k < 3 ? n.dot(e) : r.cross(n).dot(e);
        ASSERT_NEAR((at(1.) - at(-1.)) / 2., expected, 2. * kStep * kStep / kRound);
      }
    }
  }
  EXPECT_GT(touched, 1000);
}

/// The nearest point of the hole's wall among many samples.
double searched(const Vector3d& c, double angle) {
  double nearest = 1.;
  const double rho = c.head<2>().norm();
  for (double s = -0.1; s < 0.1; s += 1e-5) {
    const double up = std::max(0., s);
    nearest = std::min(nearest, std::hypot(rho - kBore - up * std::sin(angle),
                                           c.z() - std::min(0., s) - up * std::cos(angle)));
  }
  return nearest;
}

TEST(BoltGaps, the_wall_is_as_far_as_a_search_finds) {
  Poses poses;
  for (int trial = 0; trial < 200; ++trial) {
    const double angle = poses.uniform(0.3, 0.8);
    const Vector3d c(poses.uniform(0., 9e-3), poses.uniform(0., 4e-3), poses.uniform(-0.02, 0.02));
    const rigid::Gap gap = ball_in_hole(c, angle)({}, {});
    EXPECT_NEAR(gap.distance + kRound, searched(c, angle), 1e-8) << c.transpose();
  }
}

TEST(BoltGaps, the_bolt_is_as_far_as_a_search_finds) {
  Poses poses;
  for (int trial = 0; trial < 200; ++trial) {
    const Vector3d p(poses.uniform(0.010, 0.02), 0., poses.uniform(-0.04, 0.04));
    double nearest = 1.;  // of the core's outline
    for (double t = 0.; t <= 1.; t += 1e-4) {
      nearest = std::min(nearest, std::hypot(p.x() - kCore, p.z() - kHalf * (2. * t - 1.)));
      for (const double end : {-kHalf, kHalf})
        nearest = std::min(nearest, std::hypot(p.x() - kCore * t, p.z() - end));
    }
    EXPECT_NEAR(point_on_bolt(p)({}, {}).distance + kRound, nearest, 1e-7);
  }
}

}  // namespace
