// An engine's mechanism becomes a SparseMechanism in double, in the scratch of its environment.
#pragma once
#include "kernels/delassus/mechanism_view.hpp"
#include "kernels/linalg/ltdl.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// A SparseMechanism in memory of its own. M of `nv` degrees of freedom has at most nv (nv + 1) / 2
/// values.
struct SparseScratch {
  double *M, *L;
  double* D_inv;        ///< [nv]
  std::int32_t* J_row;  ///< [max_rows + 1]
  std::int32_t* J_col;  ///< [max_rows nv]
  double* J;            ///< [max_rows nv]

  SS_HD SparseScratch(Arena& arena, int nv, int max_rows)
      : M(arena.take<double>(std::size_t(nv) * (std::size_t(nv) + 1) / 2)),
        L(arena.take<double>(std::size_t(nv) * (std::size_t(nv) + 1) / 2)),
        D_inv(arena.take<double>(nv)),
        J_row(arena.take<std::int32_t>(std::size_t(max_rows) + 1)),
        J_col(arena.take<std::int32_t>(std::size_t(max_rows) * nv)),
        J(arena.take<double>(std::size_t(max_rows) * nv)) {}
};

/// Whether M follows a kinematic tree: each row lies behind the one before it, and has the columns
/// of its parent's row and the diagonal. All indices must be in range.
template <class G>
SS_HD bool is_tree(const G& g, const TreeSparsity& t) {
  return !g.any(t.n, [&](int i) {
    const int above = t.row_nnz[i] - 1;
    const std::int32_t* path = t.col + t.row_adr[i];
    if (above < 0 || path[above] != i) return true;
    if (i > 0 && t.row_adr[i] < t.row_adr[i - 1] + t.row_nnz[i - 1]) return true;
    if (above == 0) return false;
    const int next = path[above - 1];
    if (t.row_nnz[next] != above) return true;
    for (int c = 0; c < above; ++c) {
      if (t.col[t.row_adr[next] + c] != path[c]) return true;
    }
    return false;
  });
}

/// Calls f(column, value) for what row i of the problem has in J: what compressed rows store, or
/// what is not zero in dense ones.
template <class F>
SS_HD void for_entries(const EngineView& e, int nv, int i, F&& f) {
  const int row = e.row(i), count = e.is_compressed() ? e.nnz[row] : nv;
  const std::int64_t first = e.is_compressed() ? e.adr[row] : std::int64_t(row) * e.ld_J;
  for (int c = 0; c < count; ++c) {
    const auto value = double(e.J[first + c]);
    if (e.is_compressed() || value != 0.0) f(e.is_compressed() ? e.col[first + c] : c, value);
  }
}

/// Copies the first n rows of J, sorted by columns: engines store them in any order. False if a row
/// has a column twice.
template <class G>
SS_HD bool widen_rows(const G& g, const EngineView& e, int nv, int n, const SparseScratch& s) {
  if (e.is_compressed() && g.any(n, [&](int i) { return e.nnz[e.row(i)] > nv; })) return false;
  g.for_each(n, [&](int i) {
    int count = 0;
    for_entries(e, nv, i, [&](int, double) { ++count; });
    s.J_row[i + 1] = count;
  });
  g.once([&] {
    s.J_row[0] = 0;
    for (int i = 0; i < n; ++i) s.J_row[i + 1] += s.J_row[i];
  });
  g.for_each(n, [&](int i) {
    int end = s.J_row[i];
    for_entries(e, nv, i, [&](int column, double value) {
      int at = end++;
      for (; at > s.J_row[i] && s.J_col[at - 1] > column; --at) {
        s.J_col[at] = s.J_col[at - 1];
        s.J[at] = s.J[at - 1];
      }
      s.J_col[at] = column;
      s.J[at] = value;
    });
  });
  return !g.any(n, [&](int i) {
    for (int c = s.J_row[i] + 1; c < s.J_row[i + 1]; ++c) {
      if (s.J_col[c] == s.J_col[c - 1]) return true;
    }
    return false;
  });
}

/// Makes `m` of M, factorised here, and of the first n rows of J. False unless indices are in
/// range, M follows a tree and is positive definite, and rows of J have no column twice.
template <class G>
SS_HD bool widen_mechanism(const G& g, const EngineView& e, int nv, int n, const SparseScratch& s,
                           SparseMechanism& m) {
  if (!indices_are_valid(g, e, nv, n) || !is_tree(g, e.tree)) return false;
  g.for_each(e.M_size, [&](int c) { s.M[c] = s.L[c] = double(e.M[c]); });
  if (!factor_ltdl(g, e.tree, s.L, s.D_inv)) return false;
  if (!widen_rows(g, e, nv, n, s)) return false;
  m = {e.tree, s.M, s.L, s.D_inv, n, s.J_row, s.J_col, s.J};
  return true;
}

}  // namespace stickslip::kernels::inline SS_ISA
