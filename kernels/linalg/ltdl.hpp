// M = L^T D L of a joint-space inertia matrix whose sparsity follows the kinematic tree
// (Featherstone, Rigid Body Dynamics Algorithms, 2008, §6.5): no fill-in, a few flops per pair of a
// degree of freedom and its ancestor.
#pragma once
#include "kernels/group/lanes.hpp"
#include "stickslip/sparse_mechanism.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The next degree of freedom towards the root; -1 at the root.
SS_HD int parent(const TreeSparsity& s, int i) {
  return s.row_nnz[i] > 1 ? s.col[s.row_adr[i] + s.row_nnz[i] - 2] : -1;
}

/// In place M -> (D on the diagonal, unit L below it); diag_inv[n] = 1 / D. False, with undefined
/// contents, if M is not positive definite. C: numbers that a lane handles together; each row of M
/// is stored as whole runs of C numbers.
template <int C = 1, class G>
SS_HD bool factor_ltdl(const G& g, const TreeSparsity& s, double* M, double* diag_inv) {
  for (int k = s.n - 1; k >= 0; --k) {
    const int ancestors = s.row_nnz[k] - 1;
    const std::int32_t* path = s.col + s.row_adr[k];
    double* from = M + s.row_adr[k];
    const double pivot = from[ancestors];
    if (!(pivot > 0.0) || !is_finite(pivot)) return false;
    const double inverse = 1.0 / pivot;
    g.once([&] { diag_inv[k] = inverse; });
    // The row of an ancestor i is the beginning of row k, so the update runs along both rows.
    g.for_each(ancestors, [&](int a) {
      double* row = M + s.row_adr[path[a]];
      const double scale = -(from[a] * inverse);
      for (int c = 0; c <= a; c += C) {
        auto sum = Lanes<double, C>::load(row + c);
        sum.add(Lanes<double, C>::load(from + c), scale);
        sum.store(row + c);
      }
    });
    g.for_each(ancestors, [&](int a) { from[a] *= inverse; });
  }
  return true;
}

/// f(first, has) for each tree, on a lane of its own: its root, and whether it has(i) a degree of
/// freedom. On a CPU one lane takes all trees at once.
template <class G, class F>
SS_HD void for_trees(const G& g, const TreeSparsity& s, F&& f) {
  if constexpr (G::kChunk > 1) {
    g.once([&] { f(0, [](int) { return true; }); });
  } else {
    g.for_each(s.n, [&](int root) {
      if (s.row_nnz[root] == 1) f(root, [&](int i) { return s.col[s.row_adr[i]] == root; });
    });
  }
}

/// x <- L^-T x, from the leaves to the root.
template <class G>
SS_HD void solve_transposed(const G& g, const TreeSparsity& s, const double* L, double* x) {
  for_trees(g, s, [&](int first, auto&& has) SS_INLINE {
    for (int i = s.n - 1; i >= first; --i) {
      if (!has(i) || x[i] == 0.0) continue;
      const double value = x[i];
      for (int c = s.row_adr[i], end = c + s.row_nnz[i] - 1; c < end; ++c) {
        x[s.col[c]] = fma(-L[c], value, x[s.col[c]]);
      }
    }
  });
}

/// x <- M^-1 x with the factor.
template <class G>
SS_HD void solve_ltdl(const G& g, const TreeSparsity& s, const double* L, const double* diag_inv,
                      double* x) {
  solve_transposed(g, s, L, x);
  for_trees(g, s, [&](int first, auto&& has) SS_INLINE {
    for (int i = first; i < s.n; ++i) {
      if (!has(i)) continue;
      double sum = x[i] * diag_inv[i];
      for (int c = s.row_adr[i], end = c + s.row_nnz[i] - 1; c < end; ++c) {
        sum = fma(-L[c], x[s.col[c]], sum);
      }
      x[i] = sum;
    }
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
