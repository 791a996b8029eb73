// Symmetric matrices H = M + sum J_i^T S J_i whose rows J_i touch several branches of a kinematic
// tree. Leaf-first elimination fills H in along the paths to the root of its elimination tree (Liu
// 1990): the kinematic tree with branches joined where a row touches them. A row of H is stored for
// its whole path and padded to whole vector registers; the padding is never read.
#pragma once
#include "kernels/group/arena.hpp"
#include "kernels/linalg/ltdl.hpp"

namespace stickslip::kernels::inline SS_ISA {

inline constexpr int kPathPad = 8;
SS_HD int path_padded(int n) { return (n + kPathPad - 1) / kPathPad * kPathPad; }

struct PathMatrix {
  std::int32_t *parent, *row_nnz, *row_adr, *col;  ///< as TreeSparsity, rows padded
  double *H, *D_inv;
  int n;

  SS_HD PathMatrix(Arena& arena, int nv)
      : parent(arena.take<std::int32_t>(nv)),
        row_nnz(arena.take<std::int32_t>(nv)),
        row_adr(arena.take<std::int32_t>(nv)),
        col(arena.take<std::int32_t>(std::size_t(nv) * path_padded(nv))),
        H(arena.take<double>(std::size_t(nv) * path_padded(nv))),
        D_inv(arena.take<double>(nv)),
        n(nv) {}

  SS_HD TreeSparsity sparsity() const { return {n, row_nnz, row_adr, col}; }
  SS_HD const std::int32_t* path(int k) const { return col + row_adr[k]; }
  SS_HD double* row(int k) const { return H + row_adr[k]; }
  /// Place of a degree of freedom on every path that contains it.
  SS_HD int place(int k) const { return row_nnz[k] - 1; }
};

/// Makes `low` an ancestor of `high` > low; the ancestors of both stay ancestors of `high`.
SS_HD void tie(std::int32_t* parent, int high, int low) {
  while (low >= 0 && parent[high] != low) {
    if (parent[high] > low) {
      high = parent[high];
    } else {
      const int next = parent[high];
      parent[high] = low;
      high = low;
      low = next;
    }
  }
}

/// Places all degrees of freedom that rows [begin, end) of J touch on one path to the root.
SS_HD void tie_rows(const SparseMechanism& m, int begin, int end, std::int32_t* parent) {
  int last = -1;
  for (int i = begin; i < end; ++i) {
    const int first = m.J_row[i], stop = m.J_row[i + 1];
    for (int c = stop - 1; c > first; --c) tie(parent, m.J_col[c], m.J_col[c - 1]);
    if (first == stop) continue;
    const int here = m.J_col[stop - 1];
    if (last >= 0 && last != here) tie(parent, max(last, here), min(last, here));
    last = last > here ? last : here;
  }
}

/// Builds the paths from `parent`.
SS_HD void lay_out_paths(const PathMatrix& a) {
  int next = 0;
  for (int i = 0; i < a.n; ++i) {
    const int parent = a.parent[i], above = parent < 0 ? 0 : a.row_nnz[parent];
    a.row_adr[i] = next;
    for (int c = 0; c < above; ++c) a.col[next + c] = a.col[a.row_adr[parent] + c];
    a.col[next + above] = i;
    a.row_nnz[i] = above + 1;
    next += path_padded(above + 1);
  }
}

/// H = M.
template <class G>
SS_HD void copy_mass(const G& g, const SparseMechanism& m, const PathMatrix& a) {
  g.for_each(a.n, [&](int i) {
    const int count = m.tree.row_nnz[i], width = a.row_nnz[i];
    const double* from = m.M + m.tree.row_adr[i];
    const std::int32_t* col = m.tree.col + m.tree.row_adr[i];
    double* to = a.row(i);
    if (count == width) {  // the same path
      for (int c = 0; c < count; ++c) to[c] = from[c];
      return;
    }
    for (int c = 0; c < width; ++c) to[c] = 0.0;
    for (int c = 0; c < count; ++c) to[a.place(col[c])] = from[c];
  });
}

/// H += sum over j < dim of v_j v_j^T. Each v_j is stored along the path of `deepest`; they lie
/// `ld` apart and are padded with zeros.
template <int dim, class G>
SS_HD void add_outer_products(const G& g, const PathMatrix& a, int deepest, const double* v,
                              int ld) {
  constexpr int C = min(G::kChunk, kPathPad);
  const std::int32_t* path = a.path(deepest);
  g.for_each(a.row_nnz[deepest], [&](int r) {
    double* row = a.row(path[r]);
    for (int c = 0; c <= r; c += C) {
      auto sum = Lanes<double, C>::load(row + c);
      for (int j = 0; j < dim; ++j) {
        sum.add(Lanes<double, C>::load(v + std::int64_t(j) * ld + c), v[std::int64_t(j) * ld + r]);
      }
      sum.store(row + c);
    }
  });
}

/// H = L^T D L in place. False unless positive definite.
template <class G>
SS_HD bool factor_paths(const G& g, const PathMatrix& a) {
  return factor_ltdl<min(G::kChunk, kPathPad)>(g, a.sparsity(), a.H, a.D_inv);
}

}  // namespace stickslip::kernels::inline SS_ISA
