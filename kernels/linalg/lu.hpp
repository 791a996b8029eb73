// Dense LU with row-scaled partial pivoting, right-hand side carried along, four columns at a time.
//
// Every entry sees the same fma chain as in the plain algorithm, a_ij - l_i0 u_0j - l_i1 u_1j ...,
// in the order of the pivots; the panel only groups four of its links into one pass over memory.
#pragma once
#include "kernels/linalg/lanes.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Row-major n x (n + 1) system; row i starts at `row[i]`, its last column is the right side, and
/// it is padded (with finite numbers) to a multiple of 16 columns. Rows are never moved: the
/// pointers are.
template <class Real>
struct LinearSystem {
  static constexpr int kPanel = 4;
  Real** row;   ///< [n]
  Real* scale;  ///< [n] 1 / largest entry of each row
  Real* panel;  ///< [kPanel][ld_panel] the panel's columns below the pivots, then multipliers
  int ld_panel;

  SS_HD Real* column(int q) const { return panel + std::int64_t(q) * ld_panel; }
};

/// Chooses the pivot of column k = k0 + q and brings its row to place k. Pivots are compared
/// relative to their row's largest entry: rows of very different size (rolling friction beside
/// normals) are normal here. Ties go to the lowest row. False when the column vanishes.
template <class Real, class G>
SS_HD bool bring_pivot(const G& g, const LinearSystem<Real>& m, int n, int k, int q) {
  const Real* column = m.column(q);
  const int pivot = k + g.argmax(n - k, [&](int i) { return abs(column[k + i]) * m.scale[k + i]; });
  if (!(abs(column[pivot]) * m.scale[pivot] > Real(1e-30))) return false;
  g.once([&] {
    Real* const top = m.row[pivot];
    m.row[pivot] = m.row[k];
    m.row[k] = top;
    const Real scale = m.scale[pivot];
    m.scale[pivot] = m.scale[k];
    m.scale[k] = scale;
    for (int p = 0; p < LinearSystem<Real>::kPanel; ++p) {
      const Real value = m.column(p)[pivot];
      m.column(p)[pivot] = m.column(p)[k];
      m.column(p)[k] = value;
    }
  });
  return true;
}

/// row i -= sum over the panel's first `width` pivots of multiplier * pivot row, from the chunk of
/// column `first` on. Entries left of the pivots are dead, so whole registers may write over them.
template <class Real, class G>
SS_HD void eliminate(const G& g, const LinearSystem<Real>& m, int n, int k0, int width, int first,
                     int row_begin, int row_end) {
  constexpr int C = G::kChunk;
  const int chunk0 = first / C;
  g.for_each_2d(row_end - row_begin, n / C - chunk0 + 1, [&](int i, int c) {
    const int offset = (chunk0 + c) * C;
    Real* const to = m.row[row_begin + i] + offset;
    auto sum = Lanes<Real, C>::load(to);
    for (int q = 0; q < width; ++q) {
      sum.add(m.row[k0 + q] + offset, -m.column(q)[row_begin + i]);
    }
    sum.store(to);
  });
}

/// Factors columns [k0, k0 + width) below and right of them.
template <class Real, class G>
SS_HD bool factor_panel(const G& g, const LinearSystem<Real>& m, int n, int k0, int width) {
  g.for_each(n - k0, [&](int i) {
    for (int q = 0; q < width; ++q) m.column(q)[k0 + i] = m.row[k0 + i][k0 + q];
  });
  for (int q = 0; q < width; ++q) {
    const int k = k0 + q;
    if (!bring_pivot(g, m, n, k, q)) return false;
    if (q > 0) eliminate(g, m, n, k0, q, k, k, k + 1);  // the pivot row itself
    Real* column = m.column(q);
    const Real inverse = Real(1) / column[k];
    const Real* top = m.row[k] + k0;
    g.for_each(n - k - 1, [&](int i) {
      const Real multiplier = column[k + 1 + i] * inverse;
      column[k + 1 + i] = multiplier;
      for (int p = q + 1; p < width; ++p) {
        Real& later = m.column(p)[k + 1 + i];
        later = fma(-multiplier, top[p], later);
      }
    });
  }
  eliminate(g, m, n, k0, width, k0 + width, k0 + width, n);
  return true;
}

/// Solves in place; x gets the solution. False when a pivot vanishes or the result is not finite.
template <class Real, class G>
SS_HD bool solve_lu(const G& g, const LinearSystem<Real>& m, int n, Real* x) {
  constexpr int kPanel = LinearSystem<Real>::kPanel;
  g.for_each(n, [&](int i) {
    Real largest[4] = {};
    for (int j = 0; j + 4 <= n; j += 4) {
      for (int l = 0; l < 4; ++l) largest[l] = max(largest[l], abs(m.row[i][j + l]));
    }
    for (int j = n & ~3; j < n; ++j) largest[0] = max(largest[0], abs(m.row[i][j]));
    const Real row_max = max(max(largest[0], largest[1]), max(largest[2], largest[3]));
    m.scale[i] = row_max > Real(0) ? Real(1) / row_max : Real(1);
  });
  for (int k0 = 0; k0 < n; k0 += kPanel) {
    if (!factor_panel(g, m, n, k0, min(kPanel, n - k0))) return false;
  }
  Real* right = m.column(0);
  g.for_each(n, [&](int i) { right[i] = m.row[i][n]; });
  for (int k = n - 1; k >= 0; --k) {  // column-oriented back substitution: one fma per entry
    const Real value = right[k] / m.row[k][k];
    if (!is_finite(value)) return false;
    g.for_each(k, [&](int i) { right[i] = fma(-m.row[i][k], value, right[i]); });
    g.once([&] { x[k] = value; });
  }
  return true;
}

}  // namespace stickslip::kernels::inline SS_ISA
