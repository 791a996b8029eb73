// The block-sparse LU of S = M + sum_k J_k^T B_k J_k (block_pattern.hpp), without exchanges of
// rows:
//
//   D(i) = L(i, i) U(i, i),   U(i, j) := L(i, i)^-1 S(i, j),   L^T(i, j) := U(i, i)^-T S(j, i)^T
//   S(j, k) -= L(j, i) U(i, k)   for all nodes j, k after i that i is coupled to
//
// Every entry is one chain of fma in the order of the items and of the eliminated nodes. A CPU
// keeps blocks in vector registers; other groups compute entries. U(i, j) has the opposite sign
// once node i is eliminated, so that updates only add.
#pragma once
#include "kernels/linalg/block_kernel.hpp"
#include "kernels/linalg/find_pattern.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct BlockLu {
  BlockPattern pattern;
  double *M, *inverse;   ///< [dofs][8] the diagonal blocks of M, and their inverses
  bool* block_diagonal;  ///< whether M has no others; else there are no inverses
  double* J;             ///< [dim][8] for each node of each item
  double* S;             ///< the blocks, then their factors
  double *x, *quotient;  ///< [nodes][8] right side and solution; scratch
  double* partial;       ///< [8][8] of one block

  SS_HD BlockLu(Arena& arena, const BlockCapacity& c)
      : pattern(arena, c),
        M(arena.take<double>(std::size_t(kBlockWidth) * c.dofs)),
        inverse(arena.take<double>(std::size_t(kBlockWidth) * c.dofs)),
        block_diagonal(arena.take<bool>(1)),
        J(arena.take<double>(std::size_t(kBlockWidth) * 6 * c.item_nodes)),
        S(arena.take<double>(std::size_t(kBlockWidth) * (c.dofs + 2 * kBlockWidth * c.blocks))),
        x(arena.take<double>(std::size_t(kBlockWidth) * c.nodes)),
        quotient(arena.take<double>(std::size_t(kBlockWidth) * c.nodes)),
        partial(arena.take<double>(kBlockWidth * kBlockWidth)) {}

  SS_HD double* row(int i) const { return S + std::int64_t(kBlockWidth) * i; }
  SS_HD double* diagonal(int node) const { return row(pattern.diagonal[node]); }
  SS_HD double* item(int k) const { return J + std::int64_t(kBlockWidth) * pattern.item_block[k]; }
};

/// The blocks of J, row i times scale(i).
template <class G, class F>
SS_HD void load_item_rows(const G& g, const SparseMechanism& m, F&& scale, const BlockLu& lu) {
  const BlockPattern& p = lu.pattern;
  g.for_each(p.counts->items, [&](int item) {
    const int first = p.item_row[item], dim = p.item_row[item + 1] - first;
    const std::int32_t* node = p.item_node + p.item_begin[item];
    double* blocks = lu.item(item);
    const int size = kBlockWidth * (p.item_block[item + 1] - p.item_block[item]);
    for (int e = 0; e < size; ++e) blocks[e] = 0.0;
    for (int r = 0; r < dim; ++r) {
      const double factor = scale(first + r);
      int start = 0, stop = 0;
      double* to = nullptr;
      for (int c = m.J_row[first + r]; c < m.J_row[first + r + 1]; ++c) {
        const int dof = m.J_col[c];
        if (dof < start || dof >= stop) {
          const int touched = p.node_of[dof];
          int e = 0;
          while (node[e] != touched) ++e;
          start = p.first[touched];
          stop = start + p.size[touched];
          to = blocks + kBlockWidth * (dim * e + r);
        }
        to[dof - start] = factor * m.J[c];
      }
    }
  });
}

/// S = 0.
template <class G>
SS_HD void clear_blocks(const G& g, const BlockLu& lu) {
  constexpr int C = kBlockColumns<G>;
  g.for_each(lu.pattern.counts->rows * (kBlockWidth / C),
             [&](int i) { BlockRow<G>::all(0.0).store(lu.S + std::int64_t(C) * i); });
}

/// S = M.
template <class G>
SS_HD void copy_mass(const G& g, const SparseMechanism& m, const BlockLu& lu) {
  constexpr int C = kBlockColumns<G>;
  using Row = BlockRow<G>;
  const BlockPattern& p = lu.pattern;
  clear_blocks(g, lu);
  g.for_each_2d(p.counts->nodes, kBlockWidth / C, [&](int i, int chunk) {
    const double* from = lu.M + kBlockWidth * p.first[i] + C * chunk;
    double* to = lu.diagonal(i) + C * chunk;
    for (int r = 0; r < p.size[i]; ++r) {
      Row::load(from + kBlockWidth * r).store(to + kBlockWidth * r);
    }
  });
  g.for_each(m.tree.n, [&](int i) {  // with ancestors in other nodes
    const int node = p.node_of[i], at = i - p.first[node], begin = m.tree.row_adr[i];
    for (int c = begin; c < begin + m.tree.row_nnz[i] - at - 1; ++c) {
      const int other = p.node_of[m.tree.col[c]], place = m.tree.col[c] - p.first[other];
      const bool before = node < other;
      const int first = before ? node : other, second = before ? other : node;
      double* entry = lu.row(p.upper_row(first, second)) +
                      (before ? kBlockWidth * at + place : kBlockWidth * place + at);
      entry[0] = entry[kBlockWidth * p.size[first]] = m.M[c];
    }
  });
}

/// to += left^T right for `size` rows of a block, some of its columns.
template <int dim, class Row>
SS_HD void add_item_block(int size, const double* left, const Row* right, double* to) {
  for (int r = 0; r < size; ++r) {
    Row sum = Row::load(to + kBlockWidth * r);
    for (int i = 0; i < dim; ++i) sum.add(right[i], left[kBlockWidth * i + r]);
    sum.store(to + kBlockWidth * r);
  }
}

/// S += J_k^T B J_k of item k, B[dim][dim]. A lane has some columns of all blocks (a, c) of a node.
template <int dim, class G>
SS_HD void add_item(const G& g, const BlockLu& lu, int k, const double* B) {
  constexpr int C = kBlockColumns<G>;
  using Row = BlockRow<G>;
  const BlockPattern& p = lu.pattern;
  const std::int32_t* node = p.item_node + p.item_begin[k];
  const std::int32_t* upper = p.pair_upper + p.pair_begin[k];
  const double* J = lu.item(k);
  g.for_each_2d(p.item_begin[k + 1] - p.item_begin[k], kBlockWidth / C, [&](int c, int chunk) {
    const double* own = J + kBlockWidth * dim * c + C * chunk;
    Row u[dim], l[dim];  // B J, B^T J
    for (int i = 0; i < dim; ++i) {
      u[i] = l[i] = Row::all(0.0);
      for (int j = 0; j < dim; ++j) {
        const Row row = Row::load(own + kBlockWidth * j);
        u[i].add(row, B[dim * i + j]);
        l[i].add(row, B[dim * j + i]);
      }
    }
    for (int a = 0; a < c; ++a) {
      const int size = p.size[node[a]];
      const double* left = J + kBlockWidth * dim * a;
      double* to = lu.row(upper[c * (c - 1) / 2 + a]) + C * chunk;
      add_item_block<dim>(size, left, u, to);
      add_item_block<dim>(size, left, l, to + kBlockWidth * size);
    }
    add_item_block<dim>(p.size[node[c]], J + kBlockWidth * dim * c, u,
                        lu.diagonal(node[c]) + C * chunk);
  });
}

/// Node i: its diagonal block. All lanes read a pivot before the next one changes.
template <class G>
SS_HD bool factor_node(const G& g, const BlockLu& lu, int i) {
  const int size = lu.pattern.size[i];
  double* D = lu.diagonal(i);
  if constexpr (kWholeBlocks<G>) {
    return with_size(size, [&](auto m) SS_INLINE { return factor_block<m, BlockRow<G>>(D); });
  } else {
    for (int k = 0; k < size; ++k) {
      const double* pivot = D + kBlockWidth * k;
      if (!is_pivot(pivot[k])) return false;
      const double inverse = 1.0 / pivot[k];
      const int rest = size - k - 1;
      double* below = D + kBlockWidth * (k + 1);
      g.for_each_2d(rest, rest, [&](int r, int e) {
        double* row = below + kBlockWidth * r;
        row[k + 1 + e] = fma(-(row[k] * inverse), pivot[k + 1 + e], row[k + 1 + e]);
      });
      g.for_each(rest + 1, [&](int r) {
        double& entry = D[kBlockWidth * (k + r) + k];
        entry = r == 0 ? inverse : entry * inverse;
      });
    }
    return true;
  }
}

/// Row i of U and column i of L from their parts of S.
template <class G>
SS_HD void divide_node(const G& g, const BlockLu& lu, int i) {
  const BlockPattern& p = lu.pattern;
  const int begin = p.later_begin[i], size = p.size[i];
  const double* D = lu.diagonal(i);
  if constexpr (kWholeBlocks<G>) {
    with_size(size, [&](auto m) SS_INLINE {
      for (int q = begin; q < p.later_begin[i + 1]; ++q)
        divide_block<m, BlockRow<G>>(D, lu.row(p.upper[q]));
    });
  } else {
    g.for_each_2d(p.later_begin[i + 1] - begin, kBlockWidth, [&](int q, int e) {
      double* upper = lu.row(p.upper[begin + q]) + e;
      double* lower = upper + kBlockWidth * size;
      for (int r = 0; r < size; ++r) {
        double u = upper[kBlockWidth * r], l = lower[kBlockWidth * r];
        for (int k = 0; k < r; ++k) {
          u = fma(upper[kBlockWidth * k], D[kBlockWidth * r + k], u);
          l = fma(lower[kBlockWidth * k], -D[kBlockWidth * k + r], l);
        }
        upper[kBlockWidth * r] = fma(u, -1.0, 0.0);
        lower[kBlockWidth * r] = fma(l, D[(kBlockWidth + 1) * r], 0.0);
      }
    });
  }
}

/// What the elimination of node i changes: half 0 of an update is a block of U, half 1 of L^T.
template <class G>
SS_HD void update_blocks(const G& g, const BlockLu& lu, int i) {
  const BlockPattern& p = lu.pattern;
  const int begin = p.update_begin[i], end = p.update_begin[i + 1], size = p.size[i];
  if constexpr (kWholeBlocks<G>) {
    for (int t = begin; t < end; ++t) {
      const BlockUpdate update = p.updates[t];
      const double *left = lu.row(update.left), *right = lu.row(update.right);
      double* target = lu.row(update.target);
      const int below = kBlockWidth * size;
      with_size(update.size, [&](auto n) SS_INLINE {
        add_transposed_product<n, BlockRow<G>>(size, left + below, right, target);
        if (update.left == update.right) return;
        add_transposed_product<n, BlockRow<G>>(size, left, right + below, target + kBlockWidth * n);
      });
    }
  } else {
    g.for_each_2d(2 * (end - begin), kBlockWidth * kBlockWidth, [&](int t, int entry) {
      const BlockUpdate update = p.updates[begin + t / 2];
      const int half = t % 2, r = entry / kBlockWidth, e = entry % kBlockWidth;
      if (r >= update.size || (half == 1 && update.left == update.right)) return;
      const double* left = lu.row(update.left + (half == 0 ? size : 0)) + r;
      const double* right = lu.row(update.right + half * size) + e;
      double* target = lu.row(update.target + half * update.size + r) + e;
      double sum = *target;
      for (int k = 0; k < size; ++k) {
        sum = fma(right[kBlockWidth * k], left[kBlockWidth * k], sum);
      }
      *target = sum;
    });
  }
}

/// S = L U in place. False, with undefined contents, if a pivot vanishes or is not finite.
template <class G>
SS_PART bool factor_blocks(const G& g, const BlockLu& lu) {
  for (int i = 0; i < lu.pattern.counts->nodes; ++i) {
    if (!factor_node(g, lu, i)) return false;
    divide_node(g, lu, i);
    update_blocks(g, lu, i);
  }
  return true;
}

/// The sign of det S after `factor_blocks`.
template <class G>
SS_HD int determinant_sign(const G& g, const BlockLu& lu) {
  const int negative = g.sum(lu.pattern.counts->nodes, [&](int i) {
    int count = 0;
    for (int k = 0; k < lu.pattern.size[i]; ++k) {
      count += lu.diagonal(i)[(kBlockWidth + 1) * k] < 0.0 ? 1 : 0;
    }
    return count;
  });
  return negative % 2 == 0 ? 1 : -1;
}

}  // namespace stickslip::kernels::inline SS_ISA
