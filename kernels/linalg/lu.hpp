// Dense LU with row-scaled partial pivoting, right-hand side included, four columns at a time.
//
// Every entry is computed by the same fma chain as in the plain algorithm, a_ij - l_i0 u_0j - l_i1
// u_1j ..., in the order of the pivots; the panel only combines four of these steps in one pass
// over memory. The panel and the right side are stored as columns, so that work along them is
// contiguous too.
#pragma once
#include "kernels/group/stop.hpp"
#include "kernels/linalg/lu_panel.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// 1 / largest entry of each row.
template <class Real, class G>
SS_HD void scale_rows(const G& g, const LinearSystem<Real>& m, int n) {
  constexpr int C = G::kChunk;
  g.for_each(n, [&](int i) {
    auto largest = Lanes<Real, C>::all(Real(0));
    SS_BY_FOUR
    for (int j = 0; j < n; j += C) largest.raise(Lanes<Real, C>::load(m.row(i) + j));
    const Real row_max = largest.max();
    m.scale()[i] = row_max > Real(0) ? Real(1) / row_max : Real(1);
  });
}

/// Unknowns k ... k + width - 1, and their part of the rows above them. False if not finite. Every
/// lane computes the unknowns, one stores them.
template <int width, class Real, class G>
SS_HD bool substitute_block(const G& g, const LinearSystem<Real>& m, int k, Real* x) {
  Real* const right = m.right();
  Real next[width], minus[width] = {};
  bool finite = true;
  unroll<0, width>([&](auto step) SS_INLINE {
    constexpr int q = width - 1 - step;
    const Real* row = m.row(k + q) + k;
    Real value = right[k + q];
    unroll<0, step>([&](auto done) SS_INLINE {
      constexpr int p = width - 1 - done;
      value = fma(row[p], minus[p], value);
    });
    next[q] = value / row[q];
    minus[q] = -next[q];
    finite = finite && is_finite(next[q]);
  });
  if (!finite) return false;
  g.for_each(k + 1, [&](int i) {
    if (i == k) {
      unroll<0, width>([&](auto q) SS_INLINE { x[k + q] = next[q]; });
      return;
    }
    const Real* row = m.row(i) + k;
    Real value = right[i];
    unroll<0, width>([&](auto step) SS_INLINE {
      constexpr int q = width - 1 - step;
      value = fma(row[q], minus[q], value);
    });
    right[i] = value;
  });
  return true;
}

/// Back substitution, four unknowns at a time: one fma chain per entry, from the last column on.
template <class Real, class G>
SS_HD bool substitute_back(const G& g, const LinearSystem<Real>& m, int n, Real* x) {
  int k = n;
  for (; k % 4 != 0; --k) {
    if (!substitute_block<1>(g, m, k - 1, x)) return false;
  }
  for (; k > 0; k -= 4) {
    if (!substitute_block<4>(g, m, k - 4, x)) return false;
  }
  return true;
}

/// Keeps the multipliers of a panel, on a CPU.
template <class Real, class G>
SS_HD void keep_multipliers(const G& g, const LinearSystem<Real>& m, int n, int k0) {
  g.for_each_2d(min(4, n - k0), n, [&](int q, int i) {
    const Real multiplier = i > k0 + q ? m.column(q)[i] : Real(0);
    m.lower[std::int64_t(k0 + q) * m.ld + m.origin[i]] = multiplier;
  });
}

/// A = L U in place. False if a pivot vanishes, or if the work must end: a large matrix takes
/// longer than a caller may wait.
template <class Real, class G>
SS_PART bool factor_lu(const G& g, const LinearSystem<Real>& m, int n) {
  scale_rows(g, m, n);
  if (m.keeps()) {
    g.for_each(n, [&](int i) { m.origin[i] = i; });
    g.once([&] { *m.odd = 0; });
  }
  for (int k0 = 0; k0 < n; k0 += 4) {
    if (k0 % 64 == 0 && stopped(g)) return false;
    if (!factor_panel(g, m, n, k0)) return false;
    if (!kOnGpu && m.keeps()) keep_multipliers(g, m, n, k0);
  }
  return true;
}

/// The least pivot after `factor_lu`, relative to the largest entry of its row: how nearly A is
/// singular.
template <class Real, class G>
SS_HD Real least_pivot(const G& g, const LinearSystem<Real>& m, int n) {
  return Real(1) / g.max(n, [&](int k) { return Real(1) / (abs(m.row(k)[k]) * m.scale()[k]); });
}

/// The sign of det A after `factor_lu`, with factors that were kept.
template <class Real, class G>
SS_HD int determinant_sign(const G& g, const LinearSystem<Real>& m, int n) {
  const int negative = g.sum(n, [&](int k) { return m.row(k)[k] < Real(0) ? 1 : 0; });
  return (negative + *m.odd) % 2 == 0 ? 1 : -1;
}

/// Solves in place; x gets the solution. False if a pivot vanishes or the result is not finite.
template <class Real, class G>
SS_HD bool solve_lu(const G& g, const LinearSystem<Real>& m, int n, Real* x) {
  return factor_lu(g, m, n) && substitute_back(g, m, n, x);
}

/// right := L^-1 of it, in the order of the pivots, for factors that were kept.
template <class Real, class G>
SS_HD void substitute_forward(const G& g, const LinearSystem<Real>& m, int n, Real* right) {
  if constexpr (kOnGpu) {
    g.for_each(n, [&](int k) { m.right()[k] = right[m.origin[k]]; });
    for (int k = 0; k < n; ++k) {
      const Real value = m.right()[k];
      g.for_each(n - k - 1, [&](int i) {
        const int row = k + 1 + i;
        m.right()[row] = fma(-m.row(row)[k], value, m.right()[row]);
      });
    }
  } else {
    for (int k = 0; k < n; ++k) {
      const Real value = right[m.origin[k]];
      const Real* column = m.lower + std::int64_t(k) * m.ld;
      g.for_each(n, [&](int i) { right[i] = fma(-column[i], value, right[i]); });
    }
    g.for_each(n, [&](int k) { m.right()[k] = right[m.origin[k]]; });
  }
}

/// The same for one more right side, with factors that were kept; it is overwritten.
template <class Real, class G>
SS_HD bool solve_again(const G& g, const LinearSystem<Real>& m, int n, Real* right, Real* x) {
  substitute_forward(g, m, n, right);
  return substitute_back(g, m, n, x);
}

}  // namespace stickslip::kernels::inline SS_ISA
