// Conversions between lists of problems and the library's batches.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "src/reference/reference.hpp"
#include "stickslip/stickslip.hpp"

namespace stickslip::support {

/// A ragged batch with room for the largest problem.
template <class In>
HostProblems<In> to_batch(std::span<const reference::Problem> problems);

/// Warm starts a thousand times too large, as after a jam.
void start_as_after_a_jam(HostProblems<double>& batch,
                          std::span<const reference::Problem> problems);

/// Solves a batch on `threads` threads.
template <class In>
HostResults<In> solve_batch(const HostProblems<In>& problems, const SolveOptions& options,
                            int threads = 1);

/// Impulse of an environment in the oracle's format.
template <class In>
reference::Vector impulse_of(const HostResults<In>& results, int env, int rows) {
  return Eigen::Map<const Eigen::Matrix<In, Eigen::Dynamic, 1>>(results.impulse(env), rows)
      .template cast<double>();
}

}  // namespace stickslip::support
