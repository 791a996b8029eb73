// Reduces a mixed LCP to the standard LCP without its free variables. With D the block of free rows
// and columns, C right of it, B below it and F the rest (docs/mathematics.md §16):
//   A = F - B D^-1 C,   q = a - B D^-1 r,   free z = T x + t with T = -D^-1 C, t = -D^-1 r
// After the elimination of the free rows the dictionary contains all of these.
#pragma once
#include "kernels/solver/lcp/eliminate.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Eliminates the free rows of the standard problem s inside their own block. Returns the rank of
/// the block. If the remaining free rows are not redundant (their equations or unknowns still
/// matter), returns -1 - rank.
template <class Real, class G>
SS_HD int reduce_dictionary(const G& g, const StandardLcp& s, Dictionary<Real>& d, Real rank_tol) {
  open_dictionary(g, s, d);
  const int count = list_free_rows(g, d);
  const int rank = eliminate_block(g, d, count, rank_tol);
  const bool matters = g.any(count, [&](int e) {
    const int f = d.list[e];
    if (row_waits(d, f) && abs(d.constant()[f]) > contradiction<Real>()) return true;
    for (int k = 0; k < d.m; ++k) {
      if (d.free[k] != 0) continue;
      if (row_waits(d, f) && abs(d.at(f, k)) > rank_tol) return true;
      if (column_waits(d, f) && abs(d.at(k, f)) > rank_tol) return true;
    }
    return false;
  });
  return matters ? -1 - rank : rank;
}

/// Reads a row of the result, unscaled: of A and q (variable >= n_free), or of T and t.
template <class Real, class G>
SS_HD void read_reduced_row(const G& g, const StandardLcp& s, const Dictionary<Real>& d, int n_free,
                            int variable, double* row, double& constant) {
  const bool is_free = variable < n_free;
  const int place = is_free ? d.place[d.m + variable] : variable;
  const bool dropped = place < 0;  // a free variable that stays 0
  const double scale = is_free ? s.column[variable] : 1.0 / s.row[variable];
  g.for_each(d.m - n_free, [&](int j) {
    row[j] = dropped ? 0.0 : scale * double(d.at(place, n_free + j)) / s.column[n_free + j];
  });
  g.once([&] { constant = dropped ? 0.0 : scale * double(d.constant()[place]) / s.q_scale; });
}

}  // namespace stickslip::kernels::inline SS_ISA
