// Dense LU with row-scaled partial pivoting, right-hand side included, four columns at a time.
//
// Every entry is computed by the same fma chain as in the plain algorithm, a_ij - l_i0 u_0j - l_i1
// u_1j ..., in the order of the pivots; the panel only combines four of these steps in one pass
// over memory. The panel and the right side are stored as columns, so that work along them is
// contiguous too.
#pragma once
#include <type_traits>

#include "kernels/group/arena.hpp"
#include "kernels/linalg/matvec.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Dense n x n system. Its rows are padded with zeros to a multiple of 16 columns. Exchanges move
/// the places of rows, never the rows.
template <class Real>
struct LinearSystem {
  static constexpr int kPanel = 4, kColumns = kPanel + 1;
  /// On a GPU an offset, so that the compiler knows the kind of memory.
  using Place = std::conditional_t<kOnGpu, int, Real*>;
  Real* a;       ///< [n][ld] storage of the rows
  int ld;        ///< from one row to the next
  Place* begin;  ///< [n] where each row begins
  Real* scale;   ///< [n] 1 / largest entry of each row
  int* coupled;  ///< [n] whether a row has a multiplier other than 0 in this panel
  Real* panel;   ///< [kColumns][ld] columns below the pivots, then multipliers; right side
  Real least_pivot = Real(1e-30);  ///< relative to its row; smaller ones count as 0
  // After `keep_factors`, for `solve_again`:
  Real* lower = nullptr;  ///< [n][ld] multipliers, column by column, in the original row order
  int* origin = nullptr;  ///< [n] place of each row in the original order
  int* odd = nullptr;     ///< [1] whether the number of exchanges of rows is odd

  SS_HD LinearSystem(Arena& arena, int max_rows)
      : a(arena.take<Real>(std::size_t(max_rows) * leading(max_rows))),
        ld(leading(max_rows)),
        begin(arena.take<Place>(max_rows)),
        scale(arena.take<Real>(max_rows)),
        coupled(arena.take<int>(max_rows)),
        panel(arena.take<Real>(std::size_t(kColumns) * leading(max_rows))) {}
  /// Padded rows; on a GPU an odd number, so that the entries of a column lie in different banks.
  SS_HD static int leading(int max_rows) { return padded(max_rows) + (kOnGpu ? 1 : 0); }
  SS_HD void keep_factors(Arena& arena, int max_rows) {
    lower = arena.take<Real>(std::size_t(max_rows) * leading(max_rows));
    origin = arena.take<int>(max_rows);
    odd = arena.take<int>(1);
  }
  SS_HD Real* row(int i) const {
    if constexpr (kOnGpu) {
      return a + begin[i];
    } else {
      return begin[i];
    }
  }
  /// Row i of the system is row i of the storage.
  SS_HD Real* place_row(int i) const {
    if constexpr (kOnGpu) {
      begin[i] = i * ld;
    } else {
      begin[i] = a + std::int64_t(i) * ld;
    }
    return row(i);
  }
  SS_HD Real* column(int q) const { return panel + std::int64_t(q) * ld; }
  SS_HD Real* right() const { return column(kPanel); }
};

template <class T>
SS_HD void exchange(T& a, T& b) {
  const T c = a;
  a = b;
  b = c;
}

/// Chooses the pivot of column k = k0 + q and moves its row to place k. Pivots are compared
/// relative to their row's largest entry, because rows often differ much in size (rolling friction
/// and normals). Ties go to the lowest row. False if the column vanishes.
template <class Real, class G>
SS_HD bool bring_pivot(const G& g, const LinearSystem<Real>& m, int n, int k, int q) {
  const Real* column = m.column(q);
  const auto best = g.argmax(n - k, [&](int i) { return abs(column[k + i]) * m.scale[k + i]; });
  if (!(best.value > m.least_pivot)) return false;
  const int pivot = k + best.index;
  if (pivot == k) return true;
  g.for_each(LinearSystem<Real>::kColumns + 1, [&](int p) {
    if (p < LinearSystem<Real>::kColumns) {
      exchange(m.column(p)[pivot], m.column(p)[k]);
      return;
    }
    exchange(m.begin[pivot], m.begin[k]);
    exchange(m.scale[pivot], m.scale[k]);
    if (m.lower != nullptr) {
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

/// Rows below a panel: minus multiplier * pivot row of its four pivots, to the right of them. Each
/// team processes all of its rows of a chunk of columns, so that the pivots stay in registers.
template <class Real, class G>
SS_HD void eliminate_below(const G& g, const LinearSystem<Real>& m, int n, int k0) {
  constexpr int C = G::kChunk;
  const int begin = k0 + LinearSystem<Real>::kPanel, chunk0 = begin / C;
  const int chunks = (n - 1) / C - chunk0 + 1, teams = g.teams(chunks);
  g.for_each(n - begin, [&](int i) {
    bool coupled = false;
    for (int q = 0; q < 4; ++q) coupled = coupled || m.column(q)[begin + i] != Real(0);
    m.coupled[begin + i] = coupled ? 1 : 0;
  });
  g.for_each_2d(teams, chunks, [&](int team, int c) {
    const int offset = (chunk0 + c) * C;
    const auto u0 = Lanes<Real, C>::load(m.row(k0) + offset);
    const auto u1 = Lanes<Real, C>::load(m.row(k0 + 1) + offset);
    const auto u2 = Lanes<Real, C>::load(m.row(k0 + 2) + offset);
    const auto u3 = Lanes<Real, C>::load(m.row(k0 + 3) + offset);
    SS_ROLLED
    for (int i = begin + team; i < n; i += teams) {
      if (m.coupled[i] == 0) continue;
      auto sum = Lanes<Real, C>::load(m.row(i) + offset);
      sum.add(u0, -m.column(0)[i]);
      sum.add(u1, -m.column(1)[i]);
      sum.add(u2, -m.column(2)[i]);
      sum.add(u3, -m.column(3)[i]);
      sum.store(m.row(i) + offset);
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
  constexpr int columns = LinearSystem<Real>::kColumns;
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
    m.scale[i] = row_max > Real(0) ? Real(1) / row_max : Real(1);
  });
}

/// Back substitution, on a CPU four unknowns at a time: one fma chain per entry, from the last
/// column on. Every lane computes the unknowns, one stores them.
template <class Real, class G>
SS_HD bool substitute_back(const G& g, const LinearSystem<Real>& m, int n, Real* x) {
  constexpr int kStep = G::kChunk > 1 ? 4 : 1;
  Real* right = m.right();
  for (int k0 = (n - 1) / kStep * kStep; k0 >= 0; k0 -= kStep) {
    const int width = kStep == 1 ? 1 : min(kStep, n - k0);
    Real next[kStep];
    for (int q = width - 1; q >= 0; --q) {
      const Real* row = m.row(k0 + q) + k0;
      Real value = right[k0 + q];
      for (int p = width - 1; p > q; --p) value = fma(-row[p], next[p], value);
      next[q] = value / row[q];
      if (!is_finite(next[q])) return false;
    }
    if constexpr (kStep > 1) {
      g.once([&] {
        for (int q = 0; q < width; ++q) x[k0 + q] = next[q];
      });
    }
    g.for_each(kStep > 1 ? k0 : k0 + 1, [&](int i) {
      if (kStep == 1 && i == k0) {
        x[k0] = next[0];
        return;
      }
      const Real* row = m.row(i) + k0;
      Real value = right[i];
      for (int q = width - 1; q >= 0; --q) value = fma(-row[q], next[q], value);
      right[i] = value;
    });
  }
  return true;
}

/// Keeps the multipliers of a panel.
template <class Real, class G>
SS_HD void keep_multipliers(const G& g, const LinearSystem<Real>& m, int n, int k0) {
  g.for_each_2d(min(4, n - k0), n, [&](int q, int i) {
    m.lower[std::int64_t(k0 + q) * m.ld + m.origin[i]] = i > k0 + q ? m.column(q)[i] : Real(0);
  });
}

/// A = L U in place. False if a pivot vanishes.
template <class Real, class G>
SS_HD bool factor_lu(const G& g, const LinearSystem<Real>& m, int n) {
  scale_rows(g, m, n);
  if (m.lower != nullptr) {
    g.for_each(n, [&](int i) { m.origin[i] = i; });
    g.once([&] { *m.odd = 0; });
  }
  for (int k0 = 0; k0 < n; k0 += 4) {
    if (!factor_panel(g, m, n, k0)) return false;
    if (m.lower != nullptr) keep_multipliers(g, m, n, k0);
  }
  return true;
}

/// The least pivot after `factor_lu`, relative to the largest entry of its row: how nearly A is
/// singular.
template <class Real, class G>
SS_HD Real least_pivot(const G& g, const LinearSystem<Real>& m, int n) {
  return Real(1) / g.max(n, [&](int k) { return Real(1) / (abs(m.row(k)[k]) * m.scale[k]); });
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

/// The same for one more right side, with factors that were kept; it is overwritten.
template <class Real, class G>
SS_HD bool solve_again(const G& g, const LinearSystem<Real>& m, int n, Real* right, Real* x) {
  for (int k = 0; k < n; ++k) {
    const Real value = right[m.origin[k]];
    const Real* column = m.lower + std::int64_t(k) * m.ld;
    g.for_each(n, [&](int i) { right[i] = fma(-column[i], value, right[i]); });
  }
  g.for_each(n, [&](int k) { m.right()[k] = right[m.origin[k]]; });
  return substitute_back(g, m, n, x);
}

}  // namespace stickslip::kernels::inline SS_ISA
