// Derivatives of a loss of the next velocities v = v_free + M^-1 J^T r of a mechanism.
//
// The velocities enter as g_r += J M^-1 g_v. With beta = dL/db of b = J v_free + c, and the adjoint
// velocity M w = g_v + J^T beta:
//   dL/dv_free = M w,   dL/dJ = beta v^T + r w^T,   dL/dM = -w (v - v_free)^T, its symmetric part
#pragma once
#include "kernels/delassus/delassus.hpp"
#include "kernels/gradient/narrowed.hpp"
#include "stickslip/gradient.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Scalar>
struct StepScratch {
  Scalar *adjoint, *change;          ///< [nv] w, v - v_free
  DelassusScratch<Scalar> delassus;  ///< the factor of M, and L^-1 J^T

  /// Takes the rest of the arena; `end` tells how many bytes that are.
  SS_HD StepScratch(Arena arena, int nv, int max_rows)
      : adjoint(arena.take<Scalar>(nv)),
        change(arena.take<Scalar>(nv)),
        delassus(arena, nv, max_rows) {}
  SS_HD std::size_t end() const { return delassus.end(); }
};

/// x <- M^-1 x, in the order of the degrees of freedom, by `scratch.x`.
template <class G, class Scalar>
SS_HD void solve_mass(const G& g, int nv, const DelassusScratch<Scalar>& scratch, Scalar* x) {
  g.for_each(nv, [&](int k) { scratch.x[k] = x[nv - 1 - k]; });
  forward_substitute(g, nv, scratch.L, nv, scratch.x);
  back_substitute(g, nv, scratch.L, nv, scratch.x);
  g.for_each(nv, [&](int k) { x[k] = scratch.x[nv - 1 - k]; });
}

/// x <- J^T y of the first n rows of J.
template <class G, class Scalar, class Y>
SS_HD void apply_transposed(const G& g, const MechanismView<Scalar>& m, int n, const Y* y,
                            const DelassusScratch<Scalar>& scratch, Scalar* x) {
  const int nv = m.nv;
  g.for_each(nv, [&](int k) { scratch.x[k] = Scalar(0); });
  for (int i = 0; i < n; ++i) add_row(g, m, i, Scalar(y[i]), scratch.x);
  g.for_each(nv, [&](int k) { x[k] = scratch.x[nv - 1 - k]; });
}

/// g_r += J M^-1 g_v of the first n rows. False if g_v or v_free is not finite.
template <class G, class Scalar>
SS_HD bool add_velocity_loss(const G& g, int n, const MechanismStep<Scalar>& step,
                             EnvArray<const Scalar> loss, std::int64_t env,
                             const StepScratch<Scalar>& w, double* g_r) {
  const MechanismView<Scalar> m = view_of(step.mechanism, env);
  const Scalar *given = slot(loss, env), *v_free = slot(step.v_free, env);
  g.for_each(m.nv, [&](int k) { w.adjoint[k] = given == nullptr ? Scalar(0) : given[k]; });
  if (g.any(m.nv, [&](int k) { return !(is_finite(w.adjoint[k]) && is_finite(v_free[k])); })) {
    return false;
  }
  solve_mass(g, m.nv, w.delassus, w.adjoint);
  g.for_each(n, [&](int i) {
    double sum = g_r[i];
    for (int k = 0; k < m.nv; ++k)
      sum = fma(double(m.J[std::int64_t(i) * m.nv + k]), double(w.adjoint[k]), sum);
    g_r[i] = sum;
  });
  return true;
}

/// Writes the derivatives, of n rows with the impulses r.
template <class G, class Scalar>
SS_HD void write_step_gradient(const G& g, int n, const MechanismStep<Scalar>& step,
                               const Scalar* r, const StepLoss<Scalar>& loss,
                               const StepGradient<Scalar>& out, std::int64_t env,
                               const StepScratch<Scalar>& w, const double* beta) {
  const MechanismView<Scalar> m = view_of(step.mechanism, env);
  const int nv = m.nv;
  const Scalar *given = slot(loss.v_next, env), *v = slot(step.v_free, env);
  apply_transposed(g, m, n, r, w.delassus, w.change);
  solve_mass(g, nv, w.delassus, w.change);
  apply_transposed(g, m, n, beta, w.delassus, w.adjoint);
  Scalar *adjoint = slot(out.adjoint, env), *v_free = slot(out.v_free, env);
  Scalar *M = slot(out.M, env), *J = slot(out.J, env);
  g.for_each(nv, [&](int k) {
    if (given != nullptr) w.adjoint[k] += given[k];
    if (v_free != nullptr) v_free[k] = w.adjoint[k];
  });
  solve_mass(g, nv, w.delassus, w.adjoint);
  if (adjoint != nullptr) g.for_each(nv, [&](int k) { adjoint[k] = w.adjoint[k]; });
  if (M != nullptr) {
    g.for_each_2d(nv, nv, [&](int i, int j) {
      const Scalar one = w.adjoint[i] * w.change[j], other = w.adjoint[j] * w.change[i];
      M[std::int64_t(i) * nv + j] = Scalar(-0.5) * (one + other);
    });
  }
  if (J != nullptr) {
    g.for_each_2d(n, nv, [&](int i, int k) {
      const double next = double(v[k]) + double(w.change[k]);
      J[std::int64_t(i) * nv + k] =
          narrowed<Scalar>(fma(beta[i], next, double(r[i]) * double(w.adjoint[k])));
    });
  }
}

/// Zeros instead, of n rows.
template <class G, class Scalar>
SS_HD void clear_step_gradient(const G& g, int n, int nv, const StepGradient<Scalar>& out,
                               std::int64_t env) {
  const auto clear = [&](Scalar* array, int count) {
    if (array != nullptr) g.for_each(count, [&](int i) { array[i] = Scalar(0); });
  };
  clear(slot(out.adjoint, env), nv);
  clear(slot(out.v_free, env), nv);
  clear(slot(out.M, env), nv * nv);
  clear(slot(out.J, env), n * nv);
}

}  // namespace stickslip::kernels::inline SS_ISA
