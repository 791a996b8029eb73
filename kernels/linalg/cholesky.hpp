// Dense Cholesky factorisation and triangular solves, column-oriented: one fma per entry, so the
// bits do not depend on the distribution of the work over lanes.
#pragma once
#include "kernels/group/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Columns j > k of A minus what column k of L adds to them: on a CPU, as soon as that is known,
/// so that all work runs along contiguous rows of `a`.
template <class Real, class G>
SS_HD void update_later_columns(const G& g, int n, Real* a, int ld, int k) {
  const Real* column = a + std::int64_t(k) * ld;
  for (int j = k + 1; j < n; ++j) {
    // Zeros stay zeros (the branches of a kinematic tree): skipping them changes no bit.
    if (column[j] == Real(0)) continue;
    const Real f = column[j];
    Real* target = a + std::int64_t(j) * ld;
    g.for_each(n - j, [&](int i) { target[j + i] = fma(-f, column[j + i], target[j + i]); });
  }
}

/// Column k of A minus the columns of L before it: on a GPU, where each entry stays in a register.
template <class Real, class G>
SS_HD void update_column(const G& g, int n, Real* a, int ld, int k) {
  g.for_each(n - k, [&](int i) {
    Real value = a[std::int64_t(k) * ld + k + i];
    SS_BY_FOUR
    for (int j = 0; j < k; ++j) {
      const Real* column = a + std::int64_t(j) * ld + k;
      value = select(column[0] != Real(0), fma(-column[0], column[i], value), value);
    }
    a[std::int64_t(k) * ld + k + i] = value;
  });
}

/// A = L L^T in place. `a` is row-major and holds the *upper* triangle: row k from the diagonal on
/// holds column k of L, contiguous. The diagonal becomes 1 / L_kk. False unless positive definite.
template <class Real, class G>
SS_HD bool cholesky(const G& g, int n, Real* a, int ld) {
  constexpr bool kInRegisters = G::kChunk == 1;
  for (int k = 0; k < n; ++k) {
    if constexpr (kInRegisters) {
      if (k > 0) update_column(g, n, a, ld, k);
    }
    Real* column = a + std::int64_t(k) * ld;
    const Real pivot = column[k];
    if (!(pivot > Real(0)) || !is_finite(pivot)) return false;
    const Real inverse = Real(1) / sqrt(pivot);
    g.for_each(n - k, [&](int i) { column[k + i] = i == 0 ? inverse : column[k + i] * inverse; });
    if constexpr (!kInRegisters) update_later_columns(g, n, a, ld, k);
  }
  return true;
}

/// x[k] = value, and update(i) for i in [begin, end), which does not contain k: on a GPU in one
/// pass.
template <class Real, class G, class F>
SS_HD void set_and_update(const G& g, Real* x, int k, Real value, int begin, int end, F&& update) {
  if constexpr (G::kChunk == 1) {
    g.for_each(end - begin + 1, [&](int i) SS_INLINE {
      if (i < end - begin) {
        update(begin + i);
      } else {
        x[k] = value;
      }
    });
  } else {
    g.once([&] { x[k] = value; });
    g.for_each(end - begin, [&](int i) SS_INLINE { update(begin + i); });
  }
}

/// x <- L^-1 x
template <class Real, class G>
SS_HD void forward_substitute(const G& g, int n, const Real* a, int ld, Real* x) {
  for (int k = 0; k < n; ++k) {
    if (x[k] == Real(0)) continue;
    const Real* column = a + std::int64_t(k) * ld;
    const Real value = x[k] * column[k];
    set_and_update(g, x, k, value, k + 1, n,
                   [&](int i) SS_INLINE { x[i] = fma(-column[i], value, x[i]); });
  }
}

/// x <- L^-T x
template <class Real, class G>
SS_HD void back_substitute(const G& g, int n, const Real* a, int ld, Real* x) {
  for (int k = n - 1; k >= 0; --k) {
    const Real value = x[k] * a[std::int64_t(k) * ld + k];
    set_and_update(g, x, k, value, 0, k,
                   [&](int i) SS_INLINE { x[i] = fma(-a[std::int64_t(i) * ld + k], value, x[i]); });
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
