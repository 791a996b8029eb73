// The block-sparse LU of S = M + sum_k J_k^T B_k J_k (block_pattern.hpp), without exchanges of
// rows:
//
//   D(i) = L(i, i) U(i, i),   U(i, j) := L(i, i)^-1 S(i, j),   L^T(i, j) := U(i, i)^-T S(j, i)^T
//   S(j, k) -= L(j, i) U(i, k)   for all nodes j, k after i that i is coupled to
//
// Every entry is one chain of fma in the order of the eliminated nodes. A CPU takes node by node
// and keeps blocks in vector registers; other groups take all nodes of a level and compute entries.
// U(i, j) has the opposite sign once node i is eliminated, so that updates only add.
#pragma once
#include "kernels/linalg/block_matrix.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The targets `begin` to `end` less their updates: half 0 of one is a block of U, half 1 of L^T.
template <class G>
SS_HD void update_blocks(const G& g, const BlockLu& lu, int begin, int end) {
  const BlockTarget* targets = lu.pattern.targets;
  const auto product = [&](const BlockUpdate& update, int half) SS_INLINE {
    const int size = update.size;
    return BlockProduct{size, lu.row(update.left + (half == 0 ? size : 0)),
                        lu.row(update.right + half * size)};
  };
  if constexpr (kWholeBlocks<G>) {
    for (int t = begin; t < end; ++t) {
      const BlockTarget& to = targets[t];
      const BlockUpdate* updates = lu.pattern.updates + to.updates;
      const int count = targets[t + 1].updates - to.updates;
      with_size(to.size, [&](auto n) SS_INLINE {
        for (int half = 0; count > 0 && half < to.halves(); ++half) {
          add_transposed_products<n, BlockRow<G>>(
              count, [&](int e) SS_INLINE { return product(updates[e], half); },
              lu.row(to.row + half * n));
        }
      });
    }
  } else {
    // A lane has the entries (r, c) and (r + 4, c) of a half: what it reads of B serves both.
    constexpr int kApart = kBlockWidth / 2;
    g.for_each_2d(2 * (end - begin), kApart * kBlockWidth, [&](int i, int entry) {
      const int t = begin + i / 2, half = i % 2, r = entry / kBlockWidth, c = entry % kBlockWidth;
      const BlockTarget to = targets[t];
      if (r >= to.size || half >= to.halves()) return;
      double* target = lu.row(to.row + half * to.size + r) + c;
      double* other = r + kApart < to.size ? target + kApart * kBlockWidth : target;
      double sum = *target, second = *other;
      for (int e = to.updates; e < targets[t + 1].updates; ++e) {
        const BlockProduct of = product(lu.pattern.updates[e], half);
        for (int k = 0; k < of.size; ++k) {
          const double b = of.B[kBlockWidth * k + c], *a = of.A + kBlockWidth * k + r;
          sum = fma(b, a[0], sum);
          second = fma(b, a[kApart], second);
        }
      }
      *other = second;
      *target = sum;
    });
  }
}

/// Rows of U and columns of L from their parts of S and the factors of the diagonal blocks.
template <class G>
SS_HD void divide_blocks(const G& g, const BlockLu& lu, int begin, int end) {
  const BlockTarget* targets = lu.pattern.targets;
  if constexpr (kWholeBlocks<G>) {
    for (int t = begin; t < end; ++t) {
      const BlockTarget& of = targets[t];
      if (of.is_diagonal()) continue;
      with_size(of.size, [&](auto m) SS_INLINE {
        divide_block<m, BlockRow<G>>(lu.row(of.diagonal), lu.row(of.row));
      });
    }
  } else {
    g.for_each_2d(end - begin, kBlockWidth, [&](int t, int e) {
      const BlockTarget of = targets[begin + t];
      if (of.is_diagonal()) return;
      const double* D = lu.row(of.diagonal);
      double* upper = lu.row(of.row) + e;
      double* lower = upper + kBlockWidth * of.size;
      for (int r = 0; r < of.size; ++r) {
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

/// D = L U in place, with the reciprocals of the pivots on the diagonal, of `count` nodes. Those by
/// which one may not divide become infinite.
template <class G>
SS_HD void factor_diagonals(const G& g, const BlockLu& lu, const std::int32_t* nodes, int count,
                            int most) {
  const BlockPattern& p = lu.pattern;
  const auto row = [&](int node, int r) { return lu.diagonal(node) + kBlockWidth * r; };
  for (int k = 0; k < most; ++k) {
    const int rest = most - k - 1;
    g.for_each_2d(count, rest, [&](int i, int r) {  // a column of L
      const int node = nodes[i];
      if (k + 1 + r < p.size[node]) row(node, k + 1 + r)[k] *= 1.0 / row(node, k)[k];
    });
    g.for_each_2d(count, rest * rest + 1, [&](int i, int entry) {
      const int node = nodes[i], size = p.size[node];
      double* pivot = row(node, k);
      if (entry == rest * rest) {
        if (k < size) pivot[k] = is_pivot(pivot[k]) ? 1.0 / pivot[k] : Limits<double>::infinity;
        return;
      }
      const int r = k + 1 + entry / rest, e = k + 1 + entry % rest;
      if (max(r, e) >= size) return;
      double* own = row(node, r);
      own[e] = fma(-own[k], pivot[e], own[e]);
    });
  }
}

/// S = L U in place. False, with undefined contents, if a pivot vanishes or is not finite.
template <class G>
SS_PART bool factor_blocks(const G& g, const BlockLu& lu) {
  const BlockPattern& p = lu.pattern;
  if constexpr (kWholeBlocks<G>) {
    for (int i = 0; i < p.counts->nodes; ++i) {
      const int begin = p.first_target[i];
      const int end = begin + 1 + p.later_begin[i + 1] - p.later_begin[i];
      update_blocks(g, lu, begin, end);
      const bool good = with_size(p.size[i], [&](auto m) SS_INLINE {
        return factor_block<m, BlockRow<G>>(lu.diagonal(i));
      });
      if (!good) return false;
      divide_blocks(g, lu, begin, end);
    }
    return true;
  } else {
    for (const BlockLevel* at = p.levels; at < p.levels + p.counts->levels; ++at) {
      update_blocks(g, lu, at[0].targets, at[1].targets);
      factor_diagonals(g, lu, p.by_level + at[0].nodes, at[1].nodes - at[0].nodes, at[0].size);
      divide_blocks(g, lu, at[0].targets, at[1].targets);
    }
    return !g.any(p.counts->nodes, [&](int i) {
      bool bad = false;
      for (int k = 0; k < p.size[i]; ++k)
        bad = bad || !is_finite(lu.diagonal(i)[(kBlockWidth + 1) * k]);
      return bad;
    });
  }
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
