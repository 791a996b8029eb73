// path_matrix.hpp without W: W + D is a step of items with P = 1 and Q = D
// (velocity/item_steps.hpp).
#pragma once
#include "kernels/solver/interior/path_matrix.hpp"
#include "kernels/velocity/item_steps.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct EveryItem {
  SS_HD bool operator()(int /*item*/) const { return true; }
};

template <class G>
SS_HD void load_path_matrix(const G& g, const SparseScaled& s, const CentralPath<double>& w) {
  constexpr double kRegular = 1e-12, kFree = 1e-9;
  g.for_each(s.items(), [&](int item) {
    const int a = first_row(s, item), dim = end_row(s, item) - a;
    double* const Q = s.steps.Q + ItemSteps::kBlock * item;
    for (int i = 0; i < dim * dim; ++i) Q[i] = 0.0;
    for (int j = 0; j < dim; ++j) {
      const int i = a + j;
      const bool free = item < s.scalars && !w.has_low(i) && !w.has_high(i);
      double& diagonal = Q[(dim + 1) * j];
      diagonal = fma(free ? kFree : kRegular, s.at(i, i) + 1e-3, s.compliance[i] + s.alone(i));
      add_bounds(w, i, diagonal);
    }
  });
}

SS_HD double* path_row(const SparseScaled& s, const CentralPath<double>& /*w*/, int k, int i) {
  return s.steps.Q + ItemSteps::kBlock * (s.scalars + k) + s.dim(k) * (i - s.block[k]);
}

template <class G>
SS_HD bool factor_path_matrix(const G& g, const SparseScaled& s, const CentralPath<double>& /*w*/) {
  return factor_items<true>(g, s, EveryItem{});
}

template <class G>
SS_PART bool solve_path_matrix(const G& g, const SparseScaled& s, const CentralPath<double>& w,
                               double accurate, const PathPoint<double>& d) {
  constexpr double kFar = 0.1;
  if (!(solve_items<true>(g, s, EveryItem{}, w.right, accurate, d.z) < kFar)) return false;
  multiply_scaled(g, s, d.z, s.zero, d.u);
  return true;
}

template <class G>
SS_HD int path_sign(const G& g, const SparseScaled& s, const CentralPath<double>& /*w*/) {
  return determinant_sign(g, s);
}

}  // namespace stickslip::kernels::inline SS_ISA
