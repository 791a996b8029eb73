// One pivot of the tableau, and the exchange of a stored direction with its twin.
//
// A pivot adds a column times a row of factors to the whole tableau. It is done at once on what the
// next pivot reads (its row, its column, the right-hand side) and waits for the rest, until a few
// can be done in one pass over memory. Every entry sees the same chain of fused multiply-adds.
#pragma once
#include "kernels/solver/lemke/tableau.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Brings column j up to date.
template <class Real, class G>
SS_HD void settle_column(const G& g, const PyramidTableau<Real>& t, int j) {
  constexpr int C = G::kChunk;
  if (t.pending == 0) return;
  g.for_each(t.chunks(g), [&](int chunk) {
    Real* const to = t.column(j) + chunk * C;
    auto sum = Lanes<Real, C>::load(to);
    for (int q = 0; q < t.pending; ++q) sum.add(t.waiting(q) + chunk * C, t.factor(q)[j]);
    sum.store(to);
  });
  g.once([&] {
    for (int q = 0; q < t.pending; ++q) t.factor(q)[j] = Real(0);
  });
}

/// Entry (r, j) as it will be.
template <class Real>
SS_HD Real settled(const PyramidTableau<Real>& t, int r, int j) {
  Real value = t.column(j)[r];
  for (int q = 0; q < t.pending; ++q) value = fma(t.waiting(q)[r], t.factor(q)[j], value);
  return value;
}

/// Brings row r up to date.
template <class Real, class G>
SS_HD void settle_row(const G& g, const PyramidTableau<Real>& t, int r) {
  if (t.pending == 0) return;
  g.for_each(t.m + 2, [&](int j) { t.column(j)[r] = settled(t, r, j); });
  g.once([&] {
    for (int q = 0; q < t.pending; ++q) t.waiting(q)[r] = Real(0);
  });
}

/// Does what waits.
template <class Real, class G>
SS_HD void settle_all(const G& g, PyramidTableau<Real>& t) {
  constexpr int C = G::kChunk;
  const auto is_settled = [&](int j) {
    bool nothing = true;
    for (int q = 0; q < t.pending; ++q) nothing = nothing && t.factor(q)[j] == Real(0);
    return nothing;
  };
  const auto add = [&](int j, int chunk) {
    Real* const to = t.column(j) + chunk * C;
    auto sum = Lanes<Real, C>::load(to);
    for (int q = 0; q < t.pending; ++q) sum.add(t.waiting(q) + chunk * C, t.factor(q)[j]);
    sum.store(to);
  };
  if constexpr (C > 1) {  // a lane takes whole columns
    g.for_each(t.m + 2, [&](int j) {
      if (is_settled(j)) return;
      for (int chunk = 0; chunk < t.chunks(g); ++chunk) add(j, chunk);
    });
  } else {
    g.for_each_2d(t.m + 2, t.m, [&](int j, int i) {
      if (!is_settled(j)) add(j, i);
    });
  }
  t.pending = 0;
}

/// Lets the update wait that column c (kept in the last place) and its factors describe, but for
/// column c itself and the right-hand side.
template <class Real, class G>
SS_HD void let_wait(const G& g, PyramidTableau<Real>& t, int c, int r, Real inverse) {
  const Real *entering = t.waiting(t.pending), *factor = t.factor(t.pending);
  Real *column = t.column(c), *right = t.right();
  const Real f = factor[t.m + 1];
  for_rows(g, t, [&](int i) {
    column[i] = i == r ? inverse : entering[i] * inverse;
    right[i] = i == r ? f : fma(entering[i], f, right[i]);
  });
  g.once([&] {
    t.factor(t.pending)[t.m + 1] = Real(0);
    for (int q = 0; r >= 0 && q <= t.pending; ++q) t.waiting(q)[r] = Real(0);
  });
  if (++t.pending == t.kPending) settle_all(g, t);
}

/// Copies the column that enters.
template <class Real, class G>
SS_HD void take_column(const G& g, const PyramidTableau<Real>& t, int c) {
  Real* entering = t.waiting(t.pending);
  const Real* column = t.column(c);
  for_rows(g, t, [&](int i) { entering[i] = column[i]; });
}

/// The variable of column c, which is settled, enters the basis; that of row r leaves it.
template <class Real, class G>
SS_HD void pivot(const G& g, PyramidTableau<Real>& t, int r, int c) {
  take_column(g, t, c);
  const Real inverse = Real(1) / t.waiting(t.pending)[r];
  Real* factor = t.factor(t.pending);
  g.for_each(t.m + 2, [&](int j) {
    const Real f = -settled(t, r, j) * inverse;
    t.column(j)[r] = f;
    factor[j] = j == c ? Real(0) : f;
  });
  let_wait(g, t, c, r, inverse);
  g.once([&] {
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
  const int own = ~t.place[t.m + i], slack = t.place[t.n + i / 3];
  settle_column(g, t, own);
  Real* column = t.column(own);
  if (slack >= 0) {
    for_rows(g, t, [&](int r) { column[r] = r == slack ? -column[r] - Real(2) : -column[r]; });
  } else {
    settle_column(g, t, ~slack);
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
SS_HD void pivot_on_twin(const G& g, PyramidTableau<Real>& t, int i, int c) {
  const int r = t.place[i], lambda = t.place[t.m + t.n + i / 3];
  settle_row(g, t, t.place[t.z0()]);
  if (lambda >= 0) settle_row(g, t, lambda);
  if (r >= 0) {
    settle_row(g, t, r);
    g.for_each(t.m + 2, [&](int j) { t.column(j)[r] = twin_entry(t, i, j, t.column(j)[r]); });
    flip_column(g, t, i);
    pivot(g, t, r, c);
    return;
  }
  // w_i itself enters: its twin takes its place among the columns, and no row changes its variable.
  take_column(g, t, c);
  const Real inverse = Real(1) / twin_entry(t, i, c, Real(1));
  Real* factor = t.factor(t.pending);
  g.for_each(t.m + 2, [&](int j) {
    factor[j] = j == c ? Real(0) : -twin_entry(t, i, j, Real(0)) * inverse;
  });
  let_wait(g, t, c, -1, inverse);
  flip_column(g, t, i);
}

}  // namespace stickslip::kernels::inline SS_ISA
