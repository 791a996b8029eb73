// Mechanisms with known motion.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "gallery/rigid/frames.hpp"
#include "gallery/rigid/rigid.hpp"
#include "tests/support/refusal.hpp"

namespace stickslip::gallery::rigid {
namespace {

constexpr double kGravity = 9.81;

// A rod (length 2 r, about its centre) that hangs from the origin, turned by `angle` about y.
System pendulum(double r, double angle, double mass = 1.) {
  Body rod{.mass = mass, .inertia = {mass * r * r / 3., mass * r * r / 3., 1e-3 * mass * r * r}};
  rod.pose = {{-r * std::sin(angle), 0., -r * std::cos(angle)},
              {std::cos(angle / 2.), 0., std::sin(angle / 2.), 0.}};
  System system{.bodies = {rod}};
  system.joints = {joint_at(system.bodies, JointKind::hinge, kWorld, 0, {}, {0., 1., 0.})};
  return system;
}

TEST(Sim, a_free_body_falls_and_keeps_its_angular_momentum) {
  System system{.bodies = {Body{.mass = 2., .inertia = {0.1, 0.2, 0.3}}}};
  system.bodies[0].spin = {1., 2., 3.};
  Sim sim({system}, {.time_step = 1e-3, .level = Level::acceleration});
  const auto momentum = [&] {
    const Body& b = sim.bodies(0)[0];
    const Matrix3 R = quaternion(b.pose.rotation).toRotationMatrix();
    return Vector3(R * vec(b.inertia).asDiagonal() * R.transpose() * vec(b.spin));
  };
  const Vector3 before = momentum();
  for (int i = 0; i < 1000; ++i) sim.step();
  EXPECT_LT((momentum() - before).norm(), 1e-10);
  EXPECT_NEAR(sim.bodies(0)[0].pose.position[2], -0.5 * kGravity, 1e-12);
  EXPECT_NEAR(quaternion(sim.bodies(0)[0].pose.rotation).norm(), 1., 1e-15);
}

// The period of a pendulum of any amplitude is 4 K(sin(a/2)) sqrt(I/(m g r)).
TEST(Sim, a_pendulum_at_acceleration_level_has_the_period_of_the_elliptic_integral) {
  const double r = 0.5, angle = 1.2, I = 4. / 3. * r * r;
  const double period =
      4. * std::comp_ellint_1(std::sin(angle / 2.)) * std::sqrt(I / (kGravity * r));
  const int steps = 2000;
  Sim sim({pendulum(r, angle)}, {.time_step = period / steps, .level = Level::acceleration});
  for (int i = 0; i < steps; ++i) sim.step();
  // Runge-Kutta's error is of order h^4.
  EXPECT_NEAR(sim.coordinate(0, 0), 0., 1e-8);
  EXPECT_LT(vec(sim.bodies(0)[0].spin).norm(), 1e-8);
  EXPECT_LT(sim.drift(0), 1e-10);
  EXPECT_EQ(sim.status(0), EnvStatus::solved);
}

TEST(Sim, a_pendulum_at_velocity_level_converges_to_it_and_never_gains_energy) {
  const double r = 0.5, angle = 1.2, I = 4. / 3. * r * r;
  const double period =
      4. * std::comp_ellint_1(std::sin(angle / 2.)) * std::sqrt(I / (kGravity * r));
  double error[2];
  for (int k = 0; k < 2; ++k) {
    const int steps = 1000 << k;
    Sim sim({pendulum(r, angle)}, {.time_step = period / steps});
    double before = sim.energy(0).kinetic + sim.energy(0).potential;
    double corrected = 0.;
    for (int i = 0; i < steps; ++i) {
      sim.step();
      const Energy e = sim.energy(0);
      const double now = e.kinetic + e.potential;
      EXPECT_LE(now - before, e.correction - corrected + 1e-12) << "step " << i;
      before = now;
      corrected = e.correction;
    }
    // At rest for a moment there: the speed shows the timing error.
    error[k] = vec(sim.bodies(0)[0].spin).norm();
    EXPECT_LT(sim.drift(0), 1e-4);
  }
  EXPECT_LT(error[1], 0.02);
  // Without the hinge this is symplectic Euler, whose period is accurate to second order.
  EXPECT_NEAR(error[1] / error[0], 0.25, 0.02);
}

TEST(Sim, the_fixed_point_iteration_ends_steps_with_joints_closed) {
  Sim sim({pendulum(0.5, 1.2)}, {.time_step = 1e-2, .method = Method::fixpoint});
  for (int i = 0; i < 500; ++i) {
    sim.step();
    ASSERT_EQ(sim.status(0), EnvStatus::solved);
    ASSERT_LE(sim.drift(0), 1e-9);
    ASSERT_GT(sim.rounds(0), 1);
  }
}

TEST(Sim, a_driven_hinge_follows_its_trajectory) {
  System system = pendulum(0.5, 0.);
  system.joints[0].drive = [](double t) { return Motion{std::sin(t), std::cos(t), -std::sin(t)}; };
  for (const Level level : {Level::velocity, Level::acceleration}) {
    // Starts at the trajectory's velocity.
    system.bodies[0].velocity = {-0.5, 0., 0.};
    system.bodies[0].spin = {0., 1., 0.};
    Sim sim({system}, {.time_step = 1e-3, .level = level});
    for (int i = 0; i < 3000; ++i) sim.step();
    EXPECT_NEAR(sim.coordinate(0, 0), std::sin(3.), level == Level::velocity ? 1e-5 : 1e-9);
  }
}

TEST(Sim, limits_stop_a_hinge_and_dry_friction_holds_it) {
  System limited = pendulum(0.5, 1.);
  limited.joints[0].upper = 0.;     // starts at the coordinate 0 (angle 1) and may not swing
  limited.joints[0].lower = -0.25;  // further than this
  System held = pendulum(0.5, 1.);
  const double torque = kGravity * 0.5 * std::sin(1.);
  held.joints[0].friction = 1.01 * torque;
  System slipping = held;
  slipping.joints[0].friction = 0.99 * torque;
  Sim sim({limited, held, slipping}, {.time_step = 1e-3});
  for (int i = 0; i < 2000; ++i) {
    sim.step();
    for (int e = 0; e < 3; ++e) ASSERT_EQ(sim.status(e), EnvStatus::solved) << e;
    ASSERT_GE(sim.coordinate(0, 0), -0.25 - 1e-6);
  }
  EXPECT_NEAR(sim.coordinate(0, 0), -0.25, 1e-9);
  EXPECT_NEAR(sim.coordinate(1, 0), 0., 1e-9);
  EXPECT_GT(std::abs(sim.coordinate(2, 0)), 0.01);
}

// Four hinges in a plane: in 3D three of the rows depend on others.
TEST(Sim, redundant_loops_are_normal) {
  const auto bar = [](const Vec3& from, const Vec3& to) {
    const Vector3 d = vec(to) - vec(from);
    const auto Q = Eigen::Quaterniond::FromTwoVectors(Vector3::UnitX(), d);
    Body b{.mass = 1., .inertia = {1e-3, d.squaredNorm() / 12., d.squaredNorm() / 12.}};
    b.pose = {array(0.5 * (vec(from) + vec(to))), {Q.w(), Q.x(), Q.y(), Q.z()}};
    return b;
  };
  const Vec3 A = {0., 0., 0.}, B = {0., 0., 0.5}, C = {1., 0., 0.8}, D = {1., 0., 0.};
  System system{.bodies = {bar(A, B), bar(B, C), bar(C, D)}};
  const Vec3 y = {0., 1., 0.};
  system.joints = {joint_at(system.bodies, JointKind::hinge, kWorld, 0, A, y),
                   joint_at(system.bodies, JointKind::hinge, 0, 1, B, y),
                   joint_at(system.bodies, JointKind::hinge, 1, 2, C, y),
                   joint_at(system.bodies, JointKind::hinge, kWorld, 2, D, y)};
  for (const Level level : {Level::velocity, Level::acceleration}) {
    // Solved to 1e-12: in 5,000 steps residuals of 1e-9 add up to about 1e-9 J of either sign.
    const SolveOptions solve{.atol = 1e-12, .rtol = 1e-12};
    Sim sim({system}, {.time_step = 1e-3, .level = level, .solve = solve});
    const double before = sim.energy(0).kinetic + sim.energy(0).potential;
    for (int i = 0; i < 5000; ++i) {
      sim.step();
      ASSERT_EQ(sim.status(0), EnvStatus::solved) << "step " << i << " " << sim.residual(0);
      ASSERT_LT(sim.drift(0), level == Level::velocity ? 1e-4 : 1e-8);
    }
    const double after = sim.energy(0).kinetic + sim.energy(0).potential;
    if (level == Level::acceleration) {
      EXPECT_NEAR(after, before, 1e-6);
    } else {
      EXPECT_LE(after, before + sim.energy(0).correction + 1e-9);
    }
  }
}

TEST(Sim, a_box_slides_with_the_deceleration_of_coulomb) {
  std::vector<System> systems;
  for (int e = 0; e < 8; ++e) {
    System system{.bodies = {Body{.mass = 1. + e, .inertia = {0.1, 0.1, 0.1}}}};
    system.bodies[0].pose.position = {0., 0., 0.05};
    system.bodies[0].velocity = {1., 0.5, 0.};
    for (const double x : {-0.5, 0.5})
      for (const double y : {-0.5, 0.5})
        system.contacts.push_back({.gap = point_on_plane({x, y, -0.05}), .mu = 0.1 + 0.05 * e});
    systems.push_back(system);
  }
  const double h = 1e-3;
  Sim sim(systems, {.time_step = h});
  for (int i = 0; i < 200; ++i) sim.step();
  for (int e = 0; e < 8; ++e) {
    const double speed0 = std::sqrt(1.25), mu = 0.1 + 0.05 * e;
    const double speed = speed0 - mu * kGravity * 0.2;
    EXPECT_NEAR(vec(sim.bodies(e)[0].velocity).norm(), speed, 1e-8) << e;
    EXPECT_LT(sim.penetration(e), 200 * h * 2e-9);  // of velocities within the tolerance
    double normal = 0.;
    for (int k = 0; k < 4; ++k) normal += sim.contact_impulse(e, k)[0];
    // The residual bounds velocities, so impulses to mass times it.
    EXPECT_NEAR(normal, (1. + e) * kGravity * h, 2e-9 * (1. + e));
  }
}

// A distant object must not widen the tolerance of touching ones, nor be missed when it arrives.
TEST(Sim, a_far_candidate_does_not_blur_the_verdict) {
  System near{.bodies = {Body{}}};
  near.bodies[0].velocity = {1., 0., 0.};
  near.contacts = {{.gap = point_on_plane({}), .mu = 0.5}};
  System both = near;
  both.contacts.push_back({.gap = point_on_plane({}, {1e4, 0., 0.}, {-1., 0., 0.}), .mu = 0.5});
  System wall = near;
  wall.bodies[0].velocity = {0., 0., -1.};
  wall.contacts.push_back(both.contacts[1]);
  wall.contacts[1].gap = point_on_plane({}, {1e-3, 0., 0.}, {-1., 0., 0.});
  // A slope deflects the body to the wall, which no body approaches before.
  wall.contacts[0].gap = point_on_plane({}, {}, {std::sqrt(0.5), 0., std::sqrt(0.5)});
  wall.contacts[0].mu = wall.contacts[1].mu = 0.;
  Sim sim({near, both, wall}, {.time_step = 0.01});
  sim.step();
  for (int e = 0; e < 3; ++e) EXPECT_LE(sim.residual(e), 3e-9) << e;
  EXPECT_NEAR(sim.bodies(1)[0].velocity[0], 1. - 0.5 * kGravity * 0.01, 1e-8);
  EXPECT_NEAR(sim.bodies(2)[0].pose.position[0], 1e-3, 1e-9);
  EXPECT_GT(sim.contact_impulse(2, 1)[0], 0.);
}

TEST(Sim, an_environment_that_breaks_leaves_the_others_alone) {
  System good = pendulum(0.5, 1.), bad = good;
  good.contacts = bad.contacts = {{.gap = point_on_plane({}, {0., 0., -5.}), .mu = 0.5}};
  bad.contacts[0].gap = [](const Pose&, const Pose&) { return Gap{.distance = std::nan("")}; };
  Sim alone({good}, {}), together({bad, good, bad}, {});
  for (int i = 0; i < 50; ++i) alone.step(), together.step();
  EXPECT_EQ(together.status(0), EnvStatus::bad_input);
  EXPECT_EQ(together.status(1), EnvStatus::solved);
  EXPECT_EQ(alone.bodies(0)[0].pose.position, together.bodies(1)[0].pose.position);
  EXPECT_EQ(together.bodies(0)[0].pose.position, bad.bodies[0].pose.position);
}

TEST(Sim, misuse_names_the_environment_the_item_and_the_value) {
  const auto message = [](const System& system, SimOptions options = {}) {
    return support::refusal_of([&] { Sim({pendulum(0.5, 0.), system}, options); });
  };
  System system = pendulum(0.5, 0.);
  system.bodies[0].mass = -2.;
  EXPECT_EQ(message(system), "rigid::Sim: environment 1, body 0: mass = -2: must be positive");
  system = pendulum(0.5, 0.);
  system.joints[0].b = 4;
  EXPECT_EQ(message(system), "rigid::Sim: environment 1, joint 0: b = 4: there is no such body");
  system = pendulum(0.5, 0.);
  system.contacts = {{.gap = point_on_plane({}), .mu = -0.5}};
  EXPECT_EQ(message(system), "rigid::Sim: environment 1, contact 0: mu = -0.5: must be >= 0");
  EXPECT_NE(message(pendulum(0.5, 0.), {.time_step = std::nan("")}), "");
}

}  // namespace
}  // namespace stickslip::gallery::rigid
