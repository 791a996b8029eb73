// The adjoint of a solve of the convex law for velocities, without W. With -dr/du = L L^T, the
// curvature of the penalty (solver/newton/penalty.hpp), at the solution
//   dz = -L L^T (D J dx + delta),   M dx = J^T D dz,   H = M + J^T D L L^T D J
// and so, with g = D (g_r + R g_u) and the factor of the Hessian that the solver uses,
//   H w = J^T (g_u - D L L^T g),   beta = g_u - D L L^T (D J w + g),   J^T beta = M w.
#pragma once
#include "kernels/delassus/products.hpp"
#include "kernels/gradient/adjoint.hpp"
#include "kernels/solver/newton/velocity_hessian.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// y <- L L^T y, of all rows.
template <class G>
SS_HD void apply_curvature(const G& g, const Scaled<double>& s, const Penalty<double>& penalty,
                           double* y) {
  g.for_each(s.scalars + s.n_contacts, [&](int item) {
    const int begin = first_row(s, item), end = end_row(s, item);
    const bool constant = penalty.state[begin] == Penalty<double>::constant;
    const auto stiffen = [&] {
      for (int i = begin; i < end; ++i) y[i] = constant ? 0.0 : y[i] * penalty.stiffness[i];
    };
    stiffen();
    if (penalty.state[begin] == Penalty<double>::curved) {
      const auto row = [&](int j) -> double& { return y[begin + j]; };
      apply_root(s, penalty, item - s.scalars, row);
      apply_root(s, penalty, item - s.scalars, row);
    }
    stiffen();
  });
}

/// As solve_adjoint (adjoint.hpp), by the factor of the Hessian at the solution rows.z, rows.u;
/// `w.f` gets (A^T lambda) / d, with which given impulses move too. `velocity` [nv] is w above.
template <class G, class Scalar>
SS_HD Solvability solve_velocity_adjoint(const G& g, const EnvProblem<Scalar>& p,
                                         const SparseMechanism& m, const Scaled<double>& s,
                                         const Penalty<double>& penalty,
                                         const VelocityHessian& hessian, double* velocity,
                                         const GradientScratch& w) {
  g.for_each(s.n, [&](int i) { w.x[i] = fma(-s.R[i], w.rows.z[i], w.rows.u[i]); });
  penalise(g, s, penalty, w.x);
  find_paths(g, m, s, hessian);
  if (!factor_hessian(g, m, s, penalty, hessian)) return {};
  g.for_each(s.n, [&](int i) {
    w.f[i] = fma(p.compliance(i), w.g_u[i], w.g_r[i]);
    w.Bx[i] = s.d[i] * w.f[i];
  });
  apply_curvature(g, s, penalty, w.Bx);
  g.for_each(m.tree.n, [&](int k) { velocity[k] = 0.0; });
  add_J_transposed(
      g, m, [&](int i) { return fma(-s.d[i], w.Bx[i], w.g_u[i]); }, velocity);
  solve_ltdl(g, hessian.matrix.sparsity(), hessian.matrix.H, hessian.matrix.D_inv, velocity);
  multiply_J(g, m, velocity, [&](int i, double sum) {
    w.Ax[i] = w.g_r[i] + sum;
    w.Bx[i] = s.d[i] * (w.f[i] + sum);
  });
  apply_curvature(g, s, penalty, w.Bx);
  g.for_each(s.n, [&](int i) {
    w.beta[i] = fma(-s.d[i], w.Bx[i], w.g_u[i]);
    w.f[i] = fma(p.compliance(i), w.beta[i], w.Ax[i]);
    w.Ax[i] = s.d[i] * w.f[i];
  });
  if (g.any(s.n, [&](int i) { return !is_finite(w.beta[i]); })) return {};
  // The compliance bounds the pivots of A + B (W + R) from below.
  const double most = g.max(s.n, [&](int i) {
    return w.rows.state[i] == kFixed ? 1.0 : p.diagonal(i) / p.compliance(i);
  });
  return {0.0, 1.0 / most};
}

}  // namespace stickslip::kernels::inline SS_ISA
