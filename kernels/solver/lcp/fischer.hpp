// Semismooth Newton on Fischer-Burmeister's function (Fischer 1992; De Luca, Facchinei & Kanzow
// 1996), one equation per row of the standard problem:
//   F_i = w_i on free rows,   F_i = y_i + w_i - sqrt(y_i^2 + w_i^2) on the others.
//
// A body uses w as a map of y. A map has
//
// - `standard`: the StandardLcp whose A is the map's Jacobian at the last linearisation,
// - `values(g, y, w)`: w at y,
// - `linearise(g, y)`: updates A at y,
// - `judge(g, y)`, `solved()`: residual of the problem as given, whether the best one is within
//   the tolerance.
#pragma once
#include "kernels/linalg/lu.hpp"
#include "kernels/linalg/merit_history.hpp"
#include "kernels/solver/lcp/lemke.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The map w = A y + q' of an LCP.
template <class Scalar>
struct AffineMap {
  const LcpProblem<Scalar>& problem;
  const StandardLcp& standard;
  LcpJudge<Scalar>& keeper;

  template <class G>
  SS_HD void values(const G& g, const double* y, double* w) const {
    standard_velocity(g, standard, y, w);
  }
  template <class G>
  SS_HD void linearise(const G&, const double*) const {}
  template <class G>
  SS_HD double judge(const G& g, const double* y) const {
    return judge_standard(g, problem, standard, y, keeper);
  }
  SS_HD bool solved() const { return keeper.solved(); }
};

template <class Real>
struct FischerScratch {
  double* y;                     ///< [padded(m)] the iterate, owned by the caller
  double *w, *trial, *F;         ///< [padded(m)]
  double *dy_weight, *w_weight;  ///< [m] dF/dy at fixed w, dF/dw
  LinearSystem<Real> system;
  Real* x;  ///< [m]
  MeritHistory* history;

  SS_HD FischerScratch(Arena& arena, int max_m, double* iterate)
      : y(iterate),
        w(arena.take<double>(padded(max_m))),
        trial(arena.take<double>(padded(max_m))),
        F(arena.take<double>(padded(max_m))),
        dy_weight(arena.take<double>(max_m)),
        w_weight(arena.take<double>(max_m)),
        system(arena, max_m),
        x(arena.take<Real>(max_m)),
        history(arena.take<MeritHistory>(1)) {}
};

/// F at y; returns the merit |F|^2.
template <class Real, class G, class Map>
SS_HD double evaluate_fischer(const G& g, const Map& map, const FischerScratch<Real>& f,
                              const double* y) {
  const StandardLcp& s = map.standard;
  map.values(g, y, f.w);
  g.for_each(s.m, [&](int i) {
    const double a = y[i], b = f.w[i], root = sqrt(fma(a, a, b * b));
    // a + b - root, without cancellation where both are positive.
    const double phi = a > 0.0 && b > 0.0 ? 2.0 * a * b / (a + b + root) : a + b - root;
    f.F[i] = s.free[i] != 0 ? b : phi;
  });
  return g.sum(s.m, [&](int i) { return f.F[i] * f.F[i]; });
}

/// dF/dy = diag(dy_weight) + diag(w_weight) A at f.y. `smooth` uses the derivatives of
/// Fischer-Burmeister; otherwise F is replaced by min(y, w) and its derivatives are used: this is
/// exact once the active set is right.
template <class Real, class G, class Map>
SS_HD void linearise_fischer(const G& g, const Map& map, const FischerScratch<Real>& f,
                             bool smooth) {
  const StandardLcp& s = map.standard;
  map.linearise(g, f.y);
  g.for_each(s.m, [&](int i) {
    const double a = f.y[i], b = f.w[i], root = sqrt(fma(a, a, b * b));
    double da = 0.0, db = 1.0;
    if (s.free[i] == 0 && smooth) {
      da = root > 0.0 ? 1.0 - a / root : 1.0;
      db = root > 0.0 ? 1.0 - b / root : 1.0;
    } else if (s.free[i] == 0) {
      da = a > b ? 0.0 : 1.0;
      db = 1.0 - da;
      f.F[i] = a > b ? b : a;
    }
    f.dy_weight[i] = da;
    f.w_weight[i] = db;
  });
}

/// dy with (dF/dy + epsilon I) dy = -F into `x`; false if the matrix is singular.
template <class Real, class G>
SS_HD bool fischer_direction(const G& g, const StandardLcp& s, const FischerScratch<Real>& f,
                             double epsilon) {
  const int ld = f.system.ld;
  g.for_each_2d(s.m, padded(s.m), [&](int i, int j) {
    double value = 0.0;
    if (j < s.m) value = f.w_weight[i] * s.col(j)[i] + (i == j ? f.dy_weight[i] + epsilon : 0.0);
    f.system.a[std::int64_t(i) * ld + j] = Real(value);
  });
  g.for_each(s.m, [&](int i) {
    f.system.place_row(i);
    f.system.right()[i] = Real(-f.F[i]);
  });
  return solve_lu(g, f.system, s.m, f.x);
}

/// Steps along x, halved until the merit is below the largest of the last few (Grippo, Lampariello
/// & Lucidi 1986). Returns whether a step was taken; y, F, w and the history are updated.
template <class Real, class G, class Map>
SS_HD bool search_fischer(const G& g, const Map& map, FischerScratch<Real>& f) {
  const StandardLcp& s = map.standard;
  const double reference = f.history->reference();
  double t = 1.0;
  for (int halving = 0; halving < 12; ++halving, t *= 0.5) {
    g.for_each(s.ld, [&](int i) { f.trial[i] = i < s.m ? fma(t, double(f.x[i]), f.y[i]) : 0.0; });
    const double merit = evaluate_fischer(g, map, f, f.trial);
    if (!(merit <= (1.0 - 1e-4 * t) * reference)) continue;
    double* const old = f.y;
    f.y = f.trial;
    f.trial = old;
    g.once([&] { f.history->push(merit); });
    return true;
  }
  return false;
}

/// Newton on min(y, w) from f.y while it improves: linear solves on the iterate's active set.
template <class Real, class G, class Map>
SS_PART int polish(const G& g, const Map& map, FischerScratch<Real>& f, int budget) {
  const StandardLcp& s = map.standard;
  evaluate_fischer(g, map, f, f.y);
  double before = Limits<double>::infinity;
  for (int step = 1; step <= budget; ++step) {
    linearise_fischer(g, map, f, false);
    if (!fischer_direction(g, s, f, 0.0)) return step;
    g.for_each(s.ld, [&](int i) { f.y[i] = i < s.m ? f.y[i] + double(f.x[i]) : 0.0; });
    const double residual = map.judge(g, f.y);
    if (map.solved() || !(residual < before)) return step;
    before = residual;
    map.values(g, f.y, f.w);
  }
  return budget;
}

/// One attempt from f.y; returns the steps done. Levenberg's epsilon grows if no step is found.
template <class Real, class G, class Map>
SS_PART int run_fischer(const G& g, const Map& map, FischerScratch<Real>& f, int budget) {
  const StandardLcp& s = map.standard;
  double epsilon = 0.0;
  const double first = evaluate_fischer(g, map, f, f.y);
  g.once([&] {
    *f.history = MeritHistory{};
    f.history->push(first);
  });
  for (int step = 1; step <= budget && !stopped(g); ++step) {
    linearise_fischer(g, map, f, true);
    const bool found = fischer_direction(g, s, f, epsilon) && search_fischer(g, map, f);
    if (!found) {
      g.once([&] { f.history->skip(); });
      if (epsilon >= 1.0) return step;
      epsilon = epsilon > 0.0 ? 100.0 * epsilon : 1e-10;
      evaluate_fischer(g, map, f, f.y);  // the search left its last trial in w and F
      continue;
    }
    epsilon = epsilon > 1e-10 ? 0.01 * epsilon : 0.0;
    map.judge(g, f.y);
    if (map.solved()) return step;
    if (f.history->newest() > 1e-8) continue;
    g.for_each(s.ld, [&](int i) { f.trial[i] = f.y[i]; });
    polish(g, map, f, 1);  // close to a solution: the active set may already be right
    if (map.solved()) return step;
    g.for_each(s.ld, [&](int i) { f.y[i] = f.trial[i]; });
    evaluate_fischer(g, map, f, f.y);
  }
  return budget;
}

}  // namespace stickslip::kernels::inline SS_ISA
