// One panel of an LU factorisation (lu.hpp): four columns, their pivots and multipliers, and what
// they change to the right of them.
#pragma once
#include "kernels/linalg/linear_system.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class T>
SS_HD void exchange(T& a, T& b) {
  const T c = a;
  a = b;
  b = c;
}

/// next(i) for the rows k + i, which returns their entries in a column; then the largest of these
/// relative to its row. A GPU does both in one pass. Pivots are compared relative to their row's
/// largest entry, because rows often differ much in size (rolling friction and normals); in float,
/// which is enough for a choice. Ties go to the lowest row.
template <class Real, class G, class F>
SS_HD auto find_pivot(const G& g, const LinearSystem<Real>& m, int n, int k, int q, F&& next) {
  const Real *const scale = m.scale() + k, *const column = m.column(q) + k;
  if constexpr (kOnGpu) {
    return g.argmax(n - k, [&](int i) SS_INLINE { return float(abs(next(i)) * scale[i]); });
  } else {
    g.for_each(n - k, next);
    return g.argmax(n - k, [&](int i) { return float(abs(column[i]) * scale[i]); });
  }
}

/// Exchanges two rows.
template <class Real, class G>
SS_HD void exchange_rows(const G& g, const LinearSystem<Real>& m, int k, int pivot) {
  g.for_each(LinearSystem<Real>::kColumns + 1, [&](int p) {
    if (p < LinearSystem<Real>::kColumns) {
      exchange(m.column(p)[pivot], m.column(p)[k]);
      return;
    }
    exchange(m.begin[pivot], m.begin[k]);
    if (m.keeps()) {
      exchange(m.origin[pivot], m.origin[k]);
      *m.odd ^= 1;
    }
  });
}

/// Pivot rows of a panel, from its columns on: each minus the pivots above it. Entries left of the
/// pivots are no longer used, so whole registers may overwrite them.
template <class Real, class G>
SS_HD void eliminate_pivot_rows(const G& g, const LinearSystem<Real>& m, int n, int k0) {
  constexpr int C = G::kChunk;
  const int chunk0 = k0 / C;
  g.for_each((n - 1) / C - chunk0 + 1, [&](int c) {
    const int offset = (chunk0 + c) * C;
    Lanes<Real, C> pivot[4];  // all are read before any is written: what is written might be read
    Real* row[4] = {};
    unroll<0, 4>([&](auto q) SS_INLINE {
      pivot[q] = Lanes<Real, C>::all(Real(0));
      if (k0 + q >= n) return;
      row[q] = m.row(k0 + q) + offset;
      pivot[q] = Lanes<Real, C>::load(row[q]);
    });
    unroll<1, 4>([&](auto q) SS_INLINE {
      if (k0 + q >= n) return;
      unroll<0, q>([&](auto p) SS_INLINE { pivot[q].add(pivot[p], -m.column(p)[k0 + q]); });
    });
    unroll<1, 4>([&](auto q) SS_INLINE {
      if (k0 + q < n) pivot[q].store(row[q]);
    });
  });
}

/// Notes which rows from a panel on have multipliers; on a GPU also these, with the other sign, and
/// keeps them.
template <class Real, class G>
SS_HD void note_multipliers(const G& g, const LinearSystem<Real>& m, int n, int k0) {
  g.for_each(n - k0, [&](int i) {
    const int row = k0 + i;
    Real multiplier[4];  // all are read before any is written: what is written might be read
    bool coupled = false;
    unroll<0, 4>([&](auto q) SS_INLINE { multiplier[q] = m.column(q)[row]; });
    unroll<0, 4>([&](auto q) SS_INLINE {
      coupled = coupled || multiplier[q] != Real(0);
      if constexpr (kOnGpu) m.below[4 * row + q] = -multiplier[q];
    });
    m.coupled[row] = coupled ? 1 : 0;
    if constexpr (kOnGpu) {
      if (!m.keeps()) return;
      Real* const place = m.row(row) + k0;
      unroll<0, 4>([&](auto q) SS_INLINE {
        if (i > q) place[q] = multiplier[q];
      });
    }
  });
}

/// Row i of a run of columns plus its multipliers, with the other sign, times the pivot rows u.
template <class Real, int C>
SS_HD Lanes<Real, C> eliminated(const LinearSystem<Real>& m, int i, const Lanes<Real, C>* u,
                                const Real* row) {
  auto sum = Lanes<Real, C>::load(row);
  if constexpr (kOnGpu) {
    const auto first = pair_at(m.below + 4 * i), second = pair_at(m.below + 4 * i + 2);
    sum.add(u[0], first.first);
    sum.add(u[1], first.second);
    sum.add(u[2], second.first);
    sum.add(u[3], second.second);
  } else {
    unroll<0, 4>([&](auto q) SS_INLINE { sum.add(u[q], -m.column(q)[i]); });
  }
  return sum;
}

/// The same for the rows i and i + step that have multipliers, at once: a GPU waits for the memory
/// of both together.
template <class Real, int C>
SS_HD void eliminate_two(const LinearSystem<Real>& m, int n, int i, int step, int offset,
                         const Lanes<Real, C>* u) {
  const int other = i + step < n ? i + step : i;
  Real *const first = m.row(i) + offset, *const second = m.row(other) + offset;
  const auto a = eliminated(m, i, u, first), b = eliminated(m, other, u, second);
  if (m.coupled[i] != 0) a.store(first);
  if (other != i && m.coupled[other] != 0) b.store(second);
}

/// Rows below a panel: minus multiplier * pivot row of its four pivots, to the right of them. Each
/// team processes all of its rows of a chunk of columns, so that the pivots stay in registers.
template <class Real, class G>
SS_HD void eliminate_below(const G& g, const LinearSystem<Real>& m, int n, int k0) {
  constexpr int C = G::kChunk;
  const int begin = k0 + LinearSystem<Real>::kPanel, chunk0 = begin / C;
  const int chunks = (n - 1) / C - chunk0 + 1, teams = g.teams(chunks);
  g.for_each_2d(teams, chunks, [&](int team, int c) {
    const int offset = (chunk0 + c) * C;
    Lanes<Real, C> u[4];
    unroll<0, 4>([&](auto q) SS_INLINE { u[q] = Lanes<Real, C>::load(m.row(k0 + q) + offset); });
    if constexpr (kOnGpu) {
      SS_ROLLED
      for (int i = begin + team; i < n; i += 2 * teams) eliminate_two(m, n, i, teams, offset, u);
    } else {
      for (int i = begin + team; i < n; i += teams) {
        if (m.coupled[i] != 0) eliminated(m, i, u, m.row(i) + offset).store(m.row(i) + offset);
      }
    }
  });
}

/// Column q of the panel at k0, whose pivot is `best` of the rows from there on: its multipliers,
/// their update of the columns to the right of it, and the pivot of the next one. False if it
/// vanishes.
template <class Real, class G, class Q>
SS_HD bool factor_column(const G& g, const LinearSystem<Real>& m, int n, int k0, Q q,
                         Largest<float>& best) {
  constexpr int right = LinearSystem<Real>::kPanel;  // the right side is one more column
  const int k = k0 + q;
  if (k >= n) return true;
  if (!(Real(best.value) > m.least_pivot)) return false;
  if (k + 1 == n) return true;
  if (best.index > 0) exchange_rows(g, m, k, k + best.index);
  Real* const own = m.column(q) + k;
  Real* const first = m.column(0) + k;
  Real top[right + 1] = {};
  unroll<1, right + 1>([&](auto p) SS_INLINE {
    if (p > q) top[p] = first[p * m.ld];
  });
  const Real inverse = Real(1) / own[0];
  const auto eliminate = [&](int i) SS_INLINE {
    Real* const row = first + 1 + i;
    Real entry[right + 1] = {}, next = Real(0);
    const Real multiplier = own[1 + i] * inverse;
    // All are read before any is written: what is written might be read.
    unroll<1, right + 1>([&](auto p) SS_INLINE {
      if (p > q) entry[p] = row[p * m.ld];
    });
    own[1 + i] = multiplier;
    unroll<1, right + 1>([&](auto p) SS_INLINE {
      if (!(p > q)) return;
      entry[p] = fma(-multiplier, top[p], entry[p]);
      row[p * m.ld] = entry[p];
      if (p == q + 1) next = entry[p];
    });
    return next;
  };
  if (kOnGpu || q + 1 < LinearSystem<Real>::kPanel) {
    best = find_pivot(g, m, n, k + 1, q + 1, eliminate);
  } else {
    g.for_each(n - k - 1, eliminate);
  }
  return true;
}

/// f(q) for the columns of a panel, until one fails. On a GPU a loop that its instruction cache
/// holds; elsewhere q is a constant.
template <class F>
SS_HD bool for_panel(F&& f) {
  if constexpr (kOnGpu) {
    SS_ROLLED
    for (int q = 0; q < 4; ++q) {
      if (!f(q)) return false;
    }
    return true;
  } else {
    bool good = true;
    unroll<0, 4>([&](auto q) SS_INLINE { good = good && f(q); });
    return good;
  }
}

/// Factors columns k0 ... k0 + 3, below and to the right of them.
template <class Real, class G>
SS_HD bool factor_panel(const G& g, const LinearSystem<Real>& m, int n, int k0) {
  Largest<float> best = find_pivot(g, m, n, k0, 0, [&](int i) SS_INLINE {
    Real entry[4];
    const Real* const row = m.row(k0 + i) + k0;
    unroll<0, 4>([&](auto q) SS_INLINE { entry[q] = k0 + q < n ? row[q] : Real(0); });
    unroll<0, 4>([&](auto q) SS_INLINE { m.column(q)[k0 + i] = entry[q]; });
    return entry[0];
  });
  if (!for_panel([&](auto q) SS_INLINE { return factor_column(g, m, n, k0, q, best); })) {
    return false;
  }
  eliminate_pivot_rows(g, m, n, k0);
  if (kOnGpu || k0 + 4 < n) note_multipliers(g, m, n, k0);
  if (k0 + 4 < n) eliminate_below(g, m, n, k0);
  return true;
}

}  // namespace stickslip::kernels::inline SS_ISA
