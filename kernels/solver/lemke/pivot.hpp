// One pivot of the tableau, and the exchange of a stored direction with its twin.
//
// A pivot adds a column times a row of factors to the whole tableau. It is applied immediately to
// the parts that the next pivot reads (its row, its column, the right-hand side). The update of the
// rest is deferred, so that one pass over memory applies several. Every entry is computed by the
// same chain of fused multiply-adds.
#pragma once
#include "kernels/solver/lemke/tableau.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// A column's factors f of the deferred pivots; 0 for the unused places.
template <class Real>
struct Shares {
  static constexpr int kCount = PyramidTableau<Real>::kPending;
  const Real* waiting;  // copies: stores of whole vectors may alias the tableau's own members
  std::int64_t ld;
  Real f[kCount];
  SS_HD Shares(const PyramidTableau<Real>& t, int j) : waiting(t.columns), ld(t.ld) {
#pragma GCC unroll 8
    for (int q = 0; q < kCount; ++q) f[q] = q < t.pending ? t.factor(q)[j] : Real(0);
  }
  SS_HD bool nothing() const {
    bool all_zero = true;
#pragma GCC unroll 8
    for (int q = 0; q < kCount; ++q) all_zero = all_zero && f[q] == Real(0);
    return all_zero;
  }
  /// to = from + the deferred updates, rows [i0, i0 + C) of the column.
  template <int C>
  SS_HD void add(const Real* from, Real* to, int i0) const {
    auto sum = Lanes<Real, C>::load(from + i0);
#pragma GCC unroll 8
    for (int q = 0; q < kCount; ++q) sum.add(Lanes<Real, C>::load(waiting + q * ld + i0), f[q]);
    sum.store(to + i0);
  }
};

/// to <- column j with all updates.
template <class Real, class G>
SS_PART void read_column(const G& g, const PyramidTableau<Real>& t, int j, Real* to) {
  const Shares<Real> shares(t, j);
  const Real* from = t.column(j);
  g.for_each(t.chunks(g),
             [=](int chunk) { shares.template add<G::kChunk>(from, to, chunk * G::kChunk); });
}

/// Applies the deferred updates to column j.
template <class Real, class G>
SS_HD void settle_column(const G& g, const PyramidTableau<Real>& t, int j) {
  read_column(g, t, j, t.column(j));
  g.once([&] {
    for (int q = 0; q < t.pending; ++q) t.factor(q)[j] = Real(0);
  });
}

/// values_j <- finish(entry j of row r with all updates).
template <class Real, class G, class F>
SS_PART void read_row(const G& g, const PyramidTableau<Real>& t, int r, Real* values, F&& finish) {
  constexpr int kCount = PyramidTableau<Real>::kPending;
  Real e[kCount];
#pragma GCC unroll 8
  for (int q = 0; q < kCount; ++q) e[q] = q < t.pending ? t.waiting(q)[r] : Real(0);
  g.for_each(t.m + 2, [&](int j) { values[j] = t.column(j)[r]; });
  for_chunks(g, t.m + 2, [&](int j) {
    Real value = values[j];
#pragma GCC unroll 8
    for (int q = 0; q < kCount; ++q) value = fma(e[q], t.factor(q)[j], value);
    values[j] = finish(value);
  });
}

/// Writes row r, which then has all updates.
template <class Real, class G>
SS_PART void write_row(const G& g, const PyramidTableau<Real>& t, int r, const Real* values) {
  g.for_each(t.m + 2, [&](int j) { t.column(j)[r] = values[j]; });
  g.once([&] {
    for (int q = 0; q < t.pending; ++q) t.waiting(q)[r] = Real(0);
  });
}

/// Applies the deferred updates to row r. `room` serves as memory, because it is rewritten before
/// it is read; `key` could not: its padding between rows and twins must stay 0.
template <class Real, class G>
SS_HD void settle_row(const G& g, const PyramidTableau<Real>& t, int r) {
  if (t.pending == 0) return;
  read_row(g, t, r, t.room, [](Real value) { return value; });
  write_row(g, t, r, t.room);
}

/// Applies all deferred updates.
template <class Real, class G>
SS_PART void settle_all(const G& g, PyramidTableau<Real>& t) {
  constexpr int C = G::kChunk;
  if constexpr (C > 1) {  // a lane processes whole columns
    g.for_each(t.m + 2, [&](int j) {
      const Shares<Real> shares(t, j);
      if (shares.nothing()) return;
      Real* const column = t.column(j);
      const int rows = t.m;
      for (int i = 0; i < rows; i += C) shares.template add<C>(column, column, i);
    });
  } else {
    g.for_rows(t.m + 2, t.m, [&](int j, auto&& rows) {
      const Shares<Real> shares(t, j);
      if (shares.nothing()) return;
      Real* const column = t.column(j);
      rows([&](int i) { shares.template add<C>(column, column, i); });
    });
  }
  t.pending = 0;
}

/// Defers the update given by the entering column and its factors, except for column c, the
/// right-hand side and (if >= 0) row r, which gets the factors.
template <class Real, class G>
SS_PART void let_wait(const G& g, PyramidTableau<Real>& t, int c, int r, Real inverse) {
  Real *entering = t.entering(), *factor = t.factor(t.pending);
  Real *column = t.column(c), *right = t.right();
  const Real f = factor[t.m + 1];
  for_rows(g, t, [&](int i) {
    column[i] = entering[i] * inverse;
    right[i] = fma(entering[i], f, right[i]);
  });
  g.once([&] {
    for (int q = 0; q <= t.pending; ++q) t.factor(q)[c] = Real(0);
    factor[t.m + 1] = Real(0);
    if (r < 0) return;
    column[r] = inverse;
    right[r] = f;
    entering[r] = Real(0);
  });
  if (++t.pending == t.kPending) settle_all(g, t);
}

/// The variable of column c, which is up to date in `entering`, enters the basis; the variable of
/// row r leaves it.
template <class Real, class G>
SS_HD void pivot(const G& g, PyramidTableau<Real>& t, int r, int c) {
  const Real inverse = Real(1) / t.entering()[r];
  Real* factor = t.factor(t.pending);
  read_row(g, t, r, factor, [=](Real value) { return -value * inverse; });
  write_row(g, t, r, factor);
  let_wait(g, t, c, r, inverse);
  g.once([&] {
    const int leaving = t.row_var[r], enters = t.col_var[c];
    t.row_var[r] = enters;
    t.place[enters] = r;
    t.col_var[c] = leaving;
    t.place[leaving] = ~c;
  });
}

/// The column of the pair's stored friction variable becomes that of its twin: beta' = -beta, and
/// the slack of the cone decreases by 2.
template <class Real, class G>
SS_PART void flip_column(const G& g, const PyramidTableau<Real>& t, int i) {
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

/// w_i leaves the basis because its twin blocks: the pair is exchanged, then pivoted.
template <class Real, class G>
SS_PART void pivot_on_twin(const G& g, PyramidTableau<Real>& t, int i, int c) {
  const int r = t.place[i], lambda = t.place[t.m + t.n + i / 3];
  settle_row(g, t, t.place[t.z0()]);
  if (lambda >= 0) settle_row(g, t, lambda);
  if (r >= 0) {
    settle_row(g, t, r);
    g.for_each(t.m + 2, [&](int j) { t.column(j)[r] = twin_entry(t, i, j, t.column(j)[r]); });
    g.once([&] { t.entering()[r] = t.column(c)[r]; });
    flip_column(g, t, i);
    pivot(g, t, r, c);
    return;
  }
  // w_i itself enters: its twin takes its place among the columns; no row changes its variable.
  const Real inverse = Real(1) / twin_entry(t, i, c, Real(1));
  Real* factor = t.factor(t.pending);
  g.for_each(t.m + 2, [&](int j) { factor[j] = -twin_entry(t, i, j, Real(0)) * inverse; });
  let_wait(g, t, c, -1, inverse);
  flip_column(g, t, i);
}

}  // namespace stickslip::kernels::inline SS_ISA
