// Products with the matrices of a mechanism given in sparse form. Every sum is one chain in the
// order of the rows: one lane does scattered additions, or with an index of the columns of J each
// lane those of a degree of freedom; vector registers would not help there.
#pragma once
#include "kernels/linalg/ltdl.hpp"
#include "kernels/linalg/sort_by_key.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Calls take(i, (J x)_i) for every row.
template <class G, class F>
SS_HD void multiply_J(const G& g, const SparseMechanism& m, const double* x, F&& take) {
  g.for_each(m.rows, [&](int i) {
    double sum = 0.0;
    for (int c = m.J_row[i]; c < m.J_row[i + 1]; ++c) sum = fma(m.J[c], x[m.J_col[c]], sum);
    take(i, sum);
  });
}

/// Where the entries of each column of J are; without memory there is no index.
struct ColumnIndex {
  std::int32_t *begin = nullptr, *entry, *row;  ///< [nv + 1], [entries], [entries]
};

/// Makes the index.
template <class G>
SS_HD void list_columns(const G& g, const SparseMechanism& m, const ColumnIndex& columns) {
  g.once([&] {
    int row = 0;
    sort_by_key(
        m.J_row[m.rows], m.tree.n, columns.begin, [&](int c) { return m.J_col[c]; },
        [&](int c, int at) {
          while (c >= m.J_row[row + 1]) ++row;
          columns.entry[at] = c;
          columns.row[at] = row;
        });
  });
}

/// Calls add(k, J_ik, i) for the entries of J, those of a column in the order of the rows, on one
/// lane for each column. Not for rows that are to be skipped.
template <class G, class Skip, class F>
SS_HD void for_columns(const G& g, const SparseMechanism& m, const ColumnIndex& columns,
                       Skip&& skip, F&& add) {
  if (columns.begin != nullptr) {
    g.for_each(m.tree.n, [&](int k) {
      for (int at = columns.begin[k]; at < columns.begin[k + 1]; ++at) {
        const int i = columns.row[at];
        if (!skip(i)) add(k, m.J[columns.entry[at]], i);
      }
    });
    return;
  }
  g.once([&] {
    for (int i = 0; i < m.rows; ++i) {
      if (skip(i)) continue;
      for (int c = m.J_row[i]; c < m.J_row[i + 1]; ++c) add(m.J_col[c], m.J[c], i);
    }
  });
}

/// y += J^T z, z_i given by z(i).
template <class G, class F>
SS_HD void add_J_transposed(const G& g, const SparseMechanism& m, F&& z, double* y,
                            const ColumnIndex& columns = {}) {
  for_columns(
      g, m, columns, [&](int i) { return z(i) == 0.0; },
      [&](int k, double entry, int i) { y[k] = fma(entry, z(i), y[k]); });
}

/// y = M x
template <class G>
SS_HD void multiply_M(const G& g, const SparseMechanism& m, const double* x, double* y) {
  const TreeSparsity& t = m.tree;
  g.once([&] {
    for (int i = 0; i < t.n; ++i) {
      const double value = x[i];
      double sum = 0.0;
      const int end = t.row_adr[i] + t.row_nnz[i] - 1;
      for (int c = t.row_adr[i]; c < end; ++c) {
        const int k = t.col[c];
        sum = fma(m.M[c], x[k], sum);
        y[k] = fma(m.M[c], value, y[k]);
      }
      y[i] = fma(m.M[end], value, sum);
    }
  });
}

/// x = M^-1 J^T r
template <class G>
SS_HD void change_velocity(const G& g, const SparseMechanism& m, const double* r, double* x,
                           const ColumnIndex& columns = {}) {
  g.for_each(m.tree.n, [&](int k) { x[k] = 0.0; });
  add_J_transposed(
      g, m, [&](int i) { return r[i]; }, x, columns);
  solve_ltdl(g, m.tree, m.L, m.D_inv, x);
}

/// The same; calls take(i, (W r)_i) for every row.
template <class G, class F>
SS_HD void multiply_delassus(const G& g, const SparseMechanism& m, const double* r, double* x,
                             F&& take, const ColumnIndex& columns = {}) {
  change_velocity(g, m, r, x, columns);
  multiply_J(g, m, x, take);
}

/// Lists the degrees of freedom that rows [begin, end) of J touch and their ancestors, in
/// decreasing order, so that descendants come first. Returns how many there are.
SS_HD int list_path(const SparseMechanism& m, int begin, int end, std::int32_t* path) {
  const TreeSparsity& t = m.tree;
  int count = 0;
  for (int c = m.J_row[end] - 1; c >= m.J_row[begin]; --c) {
    // Up to the first that is listed: its ancestors are too.
    for (int k = m.J_col[c]; k >= 0; k = parent(t, k)) {
      int at = count;
      while (at > 0 && path[at - 1] < k) --at;
      if (at > 0 && path[at - 1] == k) break;
      for (int j = count++; j > at; --j) path[j] = path[j - 1];
      path[at] = k;
    }
  }
  return count;
}

/// x = L^-T J_i^T on the `count` degrees of freedom of a path that contains those of row i.
SS_HD void half_solve_row(const SparseMechanism& m, int i, int count, const std::int32_t* path,
                          double* x) {
  const TreeSparsity& t = m.tree;
  for (int a = 0; a < count; ++a) x[path[a]] = 0.0;
  for (int c = m.J_row[i]; c < m.J_row[i + 1]; ++c) x[m.J_col[c]] = m.J[c];
  for (int a = 0; a < count; ++a) {
    const int k = path[a];
    for (int c = t.row_adr[k], end = c + t.row_nnz[k] - 1; c < end; ++c) {
      x[t.col[c]] = fma(-m.L[c], x[k], x[t.col[c]]);
    }
  }
}

/// W_ii = |D^-1/2 L^-T J_i^T|^2, along the paths that row i touches. Scratch: x[nv] and path[nv] of
/// each row, `ld` entries apart; 0, for one lane: shared.
template <class G>
SS_HD void delassus_diagonal(const G& g, const SparseMechanism& m, double* diagonal, double* x,
                             std::int32_t* path, int ld) {
  g.for_each(m.rows, [&](int i) {
    double* const own = x + std::int64_t(ld) * i;
    std::int32_t* const its = path + std::int64_t(ld) * i;
    const int count = list_path(m, i, i + 1, its);
    half_solve_row(m, i, count, its, own);
    double sum = 0.0;
    for (int a = 0; a < count; ++a) sum = fma(own[its[a]] * m.D_inv[its[a]], own[its[a]], sum);
    diagonal[i] = sum;
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
