// How the choice among many solutions moves with the problem (docs/gradients.md).
//
// The solution for small epsilon is z + epsilon z1, its velocity u + epsilon u1:
//   H z1 = -B D z,   u1 = W_hat z1 + D z
// The first equation has a solution only where z is the selected one.
// In the derivative of its equations, H dz = f + what epsilon adds: H dz1 + B D dz + h = 0, with
//   h = B (dD z + dW z1) + F''[(z1, u1), (dz, du, dmu)]
// F'' the second derivative of the rows. For a left null vector N of H, N^T (B D dz + h) = 0. The
// filtered solution has N^T B D dz = 0. So dz needs v of the null space, N^T (B D v + h) = 0:
// the limit of -e H_e^-1 h.
//
// mu is in the rows by r_j / mu_j and mu_j u_j alone: with m_j = dmu_j / mu_j, F'' is
//   rows.bend[(z1, u1), (dz - m z, du + m u)] - A (m z1) + B (m u1).
#pragma once
#include "kernels/gradient/adjoint.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Most of B D z that does not fit at the selected solution. Its impulses then move as the
/// derivative says to 1e-3; above 1e-5 they do not (docs/gradients.md).
inline constexpr double kMostStrayed = 1e-6;

/// The change of the problem in one environment; null: 0.
template <class Scalar>
struct ProblemChange {
  const Scalar *b, *W, *R, *mu, *lo, *hi;
  int ld_W;

  SS_HD ProblemChange(const ChangeBatch<Scalar>& batch, std::int64_t env, int max_rows)
      : b(slot(batch.b, env)),
        W(slot(batch.W, env)),
        R(slot(batch.R, env)),
        mu(slot(batch.mu, env)),
        lo(slot(batch.lo, env)),
        hi(slot(batch.hi, env)),
        ld_W(batch.ld_W > 0 ? batch.ld_W : max_rows) {}
  SS_HD double w(int i, int j) const {
    return W == nullptr ? 0.0 : double(W[std::int64_t(i) * ld_W + j]);
  }
  SS_HD double compliance(int i) const { return R == nullptr ? 0.0 : double(R[i]); }
};

/// dmu_j / mu_j of row a + j of contact k; 0 without friction.
template <class Scalar>
SS_HD double relative_change(const EnvProblem<Scalar>& p, const Scaled<double>& s,
                             const ProblemChange<Scalar>& change, int k, int j) {
  const int i = s.block[k] + j;
  if (change.mu == nullptr || j == 0 || !(s.d[i] > 0.0)) return 0.0;
  return double(change.mu[i - s.scalars - k - 1]) / p.friction(k, j);
}

/// The change of D in row a + j of contact k, in the coordinates of the problem that is given. D is
/// W_nn in circular coordinates, which stretch with mu_j / mu_1.
template <class Scalar>
SS_HD double compliance_change(const EnvProblem<Scalar>& p, const Scaled<double>& s,
                               const ProblemChange<Scalar>& change, int k, int j) {
  const int a = s.block[k];
  const double moved = change.w(a, a) * s.d[a] * s.d[a];
  if (j == 0 || !(s.d[a + j] > 0.0)) return moved;
  int first = 1;
  while (first + 1 < s.dim(k) && !(s.d[a + first] > 0.0)) ++first;
  const double stretch =
      relative_change(p, s, change, k, j) - relative_change(p, s, change, k, first);
  return fma(-2.0 * stretch, s.selecting[a + j], moved);
}

/// F'' of the curved rows of contact k, added to `sum`. `m`: m_j / q of all rows.
template <int dim, class Scalar>
SS_HD void add_bend(const EnvProblem<Scalar>& p, const Scaled<double>& s, const GradientScratch& w,
                    const double* m, int k, double* sum) {
  const int a = s.block[k];
  const SolutionRows& rows = w.rows;
  double z[dim], u[dim], bend[dim] = {};
  for (int j = 0; j < dim; ++j) {
    z[j] = fma(-m[a + j], rows.z[a + j], w.x[a + j]);
    u[j] = fma(m[a + j], rows.u[a + j], s.d[a + j] * w.f[a + j]);
  }
  with_law(s.law, [&](auto its) {
    if constexpr (has_bend<decltype(its)>) {
      its.bend(block_rows<dim>(p, s, rows, k), {w.Ax + a, w.Bx + a}, {z, u}, bend);
    }
  });
  for (int j = 0; j < dim; ++j) {
    if (rows.state[a + j] != kFixed) sum[a + j] += bend[j];
  }
}

/// w.beta = h / q, of z1 in w.Ax, u1 in w.Bx, dz in w.x, du in w.f.
template <class G, class Scalar>
SS_HD void gather_selection(const G& g, const EnvProblem<Scalar>& p, const Scaled<double>& s,
                            const ProblemChange<Scalar>& change, const GradientScratch& w) {
  double *const m = w.solve.left, *const moved = w.solve.image, *const part = w.solve.product;
  g.for_each(s.scalars, [&](int i) {
    m[i] = 0.0;
    moved[i] = s.selecting[i] > 0.0 ? change.w(i, i) * s.d[i] * s.d[i] : 0.0;
  });
  g.for_each(s.n_contacts, [&](int k) {
    for (int j = 0; j < s.dim(k); ++j) {
      const int i = s.block[k] + j;
      m[i] = w.rows.state[i] < 0 ? 0.0 : relative_change(p, s, change, k, j) / s.q;
      moved[i] = s.selecting[i] > 0.0 ? compliance_change(p, s, change, k, j) : 0.0;
    }
  });
  g.for_each(s.n, [&](int i) {
    double sum = change.compliance(i) * s.d[i] * w.Ax[i];
    for (int j = 0; j < p.n && change.W != nullptr; ++j) {
      sum = fma(change.w(i, j), s.d[j] * w.Ax[j], sum);
    }
    part[i] = fma(m[i], w.Bx[i], fma(moved[i], w.rows.z[i], s.d[i] * sum) / s.q);
  });
  multiply_blocks<BlockMatrix::B, false>(g, s, w.rows, part, w.beta);
  g.for_each(s.n, [&](int i) { part[i] = -m[i] * w.Ax[i]; });
  multiply_blocks<BlockMatrix::A, false>(g, s, w.rows, part, moved);
  g.for_each(s.n, [&](int i) { w.beta[i] += moved[i]; });
  g.for_each(s.n_contacts, [&](int k) {
    if (!slides(s, w.rows, k)) return;
    with_dim(s.dim(k), [&](auto dim) { add_bend<dim()>(p, s, w, m, k, w.beta); });
  });
}

/// Adds v to the filtered solution w.x of a singular system, whose H_e is factored still; w.f has
/// du of that solution. Destroys Ax, Bx and beta. Returns how far the solution is from the one that
/// is selected: the share of B D z that is not consistent. Then v = 0: nothing tells how it moves.
template <class G, class Scalar, class S>
SS_HD double follow_selection(const G& g, const EnvProblem<Scalar>& p, const S& s,
                              const ProblemChange<Scalar>& change, const GradientScratch& w) {
  const SolutionRows& rows = w.rows;
  g.for_each(s.n, [&](int i) { w.Bx[i] = s.selecting[i] * rows.z[i]; });
  multiply_blocks<BlockMatrix::B, false>(g, s, rows, w.Bx, w.beta);
  g.for_each(s.ld, [&](int i) { w.beta[i] = i < s.n ? -w.beta[i] : 0.0; });
  const auto path = filtered_equations<false>(g, s, rows, w.solve, w.beta, w.Ax);
  const double strayed = solve_shifted(path);
  if (!(strayed <= kMostStrayed)) return strayed;
  multiply_scaled(g, s, w.Ax, s.zero, w.beta);
  g.for_each(s.n, [&](int i) { w.Bx[i] += w.beta[i]; });
  gather_selection(g, p, s, change, w);
  // Twice, because e H_e^-1 leaves a little of what is not in the null space.
  SS_ROLLED
  for (int pass = 0; pass < 2; ++pass) {
    if (pass > 0) multiply_blocks<BlockMatrix::B, false>(g, s, rows, w.Bx, w.beta);
    if (!path.solve(w.beta)) return 1.0;
    g.for_each(s.n, [&](int i) {
      w.beta[i] = rows.state[i] == kFixed ? 0.0 : kShift * w.beta[i];
      w.Bx[i] = shifted_compliance(s, i) * w.beta[i];
    });
  }
  g.for_each(s.n, [&](int i) { w.x[i] -= w.beta[i]; });
  return strayed;
}

}  // namespace stickslip::kernels::inline SS_ISA
