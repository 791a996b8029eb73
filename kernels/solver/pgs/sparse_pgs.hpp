// Sweeps without W: W_hat = H^T H by items (velocity/sparse_scaled.hpp), so a sweep keeps H z and
// visits only the degrees of freedom on the path of an item. Items of one color share none of them,
// so lanes visit them at once; a sweep goes from color to color.
#pragma once
#include "kernels/solver/pgs/pgs.hpp"
#include "kernels/velocity/scale_sparse.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct SparsePgs {
  double *z, *c;  ///< [ld] as in Pgs
  double* inverse;
  double* moved;  ///< [nv] H z
  bool* changed;  ///< [items] in this sweep

  SS_INNER SparsePgs(Arena& arena, const SparseScaled& s)
      : z(arena.take<double>(padded_rows<double>(s.n))),
        c(arena.take<double>(padded_rows<double>(s.n))),
        inverse(arena.take<double>(6 * std::size_t(s.n))),
        moved(s.row),
        changed(arena.take<bool>(s.n)) {}

  template <class G>
  SS_INNER void prepare(const G& g, const SparseScaled& s) {
    prepare_blocks(g, s, inverse);
  }

  /// Computes H z without the rounding errors of earlier sweeps.
  template <class G>
  SS_INNER void refresh(const G& g, const SparseScaled& s) {
    g.for_each(s.m.tree.n, [&](int k) { moved[k] = 0.0; });
    for_items(g, s, false,
              [&](auto dim, int item) SS_INLINE { move<dim>(s, item, z + first_row(s, item)); });
  }

  /// Returns whether anything changed.
  template <class G>
  SS_INNER bool sweep(const G& g, const SparseScaled& s, bool backwards) {
    for_items(g, s, backwards,
              [&](auto dim, int item) SS_INLINE { changed[item] = update<dim>(s, item); });
    return g.any(s.items(), [&](int item) { return changed[item]; });
  }

 private:
  /// visit(Index<dim>, item) for all items, color by color.
  template <class G, class F>
  SS_INNER void for_items(const G& g, const SparseScaled& s, bool backwards, F&& visit) const {
    const ItemPaths& w = s.paths;
    const int colors = *w.colors;
    for (int c = 0; c < colors; ++c) {
      const int color = backwards ? colors - 1 - c : c, begin = w.color[color];
      g.for_each(w.color[color + 1] - begin, [&](int i) {
        const int item = w.by_color[begin + i];
        with_item_dim(s.lu.pattern, item, [&](auto dim) SS_INLINE { visit(dim, item); });
      });
    }
  }

  /// H z += H_k change of item k.
  template <int dim>
  SS_INNER void move(const SparseScaled& s, int item, const double* change) const {
    const ItemPaths& w = s.paths;
    const double* half = w.half + w.at[item];
    const std::int32_t* path = w.path(item);
    for (int q = 0; q < w.length[item]; ++q) {
      double sum = moved[path[q]];
      for (int i = 0; i < dim; ++i) sum = fma(half[dim * q + i], change[i], sum);
      moved[path[q]] = sum;
    }
  }

  /// c of the rows of an item: u without its own impulse.
  template <int dim>
  SS_INNER void see(const SparseScaled& s, int item, int a) const {
    const ItemPaths& w = s.paths;
    const double* half = w.half + w.at[item];
    const std::int32_t* path = w.path(item);
    double sum[dim];
    for (int i = 0; i < dim; ++i) sum[i] = fma(s.compliance[a + i], z[a + i], s.b[a + i]);
    for (int q = 0; q < w.length[item]; ++q) {
      for (int i = 0; i < dim; ++i) sum[i] = fma(half[dim * q + i], moved[path[q]], sum[i]);
    }
    const double* own = s.own_block(item);
    for (int i = 0; i < dim; ++i) {
      for (int j = 0; j < dim; ++j) {
        const double entry = own[SparseScaled::kMostDim * i + j];
        sum[i] = fma(-(i == j ? entry + s.compliance[a + i] : entry), z[a + j], sum[i]);
      }
      c[a + i] = sum[i];
    }
  }

  /// Whether the impulse of an item changes.
  template <int dim>
  SS_INNER bool update(const SparseScaled& s, int item) const {
    const int a = first_row(s, item);
    double x[dim], delta[dim];
    see<dim>(s, item, a);
    if constexpr (dim == 1) {
      const double u = fma(s.at(a, a), z[a], c[a]);
      x[0] = clamp(fma(-s.rho[a], u, z[a]), s.lo[a], s.hi[a]);
    } else {
      LocalBlock<SparseScaled, dim> block(s, item - s.scalars, a, inverse, z, c);
      block.solve(s.law);
      for (int i = 0; i < dim; ++i) x[i] = block.x[i];
    }
    bool any = false;
    for (int i = 0; i < dim; ++i) {
      delta[i] = x[i] - z[a + i];
      any = any || delta[i] != 0.0;
    }
    if (!any) return false;
    move<dim>(s, item, delta);
    for (int i = 0; i < dim; ++i) z[a + i] = x[i];
    return true;
  }
};

}  // namespace stickslip::kernels::inline SS_ISA
