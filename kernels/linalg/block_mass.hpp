// The blocks of M on its diagonal (block_pattern.hpp), and their inverses where M has no others:
// free bodies, and small trees that are one node each.
#pragma once
#include "kernels/linalg/block_lu.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The diagonal blocks of M, which `copy_mass` reads.
template <class G>
SS_HD void load_mass(const G& g, const SparseMechanism& m, const BlockLu& lu) {
  const BlockPattern& p = lu.pattern;
  const auto entry = [&](int i, int k) SS_INLINE { return lu.M + kBlockWidth * i + k; };
  g.for_each_2d(m.tree.n, kBlockWidth, [&](int i, int k) { *entry(i, k) = 0.0; });
  g.for_each(m.tree.n, [&](int i) {
    const int first = p.first[p.node_of[i]], begin = m.tree.row_adr[i];
    for (int c = begin + m.tree.row_nnz[i] - 1; c >= begin && m.tree.col[c] >= first; --c) {
      const int k = m.tree.col[c];
      *entry(i, k - first) = *entry(k, i - first) = m.M[c];
    }
  });
}

/// A <- A^-1 by Gauss and Jordan, for `size` rows of 8; A is positive definite.
SS_HD void invert_block(int size, double* A) {
  const auto at = [&](int i, int j) -> double& { return A[kBlockWidth * i + j]; };
  for (int k = 0; k < size; ++k) {
    const double inverse = 1.0 / at(k, k);
    for (int j = 0; j < size; ++j) at(k, j) *= inverse;
    for (int i = 0; i < size; ++i) {
      if (i == k) continue;
      const double factor = at(i, k);
      for (int j = 0; j < size; ++j) at(i, j) = fma(-factor, at(k, j), at(i, j));
      at(i, k) = -factor * inverse;
    }
    at(k, k) = inverse;
  }
}

/// The inverses of the blocks of M, if it has no others.
template <class G>
SS_HD void invert_mass(const G& g, const SparseMechanism& m, const BlockLu& lu) {
  const BlockPattern& p = lu.pattern;
  const TreeSparsity& t = m.tree;
  const bool coupled =
      g.any(t.n, [&](int i) { return t.col[t.row_adr[i]] < p.first[p.node_of[i]]; });
  g.once([&] { *lu.block_diagonal = !coupled; });
  if (coupled) return;
  g.for_each(p.counts->nodes, [&](int node) {
    const std::int64_t begin = std::int64_t(kBlockWidth) * p.first[node];
    for (int e = 0; e < kBlockWidth * p.size[node]; ++e) lu.inverse[begin + e] = lu.M[begin + e];
    invert_block(p.size[node], lu.inverse + begin);
  });
}

/// lu.x <- M^-1 lu.x, where M is `block_diagonal`.
template <class G>
SS_HD void divide_by_mass(const G& g, const BlockLu& lu) {
  constexpr int C = kBlockColumns<G>;
  using Row = BlockRow<G>;
  const BlockPattern& p = lu.pattern;
  g.for_each_2d(p.counts->nodes, kBlockWidth / C, [&](int i, int chunk) {
    const double *inverse = lu.inverse + kBlockWidth * p.first[i], *x = lu.x + kBlockWidth * i;
    Row sum = Row::all(0.0);
    for (int k = 0; k < p.size[i]; ++k)
      sum.add(Row::load(inverse + kBlockWidth * k + C * chunk), x[k]);
    sum.store(lu.quotient + kBlockWidth * i + C * chunk);
  });
  g.for_each(p.counts->nodes * (kBlockWidth / C),
             [&](int i) { Row::load(lu.quotient + C * i).store(lu.x + C * i); });
}

}  // namespace stickslip::kernels::inline SS_ISA
