// Cost and results of a solve: warm starts, exact budgets, tolerances, feasibility.
#include "kernels/ladder/ladder.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/count.hpp"
#include "tests/support/families.hpp"
#include "tests/support/judging.hpp"
#include "tests/support/mixed.hpp"

namespace stickslip {
namespace {

using reference::Problem;
using reference::Vector;

TEST(Tolerance, zero_is_zero_and_a_negative_number_is_the_default) {
  EXPECT_DOUBLE_EQ(tolerance({}, 3.0), 4e-9);
  EXPECT_DOUBLE_EQ(tolerance({.precision = Precision::float32}, 3.0), 4e-5);
  EXPECT_EQ(tolerance({.atol = 1e-3, .rtol = 0.0}, 1e9), 1e-3);
  EXPECT_DOUBLE_EQ(tolerance({.atol = 0.0, .rtol = 1e-6}, 2.0), 2e-6);
  EXPECT_EQ(tolerance({.atol = 0.0, .rtol = 0.0}, 2.0), 0.0);
}

class Effort : public testing::TestWithParam<support::Case> {
 protected:
  std::vector<Problem> problems_ =
      support::make_mixed_problems(support::test_count(100), support::kinds_for(GetParam().law));
  HostProblems<double> batch_ = support::to_batch<double>(problems_);
};

// Where a solution is selected among many, a step from there shows that it is the one: with one
// factorisation, unless something slides.
TEST_P(Effort, warm_start_at_the_solution_is_nearly_free) {
  const auto cold = support::solve_batch(batch_, GetParam().options());
  for (int env = 0; env < batch_.num_envs(); ++env) {
    std::copy_n(cold.impulse(env), batch_.max_rows(), batch_.warm_start(env));
  }
  const auto warm = support::solve_batch(batch_, GetParam().options());
  for (int env = 0; env < batch_.num_envs(); ++env) {
    if (cold.status(env) != EnvStatus::solved) continue;
    SCOPED_TRACE(testing::Message() << "environment " << env);
    EXPECT_EQ(warm.status(env), EnvStatus::solved);
    // In float, selecting from there may fail; then it begins again from rest.
    EXPECT_LE(warm.iterations(env), kernels::Ladder(GetParam().options()).selects ? 16 : 0);
  }
}

TEST_P(Effort, a_warm_start_of_nonsense_does_no_harm) {
  for (int env = 0; env < batch_.num_envs(); ++env) {
    for (int i = 0; i < batch_.max_rows(); ++i) batch_.warm_start(env)[i] = (i % 3 - 1) * 1e3;
  }
  const auto results = support::solve_batch(batch_, GetParam().options());
  EXPECT_GT(support::count_solved(batch_, results, GetParam().options()), batch_.num_envs() / 2);
}

// Zero impulses that cannot be a solution are judged late, and only if the first candidate is none.
TEST_P(Effort, an_answer_without_work_is_at_least_as_good_as_rest) {
  SolveOptions options = GetParam().options();
  options.max_rung = 0;
  for (const int budget : {1, 3}) {
    options.max_newton = options.max_sweeps = options.max_pivots = budget;
    const auto results = support::solve_batch(batch_, options);
    for (int env = 0; env < batch_.num_envs(); ++env) {
      SCOPED_TRACE(testing::Message() << "environment " << env);
      const Problem& p = problems_[std::size_t(env)];
      const Vector rest = Vector::Zero(reference::rows(p));
      bool rests = true;  // rows with bounds that exclude zero need an impulse
      for (int i = 0; i < p.counts.n_box; ++i) rests = rests && p.lo[i] <= 0.0 && p.hi[i] >= 0.0;
      if (!rests) continue;
      const double at_rest = reference::residual(p, rest, GetParam().law);
      EXPECT_LE(results.residual(env), (1 + 1e-12) * at_rest + 10.0 * support::rounding(p, rest));
    }
  }
}

// One thread runs the whole ladder at once, several run rung 0 of all environments first.
TEST_P(Effort, with_little_work_one_pass_and_two_give_the_same_answer) {
  std::vector<SolveOptions> several(4, GetParam().options());
  several[0].max_work = 5000.0;
  several[1].max_newton = 0;
  several[2].max_sweeps = 0;
  several[3].max_pivots = 1;
  for (const SolveOptions& options : several) {
    const auto whole = support::solve_batch(batch_, options, 1);
    const auto parts = support::solve_batch(batch_, options, 2);
    for (int env = 0; env < batch_.num_envs(); ++env) {
      SCOPED_TRACE(testing::Message() << "environment " << env);
      const int rows = reference::rows(problems_[std::size_t(env)]);
      EXPECT_EQ(whole.residual(env), parts.residual(env));
      EXPECT_EQ(whole.rung(env), parts.rung(env));
      EXPECT_EQ(support::impulse_of(whole, env, rows), support::impulse_of(parts, env, rows));
    }
  }
}

TEST_P(Effort, impulses_stay_in_their_sets) {
  const auto results = support::solve_batch(batch_, GetParam().options());
  for (int env = 0; env < batch_.num_envs(); ++env) {
    SCOPED_TRACE(testing::Message() << "environment " << env);
    const Problem& p = problems_[std::size_t(env)];
    const Vector r = support::impulse_of(results, env, reference::rows(p));
    const double size = r.size() == 0 ? 0.0 : r.lpNorm<Eigen::Infinity>();
    EXPECT_LE(reference::measures(p, r, GetParam().law).cone_violation, 1e-13 * size);
  }
}

TEST_P(Effort, a_looser_tolerance_never_costs_more) {
  SolveOptions loose = GetParam().options();
  loose.atol = 1e-3;
  const auto exact = support::solve_batch(batch_, GetParam().options());
  const auto rough = support::solve_batch(batch_, loose);
  for (int env = 0; env < batch_.num_envs(); ++env) {
    EXPECT_LE(rough.iterations(env), exact.iterations(env));
  }
}

INSTANTIATE_TEST_SUITE_P(all, Effort, testing::ValuesIn(support::supported_cases()),
                         support::case_name);

TEST(ExactSweeps, runs_as_many_as_asked_and_judges_by_the_residual) {
  const auto problems = support::make_mixed_problems(support::test_count(50));
  const auto batch = support::to_batch<double>(problems);
  for (int sweeps : {1, 7, 50}) {
    SolveOptions options;
    options.solver = Solver::pgs;
    options.fixed_sweeps = true;
    options.max_sweeps = sweeps;
    const auto results = support::solve_batch(batch, options);
    support::count_solved(batch, results, options);
    for (int env = 0; env < batch.num_envs(); ++env) {
      const int expected = reference::rows(problems[std::size_t(env)]) == 0 ? 0 : sweeps;
      EXPECT_EQ(results.iterations(env), expected);
    }
  }
}

TEST(ExactPivots, runs_as_many_as_asked_and_judges_by_the_residual) {
  const auto problems = make_problems(support::Family::box, 8, support::test_count(50));
  const auto batch = support::to_batch<double>(problems);
  for (int pivots : {1, 7, 300}) {
    SolveOptions options;
    options.law = Law::pyramid;
    options.solver = Solver::lemke;
    options.max_pivots = pivots;
    const auto at_most = support::solve_batch(batch, options);
    options.fixed_pivots = true;
    const auto exactly = support::solve_batch(batch, options);
    support::count_solved(batch, at_most, options);
    const int solved = support::count_solved(batch, exactly, options);
    EXPECT_EQ(solved == batch.num_envs(), pivots == 300);
    for (int env = 0; env < batch.num_envs(); ++env) {
      EXPECT_LE(at_most.iterations(env), pivots);
      EXPECT_TRUE(at_most.iterations(env) == pivots || at_most.status(env) == EnvStatus::solved);
      EXPECT_EQ(exactly.iterations(env), pivots);
    }
  }
}

TEST(Tolerance, is_absolute_plus_relative) {
  SolveOptions options;
  EXPECT_DOUBLE_EQ(tolerance(options, 0.0), 1e-9);
  EXPECT_DOUBLE_EQ(tolerance(options, 3.0), 4e-9);
  options.precision = Precision::float32;
  EXPECT_DOUBLE_EQ(tolerance(options, 3.0), 4e-5);
  options.atol = 1e-3;
  options.rtol = 1e-2;
  EXPECT_DOUBLE_EQ(tolerance(options, 3.0), 1e-3 + 3e-2);
}

}  // namespace
}  // namespace stickslip
