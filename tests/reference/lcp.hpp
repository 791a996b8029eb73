// The oracle of linear complementarity problems (docs/mathematics.md §14).
#pragma once
#include "stickslip/lcp.hpp"
#include "tests/reference/reference.hpp"

namespace stickslip::reference {

/// w = M z + q under bounds; see include/stickslip/lcp.hpp.
struct Lcp {
  Matrix M;
  Vector q;
  int n_free = 0;
  Vector lo, hi;            ///< empty: 0 and infinity
  std::vector<int> findex;  ///< empty: all -1
  double cfm = 0.0;         ///< M_ii (1 + cfm)
};

/// The problem in slot `env` of a batch.
template <class Scalar>
Lcp from_batch(const LcpBatch<Scalar>& batch, double cfm, int env);

/// Lower and upper bounds of every row at z.
std::pair<Vector, Vector> bounds(const Lcp& problem, const Vector& z);

/// max |z - clamp(z - w, lo, hi)|, |w| on free rows; infinite where anything is NaN.
double residual(const Lcp& problem, const Vector& z);

}  // namespace stickslip::reference
