// What the ladder reports besides the impulse: rungs, jams, and the limit on rungs.
#include <algorithm>

#include "kernels/ladder/ladder.hpp"
#include "tests/support/families.hpp"
#include "tests/support/judging.hpp"

namespace stickslip {
namespace {

using reference::Problem;

/// A body of mass 1/w between two walls that both require it to leave at `gap_speed`: a vice. The
/// first row of each block is its normal; sliding is independent of the normals.
Problem vice(double w, double gap_speed) {
  Problem p;
  p.counts.n_contacts = 2;
  p.dims = {3, 3};
  p.W = reference::Matrix::Identity(6, 6) * 3.5 * w;
  p.W(0, 0) = p.W(3, 3) = w;
  p.W(0, 3) = p.W(3, 0) = -w;
  p.b = reference::Vector::Zero(6);
  p.b[0] = p.b[3] = -gap_speed;
  p.mu = reference::Vector::Constant(4, 0.5);
  p.R = reference::Vector::Zero(6);
  p.lo = p.hi = reference::Vector::Zero(0);
  return p;
}

// u_1 + u_2 = -2 gap_speed for all impulses: no solution. With R_n = w / 100 both walls carry
// gap_speed / R_n, and the original problem's normal velocities stay at -gap_speed.
TEST(Ladder, finds_that_a_vice_has_no_solution) {
  const std::vector<std::pair<Law, int>> cases = {
      {Law::coulomb, 4}, {Law::frictionless, 4}, {Law::pyramid, 4}, {Law::pyramid, 8}};
  for (const auto& [law, directions] : cases) {
    for (double w : {1e-3, 1.0, 50.0}) {
      SCOPED_TRACE(testing::Message() << name(law) << directions << " w=" << w);
      SolveOptions options;
      options.law = law;
      options.directions = directions;
      const auto batch = support::to_batch<double>(std::vector{vice(w, 0.2), vice(w, -0.2)});
      const auto results = support::solve_batch(batch, options);
      EXPECT_EQ(results.status(0), EnvStatus::infeasible);
      EXPECT_EQ(results.rung(0), 1);
      EXPECT_FALSE(support::expect_honest(batch, results, 0, options));
      for (int i : {0, 3}) EXPECT_NEAR(results.impulse(0)[i] * w, 20.0, 1e-6);
      EXPECT_NEAR(results.residual(0), 0.2, 1e-6);
      EXPECT_EQ(results.status(1), EnvStatus::solved) << "its neighbour";
    }
  }
}

/// `count` vices in one problem.
Problem vices(int count, double gap_speed) {
  const Problem one = vice(1.0, gap_speed);
  Problem all;
  all.counts.n_contacts = 2 * count;
  all.dims.assign(std::size_t(2 * count), 3);
  all.W = reference::Matrix::Zero(6 * count, 6 * count);
  all.b = reference::Vector::Zero(6 * count);
  all.mu = reference::Vector::Constant(4 * count, 0.5);
  all.R = reference::Vector::Zero(6 * count);
  all.lo = all.hi = reference::Vector::Zero(0);
  for (int i = 0; i < count; ++i) {
    all.W.block(6 * i, 6 * i, 6, 6) = one.W;
    all.b.segment(6 * i, 6) = one.b;
  }
  return all;
}

// A jam leaves impulses that are much too large. From such a start a jam is still proved, and none
// is reported where there is none.
TEST(Ladder, is_not_misled_by_a_start_that_looks_like_a_jam) {
  SolveOptions options;
  for (int threads : {1, 2}) {
    auto batch = support::to_batch<double>(std::vector{vices(12, 0.2), vices(12, -0.2)});
    for (int env : {0, 1}) {
      for (int i = 0; i < 72; i += 3) batch.warm_start(env)[i] = 20.0 + i;
    }
    const auto results = support::solve_batch(batch, options, threads);
    EXPECT_EQ(results.status(0), EnvStatus::infeasible);
    EXPECT_LT(results.iterations(0), 24) << "rung 0, the proof, and the softened answer";
    EXPECT_NEAR(results.impulse(0)[0], 20.0, 1e-6);
    EXPECT_FALSE(support::expect_honest(batch, results, 0, options));
    EXPECT_TRUE(support::expect_honest(batch, results, 1, options));
  }
}

// With enough compliance of its own, the same vice has a solution.
TEST(Ladder, solves_a_soft_vice) {
  Problem p = vice(1.0, 0.2);
  p.R[0] = p.R[3] = 1e-3;
  const auto batch = support::to_batch<double>(std::vector{p});
  const auto results = support::solve_batch(batch, SolveOptions{});
  EXPECT_TRUE(support::expect_honest(batch, results, 0, SolveOptions{}));
  EXPECT_NEAR(results.impulse(0)[0], 200.0, 1e-5);
}

TEST(Ladder, stops_at_max_rung_and_records_where_it_was) {
  const auto problems = make_problems(support::Family::cage, 4, 1000);
  const auto batch = support::to_batch<double>(problems);
  int highest = 0;
  // In float there is no interior point: it goes on to later rungs.
  for (Precision precision : {Precision::float64, Precision::float32}) {
    int before = 0;
    for (int rung : {0, 1, 99}) {
      const SolveOptions options{.precision = precision, .max_rung = rung};
      const auto results = support::solve_batch(batch, options, 2);
      const int solved = support::count_solved(batch, results, options);
      EXPECT_GE(solved, before);
      before = solved;
      for (int env = 0; env < batch.num_envs(); ++env) {
        EXPECT_LE(results.rung(env), rung);
        highest = std::max(highest, results.rung(env));
      }
      if (rung == 0) {
        EXPECT_LT(solved, batch.num_envs()) << "the cage needs more than Newton";
      }
    }
  }
  EXPECT_GE(highest, 2);
}

// A workspace keeps the ladder of its last call.
TEST(Ladder, is_that_of_the_options_of_each_call) {
  const auto batch = support::to_batch<double>(make_problems(support::Family::cage, 4, 50));
  Workspace workspace(batch.max_rows(), batch.max_contacts(), 1);
  const SolveOptions several[] = {{.max_rung = 0},
                                  {.law = Law::box, .max_sweeps = 20},
                                  {.solver = Solver::pgs, .max_sweeps = 20},
                                  {.max_newton = 3, .max_rung = 2}};
  for (int i = 0; i < 8; ++i) {
    const SolveOptions& options = several[i % 4];
    HostResults<double> results(batch.num_envs(), batch.max_rows());
    solve(batch.view(), results.view(), options, workspace);
    const auto expected = support::solve_batch(batch, options);
    for (int env = 0; env < batch.num_envs(); ++env) {
      EXPECT_EQ(results.residual(env), expected.residual(env)) << i;
      EXPECT_EQ(results.iterations(env), expected.iterations(env)) << i;
      EXPECT_EQ(results.rung(env), expected.rung(env)) << i;
    }
  }
}

}  // namespace
}  // namespace stickslip
