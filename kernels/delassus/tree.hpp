// W = J M^-1 J^T of a mechanism given in sparse form (stickslip/sparse_mechanism.hpp):
//
//   M = L^T D L,    X = D^-1/2 L^-T J^T,    W = X^T X
//
// A column of X is non-zero only on the degrees of freedom that its row of J touches and on their
// ancestors: one number for the dry friction of a root joint, a dozen for the foot of a humanoid.
#pragma once
#include "kernels/group/arena.hpp"
#include "kernels/group/lanes.hpp"
#include "kernels/linalg/ltdl.hpp"
#include "kernels/linalg/matvec.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// From one row of X to the next: whole runs of columns, on a GPU too.
SS_HD int tree_columns(int rows) { return (rows + 15) / 16 * 16; }

/// X by rows, and which runs of columns have non-zero entries in each row.
struct TreeScratch {
  double* X;               ///< [nv][tree_columns(rows)]
  double* root;            ///< [nv] D^-1/2
  std::uint64_t* touched;  ///< [nv] bit c: run c of row k is not all zero
  std::int32_t* path;      ///< [rows] non-zero only on this dof and its ancestors; -1: on more

  SS_HD TreeScratch(Arena& arena, int nv, int max_rows)
      : X(arena.take<double>(std::size_t(nv) * tree_columns(max_rows))),
        root(arena.take<double>(nv)),
        touched(arena.take<std::uint64_t>(nv)),
        path(arena.take<std::int32_t>(max_rows)) {}
  SS_HD static std::size_t bytes(int nv, int max_rows) {
    Arena arena(nullptr);
    TreeScratch(arena, nv, max_rows);
    return arena.used();
  }
};

inline constexpr int kRun = 8;  ///< a vector register
/// Columns of one run: whole registers, and at most 64 runs (one bit of a word for each).
SS_HD int run_length(int ld) { return kRun * ((ld / kRun + 63) / 64); }

/// The degree of freedom such that row i of J touches only it and its ancestors; -1: there is none.
SS_HD int path_of(const SparseMechanism& m, int i) {
  const int begin = m.J_row[i], end = m.J_row[i + 1];
  if (begin == end) return -1;
  const int last = m.J_col[end - 1], depth = m.tree.row_nnz[last];
  const std::int32_t* path = m.tree.col + m.tree.row_adr[last];
  for (int c = begin; c < end; ++c) {
    const int place = m.tree.row_nnz[m.J_col[c]] - 1;
    if (place >= depth || path[place] != m.J_col[c]) return -1;
  }
  return last;
}

/// Fills X with J^T and records its zeros.
template <class G>
SS_HD void spread_rows(const G& g, const SparseMechanism& m, int ld, const TreeScratch& s) {
  const int run = run_length(ld);
  g.for_each(m.tree.n * ld, [&](int i) { s.X[i] = 0.0; });
  g.for_each(m.tree.n, [&](int k) { s.touched[k] = 0; });
  g.for_each(m.rows, [&](int i) {
    s.path[i] = path_of(m, i);
    for (int c = m.J_row[i]; c < m.J_row[i + 1]; ++c) {
      s.X[std::int64_t(m.J_col[c]) * ld + i] = m.J[c];
    }
  });
  g.once([&] {
    for (int i = 0; i < m.rows; ++i) {
      for (int c = m.J_row[i]; c < m.J_row[i + 1]; ++c) {
        s.touched[m.J_col[c]] |= std::uint64_t(1) << (i / run);
      }
    }
    for (int k = m.tree.n - 1; k >= 0; --k) {
      const int next = parent(m.tree, k);
      if (next >= 0) s.touched[next] |= s.touched[k];
    }
  });
}

/// X = D^-1/2 L^-T J^T, all columns together.
template <class G>
SS_HD void half_solve(const G& g, const SparseMechanism& m, int ld, const TreeScratch& s) {
  constexpr int C = min(G::kChunk, kRun);
  const int run = run_length(ld);
  spread_rows(g, m, ld, s);
  g.for_each(m.tree.n, [&](int k) { s.root[k] = sqrt(m.D_inv[k]); });
  for (int i = m.tree.n - 1; i >= 0; --i) {
    const int start = m.tree.row_adr[i];
    double* row = s.X + std::int64_t(i) * ld;
    for (int first = 0, c = 0; first < ld; first += run, ++c) {
      if (!(s.touched[i] >> c & 1)) continue;
      const int width = min(run, ld - first);
      for (int j = first; j < first + width; j += kRun) {
        g.for_each_2d(m.tree.row_nnz[i] - 1, kRun / C, [&](int a, int l) {
          double* target = s.X + std::int64_t(m.tree.col[start + a]) * ld + j + l * C;
          auto sum = Lanes<double, C>::load(target);
          sum.add(Lanes<double, C>::load(row + j + l * C), -m.L[start + a]);
          sum.store(target);
        });
      }
      const double root = s.root[i];
      g.for_each(width, [&](int j) { row[first + j] *= root; });
    }
  }
}

/// Row i of W in `count` chunks of columns from j0 on.
template <int count, int C>
SS_HD void gram_row(const SparseMechanism& m, int ld, const TreeScratch& s, int i, int j0,
                    double* out) {
  const int path = s.path[i];
  const std::int32_t* dofs = path < 0 ? nullptr : m.tree.col + m.tree.row_adr[path];
  const int length = path < 0 ? m.tree.n : m.tree.row_nnz[path];
  Lanes<double, C> sum[count];
  for (int b = 0; b < count; ++b) sum[b] = Lanes<double, C>::all(0.0);
  for (int c = 0; c < length; ++c) {
    const double* row = s.X + std::int64_t(dofs == nullptr ? c : dofs[c]) * ld;
    if (row[i] == 0.0) continue;
    for (int b = 0; b < count; ++b) {
      sum[b].add(Lanes<double, C>::load(row + j0 + b * C), row[i]);
    }
  }
  const int n = m.rows - j0;
  for (int b = 0; b < count; ++b) {
    if ((b + 1) * C <= n) {
      sum[b].store(out + j0 + b * C);
      continue;
    }
    double entry[C];
    sum[b].store(entry);
    for (int l = 0; b * C + l < n; ++l) out[j0 + b * C + l] = entry[l];
  }
}

/// W = X^T X: one fma chain per entry, from the root to the leaves over the degrees of freedom on
/// which row i is non-zero. Those where row j is zero add exact zeros, so W is exactly symmetric.
template <class G>
SS_HD void gram_matrix(const G& g, const SparseMechanism& m, int ld, const TreeScratch& s,
                       double* W, int ld_W) {
  constexpr int C = G::kChunk, kMost = 4;  // chunks whose sums fit the vector registers
  const int chunks = (m.rows + C - 1) / C;
  g.for_each_2d(m.rows, (chunks + kMost - 1) / kMost, [&](int i, int part) {
    const int j0 = part * kMost * C, left = chunks - part * kMost;
    double* out = W + std::int64_t(i) * ld_W;
    if (left == 1) return gram_row<1, C>(m, ld, s, i, j0, out);
    if (left == 2) return gram_row<2, C>(m, ld, s, i, j0, out);
    if (left == 3) return gram_row<3, C>(m, ld, s, i, j0, out);
    gram_row<4, C>(m, ld, s, i, j0, out);
  });
}

/// The diagonal of W, [padded(n)].
template <class G>
SS_HD void gram_diagonal(const G& g, const SparseMechanism& m, int ld, const TreeScratch& s,
                         double* diagonal) {
  constexpr int C = min(G::kChunk, kRun);
  const int run = run_length(ld);
  g.for_each((m.rows + C - 1) / C, [&](int chunk) {
    double sum[C] = {};
    for (int k = 0; k < m.tree.n; ++k) {
      if (!(s.touched[k] >> (chunk * C / run) & 1)) continue;
      const double* row = s.X + std::int64_t(k) * ld + chunk * C;
      for (int l = 0; l < C; ++l) sum[l] = fma(row[l], row[l], sum[l]);
    }
    for (int l = 0; l < C; ++l) diagonal[chunk * C + l] = sum[l];
  });
}

template <class G>
SS_HD void form_delassus(const G& g, const SparseMechanism& m, double* W, int ld_W,
                         const TreeScratch& scratch) {
  const int ld = tree_columns(m.rows);
  half_solve(g, m, ld, scratch);
  gram_matrix(g, m, ld, scratch, W, ld_W);
}

}  // namespace stickslip::kernels::inline SS_ISA
