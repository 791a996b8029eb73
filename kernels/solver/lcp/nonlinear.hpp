// A mixed nonlinear complementarity problem (include/stickslip/mncp.hpp) in the form for Fischer's
// Newton: unknowns v = (x, w), values (y, z), scaled by powers of two like an LCP, using the
// Jacobian at the start. Its standard problem is the map's linearisation.
#pragma once
#include "kernels/residual/tolerance.hpp"
#include "kernels/solver/lcp/fischer.hpp"
#include "stickslip/mncp.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct NonlinearScratch {
  double *best, *point, *value;  ///< [n] v of the best; v and the map values there
  double* jacobian;              ///< [n][n] row-major
  LcpJudge<double> judge;
  StandardLcp standard;
  double* y;  ///< [padded(n)]
  Arena newton;

  SS_HD NonlinearScratch(Arena arena, int max_n)
      : best(arena.take<double>(max_n)),
        point(arena.take<double>(max_n)),
        value(arena.take<double>(max_n)),
        jacobian(arena.take<double>(std::size_t(max_n) * max_n)),
        judge(arena, max_n),
        standard(arena, max_n, max_n),
        y(arena.take<double>(padded(max_n))),
        newton(arena) {}
  SS_HD static std::size_t bytes(int max_n) {
    Arena arena = NonlinearScratch(Arena(nullptr), max_n).newton;
    FischerScratch<double>(arena, max_n, nullptr);
    return arena.used();
  }
};

/// A map of run_fischer; `Call` is called with an MncpPoint.
template <class Call>
struct NonlinearMap {
  const Call& call;
  int env, n_x, n;
  StandardLcp& standard;
  LcpJudge<double>& keeper;
  double *point, *value, *jacobian;

  /// (y, z) at v into `value`, and the Jacobian if it is wanted.
  template <class G>
  SS_HD void evaluate(const G& g, const double* v, bool with_jacobian) const {
    if (with_jacobian) g.for_each(n * n, [&](int i) { jacobian[i] = 0.0; });
    double* const J = with_jacobian ? jacobian : nullptr;
    g.once([&] { call(MncpPoint{env, n_x, n - n_x, v, v + n_x, value, value + n_x, J}); });
  }
  template <class G>
  SS_HD void values(const G& g, const double* y, double* w) const {
    g.for_each(n, [&](int k) { point[k] = standard.given(k, y[k]); });
    evaluate(g, point, false);
    g.for_each(standard.ld,
               [&](int i) { w[i] = i < n ? value[i] * standard.row[i] * standard.q_scale : 0.0; });
  }
  template <class G>
  SS_HD void linearise(const G& g, const double* y) const {
    g.for_each(n, [&](int k) { point[k] = standard.given(k, y[k]); });
    evaluate(g, point, true);
    g.for_each_2d(n, n, [&](int j, int i) {
      standard.col(j)[i] = jacobian[std::int64_t(i) * n + j] * standard.row[i] * standard.column[j];
    });
  }
  template <class G>
  SS_HD double judge(const G& g, const double* y) const {
    g.for_each(n, [&](int k) {
      const double v = standard.given(k, y[k]);
      keeper.candidate[k] = k < n_x ? max(v, 0.0) : v;
    });
    evaluate(g, keeper.candidate, false);
    return judge_values(g);
  }
  SS_HD bool solved() const { return keeper.solved(); }

  /// Judges the candidate by `value`, the map values there: max |min(x, y)|, |z|.
  template <class G>
  SS_HD double judge_values(const G& g) const {
    const double* v = keeper.candidate;
    const bool broken = g.any(n, [&](int i) { return !is_finite(v[i]) || !is_finite(value[i]); });
    if (broken) return Limits<double>::infinity;
    const double residual =
        g.max(n, [&](int i) { return abs(i < n_x ? min(v[i], value[i]) : value[i]); });
    keep_candidate(g, n, residual, keeper);
    return residual;
  }
};

/// The linearisation at the candidate, where `value` and `jacobian` were evaluated, scaled.
template <class G, class Call>
SS_HD void standardise_map(const G& g, const NonlinearMap<Call>& map) {
  StandardLcp& s = map.standard;
  const int n = map.n;
  const double* v = map.keeper.candidate;
  s.m = n;
  s.ld = padded(n);
  g.for_each_2d(n, s.ld, [&](int j, int i) {
    s.col(j)[i] = i < n ? map.jacobian[std::int64_t(i) * n + j] : 0.0;
  });
  g.for_each(s.ld, [&](int i) {
    s.q[i] = i < n ? map.value[i] : 0.0;
    if (i < n) s.free[i] = i < map.n_x ? 0 : 1;
    for (int j = 0; i < n && j < n; ++j) s.q[i] = fma(-s.col(j)[i], v[j], s.q[i]);
  });
  equilibrate(g, s);
}

/// Solves from the start, then from points at hashed distances of up to one scaled unit from it;
/// the judge holds the best point. False if the start or the maps there are not finite.
template <class G, class Call>
SS_HD bool run_mncp(const G& g, const NonlinearMap<Call>& map, const double* start_x,
                    const double* start_w, const MncpOptions& o, NonlinearScratch& scratch,
                    int& iterations) {
  LcpJudge<double>& judge = map.keeper;
  const int n = map.n, n_x = map.n_x;
  judge.best = scratch.best;
  judge.best_residual = Limits<double>::infinity;
  const auto start = [&](int k) {
    const double* from = k < n_x ? start_x : start_w;
    const double v = from == nullptr ? 0.0 : from[k < n_x ? k : k - n_x];
    return k < n_x && v < 0.0 ? 0.0 : v;
  };
  g.for_each(n, [&](int k) { judge.candidate[k] = start(k); });
  if (g.any(n, [&](int k) { return !is_finite(judge.candidate[k]); })) return false;
  map.evaluate(g, judge.candidate, true);
  const double largest = g.max(n, [&](int i) { return abs(map.value[i]); });
  judge.tolerance = tolerance_of(o.atol, o.rtol, Precision::float64, largest);
  if (!is_finite(map.judge_values(g))) return false;
  if (g.any(n * n, [&](int i) { return !is_finite(map.jacobian[i]); })) return false;
  if (judge.solved()) return true;
  standardise_map(g, map);
  for (int attempt = 0; attempt <= o.restarts && !judge.solved() && !stopped(g); ++attempt) {
    Arena arena = scratch.newton;
    FischerScratch<double> f(arena, n, scratch.y);
    g.for_each(map.standard.ld, [&](int k) {
      const double away = attempt > 0 ? hashed_weight(k, attempt + 100) - 1.0 : 0.0;
      f.y[k] = k < n ? map.standard.scaled(k, start(k)) + away : 0.0;
    });
    iterations += run_fischer(g, map, f, o.max_newton);
  }
  return true;
}

}  // namespace stickslip::kernels::inline SS_ISA
