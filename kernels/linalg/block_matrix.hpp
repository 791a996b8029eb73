// The block-sparse matrix S = M + sum_k J_k^T B_k J_k (block_pattern.hpp), and memory for its
// factors. Every entry is one chain of fma in the order of the items.
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
  double* partial;       ///< [nodes][8][8] scratch

  SS_HD BlockLu(Arena& arena, const BlockCapacity& c)
      : pattern(arena, c),
        M(arena.take<double>(std::size_t(kBlockWidth) * c.dofs)),
        inverse(arena.take<double>(std::size_t(kBlockWidth) * c.dofs)),
        block_diagonal(arena.take<bool>(1)),
        J(arena.take<double>(std::size_t(kBlockWidth) * 6 * c.item_nodes)),
        S(arena.take<double>(std::size_t(kBlockWidth) * (c.dofs + 2 * kBlockWidth * c.blocks))),
        x(arena.take<double>(std::size_t(kBlockWidth) * c.nodes)),
        quotient(arena.take<double>(std::size_t(kBlockWidth) * c.nodes)),
        partial(arena.take<double>(std::size_t(kBlockWidth) * kBlockWidth * c.nodes)) {}

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

/// Some columns of J_k^T B J_k: those of the place-th node of item k, B[dim][dim].
template <int dim, int C>
SS_HD void add_item(const BlockLu& lu, int k, int place, int chunk, const double* B) {
  using Row = Lanes<double, C>;
  const BlockPattern& p = lu.pattern;
  const std::int32_t* node = p.item_node + p.item_begin[k];
  const std::int32_t* upper = p.pair_upper + p.pair_begin[k] + place * (place - 1) / 2;
  const double* J = lu.item(k);
  const double* own = J + kBlockWidth * dim * place + C * chunk;
  Row u[dim], l[dim];  // B J, B^T J
  for (int i = 0; i < dim; ++i) {
    u[i] = l[i] = Row::all(0.0);
    for (int j = 0; j < dim; ++j) {
      const Row row = Row::load(own + kBlockWidth * j);
      u[i].add(row, B[dim * i + j]);
      l[i].add(row, B[dim * j + i]);
    }
  }
  for (int a = 0; a < place; ++a) {
    const int size = p.size[node[a]];
    const double* left = J + kBlockWidth * dim * a;
    double* to = lu.row(upper[a]) + C * chunk;
    add_item_block<dim>(size, left, u, to);
    add_item_block<dim>(size, left, l, to + kBlockWidth * size);
  }
  add_item_block<dim>(p.size[node[place]], J + kBlockWidth * dim * place, u,
                      lu.diagonal(node[place]) + C * chunk);
}

/// S += sum J_k^T B_k J_k over the `active` items; matrix(k): B_k, [dim][dim]. A lane has some
/// columns of all blocks (a, c) of a node c.
template <class G, class Active, class Matrix>
SS_HD void add_items(const G& g, const BlockLu& lu, Active&& active, Matrix&& matrix) {
  constexpr int C = kBlockColumns<G>;
  const BlockPattern& p = lu.pattern;
  g.for_each_2d(p.counts->nodes, kBlockWidth / C, [&](int node, int chunk) {
    for (int t = p.touch_begin[node]; t < p.touch_begin[node + 1]; ++t) {
      const BlockTouch touch = p.touches[t];
      if (!active(touch.item)) continue;
      with_item_dim(p, touch.item, [&](auto dim) SS_INLINE {
        add_item<dim, C>(lu, touch.item, touch.place, chunk, matrix(touch.item));
      });
    }
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
