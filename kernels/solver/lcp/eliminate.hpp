// Free rows are eliminated first: w_i = 0 and y_i has any sign, so w_i becomes nonbasic and y_i
// basic, permanently. A rank-revealing elimination: the largest entry is the next pivot.
#pragma once
#include "kernels/group/stop.hpp"
#include "kernels/solver/lcp/dictionary.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Whether w_i of a free row is still basic, y_j of a free row still nonbasic. Until then rows and
/// columns keep their first place.
template <class Real>
SS_HD bool row_waits(const Dictionary<Real>& d, int i) {
  return d.place[i] >= 0;
}
template <class Real>
SS_HD bool column_waits(const Dictionary<Real>& d, int j) {
  return d.place[d.m + j] < 0;
}

/// Lists the free rows; returns their number.
template <class Real, class G>
SS_HD int list_free_rows(const G& g, const Dictionary<Real>& d) {
  g.once([&] {
    int next = 0;
    for (int i = 0; i < d.m; ++i) {
      if (d.free[i] != 0) d.list[next++] = i;
    }
    d.list[d.m] = next;
  });
  return d.list[d.m];
}

/// Limit of the constant of a dropped row: if it is larger, the row contradicts the others.
template <class Real>
SS_HD constexpr Real contradiction() {
  return sizeof(Real) == 8 ? Real(1e-6) : Real(1e-3);
}

/// Pivots inside the block of free rows and columns until the rest is zero up to `rank_tol`.
template <class Real, class G>
SS_HD int eliminate_block(const G& g, const Dictionary<Real>& d, int count, Real rank_tol) {
  const auto size = [&](int pair) {
    const int i = d.list[pair / count], j = d.list[pair % count];
    return row_waits(d, i) && column_waits(d, j) ? abs(d.at(i, j)) : Real(0);
  };
  for (int pivots = 0;; ++pivots) {
    const Largest<Real> pair = count > 0 ? g.argmax(count * count, size) : Largest<Real>{};
    if (!(pair.value > rank_tol) || stopped(g)) return pivots;
    exchange(g, d, d.list[pair.index / count], d.list[pair.index % count]);
  }
}

/// Largest entry of row k (if `along_row`) or column k in the free columns or rows not yet
/// eliminated.
template <class Real>
SS_HD Real largest_waiting(const Dictionary<Real>& d, int count, int k, bool along_row) {
  Real largest = Real(0);
  for (int a = 0; a < count; ++a) {
    const int f = d.list[a];
    if (along_row ? column_waits(d, f) : row_waits(d, f)) {
      largest = max(largest, abs(along_row ? d.at(k, f) : d.at(f, k)));
    }
  }
  return largest;
}

/// For rows that the block cannot eliminate: a 2 x 2 pivot with a complementary pair (w_k, y_k), as
/// needed by a multiplier whose own block is zero. Returns the pivots done.
template <class Real, class G>
SS_HD int eliminate_through_pairs(const G& g, const Dictionary<Real>& d, int count, Real rank_tol) {
  for (int pivots = 0;; pivots += 2) {
    g.for_each(d.m, [&](int k) {
      const bool usable = d.free[k] == 0 && d.basic[k] == k && d.nonbasic[k] == d.m + k;
      const Real down = usable ? largest_waiting(d, count, k, false) : Real(0);
      const Real across = down > rank_tol ? largest_waiting(d, count, k, true) : Real(0);
      d.reach[k] = across > rank_tol ? down * across : Real(0);
    });
    const Largest<Real> most = g.argmax(d.m, [&](int i) { return d.reach[i]; });
    const int k = most.index;
    if (!(most.value > Real(0)) || stopped(g)) return pivots;
    const auto a = g.argmax(
        count, [&](int e) { return row_waits(d, d.list[e]) ? abs(d.at(d.list[e], k)) : Real(0); });
    exchange(g, d, d.list[a.index], k);
    const auto b = g.argmax(count, [&](int e) {
      return column_waits(d, d.list[e]) ? abs(d.at(k, d.list[e])) : Real(0);
    });
    if (!(b.value > rank_tol)) {  // the first pivot has cancelled it: no pivot is left
      exchange(g, d, d.list[a.index], k);
      return pivots;
    }
    exchange(g, d, k, d.list[b.index]);
  }
}

/// Eliminates the free rows. Rows that depend on others are dropped: their y stays 0. Returns the
/// pivots done, or -1 if such a row, then d.end, contradicts the others.
template <class Real, class G>
SS_PART int eliminate_free_rows(const G& g, Dictionary<Real>& d, Real rank_tol) {
  const int count = list_free_rows(g, d);
  if (count == 0) return 0;
  int pivots = eliminate_block(g, d, count, rank_tol);
  if (pivots < count) pivots += eliminate_through_pairs(g, d, count, rank_tol);
  const auto broken = [&](int e) {
    const int i = d.list[e];
    if (!row_waits(d, i) || !(abs(d.constant()[i]) > contradiction<Real>())) return false;
    for (int j = 0; j < d.m; ++j) {
      const int v = d.nonbasic[j];
      if ((v >= d.m || d.free[v] == 0) && abs(d.at(i, j)) > rank_tol) return false;
    }
    return true;
  };
  const auto first = g.argmax(count, [&](int k) { return broken(k) ? 1.0 : 0.0; });
  if (!(first.value > 0.0)) return pivots;
  d.end = d.list[first.index];
  return -1;
}

}  // namespace stickslip::kernels::inline SS_ISA
