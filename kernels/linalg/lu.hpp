// Dense LU with row-scaled partial pivoting, right-hand side carried along.
#pragma once
#include "kernels/linalg/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Row-major n x (n + 1) system: row i starts at `a + order[i] * ld`, its last column is the right
/// side. Rows are never moved: `order` is permuted.
template <class Real>
struct LinearSystem {
  Real* a;
  int ld;
  int* order;       ///< [n]
  Real* row_scale;  ///< [n] 1 / largest entry of each stored row

  SS_HD Real* row(int i) const { return a + std::int64_t(order[i]) * ld; }
};

/// Solves in place; x gets the solution. False when a pivot vanishes or the result is not finite.
/// Pivots are compared relative to their row's largest entry: rows of very different size (rolling
/// friction beside normals) are normal here.
template <class Real, class G>
SS_HD bool solve_lu(const G& g, const LinearSystem<Real>& m, int n, Real* x) {
  g.for_each(n, [&](int i) {
    m.order[i] = i;
    Real largest = Real(0);
    const Real* row = m.a + std::int64_t(i) * m.ld;
    for (int j = 0; j < n; ++j) largest = max(largest, abs(row[j]));
    m.row_scale[i] = largest > Real(0) ? Real(1) / largest : Real(1);
  });
  for (int k = 0; k < n; ++k) {
    const int pivot = k + g.argmin(n - k, [&](int i) {
      return -abs(m.row(k + i)[k]) * m.row_scale[m.order[k + i]];
    });
    const int pivot_row = m.order[pivot];
    if (!(abs(m.row(pivot)[k]) * m.row_scale[pivot_row] > Real(1e-30))) return false;
    g.once([&] {
      m.order[pivot] = m.order[k];
      m.order[k] = pivot_row;
    });
    const Real* top = m.row(k);
    const Real inverse = Real(1) / top[k];
    g.for_each(n - k - 1, [&](int i) { m.row(k + 1 + i)[k] *= inverse; });
    g.for_each_2d(n - k - 1, n - k, [&](int i, int j) {
      Real* row = m.row(k + 1 + i);
      row[k + 1 + j] = fma(-row[k], top[k + 1 + j], row[k + 1 + j]);
    });
  }
  for (int k = n - 1; k >= 0; --k) {  // column-oriented back substitution: one fma per entry
    const Real value = m.row(k)[n] / m.row(k)[k];
    if (!is_finite(value)) return false;
    g.for_each(k, [&](int i) { m.row(i)[n] = fma(-m.row(i)[k], value, m.row(i)[n]); });
    g.once([&] { x[k] = value; });
  }
  return true;
}

}  // namespace stickslip::kernels::inline SS_ISA
