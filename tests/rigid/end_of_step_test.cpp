// Contacts that are satisfied at the end of the step (Hotz et al.): comparison of three methods.
#include <gtest/gtest.h>

#include <cmath>

#include "gallery/rigid/frames.hpp"
#include "gallery/rigid/rigid.hpp"

namespace stickslip::gallery::rigid {
namespace {

// A ball (radius 0.1) in a bowl (radius 1, centre at the origin): the gap is far from linear.
System ball_in_bowl(double speed) {
  Body ball{.mass = 2., .inertia = {0.008, 0.008, 0.008}};
  ball.pose.position = {0.9 * std::sin(0.5), 0., -0.9 * std::cos(0.5)};
  ball.velocity = {0., speed, 0.};
  System system{.bodies = {ball}};
  system.contacts = {{.gap = [](const Pose&, const Pose& b) {
    const Vector3 x = vec(b.position), n = -x.normalized();
    return Gap{0.9 - x.norm(), array(x - 0.1 * n), array(n)};
  }}};
  return system;
}

SimOptions with(Method method) {
  return {.time_step = 0.01, .method = method, .gap_tolerance = 1e-10};
}

class EndOfStep : public testing::TestWithParam<Method> {};

TEST_P(EndOfStep, a_ball_in_a_bowl_never_penetrates_and_never_gains_energy) {
  Sim sim({ball_in_bowl(0.), ball_in_bowl(1.), ball_in_bowl(3.)}, with(GetParam()));
  std::vector<double> before(3), corrected(3);
  for (int e = 0; e < 3; ++e) before[e] = sim.energy(e).kinetic + sim.energy(e).potential;
  for (int i = 0; i < 300; ++i) {
    sim.step();
    for (int e = 0; e < 3; ++e) {
      ASSERT_EQ(sim.status(e), EnvStatus::solved) << "step " << i << ", environment " << e;
      ASSERT_LE(sim.penetration(e), 1e-10);
      const Energy energy = sim.energy(e);
      const double now = energy.kinetic + energy.potential;
      ASSERT_LE(now - before[e], energy.correction - corrected[e] + 1e-10);
      before[e] = now;
      corrected[e] = energy.correction;
    }
  }
}

// A plate with more feet than a plane has degrees of freedom: dependent gaps.
TEST_P(EndOfStep, a_plate_on_many_feet_comes_to_rest) {
  Body plate{.mass = 3., .inertia = {0.01, 0.02, 0.03}};
  plate.pose.position = {0., 0., 0.03};
  plate.spin = {0.5, -0.3, 0.};
  System system{.bodies = {plate}};
  for (int k = 0; k < 6; ++k) {
    const double at = k * M_PI / 3.;
    system.contacts.push_back(
        {.gap = point_on_plane({0.1 * std::cos(at), 0.1 * std::sin(at), 0.})});
  }
  Sim sim({system}, with(GetParam()));
  for (int i = 0; i < 100; ++i) {
    sim.step();
    ASSERT_EQ(sim.status(0), EnvStatus::solved) << "step " << i;
    ASSERT_LE(sim.penetration(0), 1e-10) << "step " << i;
  }
  EXPECT_NEAR(sim.bodies(0)[0].pose.position[2], 0., 1e-9);
  EXPECT_LT(vec(sim.bodies(0)[0].spin).head<2>().norm(), 1e-7);
}

INSTANTIATE_TEST_SUITE_P(all, EndOfStep,
                         testing::Values(Method::release, Method::fischer, Method::fixpoint),
                         [](const auto& info) {
                           return std::string(info.param == Method::release   ? "release"
                                              : info.param == Method::fischer ? "fischer"
                                                                              : "fixpoint");
                         });

TEST(EndOfStep, first_order_gaps_penetrate_there) {
  Sim sim({ball_in_bowl(3.)}, with(Method::linearised));
  double worst = 0.;
  for (int i = 0; i < 300; ++i) sim.step(), worst = std::max(worst, sim.penetration(0));
  EXPECT_GT(worst, 1e-4);  // v² dt² / 2 R = 5e-4
}

TEST(EndOfStep, newton_and_the_fixed_point_find_the_same_motion) {
  Sim newton({ball_in_bowl(1.)}, with(Method::fischer));
  Sim fixpoint({ball_in_bowl(1.)}, with(Method::fixpoint));
  for (int i = 0; i < 100; ++i) newton.step(), fixpoint.step();
  const Vector3 a = vec(newton.bodies(0)[0].pose.position);
  const Vector3 b = vec(fixpoint.bodies(0)[0].pose.position);
  EXPECT_LT((a - b).norm(), 1e-7);
}

// Normals turn by 0.3 and 0.4 rad in a step: without relaxation this takes 8 and 50 rounds.
TEST(EndOfStep, the_fixed_point_is_fast_where_normals_turn_much) {
  Sim sim({ball_in_bowl(30.), ball_in_bowl(40.)}, with(Method::fixpoint));
  for (int i = 0; i < 100; ++i) {
    sim.step();
    for (int e = 0; e < 2; ++e) {
      ASSERT_EQ(sim.status(e), EnvStatus::solved) << "step " << i << ", environment " << e;
      ASSERT_LE(sim.rounds(e), 6) << "step " << i << ", environment " << e;
    }
  }
}

TEST(EndOfStep, the_fixed_point_bounces_and_recovers_as_asked) {
  System dropped{.bodies = {Body{}}};
  dropped.bodies[0].velocity = {0., 0., -2.};
  dropped.bodies[0].pose.position = {0., 0., -1e-6};
  dropped.contacts = {{.gap = point_on_plane({})}};
  System sunk = dropped;
  sunk.bodies[0].velocity = {};
  sunk.bodies[0].pose.position = {0., 0., -0.1};
  SimOptions options = with(Method::fixpoint);
  options.contact = {.restitution = 0.5, .v_max = 2.};
  Sim sim({dropped, sunk}, options);
  sim.step();
  EXPECT_NEAR(sim.bodies(0)[0].velocity[2], 1., 1e-8);
  EXPECT_NEAR(sim.bodies(1)[0].velocity[2], 2., 1e-8);
  for (int e = 0; e < 2; ++e) EXPECT_EQ(sim.status(e), EnvStatus::solved) << e;
}

// A contact that ends: the bilateral method pulls for one step, then releases it.
TEST(EndOfStep, a_held_contact_pulls_for_one_step_at_most) {
  System system{.bodies = {Body{}}};
  system.bodies[0].pose.position = {0., 0., 1e-3};
  system.bodies[0].velocity = {0., 0., -1.};
  system.contacts = {{.gap = point_on_plane({})}};
  SimOptions options = with(Method::release);
  Sim sim({system}, options);
  sim.step();
  EXPECT_GT(sim.contact_impulse(0, 0)[0], 0.);
  sim.bodies(0)[0].force = {0., 0., 20.};  // more than its weight
  sim.step();
  EXPECT_LT(sim.contact_impulse(0, 0)[0], 0.);
  EXPECT_NEAR(sim.bodies(0)[0].pose.position[2], 0., 1e-10);
  sim.step();
  EXPECT_EQ(sim.contact_impulse(0, 0)[0], 0.);
  EXPECT_GT(sim.bodies(0)[0].pose.position[2], 1e-4);
}

}  // namespace
}  // namespace stickslip::gallery::rigid
