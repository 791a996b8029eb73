// The velocities of impulses from M and J in sparse form, without W, and a bound of their errors.
#pragma once
#include "kernels/delassus/products.hpp"
#include "kernels/law/rounding.hpp"
#include "kernels/problem/env_problem.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// spread_k = sqrt((M^-1)_kk), (M^-1)_kk = |D^-1/2 L^-T e_k|^2, non-zero only on k and its
/// ancestors. `reach`: [nv] scratch.
template <class G>
SS_HD void measure_spread(const G& g, const SparseMechanism& m, double* reach, double* spread) {
  const TreeSparsity& t = m.tree;
  for (int k = 0; k < t.n; ++k) {
    const int depth = t.row_nnz[k] - 1;
    const std::int32_t* path = t.col + t.row_adr[k];
    g.once([&] {
      for (int a = 0; a < depth; ++a) reach[a] = 0.0;
      reach[depth] = 1.0;
      for (int a = depth; a > 0; --a) {
        const double* row = m.L + t.row_adr[path[a]];
        for (int c = 0; c < a; ++c) reach[c] = fma(-row[c], reach[a], reach[c]);
      }
    });
    const double size =
        g.sum(depth + 1, [&](int a) { return reach[a] * reach[a] * m.D_inv[path[a]]; });
    g.once([&] { spread[k] = sqrt(size); });
  }
}

/// u_R of impulses r without W: u = J x + R r + b, M x = J^T r.
struct SparseVelocity {
  const EnvProblem<double>& p;
  const SparseMechanism& m;
  double* change;            ///< [nv] x
  double *left, *partial;    ///< [nv] scratch
  const double* spread;      ///< [nv] measure_spread
  ColumnIndex columns = {};  ///< of J, if there is one
  template <class G>
  SS_HD void operator()(const G& g, const double* r, double* u) const {
    multiply_delassus(
        g, m, r, change,
        [&](int i, double sum) { u[i] = sum + fma(p.compliance(i), r[i], p.b[i]); }, columns);
  }

  template <class G>
  SS_HD void operator()(const G& g, const double* r, double* u, double* e) const {
    (*this)(g, r, u);
    error(g, r, e);
  }

  /// Bound of the errors of u; x must belong to u. With y = J^T r - M x, the error of J_i x is J_i
  /// M^-1 y, at most sqrt(W_ii) sum_k |y_k| sqrt((M^-1)_kk). Running error of sums: at most half an
  /// ulp of every partial sum (Higham 2002, section 3.3).
  template <class G>
  SS_HD void error(const G& g, const double* r, double* e) const {
    double off = 0.0;
    left_over(g, r);
    for (int k = 0; k < m.tree.n; ++k) {
      off = fma(fma(kUnit, partial[k], abs(left[k])), spread[k], off);
    }
    g.for_each(p.n, [&](int i) {
      double sum = 0.0, sizes = 0.0;
      for (int c = m.J_row[i]; c < m.J_row[i + 1]; ++c) {
        sum = fma(m.J[c], change[m.J_col[c]], sum);
        sizes += abs(sum);
      }
      const double rest = fma(p.compliance(i), r[i], p.b[i]);
      sizes += abs(rest) + abs(sum + rest);
      e[i] = fma(kUnit, sizes, 1.01 * sqrt(p.w(i, i)) * off);
    });
  }

 private:
  static constexpr double kUnit = 1.01 * kRoundoff;  ///< includes second-order terms

  /// left = J^T r - M x, and the sizes of its partial sums.
  template <class G>
  SS_HD void left_over(const G& g, const double* r) const {
    const TreeSparsity& t = m.tree;
    const auto add = [&](int k, double a, double b) {
      left[k] = fma(a, b, left[k]);
      partial[k] += abs(left[k]);
    };
    g.for_each(t.n, [&](int k) { left[k] = partial[k] = 0.0; });
    for_columns(
        g, m, columns, [](int) { return false; },
        [&](int k, double entry, int i) { add(k, entry, r[i]); });
    for_trees(g, t, [&](int first, auto&& has) SS_INLINE {
      for (int i = first; i < t.n; ++i) {
        if (!has(i)) continue;
        const int end = t.row_adr[i] + t.row_nnz[i] - 1;
        for (int c = t.row_adr[i]; c < end; ++c) {
          add(t.col[c], -m.M[c], change[i]);
          add(i, -m.M[c], change[t.col[c]]);
        }
        add(i, -m.M[end], change[i]);
      }
    });
  }
};

}  // namespace stickslip::kernels::inline SS_ISA
