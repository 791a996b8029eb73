// H = M + J^T D L L^T D J, with -dr/du = L L^T the curvature of the penalty, along the paths of the
// kinematic tree (linalg/path_matrix.hpp).
#pragma once
#include "kernels/linalg/path_matrix.hpp"
#include "kernels/solver/newton/penalty.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct VelocityHessian {
  PathMatrix matrix;
  double* rows;           ///< [n][ld] D J along the path of its item, padded with zeros
  std::int32_t* deepest;  ///< [items] last dof of that path; -1: the item touches nothing
  double* product;        ///< [6][ld] L^T D J of one item
  double* root;           ///< [6][6] L of one contact, a column after the other
  int ld;

  SS_HD VelocityHessian(Arena& arena, int nv, int max_rows)
      : matrix(arena, nv),
        rows(arena.take<double>(std::size_t(max_rows) * path_padded(nv))),
        deepest(arena.take<std::int32_t>(max_rows)),
        product(arena.take<double>(std::size_t(6) * path_padded(nv))),
        root(arena.take<double>(36)),
        ld(path_padded(nv)) {}
};

/// Whether the item is one entry of J: dry friction or the limit of a joint.
SS_HD bool touches_one_dof(const SparseMechanism& m, const Scaled<double>& s, int item) {
  return item < s.scalars && m.J_row[item + 1] - m.J_row[item] == 1;
}

/// The elimination tree of H and the rows of J along its paths.
template <class G>
SS_HD void find_paths(const G& g, const SparseMechanism& m, const Scaled<double>& s,
                      const VelocityHessian& h) {
  const PathMatrix& a = h.matrix;
  const int items = s.scalars + s.n_contacts;
  g.for_each(a.n, [&](int k) { a.parent[k] = parent(m.tree, k); });
  g.once([&] {
    for (int i = 0; i < items; ++i) tie_rows(m, first_row(s, i), end_row(s, i), a.parent);
    lay_out_paths(a);
  });
  g.for_each(items, [&](int item) {
    const int begin = first_row(s, item), end = end_row(s, item);
    int deepest = -1;
    for (int i = begin; i < end; ++i) {
      if (m.J_row[i] < m.J_row[i + 1]) deepest = max(deepest, m.J_col[m.J_row[i + 1] - 1]);
    }
    h.deepest[item] = deepest;
    const int width =
        deepest < 0 || touches_one_dof(m, s, item) ? 0 : path_padded(a.row_nnz[deepest]);
    for (int i = begin; i < end && width > 0; ++i) {
      double* row = h.rows + std::int64_t(i) * h.ld;
      for (int c = 0; c < width; ++c) row[c] = 0.0;
      for (int c = m.J_row[i]; c < m.J_row[i + 1]; ++c) row[a.place(m.J_col[c])] = s.d[i] * m.J[c];
    }
  });
}

/// product = L^T D J of contact k.
template <int dim, class G>
SS_HD void weigh_block(const G& g, const Scaled<double>& s, const Penalty<double>& penalty, int k,
                       int width, const VelocityHessian& h) {
  const int a = s.block[k];
  g.for_each(dim, [&](int l) {  // S e_l / sqrt(R_l)
    double* column = h.root + dim * l;
    for (int j = 0; j < dim; ++j) column[j] = 0.0;
    if (!(penalty.stiffness[a + l] > 0.0)) return;
    column[l] = penalty.stiffness[a + l];
    if (penalty.state[a] == Penalty<double>::linear) return;
    apply_root(s, penalty, k, [&](int j) -> double& { return column[j]; });
  });
  const double* rows = h.rows + std::int64_t(a) * h.ld;
  g.for_each(width, [&](int c) {
    for (int j = 0; j < dim; ++j) {
      double sum = 0.0;
      for (int l = 0; l < dim; ++l)
        sum = fma(h.root[dim * l + j], rows[std::int64_t(l) * h.ld + c], sum);
      h.product[std::int64_t(j) * h.ld + c] = sum;
    }
  });
}

/// Adds the curvature of one item along its path.
template <class G>
SS_HD void add_item(const G& g, const SparseMechanism& m, const Scaled<double>& s,
                    const Penalty<double>& penalty, int item, const VelocityHessian& h) {
  const int row = first_row(s, item), deepest = h.deepest[item];
  const PathMatrix& a = h.matrix;
  if (deepest < 0 || penalty.state[row] == Penalty<double>::constant) return;
  if (touches_one_dof(m, s, item)) {
    const double entry = s.d[row] * m.J[m.J_row[row]] * penalty.stiffness[row];
    double& diagonal = a.row(deepest)[a.place(deepest)];
    g.once([&] { diagonal = fma(entry, entry, diagonal); });
    return;
  }
  const int width = path_padded(a.row_nnz[deepest]);
  if (item < s.scalars) {
    const double* from = h.rows + std::int64_t(row) * h.ld;
    const double weight = penalty.stiffness[row];
    g.for_each(width, [&](int c) { h.product[c] = weight * from[c]; });
    add_outer_products<1>(g, a, deepest, h.product, h.ld);
    return;
  }
  const int k = item - s.scalars;
  with_dim(s.dim(k), [&](auto dim) {
    weigh_block<dim()>(g, s, penalty, k, width, h);
    add_outer_products<dim()>(g, a, deepest, h.product, h.ld);
  });
}

/// H at the last `penalise`, factorised. False if it is not positive definite (not finite).
template <class G>
SS_HD bool factor_hessian(const G& g, const SparseMechanism& m, const Scaled<double>& s,
                          const Penalty<double>& penalty, const VelocityHessian& h) {
  copy_mass(g, m, h.matrix);
  for (int item = 0; item < s.scalars + s.n_contacts; ++item) add_item(g, m, s, penalty, item, h);
  return factor_paths(g, h.matrix);
}

}  // namespace stickslip::kernels::inline SS_ISA
