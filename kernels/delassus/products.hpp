// Products with the matrices of a mechanism given in sparse form. One lane does scattered additions
// in the order of the rows, so that every sum is one chain; vector registers would not help there.
#pragma once
#include "kernels/linalg/ltdl.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Calls take(i, (J x)_i) for every row.
template <class G, class F>
SS_HD void multiply_J(const G& g, const SparseMechanism& m, const double* x, F&& take) {
  g.for_each(m.rows, [&](int i) {
    double sum = 0.0;
    for (int c = m.J_row[i]; c < m.J_row[i + 1]; ++c) sum = fma(m.J[c], x[m.J_col[c]], sum);
    take(i, sum);
  });
}

/// y += J^T z, z_i given by z(i).
template <class G, class F>
SS_HD void add_J_transposed(const G& g, const SparseMechanism& m, F&& z, double* y) {
  g.once([&] {
    for (int i = 0; i < m.rows; ++i) {
      const double value = z(i);
      if (value == 0.0) continue;
      for (int c = m.J_row[i]; c < m.J_row[i + 1]; ++c) {
        y[m.J_col[c]] = fma(m.J[c], value, y[m.J_col[c]]);
      }
    }
  });
}

/// y = M x
template <class G>
SS_HD void multiply_M(const G& g, const SparseMechanism& m, const double* x, double* y) {
  const TreeSparsity& t = m.tree;
  g.once([&] {
    for (int i = 0; i < t.n; ++i) {
      const double value = x[i];
      double sum = 0.0;
      const int end = t.row_adr[i] + t.row_nnz[i] - 1;
      for (int c = t.row_adr[i]; c < end; ++c) {
        const int k = t.col[c];
        sum = fma(m.M[c], x[k], sum);
        y[k] = fma(m.M[c], value, y[k]);
      }
      y[i] = fma(m.M[end], value, sum);
    }
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
