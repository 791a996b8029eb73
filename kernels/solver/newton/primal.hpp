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
        K(arena.take<Real>(std::size_t(max_rows) * leading(max_rows))),
        ld_K(leading(max_rows)),
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
  g.for_rows(count, count, [&](int i, auto&& columns) SS_INLINE {
    const int row = w.active[i];
    const Real stiffness = penalty.stiffness[row];
    columns([&](int j) SS_INLINE {
      const int column = w.active[j];
      const Real scale = stiffness * penalty.stiffness[column];
      w.K[std::int64_t(i) * w.ld_K + j] = s.W[std::int64_t(row) * s.ld + column] * scale;
    });
  });
  // S from both sides: each block's rows, then its columns.
  for (int side = 0; side < 2; ++side) {
    const bool rows = side == 0;
    const int along = rows ? w.ld_K : 1, across = rows ? 1 : w.ld_K;
    g.for_rows(s.n_contacts, count, [&](int k, auto&& others) SS_INLINE {
      const int a = s.block[k];
      if (penalty.state[a] != Penalty<Real>::curved) return;
      others([&](int c) SS_INLINE {
        Real* const first = w.K + std::int64_t(c) * across;
        apply_root(s, penalty, k, [&](int j) SS_INLINE -> Real& {
          return first[std::int64_t(w.place[a + j]) * along];
        });
      });
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
  g.for_each(count, [&](int i) { w.t[i] = w.w[w.active[i]] * w.penalty.stiffness[w.active[i]]; });
  apply_roots(g, s, w, w.t);
  if (!cholesky(g, count, w.K, w.ld_K)) return false;
  forward_substitute(g, count, w.K, w.ld_K, w.t);
  back_substitute(g, count, w.K, w.ld_K, w.t);
  apply_roots(g, s, w, w.t);
  g.for_each(count, [&](int i) { w.d[w.active[i]] -= w.t[i] * w.penalty.stiffness[w.active[i]]; });
  return true;
}

/// Step along d to the minimum of the objective. Leaves u and the penalty at the new lambda.
template <class Real, class G>
SS_HD void take_exact_step(const G& g, const Scaled<Real>& s, Primal<Real>& w) {
  matvec(g, s.n, s.W, s.ld, w.d, s.zero, w.w);
  const double slope = -g.sum(s.n, [&](int i) { return double(w.w[i]) * double(w.g[i]); });
  const double quadratic = g.sum(s.n, [&](int i) { return double(w.w[i]) * double(w.d[i]); });
  const int items = s.scalars + s.n_contacts;
  const auto derivative = [&](double alpha) {
    return g.sum(items, [&](int item) {
      const int begin = first_row(s, item), end = end_row(s, item);
      for (int i = begin; i < end; ++i) w.trial[i] = fma(Real(alpha), w.w[i], w.u[i]);
      penalise_item(s, w.penalty, item, w.trial);
      double sum = 0.0;
      for (int i = begin; i < end; ++i) {
        const double moved = fma(alpha, double(w.d[i]), double(w.lambda[i]));
        sum = fma(double(w.w[i]), moved - double(w.penalty.r[i]), sum);
      }
      return sum;
    });
  };
  const auto second = [&] {
    return quadratic + g.sum(items, [&](int item) { return curvature(s, w.penalty, item, w.w); });
  };
  const double alpha = exact_step(slope, derivative, second);
  g.for_each(s.n, [&](int i) {
    w.u[i] = w.trial[i];
    w.lambda[i] = fma(Real(alpha), w.d[i], w.lambda[i]);
  });
}

/// Sum of rho (R (r(u) - lambda))^2: the error of lambda in velocities, squared.
template <class Real, class G>
SS_HD double primal_merit(const G& g, const Scaled<Real>& s, const Primal<Real>& w) {
  return g.sum(s.n, [&](int i) {
    const double error = double(s.R[i]) * (double(w.penalty.r[i]) - double(w.lambda[i]));
    return double(s.rho[i]) * error * error;
  });
}

/// Up to `budget` steps from the end of the last stage; returns the steps done, 0 if the problem
/// has rows without compliance or blocks whose compliance differs between tangents.
template <class Real, class G, class Scalar>
SS_HD int run_primal(const G& g, const EnvProblem<Scalar>& p, Scaled<Real>& s, Primal<Real>& w,
                     int budget, Judge<Scalar>& judge) {
  if (!prepare_penalty(g, s, w.penalty)) return 0;
  scale_impulse(g, s, judge.at->start, w.lambda);
  set_compliance(g, s, false);
  int step = 0;
  bool judged = true;
  for (;;) {
    if (judged) {  // at the start; later, without the rounding errors of the steps
      scaled_velocity(g, s, w.lambda, w.u);
      penalise(g, s, w.penalty, w.u);
    }
    if (step >= budget || stopped(g) || !primal_direction(g, s, w)) break;
    take_exact_step(g, s, w);
    ++step;
    judged = sizeof(Real) == 4 || primal_merit(g, s, w) <= worth_judging(judge);
    if (judged && judge_iterate(g, p, s, w.lambda, judge)) break;
  }
  if (!judged) judge_iterate(g, p, s, w.lambda, judge);
  set_compliance(g, s, true);
  if (step > 0) continue_from_candidate(g, p, judge);
  return step;
}

}  // namespace stickslip::kernels::inline SS_ISA
