// Dense LU with row-scaled partial pivoting, right-hand side included, four columns at a time.
//
// Every entry is computed by the same fma chain as in the plain algorithm, a_ij - l_i0 u_0j - l_i1
// u_1j ..., in the order of the pivots; the panel only combines four of these steps in one pass
// over memory. The panel and the right side are stored as columns, so that work along them is
// contiguous too.
#pragma once
#include "kernels/group/stop.hpp"
#include "kernels/linalg/linear_system.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class T>
SS_HD void exchange(T& a, T& b) {
  const T c = a;
  a = b;
  b = c;
}

/// Chooses the pivot of column k = k0 + q and moves its row to place k. Pivots are compared
/// relative to their row's largest entry, because rows often differ much in size (rolling friction
/// and normals); in float, which is enough for a choice. Ties go to the lowest row. False if the
/// column vanishes.
template <class Real, class G>
SS_HD bool bring_pivot(const G& g, const LinearSystem<Real>& m, int n, int k, int q) {
  const Real *column = m.column(q) + k, *scale = m.scale() + k;
  const auto best = g.argmax(n - k, [&](int i) { return float(abs(column[i]) * scale[i]); });
  if (!(Real(best.value) > m.least_pivot)) return false;
  const int pivot = k + best.index;
  if (pivot == k) return true;
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
  return true;
}

/// Pivot rows of a panel, from its columns on: each minus the pivots above it. Entries left of the
/// pivots are no longer used, so whole registers may overwrite them.
template <class Real, class G>
SS_HD void eliminate_pivot_rows(const G& g, const LinearSystem<Real>& m, int n, int k0) {
  constexpr int C = G::kChunk;
  const int chunk0 = k0 / C;
  g.for_each((n - 1) / C - chunk0 + 1, [&](int c) {
    const int offset = (chunk0 + c) * C;
    Lanes<Real, C> pivot[4];
    unroll<0, 4>([&](auto q) SS_INLINE {
      auto sum = Lanes<Real, C>::all(Real(0));
      if (k0 + q < n) {
        Real* const row = m.row(k0 + q) + offset;
        sum = Lanes<Real, C>::load(row);
        unroll<0, q>([&](auto p) SS_INLINE { sum.add(pivot[p], -m.column(p)[k0 + q]); });
        if (q > 0) sum.store(row);
      }
      pivot[q] = sum;
    });
  });
}

/// Notes which rows below a panel have multipliers, on a GPU also these, with the other sign.
template <class Real, class G>
SS_HD void note_multipliers(const G& g, const LinearSystem<Real>& m, int begin, int n) {
  g.for_each(n - begin, [&](int i) {
    const int row = begin + i;
    bool coupled = false;
    unroll<0, 4>([&](auto q) SS_INLINE {
      const Real multiplier = m.column(q)[row];
      coupled = coupled || multiplier != Real(0);
      if constexpr (kOnGpu) m.below[4 * row + q] = -multiplier;
    });
    m.coupled[row] = coupled ? 1 : 0;
  });
}

/// row += its multipliers, with the other sign, times the pivot rows u.
template <class Real, int C>
SS_HD void eliminate_row(const LinearSystem<Real>& m, int i, const Lanes<Real, C>* u, Real* row) {
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
  sum.store(row);
}

/// Rows below a panel: minus multiplier * pivot row of its four pivots, to the right of them. Each
/// team processes all of its rows of a chunk of columns, so that the pivots stay in registers.
template <class Real, class G>
SS_HD void eliminate_below(const G& g, const LinearSystem<Real>& m, int n, int k0) {
  constexpr int C = G::kChunk;
  const int begin = k0 + LinearSystem<Real>::kPanel, chunk0 = begin / C;
  const int chunks = (n - 1) / C - chunk0 + 1, teams = g.teams(chunks);
  note_multipliers(g, m, begin, n);
  g.for_each_2d(teams, chunks, [&](int team, int c) {
    const int offset = (chunk0 + c) * C;
    Lanes<Real, C> u[4];
    unroll<0, 4>([&](auto q) SS_INLINE { u[q] = Lanes<Real, C>::load(m.row(k0 + q) + offset); });
    SS_ROLLED
    for (int i = begin + team; i < n; i += teams) {
      if (m.coupled[i] != 0) eliminate_row(m, i, u, m.row(i) + offset);
    }
  });
}

/// Column q of the panel at k0: its pivot, its multipliers, and their update of the columns to the
/// right of it. False if it vanishes.
template <int q, class Real, class G>
SS_HD bool factor_column(const G& g, const LinearSystem<Real>& m, int n, int k0) {
  const int k = k0 + q;
  if (k >= n) return true;
  if (!bring_pivot(g, m, n, k, q)) return false;
  constexpr int columns = LinearSystem<Real>::kPanel + 1;
  Real* column[columns];
  Real top[columns];
  for (int p = q; p < columns; ++p) {
    column[p] = m.column(p) + k;
    top[p] = *column[p]++;
  }
  const Real inverse = Real(1) / top[q];
  g.for_each(n - k - 1, [&](int i) {
    const Real multiplier = column[q][i] * inverse;
    column[q][i] = multiplier;
    for (int p = q + 1; p < columns; ++p) column[p][i] = fma(-multiplier, top[p], column[p][i]);
  });
  return true;
}

/// Factors columns k0 ... k0 + 3, below and to the right of them.
template <class Real, class G>
SS_HD bool factor_panel(const G& g, const LinearSystem<Real>& m, int n, int k0) {
  g.for_each(n - k0, [&](int i) {
    for (int q = 0; q < 4; ++q) {
      m.column(q)[k0 + i] = k0 + q < n ? m.row(k0 + i)[k0 + q] : Real(0);
    }
  });
  if (!factor_column<0>(g, m, n, k0) || !factor_column<1>(g, m, n, k0) ||
      !factor_column<2>(g, m, n, k0) || !factor_column<3>(g, m, n, k0)) {
    return false;
  }
  eliminate_pivot_rows(g, m, n, k0);
  if (k0 + 4 < n) eliminate_below(g, m, n, k0);
  return true;
}

/// 1 / largest entry of each row.
template <class Real, class G>
SS_HD void scale_rows(const G& g, const LinearSystem<Real>& m, int n) {
  constexpr int C = G::kChunk;
  g.for_each(n, [&](int i) {
    auto largest = Lanes<Real, C>::all(Real(0));
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

/// Keeps the multipliers of a panel.
template <class Real, class G>
SS_HD void keep_multipliers(const G& g, const LinearSystem<Real>& m, int n, int k0) {
  g.for_each_2d(min(4, n - k0), n, [&](int q, int i) {
    const bool below = i > k0 + q;
    if constexpr (kOnGpu) {
      if (below) m.row(i)[k0 + q] = m.column(q)[i];
    } else {
      m.lower[std::int64_t(k0 + q) * m.ld + m.origin[i]] = below ? m.column(q)[i] : Real(0);
    }
  });
}

/// A = L U in place. False if a pivot vanishes, or if the work must end: a large matrix takes
/// longer than a caller may wait.
template <class Real, class G>
SS_HD bool factor_lu(const G& g, const LinearSystem<Real>& m, int n) {
  scale_rows(g, m, n);
  if (m.keeps()) {
    g.for_each(n, [&](int i) { m.origin[i] = i; });
    g.once([&] { *m.odd = 0; });
  }
  for (int k0 = 0; k0 < n; k0 += 4) {
    if (k0 % 64 == 0 && stopped(g)) return false;
    if (!factor_panel(g, m, n, k0)) return false;
    if (m.keeps()) keep_multipliers(g, m, n, k0);
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
