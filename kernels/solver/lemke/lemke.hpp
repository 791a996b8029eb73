// Lemke's method for the law `pyramid` (Lemke 1965; Stewart & Trinkle 1996): attempts with
// different covering vectors and tolerances until the judge says solved.
// kernels/solver/lemke/README.md.
#pragma once
#include "kernels/residual/judge.hpp"
#include "kernels/scaling/selection.hpp"
#include "kernels/solver/lemke/path.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Real>
struct Lemke {
  PyramidTableau<Real> tableau;
  double* x;  ///< [m] scaled z, refined in double
  double* w;  ///< [m] scaled w of the problem as given
  double* y;  ///< [ld] impulses, then corrections

  SS_HD Lemke(Arena& arena, int max_rows)
      : tableau(arena, max_rows / 3),
        x(arena.take<double>(4 * std::size_t(max_rows / 3))),
        w(arena.take<double>(4 * std::size_t(max_rows / 3))),
        y(arena.take<double>(PyramidTableau<Real>::leading(max_rows / 3))) {}
};

/// Tolerances of an attempt: a few decades around the value that is best most often. Those of a
/// float tableau were measured on the heavy towers: pivots of 1e-6 leave a fifth of them unsolved.
template <class Real>
SS_HD RatioTest<Real> ratio_test(int attempt) {
  if (sizeof(Real) == 4) {
    const int i = attempt % 4;
    const float slack = i == 0 ? 1e-5F : i == 1 ? 1e-6F : i == 2 ? 1e-4F : 1e-3F;
    return {Real(3e-5F), Real(slack)};
  }
  return {Real(1e-9), Real(lemke_slack(attempt))};
}

/// Whether the half-size tableau can represent the problem: only contacts of dimension 3, with 4
/// directions.
SS_HD bool fits_pyramid_tableau(int rows, int contacts, int directions) {
  return rows == 3 * contacts && directions == 4;
}
template <class Scalar>
SS_HD bool fits_pyramid_tableau(const EnvProblem<Scalar>& p) {
  return fits_pyramid_tableau(p.n, p.n_contacts, p.directions);
}

/// z of the tableau's basis.
template <class Real, class G>
SS_HD void read_basis(const G& g, const Lemke<Real>& s) {
  const auto& t = s.tableau;
  g.for_each(t.m, [&](int i) {
    const int row = t.place[t.m + i];
    s.x[i] = row >= 0 ? double(t.right()[row]) : 0.0;
  });
}

/// Judges the impulse given by x.
template <class Real, class G, class Scalar>
SS_PART bool judge_pyramid(const G& g, const EnvProblem<Scalar>& p, const Lemke<Real>& s,
                           Judge<Scalar>& judge) {
  const auto& t = s.tableau;
  g.for_each(t.n, [&](int i) {
    judge.at->candidate[i] = Scalar(max(s.x[i], 0.0) * (t.scale[i] * t.sign[i]) / t.q);
  });
  return judge_candidate(g, p, judge, Guess::solution);
}

/// w = M x + b from the problem as given, in double.
template <class Real, class G, class Scalar>
SS_HD void evaluate(const G& g, const EnvProblem<Scalar>& p, const Lemke<Real>& s) {
  const auto& t = s.tableau;
  g.for_each(t.n, [&](int i) { s.y[i] = s.x[i] * (t.scale[i] * t.sign[i]); });
  const auto start = [&](int i) { return fma(p.compliance(i), s.y[i], double(p.b[i]) * t.q); };
  matvec_given(g, t.n, p.W, p.ld_W, p.symmetric, s.y, sum_into(s.w, start));
  g.for_each(t.p, [&](int k) {
    const int a = 3 * k;
    const double lambda = s.x[t.n + k];
    s.w[a] *= t.scale[a];
    for (int i = a + 1; i < a + 3; ++i) s.w[i] = fma(s.w[i], t.scale[i] * t.sign[i], lambda);
    s.w[t.n + k] = fma(t.cone[k], s.x[a], -(s.x[a + 1] + s.x[a + 2]));
  });
}

/// One step of iterative refinement: the error of the w's of the columns, multiplied by the
/// tableau, which is the inverse of the basis.
template <class Real, class G, class Scalar>
SS_PART void refine(const G& g, const EnvProblem<Scalar>& p, Lemke<Real>& s) {
  constexpr int C = G::kChunk;
  auto& t = s.tableau;
  settle_all(g, t, t.pending);
  evaluate(g, p, s);
  g.for_each(t.chunks(g), [&](int chunk) {
    auto sum = Lanes<double, C>::all(0.0);
    for (int j = 0; j <= t.m; ++j) {
      const int variable = t.col_var[j];
      if (variable < t.m) sum.add(Lanes<double, C>::load(t.column(j) + chunk * C), s.w[variable]);
    }
    sum.store(s.y + chunk * C);
  });
  g.for_each(t.m, [&](int i) {
    const int row = t.place[t.m + i];
    if (row >= 0) s.x[i] -= s.y[row];
  });
}

inline constexpr int kRefinements = 4;
inline constexpr int kFirstJudged = 2;  ///< proximal point that may be right to the tolerance

/// Up to `budget` pivots over `attempts`, judged by the one residual. The first is of the problem
/// that selects one solution among many (scaling/selection.hpp): its refinements are proximal
/// points. `exact`: uses all pivots, in as many attempts as needed, unless there is nothing to
/// pivot. With `soften` on contacts, it ends with the first solution of that problem, judged by the
/// problem as given. Returns the pivots done.
template <class Real, class G, class Scalar>
SS_PART int run_lemke(const G& g, const EnvProblem<Scalar>& p, Lemke<Real>& s, Attempts attempts,
                      int budget, bool exact, double soften, Judge<Scalar>& judge) {
  auto& t = s.tableau;
  scale_contacts(g, p, t);
  const int count = attempt_count<Scalar>(attempts, steepest_friction(p));
  int pivots = 0;
  const bool selects = !exact && soften == 0.0 && attempts.first == 0;
  for (int i = selects ? -1 : 0; exact ? pivots < budget : i < count; ++i) {
    const int attempt = attempts.first + max(i, 0);
    build_tableau(g, p, attempt, i < 0 ? kSelecting<Real> : soften, t);
    int done = 0;
    const PathEnd end = follow_path(g, t, ratio_test<Real>(attempt), budget - pivots, done);
    pivots += done;
    read_basis(g, s);
    const bool refines = soften == 0.0 && end == PathEnd::solution;
    const int unjudged = i < 0 && refines ? kFirstJudged : 0;
    bool solved = false;
    for (int step = 0;; ++step) {
      if (step >= unjudged) {
        solved = judge_pyramid(g, p, s, judge);
        if (solved || !refines || step == kRefinements) break;
      }
      refine(g, p, s);
    }
    if (soften > 0.0) {
      if (end == PathEnd::ray) continue;
      break;
    }
    if ((solved && !exact) || done == 0 || end == PathEnd::budget || stopped(g)) break;
  }
  return pivots;
}

}  // namespace stickslip::kernels::inline SS_ISA
