// Shared parts of the adapters to solvers of other projects.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/compare/peer.hpp"

namespace stickslip::bench {

using compare::Loaded;
using compare::Peer;
using compare::PeerProblem;
using compare::Peers;

/// Whether all rows are isotropic contacts of dimension 3, the only kind that some peers support.
inline bool only_isotropic_contacts(const PeerProblem& p) {
  if (p.counts.n_free + p.counts.n_nonneg + p.counts.n_box > 0) return false;
  for (int c = 0; c < p.counts.n_contacts; ++c) {
    if (p.dims[c] != 3 || p.mu[2 * c] != p.mu[2 * c + 1]) return false;
  }
  return true;
}

/// Whether W is symmetric up to rounding, as some peers assume.
inline bool symmetric(const PeerProblem& p) {
  double largest = 0, difference = 0;
  for (int i = 0; i < p.rows; ++i) {
    for (int j = 0; j < p.rows; ++j) {
      largest = std::max(largest, std::abs(p.W[i * p.rows + j]));
      difference = std::max(difference, std::abs(p.W[i * p.rows + j] - p.W[j * p.rows + i]));
    }
  }
  return difference <= 1e-12 * largest;
}

/// W + diag R, row-major.
inline std::vector<double> with_compliance(const PeerProblem& p) {
  const auto n = std::size_t(p.rows);
  std::vector<double> W(p.W, p.W + n * n);
  for (std::size_t i = 0; i < n; ++i) W[i * n + i] += p.R[i];
  return W;
}

}  // namespace stickslip::bench
