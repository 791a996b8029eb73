// The rows of joints against finite differences: bodies fly freely along curves with known
// velocities and accelerations, and C(q(t), t) is differentiated in time.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "gallery/rigid/environment.hpp"

namespace stickslip::gallery::rigid {
namespace {

// A body on a smooth curve: position quadratic in t, rotation exp(phi(t)) Q0 with phi quadratic.
struct Flight {
  Vector3 x, v, a, spin, turn;  // spin = d phi / dt at 0; turn = d² phi / dt² at 0
  Eigen::Quaterniond Q;

  explicit Flight(std::mt19937& random) {
    std::normal_distribution<double> normal;
    const auto draw = [&] { return Vector3(normal(random), normal(random), normal(random)); };
    x = draw(), v = draw(), a = draw(), spin = draw(), turn = draw();
    Q = Eigen::Quaterniond(normal(random), normal(random), normal(random), normal(random));
    Q.normalize();
  }
  Body at(double t) const {
    const Vector3 phi = t * spin + 0.5 * t * t * turn;
    const double angle = phi.norm();
    const Eigen::Quaterniond turned =
        Eigen::AngleAxisd(angle, angle > 0. ? Vector3(phi / angle) : Vector3::UnitX()) * Q;
    Body b;
    b.pose.position = array(x + t * v + 0.5 * t * t * a);
    b.pose.rotation = {turned.w(), turned.x(), turned.y(), turned.z()};
    b.velocity = array(v + t * a);
    b.spin = array(spin);  // of t = 0, where it is exact: d/dt exp(phi) = spin, and turn is omega'
    return b;
  }
};

Trajectory wave(double amplitude, double frequency) {
  return [=](double t) {
    const double s = std::sin(frequency * t + 0.3), c = std::cos(frequency * t + 0.3);
    return Motion{amplitude * s, amplitude * frequency * c, -amplitude * frequency * frequency * s};
  };
}

struct RowsCase {
  const char* name;
  JointKind kind;
  bool drive, path, world;
};

class JointRows : public testing::TestWithParam<RowsCase> {};

TEST_P(JointRows, first_and_second_derivatives_are_those_of_finite_differences) {
  const RowsCase& c = GetParam();
  std::mt19937 random(7);
  for (int round = 0; round < 10; ++round) {
    const Flight a(random), b(random);
    const auto bodies = [&](double t) { return std::vector<Body>{a.at(t), b.at(t)}; };
    System system;
    Joint joint =
        joint_at(bodies(0.2), c.kind, c.world ? kWorld : 0, 1, {0.1, -0.4, 0.3}, {0.6, 0., 0.8});
    joint.length = 0.7;
    if (c.drive) joint.drive = wave(0.4, 1.7);
    if (c.path) joint.path = {wave(0.3, 1.1), wave(0.2, 2.3), wave(0.5, 0.7)};
    system.joints = {joint};
    system.bodies = bodies(0.);
    const Layout layout(system);
    const auto C = [&](double t, int row) {
      return constraints(system, layout, bodies(t), t).rows[row].C;
    };
    const Constraints now = constraints(system, layout, bodies(0.), 0.);
    // The angle of a hinge is defined only if the hinge is satisfied: see the next test.
    const int rows = c.kind == JointKind::hinge ? 5 : layout.rows;
    for (int i = 0; i < rows; ++i) {
      const Row& row = now.rows[i];
      Wrench ua, ub, da, db;
      ua << a.v, a.spin;
      ub << b.v, b.spin;
      da << a.a, a.turn;
      db << b.a, b.turn;
      if (c.world) ua.setZero(), da.setZero();
      const double h = 1e-4;
      // Differences of fourth order: errors h^4 and rounding 1e-16 / h, 1e-16 / h².
      const double first = (8. * (C(h, i) - C(-h, i)) - (C(2 * h, i) - C(-2 * h, i))) / (12. * h);
      const double second =
          (16. * (C(h, i) + C(-h, i)) - (C(2 * h, i) + C(-2 * h, i)) - 30. * C(0., i)) /
          (12. * h * h);
      EXPECT_NEAR(row.Ja.dot(ua) + row.Jb.dot(ub) + row.rate, first, 1e-9) << "row " << i;
      EXPECT_NEAR(row.Ja.dot(da) + row.Jb.dot(db) + row.k, second, 2e-5) << "row " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    all, JointRows,
    testing::Values(RowsCase{"ball", JointKind::ball, false, false, false},
                    RowsCase{"ball_on_a_path", JointKind::ball, false, true, false},
                    RowsCase{"ball_on_a_path_of_the_world", JointKind::ball, false, true, true},
                    RowsCase{"hinge", JointKind::hinge, false, false, false},
                    RowsCase{"hinge_driven", JointKind::hinge, true, false, false},
                    RowsCase{"prismatic", JointKind::prismatic, false, false, false},
                    RowsCase{"prismatic_driven", JointKind::prismatic, true, true, false},
                    RowsCase{"fixed", JointKind::fixed, false, false, false},
                    RowsCase{"distance", JointKind::distance, false, false, false},
                    RowsCase{"distance_driven", JointKind::distance, true, true, true}),
    [](const auto& info) { return info.param.name; });

TEST(Rows, the_angle_of_a_turning_hinge) {
  std::mt19937 random(11);
  const Flight a(random);
  const Vector3 axis(0.6, 0., 0.8);  // of a
  const auto motion = wave(0.9, 1.3);
  const auto bodies = [&](double t) {
    std::vector<Body> both = {a.at(t), a.at(t)};
    const Eigen::Quaterniond Q =
        quaternion(both[0].pose.rotation) * Eigen::AngleAxisd(motion(t).value, axis);
    both[1].pose.rotation = {Q.w(), Q.x(), Q.y(), Q.z()};
    both[1].spin = array(a.spin + motion(t).rate * (quaternion(both[0].pose.rotation) * axis));
    return both;
  };
  Joint joint{.kind = JointKind::hinge, .a = 0, .b = 1, .axis = array(axis)};
  const Row row = coordinate_row(joint, bodies(0.), 0.);
  const Vector3 turning = quaternion(a.at(0.).pose.rotation) * axis;
  const Vector3 turn_b =
      a.turn + motion(0.).acceleration * turning + motion(0.).rate * a.spin.cross(turning);
  EXPECT_NEAR(row.C, motion(0.).value, 1e-14);
  EXPECT_NEAR(row.Ja.tail<3>().dot(a.spin) + row.Jb.tail<3>().dot(vec(bodies(0.)[1].spin)),
              motion(0.).rate, 1e-14);
  EXPECT_NEAR(row.Ja.tail<3>().dot(a.turn) + row.Jb.tail<3>().dot(turn_b) + row.k,
              motion(0.).acceleration, 1e-13);
}

TEST(Rows, a_joint_made_in_a_pose_holds_there) {
  std::mt19937 random(3);
  const std::vector<Body> bodies = {Flight(random).at(0.), Flight(random).at(0.)};
  for (const JointKind kind :
       {JointKind::ball, JointKind::hinge, JointKind::prismatic, JointKind::fixed}) {
    System system{.bodies = bodies};
    system.joints = {joint_at(bodies, kind, 0, 1, {0.3, 0.2, 0.1}, {1., 2., 2.})};
    const Layout layout(system);
    const auto rows = constraints(system, layout, bodies, 0.).rows;
    for (const Row& row : rows) EXPECT_NEAR(row.C, 0., 1e-14);
    if (kind == JointKind::hinge || kind == JointKind::prismatic) {
      EXPECT_NEAR(coordinate_row(system.joints[0], bodies, 0.).C, 0., 1e-14);
    }
  }
}

TEST(Rows, quaternion_map_is_half_the_quaternion_product) {
  std::mt19937 random(5);
  const Flight f(random);
  const Quat Q = f.at(0.).pose.rotation;
  const auto G = quaternion_map(Q);
  const Eigen::Quaterniond omega(0., f.spin.x(), f.spin.y(), f.spin.z());
  const Eigen::Quaterniond half = omega * quaternion(Q);
  const Eigen::Vector4d expected = 0.5 * Eigen::Vector4d(half.w(), half.x(), half.y(), half.z());
  const Eigen::Vector4d rate =
      Eigen::Map<const Eigen::Matrix<double, 4, 3, Eigen::RowMajor>>(G.data()) * f.spin;
  EXPECT_LT((rate - expected).norm(), 1e-15);
  EXPECT_NEAR(rate.dot(Eigen::Vector4d(Q.data())), 0., 1e-15);  // the norm does not change
}

}  // namespace
}  // namespace stickslip::gallery::rigid
