// Newton for the convex law with compliance, in W space (docs/mathematics.md): minimise over lambda
//
//   1/2 lambda^T W lambda + s(W lambda + b),     s the penalty of penalty.hpp
//
// Newton step: d = g - L (I + L^T W L)^-1 L^T W g with g = r(u) - lambda, by Cholesky; then an
// exact line search of the convex function of one variable.
#pragma once
#include "kernels/group/stop.hpp"
#include "kernels/linalg/cholesky.hpp"
#include "kernels/linalg/list_rows.hpp"
#include "kernels/residual/judge.hpp"
#include "kernels/solver/newton/exact_step.hpp"
#include "kernels/solver/newton/penalty.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Real>
struct Primal {
  Penalty<Real> penalty;
  Real* K;  ///< [n][ld_K] I + L^T W L on the active rows
  int ld_K;
  Real *lambda, *u, *g, *d, *w;  ///< [ld]
  Real *trial, *t;               ///< [ld]
  int *active, *place;           ///< [n]

  SS_HD Primal(Arena& arena, int max_rows)
      : penalty(arena, max_rows),
        K(arena.take<Real>(std::size_t(max_rows) * padded(max_rows))),
        ld_K(padded(max_rows)),
        lambda(arena.take<Real>(padded(max_rows))),
        u(arena.take<Real>(padded(max_rows))),
        g(arena.take<Real>(padded(max_rows))),
        d(arena.take<Real>(padded(max_rows))),
        w(arena.take<Real>(padded(max_rows))),
        trial(arena.take<Real>(padded(max_rows))),
        t(arena.take<Real>(padded(max_rows))),
        active(arena.take<int>(max_rows)),
        place(arena.take<int>(max_rows)) {}
};

/// K = I + S D W D S on the active rows, D = diag(1 / sqrt R), S the roots of the curved blocks.
template <class Real, class G>
SS_HD void assemble_hessian(const G& g, const Scaled<Real>& s, Primal<Real>& w, int count) {
  const Penalty<Real>& penalty = w.penalty;
  g.for_each_2d(count, count, [&](int i, int j) {
    const int row = w.active[i], column = w.active[j];
    const Real scale = penalty.root[row] * penalty.root[column];
    w.K[std::int64_t(i) * w.ld_K + j] = s.W[std::int64_t(row) * s.ld + column] / scale;
  });
  for (int k = 0; k < s.n_contacts; ++k) {
    const int a = s.block[k];
    if (penalty.state[a] != Penalty<Real>::curved) continue;
    g.for_each(count, [&](int c) {
      apply_root(s, penalty, k,
                 [&](int j) -> Real& { return w.K[std::int64_t(w.place[a + j]) * w.ld_K + c]; });
    });
  }
  for (int k = 0; k < s.n_contacts; ++k) {
    const int a = s.block[k];
    if (penalty.state[a] != Penalty<Real>::curved) continue;
    g.for_each(count, [&](int r) {
      apply_root(s, penalty, k,
                 [&](int j) -> Real& { return w.K[std::int64_t(r) * w.ld_K + w.place[a + j]]; });
    });
  }
  g.for_each(count, [&](int i) { w.K[std::int64_t(i) * w.ld_K + i] += Real(1); });
}

/// x <- S x on the compressed vector of active rows.
template <class Real, class G>
SS_HD void apply_roots(const G& g, const Scaled<Real>& s, const Primal<Real>& w, Real* x) {
  g.for_each(s.n_contacts, [&](int k) {
    const int a = s.block[k];
    if (w.penalty.state[a] != Penalty<Real>::curved) return;
    apply_root(s, w.penalty, k, [&](int j) -> Real& { return x[w.place[a + j]]; });
  });
}

/// d = g - L K^-1 L^T W g. False if K is not positive definite (not finite).
template <class Real, class G>
SS_HD bool primal_direction(const G& g, const Scaled<Real>& s, Primal<Real>& w) {
  g.for_each(s.ld, [&](int i) {
    w.g[i] = i < s.n ? w.penalty.r[i] - w.lambda[i] : Real(0);
    w.d[i] = w.g[i];
  });
  const auto curves = [&](int i) { return w.penalty.state[i] != Penalty<Real>::constant; };
  const int count = list_rows(g, s.n, curves, w.active, w.place);
  if (count == 0) return true;
  matvec(g, s.n, s.W, s.ld, w.g, s.zero, w.w);
  assemble_hessian(g, s, w, count);
  g.for_each(count, [&](int i) { w.t[i] = w.w[w.active[i]] / w.penalty.root[w.active[i]]; });
  apply_roots(g, s, w, w.t);
  if (!cholesky(g, count, w.K, w.ld_K)) return false;
  forward_substitute(g, count, w.K, w.ld_K, w.t);
  back_substitute(g, count, w.K, w.ld_K, w.t);
  apply_roots(g, s, w, w.t);
  g.for_each(count, [&](int i) { w.d[w.active[i]] -= w.t[i] / w.penalty.root[w.active[i]]; });
  return true;
}

/// Step length along d: root of the derivative of the objective.
template <class Real, class G>
SS_HD double exact_line_search(const G& g, const Scaled<Real>& s, Primal<Real>& w) {
  matvec(g, s.n, s.W, s.ld, w.d, s.zero, w.w);
  const double slope = g.sum(
      s.n, [&](int i) { return double(w.w[i]) * (double(w.lambda[i]) - double(w.penalty.r[i])); });
  const double quadratic = g.sum(s.n, [&](int i) { return double(w.w[i]) * double(w.d[i]); });
  if (!(slope < 0.0)) return 1.0;
  const auto derivative = [&](double alpha) {
    g.for_each(s.n, [&](int i) { w.trial[i] = fma(Real(alpha), w.w[i], w.u[i]); });
    penalise(g, s, w.penalty, w.trial);
    return g.sum(s.n, [&](int i) {
      const double moved = fma(alpha, double(w.d[i]), double(w.lambda[i]));
      return double(w.w[i]) * (moved - double(w.penalty.r[i]));
    });
  };
  const auto second = [&] {
    return quadratic + g.sum(s.scalars + s.n_contacts,
                             [&](int item) { return curvature(s, w.penalty, item, w.w); });
  };
  return exact_step(slope, derivative, second);
}

/// Up to `budget` steps from the end of the last stage; returns the steps done, 0 if the problem
/// has rows without compliance.
template <class Real, class G, class In>
SS_HD int run_primal(const G& g, const EnvProblem<In>& p, Scaled<Real>& s, Primal<Real>& w,
                     int budget, Judge<In>& judge) {
  if (!prepare_penalty(g, s, w.penalty)) return 0;
  scale_impulse(g, s, judge.at->start, w.lambda);
  set_compliance(g, s, false);
  int step = 0;
  while (step < budget && !stopped(g)) {
    scaled_velocity(g, s, w.lambda, w.u);
    penalise(g, s, w.penalty, w.u);
    if (!primal_direction(g, s, w)) break;
    const double alpha = exact_line_search(g, s, w);
    ++step;
    g.for_each(s.n, [&](int i) { w.lambda[i] = fma(Real(alpha), w.d[i], w.lambda[i]); });
    if (judge_iterate(g, p, s, w.lambda, judge)) break;
  }
  set_compliance(g, s, true);
  if (step > 0) continue_from_candidate(g, p, judge);
  return step;
}

}  // namespace stickslip::kernels::inline SS_ISA
