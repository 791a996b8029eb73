// What a solver offers to be compared with others by `stickslip compare`: ours (ours.cpp) and, in
// modules of their own (bench/compare), those of other people. Needs nothing but public headers, so
// that anybody's solver can be brought along.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "stickslip/batch.hpp"

namespace stickslip::compare {

/// One problem u_R = (W + diag R) r + b (docs/mathematics.md §1); all arrays present, row-major.
struct PeerProblem {
  Law law;
  EnvShape shape;
  int rows;
  const std::int32_t* dims;  ///< [n_contacts]
  const double* W;           ///< [rows][rows], 1/kg
  const double* b;           ///< [rows], m/s
  const double* mu;          ///< [sum(dims - 1)]
  const double* R;           ///< [rows], 1/kg
  const double *lo, *hi;     ///< [n_box], N s
  double tolerance;          ///< m/s: the accuracy that is asked for
};

/// A problem in the form a solver wants it in.
class Loaded {
 public:
  virtual ~Loaded() = default;
  /// Solves it from zero impulses, the part that is timed; whether the solver claims success.
  virtual bool solve(double* impulse) = 0;
};

class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string name() const = 0;
  /// Version and settings, for the report.
  virtual std::string about() const = 0;
  /// Not timed. Null where the solver has no way to express the problem. The problem's arrays may
  /// be gone when the result is used.
  virtual std::unique_ptr<Loaded> load(const PeerProblem& problem) const = 0;
};

using Peers = std::vector<std::unique_ptr<Peer>>;

}  // namespace stickslip::compare

/// The one function that a peer module defines: adds its solvers.
extern "C" [[gnu::visibility("default")]] void stickslip_peers(stickslip::compare::Peers* out);
