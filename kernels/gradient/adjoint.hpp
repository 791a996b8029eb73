// Derivatives of a loss by the problem, and of the solution by a change of the problem, for one
// environment whose rows are linearised (solution_rows.hpp). Physical quantities here; those of the
// linear system are scaled: dr = d dz, du = du_hat / d.
//
// The rows depend on friction only through r_j / mu_j and mu_j u_j, so that
//   C dmu = sum_j (u_j B_j - r_j A_j) dmu_j / mu_j,   with the columns A_j, B_j of tangential rows.
// With f = A dr + B du, du = (W + R) dr + delta, delta = db + dW r + dR r:
//   H dr = -B delta - C dmu,   H = A + B (W + R)
//   H^T lambda = g_r + (W + R)^T g_u,   dL/db = beta = g_u - B^T lambda,   dL/dW = beta r^T,
//   dL/dmu_j = (r_j (A^T lambda)_j - u_j (B^T lambda)_j) / mu_j,
//   dL/d(bound_i) = (g_r + (W + R)^T beta)_i of a row at its bound.
#pragma once
#include "kernels/gradient/filtered_matrix.hpp"
#include "kernels/gradient/narrowed.hpp"
#include "stickslip/gradient.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct GradientScratch {
  SolutionRows rows;
  FilteredSolve solve;
  double *f, *x;      ///< [padded(n)] right side and solution of the system
  double *Ax, *Bx;    ///< [padded(n)]
  double *g_r, *g_u;  ///< [padded(n)] of the loss; jvp: dr and delta
  double* beta;       ///< [padded(n)]

  /// `matrix_rows`: 0 where no system is solved by W.
  SS_HD GradientScratch(Arena& arena, int max_rows, int matrix_rows)
      : rows(arena, max_rows),
        solve(arena, max_rows, matrix_rows),
        f(arena.take<double>(padded(max_rows))),
        x(arena.take<double>(padded(max_rows))),
        Ax(arena.take<double>(padded(max_rows))),
        Bx(arena.take<double>(padded(max_rows))),
        g_r(arena.take<double>(padded(max_rows))),
        g_u(arena.take<double>(padded(max_rows))),
        beta(arena.take<double>(padded(max_rows))) {}
  SS_HD GradientScratch(Arena& arena, int max_rows) : GradientScratch(arena, max_rows, max_rows) {}
};

/// y = start + (W + diag R) x, in double.
template <class G, class Scalar>
SS_HD void multiply_rows(const G& g, const EnvProblem<Scalar>& p, const Scaled<double>& /*s*/,
                         const double* start, const double* x, double* y) {
  const auto first = [&](int i) { return fma(p.compliance(i), x[i], start[i]); };
  matvec_given(g, p.n, p.W, p.ld_W, p.symmetric, x, sum_into(y, first));
}

/// y = start + (W + diag R)^T x, in double.
template <class G, class Scalar>
SS_HD void multiply_rows_transposed(const G& g, const EnvProblem<Scalar>& p,
                                    const Scaled<double>& /*s*/, const double* start,
                                    const double* x, double* y) {
  const auto first = [&](int i) { return fma(p.compliance(i), x[i], start[i]); };
  if (p.symmetric) {
    matvec_given(g, p.n, p.W, p.ld_W, true, x, sum_into(y, first));
    return;
  }
  g.for_each(p.n, [&](int i) {
    double sum = first(i);
    for (int j = 0; j < p.n; ++j) sum = fma(p.w(j, i), x[j], sum);
    y[i] = sum;
  });
}

/// beta, A^T lambda and B^T lambda of the loss g_r, g_u in the scratch; `of_velocity`: g_u is not
/// 0.
template <class G, class Scalar, class S>
SS_HD Solvability solve_adjoint(const G& g, const EnvProblem<Scalar>& p, const S& s,
                                bool of_velocity, const GradientScratch& w) {
  if (of_velocity) multiply_rows_transposed(g, p, s, w.g_r, w.g_u, w.f);
  const double* g_all = of_velocity ? w.f : w.g_r;
  g.for_each(s.ld, [&](int i) {
    w.f[i] = i < s.n && w.rows.state[i] != kFixed ? g_all[i] * s.d[i] : 0.0;
  });
  const Solvability found = solve_filtered<true>(g, s, w.rows, w.solve, w.f, w.x);
  multiply_blocks<BlockMatrix::A, true>(g, s, w.rows, w.x, w.Ax);
  multiply_blocks<BlockMatrix::B, true>(g, s, w.rows, w.x, w.Bx);
  g.for_each(s.n, [&](int i) { w.beta[i] = fma(-s.d[i], w.Bx[i], w.g_u[i]); });
  return g.any(s.n, [&](int i) { return !is_finite(w.beta[i]); }) ? Solvability{} : found;
}

/// dL/dmu_j of the tangential row i of contact k.
template <class Scalar>
SS_HD double friction_gradient(const EnvProblem<Scalar>& p, const Scaled<double>& s,
                               const GradientScratch& w, int k, int i) {
  if (w.rows.state[i] < 0) return 0.0;
  const double slope = s.q * p.friction(k, i - p.block[k]);
  return fma(w.rows.z[i], w.Ax[i], -(w.rows.u[i] * w.Bx[i])) / slope;
}

/// Writes the derivatives of environment `env`, r being its impulse. w.f: g_r + (W + R)^T beta, if
/// those by bounds are wanted.
template <class G, class Scalar>
SS_HD void write_gradient(const G& g, const EnvProblem<Scalar>& p, const Scaled<double>& s,
                          const GradientScratch& w, const Scalar* r,
                          const GradientBatch<Scalar>& out, std::int64_t env, int max_rows) {
  Scalar *b = slot(out.b, env), *W = slot(out.W, env), *R = slot(out.R, env);
  Scalar *mu = slot(out.mu, env), *lo = slot(out.lo, env), *hi = slot(out.hi, env);
  g.for_each(p.n, [&](int i) {
    b[i] = narrowed<Scalar>(w.beta[i]);
    if (R != nullptr) R[i] = narrowed<Scalar>(w.beta[i] * double(r[i]));
  });
  if (W != nullptr) {
    const int ld = out.ld_W > 0 ? out.ld_W : max_rows;
    g.for_each_2d(p.n, p.n, [&](int i, int j) {
      W[std::int64_t(i) * ld + j] = narrowed<Scalar>(w.beta[i] * double(r[j]));
    });
  }
  if (mu != nullptr) {
    g.for_each(p.n_contacts, [&](int k) {
      for (int i = p.block[k] + 1; i < p.block[k + 1]; ++i) {
        mu[i - s.scalars - k - 1] = narrowed<Scalar>(friction_gradient(p, s, w, k, i));
      }
    });
  }
  if (lo == nullptr && hi == nullptr) return;
  g.for_each(p.n_box, [&](int box) {
    const int i = p.n_free + p.n_nonneg + box;
    const double bound = w.rows.state[i] == kFixed ? w.f[i] : 0.0, z = w.rows.z[i];
    // A row with equal bounds moves with both.
    const double low = s.lo[i] == s.hi[i] ? 0.5 : z - s.lo[i] < s.hi[i] - z ? 1.0 : 0.0;
    if (lo != nullptr) lo[box] = narrowed<Scalar>(bound * low);
    if (hi != nullptr) hi[box] = narrowed<Scalar>(bound * (1.0 - low));
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
