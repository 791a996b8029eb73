// What columns and rows of the tableau have of the deferred pivots (pivot.hpp).
#pragma once
#include "kernels/solver/lemke/tableau.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// A column's factors f of the deferred pivots; 0 for the unused places.
template <class Real>
struct Shares {
  static constexpr int kCount = PyramidTableau<Real>::kPending;
  const Real* waiting;  // copies: stores of whole vectors may alias the tableau's own members
  typename PyramidTableau<Real>::Offset ld;
  Real f[kCount];
  SS_HD Shares(const PyramidTableau<Real>& t, int j) : Shares(t, j, t.pending) {}
  SS_HD Shares(const PyramidTableau<Real>& t, int j, int pending) : waiting(t.columns), ld(t.ld) {
    t.read_factors(j, f);
#pragma GCC unroll 8
    for (int q = 0; q < kCount; ++q) f[q] = q < pending ? f[q] : Real(0);
  }
  SS_HD bool nothing() const {
    bool all_zero = true;
#pragma GCC unroll 8
    for (int q = 0; q < kCount; ++q) all_zero = all_zero && f[q] == Real(0);
    return all_zero;
  }
  /// from + the deferred updates, rows [i0, i0 + C) of the column.
  template <int C>
  SS_HD Lanes<Real, C> sum(const Real* from, int i0) const {
    auto sum = Lanes<Real, C>::load(from + i0);
#pragma GCC unroll 8
    for (int q = 0; q < kCount; ++q) sum.add(Lanes<Real, C>::load(waiting + q * ld + i0), f[q]);
    return sum;
  }
};

/// A row's entries e in the deferred columns; 0 for the unused places.
template <class Real>
struct RowShares {
  static constexpr int kCount = PyramidTableau<Real>::kPending;
  Real e[kCount];
  SS_HD RowShares(const PyramidTableau<Real>& t, int r) {
#pragma GCC unroll 8
    for (int q = 0; q < kCount; ++q) {
      const Real own = t.waiting(q)[r];  // read in any case: no branch
      e[q] = q < t.pending ? own : Real(0);
    }
  }
  /// value + the deferred updates of the row, column j.
  SS_HD Real sum(const PyramidTableau<Real>& t, int j, Real value) const {
    Real f[kCount];
    t.read_factors(j, f);
    return sum_with(f, value);
  }
  /// The same for the right-hand side, whose factors are 0 except during its own pivot.
  SS_HD Real sum_right(Real value) const {
    const Real none[kCount] = {};
    return sum_with(none, value);
  }

 private:
  SS_HD Real sum_with(const Real* f, Real value) const {
#pragma GCC unroll 8
    for (int q = 0; q < kCount; ++q) value = fma(e[q], f[q], value);
    return value;
  }
};

/// No deferred pivot concerns column j, or row r, any more.
template <class Real>
SS_HD void release_column(const PyramidTableau<Real>& t, int j) {
#pragma GCC unroll 8
  for (int q = 0; q < t.kPending; ++q) {
    if (q < t.pending) t.factor(q)[j] = Real(0);
  }
}
template <class Real>
SS_HD void release_row(const PyramidTableau<Real>& t, int r) {
#pragma GCC unroll 8
  for (int q = 0; q < t.kPending; ++q) {
    if (q < t.pending) t.waiting(q)[r] = Real(0);
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
