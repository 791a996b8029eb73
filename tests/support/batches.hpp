// Conversions between lists of problems and the library's batches.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "stickslip/stickslip.hpp"
#include "tests/reference/reference.hpp"

namespace stickslip::support {

/// A ragged batch with room for the largest problem.
template <class Scalar>
HostProblems<Scalar> to_batch(std::span<const reference::Problem> problems);

/// Warm starts a thousand times too large, as after a jam.
void start_as_after_a_jam(HostProblems<double>& batch,
                          std::span<const reference::Problem> problems);

/// Solves a batch on `threads` threads.
template <class Scalar>
HostResults<Scalar> solve_batch(const HostProblems<Scalar>& problems, const SolveOptions& options,
                                int threads = 1);

/// Impulse of an environment in the oracle's format.
template <class Scalar>
reference::Vector impulse_of(const HostResults<Scalar>& results, int env, int rows) {
  return Eigen::Map<const Eigen::Matrix<Scalar, Eigen::Dynamic, 1>>(results.impulse(env), rows)
      .template cast<double>();
}

}  // namespace stickslip::support
