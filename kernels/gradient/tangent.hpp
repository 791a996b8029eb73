// The change of the solution of one environment with the problem: H dz = -B (delta + C's part of u)
// + A (C's part of z), in the notation of adjoint.hpp.
#pragma once
#include "kernels/gradient/selected_tangent.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The change of the scalar row i whose bound moves, else 0.
template <class Scalar>
SS_HD double bound_change(const EnvProblem<Scalar>& p, const Scaled<double>& s,
                          const SolutionRows& rows, int i, const Scalar* dlo, const Scalar* dhi) {
  const int box = i - p.n_free - p.n_nonneg;
  if (rows.state[i] != kFixed || box < 0 || box >= p.n_box) return 0.0;
  const double low = dlo == nullptr ? 0.0 : double(dlo[box]);
  const double high = dhi == nullptr ? 0.0 : double(dhi[box]);
  if (s.lo[i] == s.hi[i]) return 0.5 * (low + high);
  return rows.z[i] - s.lo[i] < s.hi[i] - rows.z[i] ? low : high;
}

/// delta = db + dW r + dR r, into g_u; with the change of every given impulse, into g_r.
template <class G, class Scalar>
SS_HD void gather_change(const G& g, const EnvProblem<Scalar>& p, const Scaled<double>& s,
                         const Scalar* r, const ProblemChange<Scalar>& change,
                         const GradientScratch& w) {
  g.for_each(p.n, [&](int i) {
    double sum = change.b == nullptr ? 0.0 : double(change.b[i]);
    if (change.R != nullptr) sum = fma(double(change.R[i]), double(r[i]), sum);
    if (change.W != nullptr) {
      for (int j = 0; j < p.n; ++j) sum = fma(change.w(i, j), double(r[j]), sum);
    }
    w.g_u[i] = sum;
    w.g_r[i] = bound_change(p, s, w.rows, i, change.lo, change.hi);
  });
}

/// What dmu moves in the rows: Ax = z dmu / (q mu), Bx = delta_hat + W_hat dz of given impulses + u
/// dmu / (q mu).
template <class G, class Scalar, class S>
SS_HD void move_rows(const G& g, const EnvProblem<Scalar>& p, const S& s, const Scalar* dmu,
                     const GradientScratch& w) {
  g.for_each(s.ld, [&](int i) {
    w.x[i] = i < s.n && w.g_r[i] != 0.0 ? w.g_r[i] / s.d[i] : 0.0;
    w.f[i] = w.Ax[i] = 0.0;
  });
  multiply_scaled(g, s, w.x, s.zero, w.Bx);
  g.for_each(s.n, [&](int i) { w.Bx[i] = fma(s.d[i], w.g_u[i], w.Bx[i]); });
  if (dmu == nullptr) return;
  g.for_each(s.n_contacts, [&](int k) {
    for (int i = s.block[k] + 1; i < s.block[k + 1]; ++i) {
      if (w.rows.state[i] < 0) continue;
      const double change = double(dmu[i - s.scalars - k - 1]);
      const double relative = change / (s.q * p.friction(k, i - s.block[k]));
      w.Ax[i] = w.rows.z[i] * relative;
      w.Bx[i] = fma(w.rows.u[i], relative, w.Bx[i]);
    }
  });
}

/// The share of a velocity that the equations do not determine: what the adjoint loses for a loss
/// W^T y that no structure of the problem knows. Corners that slide and turn have one, whatever the
/// change. Destroys Ax, Bx and x.
template <class G, class S>
SS_HD double free_velocity(const G& g, const S& s, const GradientScratch& w) {
  g.for_each(s.ld, [&](int i) {
    const std::uint32_t hash = (std::uint32_t(i) + 1U) * 2654435761U;
    w.Ax[i] = i < s.n ? double(hash >> 8) / double(1 << 24) - 0.5 : 0.0;
    w.Bx[i] = 0.0;
  });
  multiply_scaled_transposed(g, s, w.Ax, w.Bx);
  g.for_each(s.n, [&](int i) {
    if (w.rows.state[i] == kFixed) w.Bx[i] = 0.0;
  });
  return solve_filtered<true>(g, s, w.rows, w.solve, w.Bx, w.x).inconsistency;
}

/// dr into beta, du into f, of dz.
template <class G, class Scalar, class S>
SS_HD void write_change(const G& g, const EnvProblem<Scalar>& p, const S& s,
                        const GradientScratch& w) {
  g.for_each(s.n,
             [&](int i) { w.beta[i] = w.rows.state[i] == kFixed ? w.g_r[i] : s.d[i] * w.x[i]; });
  multiply_rows(g, p, s, w.g_u, w.beta, w.f);
}

/// After `move_rows`: dr into beta, du into f. Where rows are redundant, impulses follow the
/// selection, and a change that fits the equations may still leave velocities open: that is lost
/// too.
template <class G, class Scalar, class S>
SS_HD Solvability solve_tangent(const G& g, const EnvProblem<Scalar>& p, const S& s,
                                const ProblemChange<Scalar>& change, const GradientScratch& w) {
  multiply_blocks<BlockMatrix::A, false>(g, s, w.rows, w.Ax, w.f);
  multiply_blocks<BlockMatrix::B, false>(g, s, w.rows, w.Bx, w.Ax);
  g.for_each(s.n, [&](int i) { w.f[i] -= w.Ax[i]; });
  Solvability found = solve_filtered<false>(g, s, w.rows, w.solve, w.f, w.x);
  const bool chosen = !(found.pivot > 0.0) && found.inconsistency < 1.0;
  SS_ROLLED
  for (int pass = 0; pass < (chosen ? 2 : 1); ++pass) {
    if (pass > 0) found.strayed = follow_selection(g, p, s, change, w);
    write_change(g, p, s, w);
  }
  if (g.any(s.n, [&](int i) { return !is_finite(w.f[i]); })) return {};
  if (chosen) {
    found.inconsistency = max(found.inconsistency, free_velocity(g, s, w));
  }
  return found;
}

}  // namespace stickslip::kernels::inline SS_ISA
