// One pivot of the tableau, and the exchange of a stored direction with its twin.
#pragma once
#include "kernels/solver/lemke/tableau.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Column j += factor_j * entering column, for all columns with a factor; row r (if >= 0) becomes
/// the factors themselves. One fma per entry.
template <class Real, class G>
SS_HD void update_columns(const G& g, const PyramidTableau<Real>& t, int r) {
  constexpr int C = G::kChunk;
  g.for_each_2d(t.m + 2, t.chunks(g), [&](int j, int chunk) {
    const Real f = t.factor[j];
    if (f == Real(0)) return;
    const int i0 = chunk * C;
    Real* const to = t.column(j) + i0;
    auto sum = Lanes<Real, C>::load(to);
    sum.add(t.entering + i0, f);
    sum.store(to);
    if (r >= i0 && r < i0 + C) to[r - i0] = f;
  });
}

/// Keeps the column that enters, which the update overwrites.
template <class Real, class G>
SS_HD void take_column(const G& g, const PyramidTableau<Real>& t, int c) {
  const Real* column = t.column(c);
  for_rows(g, t, [&](int i) { t.entering[i] = column[i]; });
}

/// The variable of column c enters the basis, that of row r leaves it.
template <class Real, class G>
SS_HD void pivot(const G& g, const PyramidTableau<Real>& t, int r, int c) {
  take_column(g, t, c);
  const Real inverse = Real(1) / t.entering[r];
  g.for_each(t.m + 2, [&](int j) {
    t.factor[j] = j == c ? Real(0) : -t.column(j)[r] * inverse;
  });
  update_columns(g, t, r);
  Real* column = t.column(c);
  for_rows(g, t, [&](int i) { column[i] = t.entering[i] * inverse; });
  g.once([&] {
    column[r] = inverse;
    const int leaving = t.row_var[r], enters = t.col_var[c];
    t.row_var[r] = enters;
    t.place[enters] = r;
    t.col_var[c] = leaving;
    t.place[leaving] = ~c;
  });
}

/// Column of the pair's stored friction variable becomes that of its twin:
/// beta' = -beta and the cone's slack falls by 2.
template <class Real, class G>
SS_HD void flip_column(const G& g, const PyramidTableau<Real>& t, int i) {
  Real* column = t.column(~t.place[t.m + i]);
  const int slack = t.place[t.n + (i / 3)];
  if (slack >= 0) {
    for_rows(g, t, [&](int r) { column[r] = r == slack ? -column[r] - Real(2) : -column[r]; });
  } else {
    const Real* other = t.column(~slack);
    for_rows(g, t, [&](int r) { column[r] = fma(Real(2), other[r], -column[r]); });
  }
  g.once([&] { t.sign[i] = -t.sign[i]; });
}

/// Entry j of the twin's row, w' = 2 lambda + 2 d z0 - w, where `own` is the entry of w's row.
template <class Real>
SS_HD Real twin_entry(const PyramidTableau<Real>& t, int i, int j, Real own) {
  const int lambda = t.place[t.m + t.n + i / 3];
  Real value = fma(Real(2) * t.cover[i], t.column(j)[t.place[t.z0()]], -own);
  if (lambda >= 0) value = fma(Real(2), t.column(j)[lambda], value);
  return lambda == ~j ? value + Real(2) : value;
}

/// w_i leaves the basis by its twin's hand: the pair is turned round, then pivoted.
template <class Real, class G>
SS_HD void pivot_on_twin(const G& g, const PyramidTableau<Real>& t, int i, int c) {
  const int r = t.place[i];
  if (r >= 0) {
    g.for_each(t.m + 2, [&](int j) { t.column(j)[r] = twin_entry(t, i, j, t.column(j)[r]); });
    flip_column(g, t, i);
    pivot(g, t, r, c);
    return;
  }
  // w_i itself enters: its twin takes its place among the columns, and no row changes its variable.
  take_column(g, t, c);
  const Real inverse = Real(1) / twin_entry(t, i, c, Real(1));
  g.for_each(t.m + 2, [&](int j) {
    t.factor[j] = j == c ? Real(0) : -twin_entry(t, i, j, Real(0)) * inverse;
  });
  update_columns(g, t, -1);
  Real* column = t.column(c);
  for_rows(g, t, [&](int k) { column[k] = t.entering[k] * inverse; });
  flip_column(g, t, i);
}

}  // namespace stickslip::kernels::inline SS_ISA
