// The interface of a solver that bench/compare compares: ours (ours.cpp) and, in separate
// modules (bench/compare), those of other projects. It needs only public headers, so that any
// solver can be added.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "stickslip/batch.hpp"

namespace stickslip::compare {

/// One problem u_R = (W + diag R) r + b (docs/mathematics.md §1); all arrays present, row-major.
struct PeerProblem {
  Law law;
  RowCounts counts;
  int rows;
  const std::int32_t* dims;  ///< [n_contacts]
  const double* W;           ///< [rows][rows], 1/kg
  const double* b;           ///< [rows], m/s
  const double* mu;          ///< [sum(dims - 1)]
  const double* R;           ///< [rows], 1/kg
  const double *lo, *hi;     ///< [n_box], N s
  double tolerance;          ///< m/s: the requested accuracy
};

/// A problem in the solver's own form.
class Loaded {
 public:
  virtual ~Loaded() = default;
  /// Solves it from zero impulses (the timed part); returns whether the solver claims success.
  virtual bool solve(double* impulse) = 0;
};

class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string name() const = 0;
  /// Version and settings, for the report.
  virtual std::string about() const = 0;
  /// Not timed. Null if the solver cannot express the problem. The problem's arrays may no longer
  /// exist when the result is used.
  virtual std::unique_ptr<Loaded> load(const PeerProblem& problem) const = 0;
};

using Peers = std::vector<std::unique_ptr<Peer>>;

}  // namespace stickslip::compare

/// The one function that a peer module defines: adds its solvers.
extern "C" [[gnu::visibility("default")]] void stickslip_peers(stickslip::compare::Peers* out);
