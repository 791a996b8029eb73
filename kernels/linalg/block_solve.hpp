// Solutions of S x = b and S^T x = b with the factors of a block-sparse LU (block_lu.hpp), and the
// products with its blocks of J. Vectors are in lu.x, node by node. A row times a vector is 8
// chains of fma, one for each column of the blocks, which are then folded.
#pragma once
#include "kernels/linalg/block_lu.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// lu.x = 0
template <class G>
SS_HD void clear_nodes(const G& g, const BlockLu& lu) {
  constexpr int C = kBlockColumns<G>;
  g.for_each(lu.pattern.counts->nodes * (kBlockWidth / C),
             [&](int i) { BlockRow<G>::all(0.0).store(lu.x + std::int64_t(C) * i); });
}

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
  /// The qth block that row i subtracts from what is below it, and the qth that it needs.
  SS_HD const double* below(int i, int q) const {
    return lu.row(lu.pattern.upper[q] + (transposed ? 0 : lu.pattern.size[i]));
  }
  SS_HD const double* right(int i, int q) const {
    return lu.row(lu.pattern.upper[q] + (transposed ? lu.pattern.size[i] : 0));
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

/// Node i of the forward substitution.
template <bool transposed, class G>
SS_HD void solve_below(const G& g, const BlockFactors<transposed>& f, int i) {
  using Factors = BlockFactors<transposed>;
  using Row = BlockRow<G>;
  const BlockPattern& p = f.lu.pattern;
  const int begin = p.later_begin[i], end = p.later_begin[i + 1], size = p.size[i];
  double* own = f.lu.x + kBlockWidth * i;
  if constexpr (kWholeBlocks<G>) {
    with_size(size, [&](auto m) SS_INLINE {
      double x[m];
      count_up(m, [&](auto k) SS_INLINE { x[k] = own[k]; });
      Factors::forward(m, f.lu.diagonal(i), x);
      count_up(m, [&](auto k) SS_INLINE { own[k] = x[k]; });
      for (int q = begin; q < end; ++q) {
        double* other = f.lu.x + kBlockWidth * p.later[q];
        const double* block = f.below(i, q);
        Row sum = Row::load(other);
        count_up(m, [&](auto k) SS_INLINE {
          sum.add(Row::load(block + kBlockWidth * k), Factors::kBelow * x[k]);
        });
        sum.store(other);
      }
    });
  } else {
    g.once([&] { Factors::forward(size, f.lu.diagonal(i), own); });
    g.for_each_2d(end - begin, kBlockWidth, [&](int q, int e) {
      double& other = f.lu.x[kBlockWidth * p.later[begin + q] + e];
      const double* block = f.below(i, begin + q);
      double sum = other;
      for (int k = 0; k < size; ++k) {
        sum = fma(block[kBlockWidth * k + e], Factors::kBelow * own[k], sum);
      }
      other = sum;
    });
  }
}

/// Node i of the backward substitution.
template <bool transposed, class G>
SS_HD void solve_right(const G& g, const BlockFactors<transposed>& f, int i) {
  using Factors = BlockFactors<transposed>;
  using Row = BlockRow<G>;
  const BlockPattern& p = f.lu.pattern;
  const int begin = p.later_begin[i], end = p.later_begin[i + 1], size = p.size[i];
  double *own = f.lu.x + kBlockWidth * i, *partial = f.lu.partial;
  if constexpr (kWholeBlocks<G>) {
    with_size(size, [&](auto m) SS_INLINE {
      Row sum[m];
      double x[m];
      unroll<0, m>([&](auto r) SS_INLINE { sum[r] = Row::all(0.0); });
      for (int q = begin; q < end; ++q) {
        const double* block = f.right(i, q);
        const Row other = Row::load(f.lu.x + kBlockWidth * p.later[q]);
        unroll<0, m>([&](auto r) SS_INLINE {
          add_entries(sum[r], Row::load(block + kBlockWidth * r), other);
        });
      }
      unroll<0, m>([&](auto r)
                       SS_INLINE { x[r] = fma(Factors::kRight, fold_row(sum[r]), own[r]); });
      Factors::backward(m, f.lu.diagonal(i), x);
      count_up(m, [&](auto k) SS_INLINE { own[k] = x[k]; });
    });
  } else {
    g.for_each_2d(size, kBlockWidth, [&](int r, int e) {
      double sum = 0.0;
      for (int q = begin; q < end; ++q) {
        const double other = f.lu.x[kBlockWidth * p.later[q] + e];
        sum = fma(f.right(i, q)[kBlockWidth * r + e], other, sum);
      }
      partial[kBlockWidth * r + e] = sum;
    });
    g.once([&] {
      for (int r = 0; r < size; ++r) {
        own[r] = fma(Factors::kRight, fold(partial + kBlockWidth * r), own[r]);
      }
      Factors::backward(size, f.lu.diagonal(i), own);
    });
  }
}

template <bool transposed, class G>
SS_PART void substitute_blocks(const G& g, const BlockLu& lu) {
  const BlockFactors<transposed> factors{lu};
  const int n = lu.pattern.counts->nodes;
  for (int i = 0; i < n; ++i) solve_below(g, factors, i);
  for (int i = n - 1; i >= 0; --i) solve_right(g, factors, i);
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

/// take(i, (J x)_i) for the rows of item k, `dim` of them.
template <int dim, class G, class F>
SS_HD void multiply_item(const BlockLu& lu, int k, F&& take) {
  const BlockPattern& p = lu.pattern;
  const int begin = p.item_begin[k], count = p.item_begin[k + 1] - begin;
  const double* block = lu.item(k);
  if constexpr (kWholeBlocks<G>) {
    BlockRow<G> sum[dim];
    unroll<0, dim>([&](auto r) SS_INLINE { sum[r] = BlockRow<G>::all(0.0); });
    for (int e = 0; e < count; ++e, block += kBlockWidth * dim) {
      const auto x = BlockRow<G>::load(lu.x + kBlockWidth * p.item_node[begin + e]);
      unroll<0, dim>([&](auto r) SS_INLINE {
        add_entries(sum[r], BlockRow<G>::load(block + kBlockWidth * r), x);
      });
    }
    unroll<0, dim>([&](auto r) SS_INLINE { take(p.item_row[k] + r, fold_row(sum[r])); });
  } else {
    for (int r = 0; r < dim; ++r) {
      double sum[kBlockWidth] = {};
      for (int e = 0; e < count; ++e) {
        const double* x = lu.x + kBlockWidth * p.item_node[begin + e];
        const double* row = block + kBlockWidth * (dim * e + r);
        for (int c = 0; c < kBlockWidth; ++c) sum[c] = fma(row[c], x[c], sum[c]);
      }
      take(p.item_row[k] + r, fold(sum));
    }
  }
}

/// lu.x += J_k^T z of item k, z_i given by z(i).
template <int dim, class G, class F>
SS_HD void add_item_transposed(const G& g, const BlockLu& lu, int k, F&& z) {
  constexpr int C = kBlockColumns<G>;
  const BlockPattern& p = lu.pattern;
  const int begin = p.item_begin[k], row = p.item_row[k];
  const double* blocks = lu.item(k);
  g.for_each_2d(p.item_begin[k + 1] - begin, kBlockWidth / C, [&](int e, int chunk) {
    double* to = lu.x + kBlockWidth * p.item_node[begin + e] + C * chunk;
    const double* block = blocks + kBlockWidth * dim * e + C * chunk;
    auto sum = BlockRow<G>::load(to);
    for (int r = 0; r < dim; ++r) sum.add(BlockRow<G>::load(block + kBlockWidth * r), z(row + r));
    sum.store(to);
  });
}

/// f(Index<dim>) for the number of rows of item k.
template <class F>
SS_HD void with_item_dim(const BlockPattern& p, int k, F&& f) {
  switch (p.item_row[k + 1] - p.item_row[k]) {
    case 1:
      return f(Index<1>{});
    case 3:
      return f(Index<3>{});
    case 4:
      return f(Index<4>{});
    default:
      return f(Index<6>{});
  }
}

/// Calls take(i, (J lu.x)_i) for every row, with the rows as they were loaded.
template <class G, class F>
SS_HD void multiply_items(const G& g, const BlockLu& lu, F&& take) {
  g.for_each(lu.pattern.counts->items, [&](int k) {
    with_item_dim(lu.pattern, k, [&](auto dim) SS_INLINE { multiply_item<dim, G>(lu, k, take); });
  });
}

/// lu.x += J^T z: each entry is one chain in the order of the rows.
template <class G, class F>
SS_HD void add_items_transposed(const G& g, const BlockLu& lu, F&& z) {
  for (int k = 0; k < lu.pattern.counts->items; ++k) {
    with_item_dim(lu.pattern, k,
                  [&](auto dim) SS_INLINE { add_item_transposed<dim>(g, lu, k, z); });
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
