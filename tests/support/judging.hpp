// The oracle's opinion on the library's answers.
#pragma once
#include <gtest/gtest.h>

#include "tests/support/batches.hpp"

namespace stickslip::support {

/// What rounding may do to the residual of an impulse: the terms of W r + b, n of them a row, each
/// rounded once in double.
inline double rounding(const reference::Problem& problem, const reference::Vector& r) {
  if (r.size() == 0) return 0.0;
  const reference::Vector terms =
      (problem.W.cwiseAbs() + reference::Matrix(problem.R.asDiagonal())) * r.cwiseAbs() +
      problem.b.cwiseAbs();
  return 4e-16 * double(r.size() + 4) * terms.lpNorm<Eigen::Infinity>();
}

/// Everything that must hold for an environment of valid input, whatever its verdict: the residual
/// is the oracle's, and the verdict follows from it. Returns whether it is solved.
template <class In>
bool expect_honest(const HostProblems<In>& batch, const HostResults<In>& results, int env,
                   const SolveOptions& options) {
  const reference::Problem problem = reference::from_batch(batch.view(), env);
  const int n = reference::rows(problem);
  const reference::Vector r = impulse_of(results, env, n);
  const double max_b = n == 0 ? 0.0 : problem.b.template lpNorm<Eigen::Infinity>();
  const double tol = tolerance(options, max_b);
  const double residual = reference::residual(problem, r, options.law);
  const double slack = rounding(problem, r);
  const bool solved = results.status(env) == EnvStatus::solved;
  EXPECT_NEAR(results.residual(env), residual, slack + 1e-12 * residual);
  EXPECT_EQ(solved, results.residual(env) <= tol);
  if (solved) {
    EXPECT_LE(residual, tol + slack) << "a wrong status";
  } else {
    const bool gave_up = options.law != Law::box && options.solver != Solver::pgs &&
                         results.status(env) == EnvStatus::no_solution_found;
    EXPECT_TRUE(gave_up || results.status(env) == EnvStatus::not_converged);
  }
  EXPECT_EQ(results.rows_needed(env), n);
  for (int i = n; i < batch.max_rows(); ++i) EXPECT_EQ(results.impulse(env)[i], In(0));
  return solved;
}

/// expect_honest for a whole batch; the number of solved environments.
template <class In>
int count_solved(const HostProblems<In>& batch, const HostResults<In>& results,
                 const SolveOptions& options) {
  int solved = 0;
  for (int env = 0; env < batch.num_envs(); ++env) {
    SCOPED_TRACE(testing::Message() << "environment " << env);
    solved += expect_honest(batch, results, env, options) ? 1 : 0;
  }
  return solved;
}

}  // namespace stickslip::support
