// Lemke's method for the law `pyramid` (Lemke 1965; Stewart & Trinkle 1996): attempts with other
// covering vectors and tolerances until the judge says solved. kernels/solver/lemke/README.md.
#pragma once
#include "kernels/residual/judge.hpp"
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

inline constexpr int kLemkeAttempts = 8;

/// Tolerances of an attempt: a few decades around the one that is right most often. Those of a
/// float tableau are measured on the heavy towers, which lose a fifth with pivots of 1e-6.
template <class Real>
SS_HD PivotRule<Real> pivot_rule(int attempt) {
  const int i = attempt % kLemkeAttempts;
  if (sizeof(Real) == 4) {
    const float slack = i % 4 == 0 ? 1e-5F : i % 4 == 1 ? 1e-6F : i % 4 == 2 ? 1e-4F : 1e-3F;
    return {Real(3e-5F), Real(slack)};
  }
  const double slack = i % 4 == 0         ? 1e-10
                       : i == 1 || i == 6 ? 1e-9
                       : i == 2 || i == 7 ? 1e-11
                       : i == 3           ? 1e-8
                                          : 1e-12;
  return {Real(1e-9), Real(slack)};
}

/// Whether the half-size tableau can hold the problem: contacts of dimension 3 and nothing else,
/// with 4 directions.
SS_HD bool fits_pyramid_tableau(int rows, int contacts, int directions) {
  return rows == 3 * contacts && directions == 4;
}
template <class In>
SS_HD bool fits_pyramid_tableau(const EnvProblem<In>& p) {
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

/// Judges the impulse of x.
template <class Real, class G, class In>
SS_PART bool judge_pyramid(const G& g, const EnvProblem<In>& p, const Lemke<Real>& s,
                           Judge<In>& judge) {
  const auto& t = s.tableau;
  g.for_each(t.n, [&](int i) {
    judge.at->candidate[i] = In(max(s.x[i], 0.0) * (t.scale[i] * t.sign[i]) / t.q);
  });
  return judge_candidate(g, p, judge);
}

/// w = M x + b from the problem as given, in double.
template <class Real, class G, class In>
SS_HD void evaluate(const G& g, const EnvProblem<In>& p, const Lemke<Real>& s) {
  const auto& t = s.tableau;
  g.for_each(t.n, [&](int i) { s.y[i] = s.x[i] * (t.scale[i] * t.sign[i]); });
  const auto start = [&](int i) { return fma(p.compliance(i), s.y[i], double(p.b[i]) * t.q); };
  matvec_given(g, t.n, p.W, p.ld_W, p.symmetric, s.y, start, s.w);
  g.for_each(t.p, [&](int k) {
    const int a = 3 * k;
    const double lambda = s.x[t.n + k];
    s.w[a] *= t.scale[a];
    for (int i = a + 1; i < a + 3; ++i) s.w[i] = fma(s.w[i], t.scale[i] * t.sign[i], lambda);
    s.w[t.n + k] = fma(t.cone[k], s.x[a], -(s.x[a + 1] + s.x[a + 2]));
  });
}

/// One step of iterative refinement: what the w's of the columns miss, through the tableau, which
/// is the inverse of the basis.
template <class Real, class G, class In>
SS_PART void refine(const G& g, const EnvProblem<In>& p, Lemke<Real>& s) {
  constexpr int C = G::kChunk;
  auto& t = s.tableau;
  settle_all(g, t);
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

/// Up to `budget` pivots, over as many attempts as they last, judged by the one residual; all of
/// them if `exact`, unless there is nothing to pivot. With `soften`, on contact normals, the first
/// solution is the answer to a problem that has none. Returns the pivots done.
template <class Real, class G, class In>
SS_PART int run_lemke(const G& g, const EnvProblem<In>& p, Lemke<Real>& s, int budget, bool exact,
                      double soften, Judge<In>& judge) {
  auto& t = s.tableau;
  scale_contacts(g, p, t);
  judge.no_solution = true;
  int pivots = 0;
  for (int attempt = 0; exact ? pivots < budget : attempt < kLemkeAttempts; ++attempt) {
    build_tableau(g, p, attempt, soften, t);
    int done = 0;
    const PathEnd end = follow_path(g, t, pivot_rule<Real>(attempt), budget - pivots, done);
    pivots += done;
    if (end != PathEnd::ray) judge.no_solution = false;
    read_basis(g, s);
    bool solved = judge_pyramid(g, p, s, judge);
    if (soften > 0.0) {
      if (end == PathEnd::ray) continue;
      if (end == PathEnd::budget) break;
      keep_softened(g, p, judge);
      answer_softened(g, p, judge.last_residual, judge);
      break;
    }
    for (int step = 0; step < 4 && end == PathEnd::solution && !solved; ++step) {
      refine(g, p, s);
      solved = judge_pyramid(g, p, s, judge);
    }
    if ((solved && !exact) || done == 0 || end == PathEnd::budget) break;
  }
  return pivots;
}

}  // namespace stickslip::kernels::inline SS_ISA
