// Sweeps without W: W_hat = H^T H by items (velocity/sparse_scaled.hpp), so a sweep keeps H z and
// visits only the degrees of freedom on the path of an item.
#pragma once
#include "kernels/solver/pgs/pgs.hpp"
#include "kernels/velocity/scale_sparse.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct SparsePgs {
  double *z, *c;  ///< [ld] as in Pgs
  double* inverse;
  double* moved;  ///< [nv] H z

  SS_HD SparsePgs(Arena& arena, const SparseScaled& s)
      : z(arena.take<double>(padded_rows<double>(s.n))),
        c(arena.take<double>(padded_rows<double>(s.n))),
        inverse(arena.take<double>(6 * std::size_t(s.n))),
        moved(s.row) {}

  template <class G>
  SS_HD void prepare(const G& g, const SparseScaled& s) {
    prepare_blocks(g, s, inverse);
  }

  /// Computes H z without the rounding errors of earlier sweeps.
  template <class G>
  SS_HD void refresh(const G& g, const SparseScaled& s) {
    g.for_each(s.m.tree.n, [&](int k) { moved[k] = 0.0; });
    for (int item = 0; item < s.items(); ++item) {
      with_item_dim(s.lu.pattern, item,
                    [&](auto dim) SS_INLINE { move<dim>(g, s, item, z + first_row(s, item)); });
    }
  }

  /// Returns whether anything changed.
  template <class G>
  SS_HD bool sweep(const G& g, const SparseScaled& s, bool backwards) {
    bool changed = false;
    for (int c = 0; c < s.items(); ++c) {
      const int item = backwards ? s.items() - 1 - c : c;
      with_item_dim(s.lu.pattern, item,
                    [&](auto dim) SS_INLINE { changed = update<dim>(g, s, item) || changed; });
    }
    return changed;
  }

 private:
  /// H z += H_k change of item k.
  template <int dim, class G>
  SS_HD void move(const G& g, const SparseScaled& s, int item, const double* change) const {
    const ItemPaths& w = s.paths;
    const double* half = w.half + w.at[item];
    const std::int32_t* path = w.dof + w.begin[item];
    g.for_each(w.begin[item + 1] - w.begin[item], [&](int q) {
      double sum = moved[path[q]];
      for (int i = 0; i < dim; ++i) sum = fma(half[dim * q + i], change[i], sum);
      moved[path[q]] = sum;
    });
  }

  /// c of the rows of an item: u without its own impulse.
  template <int dim>
  SS_HD void see(const SparseScaled& s, int item, int a) const {
    const ItemPaths& w = s.paths;
    const double* half = w.half + w.at[item];
    const std::int32_t* path = w.dof + w.begin[item];
    double sum[dim];
    for (int i = 0; i < dim; ++i) sum[i] = fma(s.compliance[a + i], z[a + i], s.b[a + i]);
    for (int q = 0; q < w.begin[item + 1] - w.begin[item]; ++q) {
      for (int i = 0; i < dim; ++i) sum[i] = fma(half[dim * q + i], moved[path[q]], sum[i]);
    }
    for (int i = 0; i < dim; ++i) {
      for (int j = 0; j < dim; ++j) sum[i] = fma(-s.at(a + i, a + j), z[a + j], sum[i]);
      c[a + i] = sum[i];
    }
  }

  template <int dim, class G>
  SS_HD bool update(const G& g, const SparseScaled& s, int item) {
    struct Change {
      double x[dim], delta[dim];
      bool any = false;
    };
    const int a = first_row(s, item);
    g.once([&] { see<dim>(s, item, a); });
    const Change now = g.compute([&]() SS_INLINE {
      Change change;
      if constexpr (dim == 1) {
        const double u = fma(s.at(a, a), z[a], c[a]);
        change.x[0] = clamp(fma(-s.rho[a], u, z[a]), s.lo[a], s.hi[a]);
      } else {
        LocalBlock<SparseScaled, dim> block(s, item - s.scalars, a, inverse, z, c);
        block.solve(s.law);
        for (int i = 0; i < dim; ++i) change.x[i] = block.x[i];
      }
      for (int i = 0; i < dim; ++i) {
        change.delta[i] = change.x[i] - z[a + i];
        change.any = change.any || change.delta[i] != 0.0;
      }
      return change;
    });
    if (!now.any) return false;
    move<dim>(g, s, item, now.delta);
    g.once([&] {
      for (int i = 0; i < dim; ++i) z[a + i] = now.x[i];
    });
    return true;
  }
};

}  // namespace stickslip::kernels::inline SS_ISA
