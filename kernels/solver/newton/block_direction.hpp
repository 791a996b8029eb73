// Newton's direction without W. With the tangent T_k of an item, the regularisation E and D =
// dF/dz at fixed u, direction.hpp solves for y = -dz on the active rows
//
//   T (W_hat + E) y + D y = g,   g = T pull + F:
//
// a step of item_steps.hpp with P = T and Q = T (R + E) + D.
#pragma once
#include "kernels/solver/newton/direction.hpp"
#include "kernels/velocity/item_steps.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// E of row i: as direction.hpp adds it to the diagonal of W_hat.
SS_HD double regularisation(const SparseScaled& s, const Regularisation<double>& more, int i) {
  return fma(more.epsilon, s.at(i, i) + 1e-3, more.proximal * s.selecting[i]);
}

/// P = T and Q = T (R + E) + D of an item.
template <int dim, class Apply>
SS_HD void set_item(const SparseScaled& s, const Linearisation<double>& l,
                    const Regularisation<double>& more, int item, Apply&& apply) {
  const int a = first_row(s, item);
  double* const P = s.steps.P + SparseScaled::kBlock * item;
  double* const Q = s.steps.Q + SparseScaled::kBlock * item;
  for (int j = 0; j < dim; ++j) {
    double column[dim], tangent[dim];
    for (int i = 0; i < dim; ++i) {
      column[i] =
          i == j ? s.compliance[a + j] + regularisation(s, more, a + j) + s.alone(a + j) : 0.0;
      tangent[i] = i == j ? 1.0 : 0.0;
    }
    apply(column);
    apply(tangent);
    if constexpr (dim > 1) {
      if (l.is(a, RowState::sliding)) add_direct<dim>(s, l, item - s.scalars, j, column);
    }
    for (int i = 0; i < dim; ++i) {
      P[dim * i + j] = tangent[i];
      Q[dim * i + j] = column[i];
    }
  }
}

/// Calls f(item, dim, apply) for the items that are not fixed.
template <class G, class F>
SS_HD void for_active_items(const G& g, const SparseScaled& s, const Linearisation<double>& l,
                            F&& f) {
  g.for_each(s.items(), [&](int item) {
    if (l.is(first_row(s, item), RowState::fixed)) return;
    with_tangent<double, double>(s, l, item,
                                 [&](auto dim, auto&& apply) SS_INLINE { f(item, dim, apply); });
  });
}

/// As newton_direction of direction.hpp.
template <class G>
SS_HD bool newton_direction(const G& g, const SparseScaled& s, const Linearisation<double>& l,
                            const Regularisation<double>& more, const double* z,
                            const double* mismatch, const DirectionScratch<double>& d,
                            bool& repeats, int& count, double* pull, double* dz) {
  constexpr double kAccurate = 1e-6;  // of the right side
  const ItemSteps& w = s.steps;
  const auto active = [&](int item) { return !l.is(first_row(s, item), RowState::fixed); };
  repeats = repeats && factors_serve(g, s, l, z, d);
  if (repeats) {
    g.for_each(s.ld, [&](int i) { dz[i] = 0.0; });
    g.for_each(s.n, [&](int i) { w.right[i] = l.F[i]; });
  } else {
    count = collect_active(g, s, l, z, d, dz);
    g.for_each(s.n, [&](int i) { d.state[i] = l.state[i]; });
    if (count == 0) return true;
    for_active_items(g, s, l, [&](int item, auto dim, auto&& apply) {
      set_item<dim()>(s, l, more, item, apply);
    });
    if (!factor_items<false>(g, s, active)) return false;
    multiply_scaled(g, s, dz, mismatch, pull);
    for_active_items(g, s, l, [&](int item, auto dim, auto&& apply) {
      const int a = first_row(s, item);
      double x[dim()];
      for (int j = 0; j < dim(); ++j) x[j] = pull[a + j];
      apply(x);
      for (int j = 0; j < dim(); ++j) w.right[a + j] = x[j] + l.F[a + j];
    });
  }
  if (!is_finite(solve_items<false>(g, s, active, w.right, kAccurate, w.step))) return false;
  g.for_each(count, [&](int j) { dz[d.active[j]] = -w.step[d.active[j]]; });
  return true;
}

}  // namespace stickslip::kernels::inline SS_ISA
