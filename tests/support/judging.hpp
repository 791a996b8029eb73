// Judges the library's results by the oracle.
#pragma once
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/batches.hpp"

namespace stickslip::support {

/// The largest effect of rounding on the residual of an impulse: the terms of W r + b, n per row,
/// each rounded once in double.
inline double rounding(const reference::Problem& problem, const reference::Vector& r) {
  if (r.size() == 0) return 0.0;
  const reference::Vector terms =
      (problem.W.cwiseAbs() + reference::Matrix(problem.R.asDiagonal())) * r.cwiseAbs() +
      problem.b.cwiseAbs();
  return 4e-16 * double(r.size() + 4) * terms.lpNorm<Eigen::Infinity>();
}

/// The reported residual must be a bound of the exact one, and exceed it by no more than rounding.
inline void expect_bound(const reference::Problem& problem, const reference::Vector& r,
                         double exact, double reported) {
  EXPECT_LE(exact, reported);
  double steepest = 0.0, flattest = 1.0;  // of the friction coefficients, which circular
  for (const double mu : problem.mu) {    // coordinates multiply and divide by
    steepest = std::max(steepest, mu);
    if (mu > 0.0) flattest = std::min(flattest, mu);
  }
  const double coordinates = (1.0 + steepest) / flattest;
  const double stiffest = r.size() == 0 ? 0.0 : (problem.W.diagonal() + problem.R).maxCoeff();
  const double of_map = 4e-15 * stiffest * (r.size() == 0 ? 0.0 : r.lpNorm<Eigen::Infinity>());
  if (std::isfinite(exact)) {
    const double allowed = 10.0 * coordinates * (rounding(problem, r) + of_map);
    EXPECT_LE(reported, (1 + 1e-12) * exact + allowed);
  }
}

/// Everything that must hold for an environment of valid input, for any verdict: the residual is a
/// bound of the oracle's, which is exact, and the verdict follows from it. Returns whether it is
/// solved.
template <class Scalar>
bool expect_honest(const HostProblems<Scalar>& batch, const HostResults<Scalar>& results, int env,
                   const SolveOptions& options) {
  const reference::Problem problem = reference::from_batch(batch.view(), env);
  const int n = reference::rows(problem);
  const reference::Vector r = impulse_of(results, env, n);
  const double max_b = n == 0 ? 0.0 : problem.b.template lpNorm<Eigen::Infinity>();
  const double tol = tolerance(options, max_b);
  const double residual = reference::residual(problem, r, options.law);
  const bool solved = results.status(env) == EnvStatus::solved;
  expect_bound(problem, r, residual, results.residual(env));
  EXPECT_EQ(solved, results.residual(env) <= tol);
  if (solved) {
    EXPECT_LE(residual, tol) << "a wrong status";
  } else {
    const bool proved =
        options.solver != Solver::pgs && results.status(env) == EnvStatus::infeasible;
    EXPECT_TRUE(proved || results.status(env) == EnvStatus::not_converged);
  }
  EXPECT_EQ(results.rows_needed(env), n);
  for (int i = n; i < batch.max_rows(); ++i) EXPECT_EQ(results.impulse(env)[i], Scalar(0));
  return solved;
}

/// expect_honest for a whole batch; the number of solved environments.
template <class Scalar>
int count_solved(const HostProblems<Scalar>& batch, const HostResults<Scalar>& results,
                 const SolveOptions& options) {
  int solved = 0;
  for (int env = 0; env < batch.num_envs(); ++env) {
    SCOPED_TRACE(testing::Message() << "environment " << env);
    solved += expect_honest(batch, results, env, options) ? 1 : 0;
  }
  return solved;
}

}  // namespace stickslip::support
