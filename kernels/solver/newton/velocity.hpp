// Newton for the convex law with compliance in velocity space (docs/mathematics.md §10): minimise
// over x, the velocity minus the free velocity, scaled as impulses are (scaling/scaled.hpp),
//
//   1/2 x^T M x + s(u),    u = D J x + b_hat,    s the penalty of penalty.hpp
//
// Gradient M x - J^T D z with z = r(u). Where it is zero, x is the velocity change caused by the
// impulses z, so the judge gets z.
#pragma once
#include "kernels/delassus/products.hpp"
#include "kernels/residual/judge.hpp"
#include "kernels/solver/newton/exact_step.hpp"
#include "kernels/solver/newton/velocity_hessian.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct VelocityNewton {
  VelocityHessian hessian;
  Penalty<double> penalty;
  double *x, *Mx, *gradient, *d, *Md;  ///< [nv]
  double *u, *w, *trial;               ///< [padded(n)]

  SS_HD VelocityNewton(Arena& arena, int nv, int max_rows)
      : hessian(arena, nv, max_rows),
        penalty(arena, max_rows),
        x(arena.take<double>(nv)),
        Mx(arena.take<double>(nv)),
        gradient(arena.take<double>(nv)),
        d(arena.take<double>(nv)),
        Md(arena.take<double>(nv)),
        u(arena.take<double>(padded(max_rows))),
        w(arena.take<double>(padded(max_rows))),
        trial(arena.take<double>(padded(max_rows))) {}
};

/// s(u) of all items, at the u of the last `penalise`: max over r of -r^T R r / 2 - u^T r.
template <class G>
SS_HD double penalty_cost(const G& g, const Scaled<double>& s, const Penalty<double>& penalty,
                          const double* u) {
  return g.sum(s.n, [&](int i) { return -penalty.r[i] * fma(0.5 * s.R[i], penalty.r[i], u[i]); });
}

/// Starts at w.x if its cost is lower than that of the free velocity, as MuJoCo does.
template <class G>
SS_HD void choose_start(const G& g, const SparseMechanism& m, const Scaled<double>& s,
                        const VelocityNewton& w) {
  penalise(g, s, w.penalty, s.b);
  const double free = penalty_cost(g, s, w.penalty, s.b);
  multiply_M(g, m, w.x, w.Mx);
  multiply_J(g, m, w.x, [&](int i, double sum) { w.u[i] = fma(s.d[i], sum, s.b[i]); });
  penalise(g, s, w.penalty, w.u);
  const double kinetic = 0.5 * g.sum(m.tree.n, [&](int k) { return w.x[k] * w.Mx[k]; });
  if (kinetic + penalty_cost(g, s, w.penalty, w.u) < free) return;
  g.for_each(m.tree.n, [&](int k) { w.x[k] = w.Mx[k] = 0.0; });
  g.for_each(s.n, [&](int i) { w.u[i] = s.b[i]; });
  penalise(g, s, w.penalty, w.u);
}

/// d = -H^-1 gradient with its products; false if H is not positive definite (not finite).
template <class G>
SS_HD bool velocity_direction(const G& g, const SparseMechanism& m, const Scaled<double>& s,
                              const VelocityNewton& w) {
  if (!factor_hessian(g, m, s, w.penalty, w.hessian)) return false;
  const PathMatrix& H = w.hessian.matrix;
  g.for_each(m.tree.n, [&](int k) { w.d[k] = -w.gradient[k]; });
  solve_ltdl(g, H.sparsity(), H.H, H.D_inv, w.d);
  multiply_M(g, m, w.d, w.Md);
  multiply_J(g, m, w.d, [&](int i, double sum) { w.w[i] = s.d[i] * sum; });
  return true;
}

/// Step along d by exact line search. Leaves the penalty at the new u.
template <class G>
SS_HD void take_step(const G& g, const SparseMechanism& m, const Scaled<double>& s, double slope,
                     const VelocityNewton& w) {
  const double straight = g.sum(m.tree.n, [&](int k) { return w.d[k] * w.Mx[k]; });
  const double quadratic = g.sum(m.tree.n, [&](int k) { return w.d[k] * w.Md[k]; });
  const double alpha = exact_step(
      slope,
      [&](double a) {
        g.for_each(s.n, [&](int i) { w.trial[i] = fma(a, w.w[i], w.u[i]); });
        penalise(g, s, w.penalty, w.trial);
        const double pull = g.sum(s.n, [&](int i) { return w.w[i] * w.penalty.r[i]; });
        return fma(a, quadratic, straight) - pull;
      },
      [&] {
        return quadratic + g.sum(s.scalars + s.n_contacts,
                                 [&](int item) { return curvature(s, w.penalty, item, w.w); });
      });
  g.for_each(s.n, [&](int i) { w.u[i] = w.trial[i]; });
  g.for_each(m.tree.n, [&](int k) {
    w.x[k] = fma(alpha, w.d[k], w.x[k]);
    w.Mx[k] = fma(alpha, w.Md[k], w.Mx[k]);
  });
}

/// Up to `budget` steps from w.x; returns the steps done, 0 also if a row has no compliance.
/// `velocity`: as in judge_candidate.
template <class G, class Scalar, class Velocity>
SS_HD int run_velocity_newton(const G& g, const EnvProblem<Scalar>& p, const SparseMechanism& m,
                              const Scaled<double>& s, const VelocityNewton& w, int budget,
                              const Velocity& velocity, Judge<Scalar>& judge) {
  constexpr int kJudgements = 4;  // of iterates near a solution; more bring no improvement
  // For a gradient whose velocities J M^-1 gradient may be below the tolerance, squared.
  constexpr double kNear = 1e4;
  if (!prepare_penalty(g, s, w.penalty)) return 0;
  find_paths(g, m, s, w.hessian);
  choose_start(g, m, s, w);
  int judged = 0;
  for (int step = 0;; ++step) {
    g.for_each(m.tree.n, [&](int k) { w.gradient[k] = w.Mx[k]; });
    add_J_transposed(
        g, m, [&](int i) { return -s.d[i] * w.penalty.r[i]; }, w.gradient);
    const double merit = g.sum(m.tree.n, [&](int k) {
      return w.gradient[k] * w.gradient[k] / m.M[m.tree.row_adr[k] + m.tree.row_nnz[k] - 1];
    });
    const bool last = step == budget;
    if (last || merit <= kNear * judge.at->near) {
      take_candidate(g, p, s, w.penalty.r, judge);
      const Guess guess = last ? Guess::unknown : Guess::solution;
      if (judge_candidate(g, p, velocity, judge, guess) || ++judged == kJudgements) return step;
    }
    if (last || !velocity_direction(g, m, s, w)) return step;
    const double slope = g.sum(m.tree.n, [&](int k) { return w.d[k] * w.gradient[k]; });
    if (!(slope < 0.0)) return step;
    take_step(g, m, s, slope, w);
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
