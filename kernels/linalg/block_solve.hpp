// Solutions of S x = b and S^T x = b with the factors of a block-sparse LU (block_lu.hpp), and the
// products with its blocks of J. Vectors are in lu.x, node by node. A row times a vector is 8
// chains of fma, one for each column of the blocks, which are then folded.
#pragma once
#include "kernels/linalg/block_lu.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// lu.x = x, padded with zeros.
template <class G>
SS_HD void load_nodes(const G& g, const BlockLu& lu, const double* x) {
  const BlockPattern& p = lu.pattern;
  g.for_each_2d(p.counts->nodes, kBlockWidth, [&](int i, int e) {
    lu.x[kBlockWidth * i + e] = e < p.size[i] ? x[p.first[i] + e] : 0.0;
  });
}

/// x = lu.x
template <class G>
SS_HD void store_nodes(const G& g, const BlockLu& lu, double* x) {
  const BlockPattern& p = lu.pattern;
  g.for_each_2d(p.counts->nodes, kBlockWidth, [&](int i, int e) {
    if (e < p.size[i]) x[p.first[i] + e] = lu.x[kBlockWidth * i + e];
  });
}

/// f(i) for i < n; constants if n is one.
template <class F>
SS_HD void count_up(int n, F&& f) {
  for (int i = 0; i < n; ++i) f(i);
}
template <int n, class F>
SS_HD void count_up(Index<n> /*count*/, F&& f) {
  unroll<0, n>(f);
}

/// The factors of S, or of S^T = U^T L^T. Off the diagonal, U has the opposite sign.
template <bool transposed>
struct BlockFactors {
  const BlockLu& lu;

  /// Entry (r, k) of the diagonal block D; the diagonal has reciprocals.
  SS_HD static double entry(const double* D, int r, int k) {
    return transposed ? D[kBlockWidth * k + r] : D[kBlockWidth * r + k];
  }
  /// Of U(i, j) at `row` and L^T(i, j), i of so many rows: what node i subtracts from j, and what i
  /// needs of j.
  SS_HD const double* below(int row, int size) const {
    return lu.row(row + (transposed ? 0 : size));
  }
  SS_HD const double* right(int row, int size) const {
    return lu.row(row + (transposed ? size : 0));
  }
  static constexpr double kBelow = transposed ? 1.0 : -1.0, kRight = -kBelow;

  /// x <- the lower triangle's inverse times x, for `m` numbers. S^T has the pivots there.
  template <class M>
  SS_HD static void forward(M m, const double* D, double* x) {
    count_up(m, [&](auto r) SS_INLINE {
      double value = x[r];
      count_up(r, [&](auto k) SS_INLINE { value = fma(-entry(D, r, k), x[k], value); });
      x[r] = transposed ? value * entry(D, r, r) : value;
    });
  }
  template <class M>
  SS_HD static void backward(M m, const double* D, double* x) {
    count_up(m, [&](auto done) SS_INLINE {
      const int last = m - 1, r = last - done;
      double value = x[r];
      count_up(done,
               [&](auto t) SS_INLINE { value = fma(-entry(D, r, last - t), x[last - t], value); });
      x[r] = transposed ? value : value * entry(D, r, r);
    });
  }
};

/// The forward substitution of node i on a CPU: subtracts it from what is below.
template <class G, bool transposed>
SS_HD void solve_below(const BlockFactors<transposed>& f, int i) {
  using Factors = BlockFactors<transposed>;
  using Row = BlockRow<G>;
  const BlockPattern& p = f.lu.pattern;
  double* own = f.lu.x + kBlockWidth * i;
  with_size(p.size[i], [&](auto m) SS_INLINE {
    double x[m];
    count_up(m, [&](auto k) SS_INLINE { x[k] = own[k]; });
    Factors::forward(m, f.lu.diagonal(i), x);
    count_up(m, [&](auto k) SS_INLINE { own[k] = x[k]; });
    for (int q = p.later_begin[i]; q < p.later_begin[i + 1]; ++q) {
      double* other = f.lu.x + kBlockWidth * p.later[q];
      const double* block = f.below(p.upper[q], m);
      Row sum = Row::load(other);
      count_up(m, [&](auto k) SS_INLINE {
        sum.add(Row::load(block + kBlockWidth * k), Factors::kBelow * x[k]);
      });
      sum.store(other);
    }
  });
}

/// The backward substitution of node i on a CPU.
template <class G, bool transposed>
SS_HD void solve_right(const BlockFactors<transposed>& f, int i) {
  using Factors = BlockFactors<transposed>;
  using Row = BlockRow<G>;
  const BlockPattern& p = f.lu.pattern;
  double* own = f.lu.x + kBlockWidth * i;
  with_size(p.size[i], [&](auto m) SS_INLINE {
    Row sum[m];
    double x[m];
    unroll<0, m>([&](auto r) SS_INLINE { sum[r] = Row::all(0.0); });
    for (int q = p.later_begin[i]; q < p.later_begin[i + 1]; ++q) {
      const double* block = f.right(p.upper[q], m);
      const Row other = Row::load(f.lu.x + kBlockWidth * p.later[q]);
      unroll<0, m>([&](auto r) SS_INLINE {
        add_entries(sum[r], Row::load(block + kBlockWidth * r), other);
      });
    }
    unroll<0, m>([&](auto r) SS_INLINE { x[r] = fma(Factors::kRight, fold_row(sum[r]), own[r]); });
    Factors::backward(m, f.lu.diagonal(i), x);
    count_up(m, [&](auto k) SS_INLINE { own[k] = x[k]; });
  });
}

/// The forward substitution of a level: subtracts from its nodes what is above.
template <bool transposed, class G>
SS_HD void solve_level_below(const G& g, const BlockFactors<transposed>& f,
                             const std::int32_t* nodes, int count) {
  using Factors = BlockFactors<transposed>;
  const BlockPattern& p = f.lu.pattern;
  double* const x = f.lu.x;
  g.for_each_2d(count, kBlockWidth, [&](int i, int c) {
    double sum = x[kBlockWidth * nodes[i] + c];
    for (int q = p.above_begin[nodes[i]]; q < p.above_begin[nodes[i] + 1]; ++q) {
      const int other = p.above[q].node, size = p.size[other];
      const double* block = f.below(p.above[q].row, size) + c;
      for (int k = 0; k < size; ++k)
        sum = fma(block[kBlockWidth * k], Factors::kBelow * x[kBlockWidth * other + k], sum);
    }
    x[kBlockWidth * nodes[i] + c] = sum;
  });
  g.for_each(count, [&](int i) {
    Factors::forward(p.size[nodes[i]], f.lu.diagonal(nodes[i]), x + kBlockWidth * nodes[i]);
  });
}

/// The backward substitution of a level.
template <bool transposed, class G>
SS_HD void solve_level_right(const G& g, const BlockFactors<transposed>& f,
                             const std::int32_t* nodes, int count) {
  using Factors = BlockFactors<transposed>;
  constexpr int kEntries = kBlockWidth * kBlockWidth;
  const BlockPattern& p = f.lu.pattern;
  double *const x = f.lu.x, *const partial = f.lu.partial;
  g.for_each_2d(count, kEntries, [&](int i, int entry) {
    const int node = nodes[i], size = p.size[node], r = entry / kBlockWidth;
    if (r >= size) return;
    double sum = 0.0;
    for (int q = p.later_begin[node]; q < p.later_begin[node + 1]; ++q) {
      const double other = x[kBlockWidth * p.later[q] + entry % kBlockWidth];
      sum = fma(f.right(p.upper[q], size)[entry], other, sum);
    }
    partial[kEntries * i + entry] = sum;
  });
  g.for_each(count, [&](int i) {
    const int node = nodes[i];
    double* own = x + kBlockWidth * node;
    for (int r = 0; r < p.size[node]; ++r)
      own[r] = fma(Factors::kRight, fold(partial + kEntries * i + kBlockWidth * r), own[r]);
    Factors::backward(p.size[node], f.lu.diagonal(node), own);
  });
}

template <bool transposed, class G>
SS_PART void substitute_blocks(const G& g, const BlockLu& lu) {
  const BlockFactors<transposed> factors{lu};
  const BlockPattern& p = lu.pattern;
  if constexpr (kWholeBlocks<G>) {
    for (int i = 0; i < p.counts->nodes; ++i) solve_below<G>(factors, i);
    for (int i = p.counts->nodes - 1; i >= 0; --i) solve_right<G>(factors, i);
  } else {
    const auto nodes = [&](int level) { return p.by_level + p.levels[level].nodes; };
    const auto count = [&](int level) { return int(nodes(level + 1) - nodes(level)); };
    for (int level = 0; level < p.counts->levels; ++level)
      solve_level_below(g, factors, nodes(level), count(level));
    for (int level = p.counts->levels - 1; level >= 0; --level)
      solve_level_right(g, factors, nodes(level), count(level));
  }
}

/// lu.x <- S^-1 lu.x
template <class G>
SS_HD void solve_blocks(const G& g, const BlockLu& lu) {
  substitute_blocks<false>(g, lu);
}

/// lu.x <- S^-T lu.x
template <class G>
SS_HD void solve_transposed(const G& g, const BlockLu& lu) {
  substitute_blocks<true>(g, lu);
}

/// take(i, (J x)_i) for the rows of item k, `dim` of them, on a CPU.
template <int dim, class G, class F>
SS_HD void multiply_item(const BlockLu& lu, int k, F&& take) {
  const BlockPattern& p = lu.pattern;
  const double* block = lu.item(k);
  BlockRow<G> sum[dim];
  unroll<0, dim>([&](auto r) SS_INLINE { sum[r] = BlockRow<G>::all(0.0); });
  for (int e = p.item_begin[k]; e < p.item_begin[k + 1]; ++e, block += kBlockWidth * dim) {
    const auto x = BlockRow<G>::load(lu.x + kBlockWidth * p.item_node[e]);
    unroll<0, dim>([&](auto r) SS_INLINE {
      add_entries(sum[r], BlockRow<G>::load(block + kBlockWidth * r), x);
    });
  }
  unroll<0, dim>([&](auto r) SS_INLINE { take(p.item_row[k] + r, fold_row(sum[r])); });
}

/// Calls take(i, (J lu.x)_i) for every row, with the rows as they were loaded.
template <class G, class F>
SS_HD void multiply_items(const G& g, const BlockLu& lu, F&& take) {
  const BlockPattern& p = lu.pattern;
  if constexpr (kWholeBlocks<G>) {
    g.for_each(p.counts->items, [&](int k) {
      with_item_dim(p, k, [&](auto dim) SS_INLINE { multiply_item<dim, G>(lu, k, take); });
    });
  } else {
    constexpr int kMostRows = 6;
    g.for_each_2d(p.counts->items, kMostRows, [&](int k, int r) {
      const int row = p.item_row[k], dim = p.item_row[k + 1] - row;
      if (r >= dim) return;
      const double* block = lu.item(k) + kBlockWidth * r;
      double sum[kBlockWidth] = {};
      for (int e = p.item_begin[k]; e < p.item_begin[k + 1]; ++e, block += kBlockWidth * dim) {
        const double* x = lu.x + kBlockWidth * p.item_node[e];
        for (int c = 0; c < kBlockWidth; ++c) sum[c] = fma(block[c], x[c], sum[c]);
      }
      take(row + r, fold(sum));
    });
  }
}

/// lu.x = J^T z, z_i given by z(i): each entry is one chain in the order of the rows.
template <class G, class F>
SS_HD void multiply_items_transposed(const G& g, const BlockLu& lu, F&& z) {
  constexpr int C = kBlockColumns<G>;
  const BlockPattern& p = lu.pattern;
  g.for_each_2d(p.counts->nodes, kBlockWidth / C, [&](int node, int chunk) {
    auto sum = BlockRow<G>::all(0.0);
    for (int t = p.touch_begin[node]; t < p.touch_begin[node + 1]; ++t) {
      const auto touch = p.touches[t];
      const int row = p.item_row[touch.item];
      with_item_dim(p, touch.item, [&](auto dim) SS_INLINE {
        const double* block = lu.item(touch.item) + kBlockWidth * dim * touch.place + C * chunk;
        for (int r = 0; r < dim; ++r)
          sum.add(BlockRow<G>::load(block + kBlockWidth * r), z(row + r));
      });
    }
    sum.store(lu.x + kBlockWidth * node + C * chunk);
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
