// The law `pyramid` with d directions as a mixed LCP, judged by the oracle; its polygon's
// projection against the oracle's.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <tuple>

#include "kernels/cone/polygon.hpp"
#include "kernels/group/host_group.hpp"
#include "kernels/solver/lcp/pyramid.hpp"
#include "tests/reference/projection.hpp"
#include "tests/support/aligned.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/count.hpp"
#include "tests/support/families.hpp"
#include "tests/support/mixed.hpp"
#include "tests/support/random.hpp"

namespace stickslip {
namespace {

using reference::Problem;
using reference::Vector;

/// The impulse of one problem by kernels/solver/lcp, on one thread.
Vector solve_pyramid(const HostProblems<double>& batch, int env, int directions) {
  namespace k = kernels;
  const int rows = batch.max_rows(), contacts = batch.max_contacts();
  const auto place = [&](void* base) {
    k::Arena arena(base);
    k::ViewScratch<double> view(arena, rows, contacts);
    k::Judge<double> judge(arena);
    k::JudgeMemory<double> judge_memory(arena, rows);
    return std::tuple{view, judge, judge_memory, arena};
  };
  const std::size_t fixed = std::get<3>(place(nullptr)).used();
  support::AlignedBytes memory(fixed +
                               k::PyramidScratch<double>::bytes(rows, contacts, directions));
  auto [view, judge, judge_memory, arena] = place(memory.data());
  const k::HostGroup g;
  k::EnvProblem<double> p{};
  int needed = 0;
  EXPECT_EQ(k::open_problem(g, batch.view(), env, view, p, needed), EnvStatus::solved);
  p.directions = directions;
  EXPECT_TRUE(k::check_values(g, p, false));
  k::enter_circular_coordinates(g, p, false, view);
  Vector best = Vector::Zero(p.n);
  judge.law = Law::pyramid;
  judge_memory.tolerance = 1e-9;
  judge_memory.best = best.data();
  *judge.at = judge_memory;
  k::PyramidScratch<double> scratch(arena, rows, contacts, directions);
  k::run_pyramid<double>(g, p, {}, SolveOptions{}.max_pivots, 0.0, scratch, judge);
  return best;
}

class Pyramid : public testing::TestWithParam<int> {
 protected:
  void expect_solved(std::vector<Problem> problems) {
    const auto batch = support::to_batch<double>(problems);
    for (int env = 0; env < batch.num_envs(); ++env) {
      SCOPED_TRACE(testing::Message() << "environment " << env);
      Problem& problem = problems[std::size_t(env)];
      problem.directions = GetParam();
      const Vector r = solve_pyramid(batch, env, GetParam());
      EXPECT_LE(reference::residual(problem, r, Law::pyramid), 1.001e-9);
    }
  }
};

TEST_P(Pyramid, with_rows_of_every_kind) {
  expect_solved(support::make_mixed_problems(support::test_count(100)));
}

TEST_P(Pyramid, of_the_six_families) {
  for (support::Family family : support::kFamilies) {
    for (int contacts : {2, 4, 8}) {
      if (!support::exists(family, contacts)) continue;
      SCOPED_TRACE(testing::Message() << support::name(family) << ", contacts " << contacts);
      expect_solved(support::make_problems(family, contacts, support::test_count(10)));
    }
  }
}

/// A particle pushed along the ground: friction is a corner of the polygon or lies on a side, so
/// its size is between cos(pi / d) and 1 times mu r_n, and converges to that of the cone.
TEST_P(Pyramid, approaches_the_cone_from_inside) {
  HostProblems<double> batch(1, 3, 1);
  const double apothem = std::cos(std::numbers::pi / GetParam());
  for (int k = 0; k < 50; ++k) {
    const double angle = 0.1257 * k;
    batch.counts(0).n_contacts = 1;
    for (int i = 0; i < 3; ++i) batch.W(0)[4 * i] = 1.0;
    batch.b(0)[0] = -1.0;
    batch.b(0)[1] = 2.0 * std::cos(angle);
    batch.b(0)[2] = 2.0 * std::sin(angle);
    batch.mu(0)[0] = batch.mu(0)[1] = 0.5;
    const Vector r = solve_pyramid(batch, 0, GetParam());
    EXPECT_NEAR(r[0], 1.0, 1e-12);
    EXPECT_LE(r.tail(2).norm(), 0.5 + 1e-12);
    EXPECT_GE(r.tail(2).norm(), 0.5 * apothem - 1e-12);
  }
}

/// Through the library: no wrong status, and every problem solved, in every precision.
TEST_P(Pyramid, by_the_ladder) {
  auto problems = support::make_mixed_problems(support::test_count(100));
  const auto batch = support::to_batch<double>(problems);
  for (Precision precision : {Precision::float64, Precision::float32, Precision::mixed}) {
    SolveOptions options;
    options.law = Law::pyramid;
    options.directions = GetParam();
    options.precision = precision;
    const auto results = support::solve_batch(batch, options, 2);
    for (int env = 0; env < batch.num_envs(); ++env) {
      SCOPED_TRACE(testing::Message() << name(precision) << ", environment " << env);
      Problem& problem = problems[std::size_t(env)];
      problem.directions = GetParam();
      const Vector r = support::impulse_of(results, env, reference::rows(problem));
      const double residual = reference::residual(problem, r, Law::pyramid);
      EXPECT_NEAR(results.residual(env), residual, 1e-12 + 1e-9 * residual);
      EXPECT_EQ(results.status(env), EnvStatus::solved);
      EXPECT_LE(residual, 1.001 * tolerance(options, problem.b.lpNorm<Eigen::Infinity>()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(directions, Pyramid, testing::Values(4, 8, 16, 32));

TEST(PolygonProjection, is_the_oracles) {
  support::Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const int dims[] = {2, 3, 5}, corners[] = {8, 16, 32, 64};
    const int size = dims[i % 3], d = corners[i % 4];
    Vector t(size);
    for (double& x : t) x = random.chance(0.1) ? 0.0 : 2.0 * random.normal();
    const double radius = i % 10 == 0 ? 0.0 : random.uniform(0.1, 4.0);
    const auto rest = [&](int j) { return t[j + 2]; };
    const double tau = kernels::polygon_threshold(d, radius, t[0], t[1], size - 2, rest);
    const auto plane =
        tau > 0.0 ? kernels::polygon_shrink(d, tau, t[0], t[1]) : kernels::PlanePoint{t[0], t[1]};
    Vector p(size);
    p.head(2) << plane.x, plane.y;
    for (int j = 2; j < size; ++j) p[j] = kernels::shrink(t[j], tau);
    EXPECT_LE((p - reference::project_polygon(t, radius, d)).lpNorm<Eigen::Infinity>(), 1e-13);
    // p is the nearest point because no corner of the set lies further in the direction of t.
    EXPECT_LE(reference::polygon_gauge(p, d), radius + 1e-13);
    double farthest = 0.0;
    for (int k = 0; k < d; ++k) {
      const auto corner = kernels::pyramid_direction(k, d);
      farthest = std::max(farthest, radius * (corner.c * (t[0] - p[0]) + corner.s * (t[1] - p[1])));
    }
    for (int j = 2; j < size; ++j) farthest = std::max(farthest, radius * std::abs(t[j] - p[j]));
    EXPECT_LE(farthest, (t - p).dot(p) + 1e-12);
  }
}

}  // namespace
}  // namespace stickslip
