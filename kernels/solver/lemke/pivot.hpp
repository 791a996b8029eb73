// One pivot of the tableau, and the exchange of a stored direction with its twin.
//
// A pivot adds a column times a row of factors to the whole tableau. It is applied immediately to
// the parts that the next pivot reads (its row, its column, the right-hand side). The update of the
// rest is deferred, so that one pass over memory applies several. Every entry is computed by the
// same chain of fused multiply-adds.
#pragma once
#include "kernels/solver/lemke/shares.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// to <- column j with all updates.
template <class Real, class G>
SS_PART void read_column(const G& g, const PyramidTableau<Real>& t, int j, Real* to) {
  constexpr int C = G::kChunk;
  const Shares<Real> shares(t, j);
  const Real* from = t.column(j);
  g.for_each(t.chunks(g),
             [=](int chunk) { shares.template sum<C>(from, chunk * C).store(to + chunk * C); });
}

/// Applies the deferred updates to column j.
template <class Real, class G>
SS_HD void settle_column(const G& g, const PyramidTableau<Real>& t, int j) {
  read_column(g, t, j, t.column(j));
  g.once([&] { release_column(t, j); });
}

/// values_j <- finish(entry j of row r with all updates).
template <class Real, class G, class F>
SS_PART void read_row(const G& g, const PyramidTableau<Real>& t, int r, Real* values, F&& finish) {
  const RowShares<Real> shares(t, r);
  g.for_each(t.m + 2, [&](int j) { values[j] = t.column(j)[r]; });
  for_chunks(g, t.m + 2, [&](int j) { values[j] = finish(shares.sum(t, j, values[j])); });
}

/// Writes row r, which then has all updates.
template <class Real, class G>
SS_PART void write_row(const G& g, const PyramidTableau<Real>& t, int r, const Real* values) {
  g.for_each(t.m + 2, [&](int j) { t.column(j)[r] = values[j]; });
  g.once([&] { release_row(t, r); });
}

/// Applies the deferred updates to row r. On a CPU `room` serves as memory, because it is rewritten
/// before it is read; `key` could not: its padding between rows and twins must stay 0.
template <class Real, class G>
SS_HD void settle_row(const G& g, const PyramidTableau<Real>& t, int r) {
  if (t.pending == 0) return;
  if constexpr (G::kChunk > 1) {
    read_row(g, t, r, t.room, [](Real value) { return value; });
    write_row(g, t, r, t.room);
  } else {
    const RowShares<Real> shares(t, r);
    g.for_each(t.m + 2, [&](int j) {
      Real& entry = t.column(j)[r];
      entry = shares.sum(t, j, entry);
      if (j == 0) release_row(t, r);
    });
  }
}

/// Applies all `pending` deferred updates. A lane that has single rows keeps what two of them have
/// of the deferred columns, and processes its team's columns; other lanes process whole columns.
template <class Real, class G>
SS_PART void settle_all(const G& g, PyramidTableau<Real>& t, int pending) {
  constexpr int C = G::kChunk, kPending = PyramidTableau<Real>::kPending;
  if constexpr (C > 1) {
    g.for_each(t.m + 2, [&](int j) {
      const Shares<Real> shares(t, j, pending);
      if (shares.nothing()) return;
      Real* const column = t.column(j);
      const int rows = t.m;
      for (int i = 0; i < rows; i += C) shares.template sum<C>(column, i).store(column + i);
    });
  } else {
    const int half = t.m / 2, teams = g.teams(half), columns = t.m + 2;
    g.for_each_2d(teams, half, [&](int team, int i) {
      Real upper[kPending], lower[kPending];
#pragma GCC unroll 8
      for (int q = 0; q < kPending; ++q) {
        upper[q] = t.waiting(q)[i];
        lower[q] = t.waiting(q)[half + i];
      }
      auto at = typename PyramidTableau<Real>::Offset(team) * t.ld + i;
      SS_ROLLED
      for (int j = team; j < columns; j += teams, at += teams * t.ld) {
        const Shares<Real> shares(t, j, pending);
        if (shares.nothing()) continue;
        Real above = t.T[at], below = t.T[at + half];
#pragma GCC unroll 8
        for (int q = 0; q < kPending; ++q) {
          above = fma(upper[q], shares.f[q], above);
          below = fma(lower[q], shares.f[q], below);
        }
        t.T[at] = above;
        t.T[at + half] = below;
      }
    });
  }
  t.pending = 0;
}

/// The variables of row r and of column c exchange places.
template <class Real>
SS_HD void exchange_variables(const PyramidTableau<Real>& t, int r, int c) {
  const int leaving = t.row_var[r], enters = t.col_var[c];
  t.row_var[r] = enters;
  t.place[enters] = r;
  t.col_var[c] = leaving;
  t.place[leaving] = ~c;
}

/// Defers the update given by the entering column and its factors, except for column c, the
/// right-hand side and (if >= 0) row r, which gets the factors.
template <class Real, class G>
SS_PART void let_wait(const G& g, PyramidTableau<Real>& t, int c, int r, Real inverse) {
  Real *entering = t.entering(), *column = t.column(c), *right = t.right();
  const auto factor = t.factor(t.pending);
  const Real f = factor[t.m + 1];
  for_rows(g, t, [&](int i) {
    column[i] = entering[i] * inverse;
    right[i] = fma(entering[i], f, right[i]);
  });
  g.once([&] {
    release_column(t, c);
    factor[c] = factor[t.m + 1] = Real(0);
    if (r < 0) return;
    column[r] = inverse;
    right[r] = f;
    entering[r] = Real(0);
  });
  if (++t.pending == t.kPending) settle_all(g, t, t.kPending);
}

/// The same after a row's own update, where lanes have single rows: row r becomes the factors in
/// one pass, and the lane that has row r exchanges the variables.
template <class Real, class G>
SS_PART void pivot_by_lanes(const G& g, PyramidTableau<Real>& t, int r, int c, Real inverse) {
  Real *entering = t.entering(), *column = t.column(c), *right = t.right();
  const auto factor = t.factor(t.pending);
  const RowShares<Real> shares(t, r);
  const auto finish = [=](Real value) { return -value * inverse; };
  const Real f = finish(shares.sum_right(right[r]));
  g.for_each(t.m, [&](int k) {  // all but column c and the right-hand side
    const int j = k + (k < c ? 0 : 1);
    Real& entry = t.column(j)[r];
    entry = factor[j] = finish(shares.sum(t, j, entry));
  });
  g.for_each(t.m, [&](int i) {
    const Real value = entering[i];
    if (i != r) {
      column[i] = value * inverse;
      right[i] = fma(value, f, right[i]);
      return;
    }
    column[r] = inverse;
    right[r] = f;
    entering[r] = factor[c] = Real(0);
    release_column(t, c);
    release_row(t, r);
    exchange_variables(t, r, c);
  });
  if (++t.pending == t.kPending) settle_all(g, t, t.kPending);
}

/// The variable of column c, which is up to date in `entering`, enters the basis; the variable of
/// row r leaves it.
template <class Real, class G>
SS_HD void pivot(const G& g, PyramidTableau<Real>& t, int r, int c) {
  const Real inverse = Real(1) / t.entering()[r];
  if constexpr (G::kChunk > 1) {
    Real* factor = t.factor(t.pending);
    read_row(g, t, r, factor, [=](Real value) { return -value * inverse; });
    write_row(g, t, r, factor);
    let_wait(g, t, c, r, inverse);
    g.once([&] { exchange_variables(t, r, c); });
  } else {
    pivot_by_lanes(g, t, r, c, inverse);
  }
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
  const auto factor = t.factor(t.pending);
  g.for_each(t.m + 2, [&](int j) { factor[j] = -twin_entry(t, i, j, Real(0)) * inverse; });
  let_wait(g, t, c, -1, inverse);
  flip_column(g, t, i);
}

}  // namespace stickslip::kernels::inline SS_ISA
