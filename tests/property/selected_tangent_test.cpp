// The change of the impulses that are selected among many: by hand, and against differences of
// whole solves.
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/batches.hpp"
#include "tests/support/redundant.hpp"

namespace stickslip {
namespace {

using reference::Problem;
using reference::Vector;
using support::Changing;
using Family = std::function<Problem(double)>;

SolveOptions tight(Law law) { return {.law = law, .atol = 1e-13, .rtol = 1e-13}; }

Vector impulses(const Problem& p, const SolveOptions& options) {
  const auto results = support::solve_batch(support::to_batch<double>(std::vector{p}), options);
  EXPECT_EQ(results.status(0), EnvStatus::solved);
  return support::impulse_of(results, 0, reference::rows(p));
}

struct Change {
  Vector impulse, velocity;
  GradientStatus status{};
  double kink_distance = 0.0, inconsistency = 0.0;
  std::int32_t redundant = 0;
};

/// solve_jvp along the family at t = 0, at the impulses r.
Change tangent(const Family& family, const Vector& r, const SolveOptions& options,
               bool of_impulses = true) {
  constexpr double kStep = 1e-6;
  const Problem p = family(0.0), more = family(kStep), less = family(-kStep);
  const auto batch = support::to_batch<double>(std::vector{p});
  const reference::Matrix W = (more.W - less.W) / (2.0 * kStep);
  const Vector b = (more.b - less.b) / (2.0 * kStep), mu = (more.mu - less.mu) / (2.0 * kStep);
  Change found;
  found.impulse = found.velocity = Vector::Zero(p.b.size());
  const EnvStatus solved = EnvStatus::solved;
  Workspace workspace(batch.max_rows(), batch.max_contacts(), 1);
  ChangeBatch<double> change;  // W is symmetric: no matter whether by rows
  change.b = {b.data(), 0};
  change.W = {W.data(), 0};
  change.mu = {mu.data(), 0};
  SolutionChange<double> out;
  if (of_impulses) out.impulse = {found.impulse.data(), 0};
  out.velocity = {found.velocity.data(), 0};
  out.report = {&found.status, &found.kink_distance, &found.inconsistency, &found.redundant};
  solve_jvp(batch.view(), {{r.data(), 0}, &solved}, change, out, options, workspace);
  return found;
}

/// Whether the tangent is that of the solver.
void expect_follows(const Family& family, Law law) {
  constexpr double kStep = 1e-4;
  const SolveOptions options = tight(law);
  const Vector r = impulses(family(0.0), options);
  const Change found = tangent(family, r, options);
  const Vector expected =
      (impulses(family(kStep), options) - impulses(family(-kStep), options)) / (2.0 * kStep);
  EXPECT_EQ(found.status, GradientStatus::valid) << "kink_distance " << found.kink_distance;
  EXPECT_EQ(found.redundant, 1);
  const double size = std::max(expected.lpNorm<Eigen::Infinity>(), 1e-3 * r.maxCoeff());
  EXPECT_LT((found.impulse - expected).lpNorm<Eigen::Infinity>(), 1e-4 * size);
}

struct Setup {
  Law law;
  Changing what;
};

class SelectedTangent : public testing::TestWithParam<Setup> {};

TEST_P(SelectedTangent, of_a_gripped_block_is_that_of_the_solver) {
  const auto [law, what] = GetParam();
  expect_follows([&](double t) { return support::gripper(what, t); }, law);
}

TEST_P(SelectedTangent, of_a_box_that_slides_along_a_groove_is_that_of_the_solver) {
  const auto [law, what] = GetParam();
  expect_follows([&](double t) { return support::groove(what, t); }, law);
}

std::string name_of(const testing::TestParamInfo<Setup>& info) {
  static constexpr const char* kNames[] = {"mass", "friction", "push", "places"};
  return std::string(name(info.param.law)) + "_" + kNames[int(info.param.what)];
}

INSTANTIATE_TEST_SUITE_P(Laws, SelectedTangent, testing::ValuesIn([] {
                           std::vector<Setup> all;
                           for (const Law law : {Law::coulomb, Law::convex, Law::frictionless}) {
                             for (const auto what : {Changing::mass, Changing::friction,
                                                     Changing::push, Changing::places}) {
                               all.push_back({law, what});
                             }
                           }
                           return all;
                         }()),
                         name_of);

/// A particle that two contacts hold; the second sees it through levers of these lengths, in its
/// normal and in its tangents.
Problem levers(double normal, double tangent) {
  support::Scene scene = support::empty_scene(1, 2);
  scene.inverse_mass.setConstant(1.0);
  scene.v_free << 0.0, 0.1, -1.0, 0.0, 0.0, 0.0;
  const double length[] = {normal, tangent, tangent};
  for (int i = 0; i < 6; ++i) scene.J(i, (i + 2) % 3) = i < 3 ? 1.0 : length[i - 3];
  scene.problem.mu.setConstant(0.8);
  support::form_problem(scene);
  return scene.problem;
}

/// Least r1^2 + D r2^2 with r1 + c r2 = m v: r1 = D m v / (D + c^2), r2 = c m v / (D + c^2).
TEST(SelectedTangents, of_two_contacts_are_those_by_hand) {
  // c = D^(1/2) = s in normals: r = m v (1/2, 1/(2 s)), so dr2/ds = -m v / (2 s^2).
  // D = s^2, c = 1 in tangents: r = m v (s^2, 1) / (1 + s^2).
  for (const Law law : {Law::coulomb, Law::convex, Law::frictionless}) {
    for (const double s : {2.0, 4.0}) {
      const Family family = [&](double t) { return levers(s + t, 1.0); };
      const SolveOptions options = tight(law);
      const Change found = tangent(family, impulses(family(0.0), options), options);
      const bool sticks = law != Law::frictionless;
      const double aside = sticks ? -0.1 * 2.0 * s / ((1.0 + s * s) * (1.0 + s * s)) : 0.0;
      EXPECT_EQ(found.status, GradientStatus::valid);
      EXPECT_NEAR(found.impulse[0], 0.0, 1e-6) << name(law) << s;
      EXPECT_NEAR(found.impulse[3], -1.0 / (2.0 * s * s), 1e-6) << name(law) << s;
      EXPECT_NEAR(found.impulse[2], aside, 1e-6) << name(law) << s;
      EXPECT_NEAR(found.impulse[5], -aside, 1e-6) << name(law) << s;
    }
  }
}

/// Impulses that no selection made: velocities follow all the same.
TEST(SelectedTangents, of_other_impulses_are_not_promised) {
  const Family family = [](double t) { return support::gripper(Changing::mass, t); };
  const SolveOptions options = tight(Law::coulomb);
  Vector r = impulses(family(0.0), options);
  const Change selected = tangent(family, r, options);
  for (const int row : {0, 6}) r[row] += 1e-3;  // more at the ends, less between: no work
  r[3] -= 2e-3;
  const Change found = tangent(family, r, options);
  EXPECT_EQ(found.status, GradientStatus::not_unique);
  EXPECT_GT(found.inconsistency, 1e-6);
  EXPECT_LT((found.velocity - selected.velocity).lpNorm<Eigen::Infinity>(), 1e-9);
  EXPECT_EQ(tangent(family, r, options, false).status, GradientStatus::valid);
}

}  // namespace
}  // namespace stickslip
