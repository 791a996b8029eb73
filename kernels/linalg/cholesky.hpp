// Dense Cholesky factorisation and triangular solves, column-oriented: one fma per entry, so the
// bits do not depend on the distribution of the work over lanes.
#pragma once
#include "kernels/linalg/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// A = L L^T in place. `a` is row-major and holds the *upper* triangle: row k from the diagonal on
/// holds column k of L, contiguous. The diagonal becomes 1 / L_kk. False unless positive definite.
template <class Real, class G>
SS_HD bool cholesky(const G& g, int n, Real* a, int ld) {
  for (int k = 0; k < n; ++k) {
    Real* column = a + std::int64_t(k) * ld;
    const Real pivot = column[k];
    if (!(pivot > Real(0)) || !is_finite(pivot)) return false;
    const Real inverse = Real(1) / sqrt(pivot);
    g.for_each(n - k, [&](int i) { column[k + i] = i == 0 ? inverse : column[k + i] * inverse; });
    for (int j = k + 1; j < n; ++j) {
      // Zeros stay zeros (the branches of a kinematic tree): skipping them changes no bit.
      if (column[j] == Real(0)) continue;
      const Real f = column[j];
      Real* target = a + std::int64_t(j) * ld;
      g.for_each(n - j, [&](int i) { target[j + i] = fma(-f, column[j + i], target[j + i]); });
    }
  }
  return true;
}

/// x <- L^-1 x
template <class Real, class G>
SS_HD void forward_substitute(const G& g, int n, const Real* a, int ld, Real* x) {
  for (int k = 0; k < n; ++k) {
    if (x[k] == Real(0)) continue;
    const Real* column = a + std::int64_t(k) * ld;
    const Real value = x[k] * column[k];
    g.for_each(n - k - 1,
               [&](int i) { x[k + 1 + i] = fma(-column[k + 1 + i], value, x[k + 1 + i]); });
    g.once([&] { x[k] = value; });
  }
}

/// x <- L^-T x
template <class Real, class G>
SS_HD void back_substitute(const G& g, int n, const Real* a, int ld, Real* x) {
  for (int k = n - 1; k >= 0; --k) {
    const Real value = x[k] * a[std::int64_t(k) * ld + k];
    g.once([&] { x[k] = value; });
    g.for_each(k, [&](int i) { x[i] = fma(-a[std::int64_t(i) * ld + k], value, x[i]); });
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
