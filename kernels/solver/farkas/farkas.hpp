// Searches for a proof that there is no solution: a candidate, projected onto the null space of
// (W + diag R)^T, all rows of it.
#pragma once
#include "kernels/residual/judge.hpp"
#include "kernels/solver/farkas/candidate.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// B_ia: row i of (W + diag R)^T in the column of support row a, relative to its rounding.
template <class Scalar>
SS_HD double null_entry(const EnvProblem<Scalar>& p, const Farkas& f, int i, int a) {
  const int j = f.row[a];
  return (i == j ? p.diagonal(j) : p.w(j, i)) * f.scale[a] * f.weight[i];
}

/// Factorises B^T B + shift on the support.
template <class G, class Scalar>
SS_HD bool factor_null_space(const G& g, const EnvProblem<Scalar>& p, const Farkas& f) {
  constexpr double kShift = 1e-13;
  list_support(g, f);
  g.for_each_2d(f.size(), f.size(), [&](int a, int b) {
    if (b < a) return;
    double sum = a == b ? kShift : 0.0;
    for (int i = 0; i < p.n; ++i) {
      if (f.weight[i] == 0.0) continue;
      sum = fma(null_entry(p, f, i, f.support[a]), null_entry(p, f, i, f.support[b]), sum);
    }
    f.factor[std::int64_t(a) * f.ld + b] = sum;
  });
  return cholesky(g, f.size(), f.factor, f.ld);
}

/// y <- (A + shift I)^-1 y on the support, a few times: inverse iteration for the null space of A.
/// False if it finds none.
template <class G, class Scalar>
SS_HD bool iterate_inverse(const G& g, const EnvProblem<Scalar>& p, const Farkas& f) {
  constexpr double kShift = 1e-12;
  constexpr int kSteps = 3;
  if (!factor_support(g, p, kShift, f)) return false;
  for (int step = 0; step < kSteps; ++step) {
    const double size = g.max(f.m(), [&](int a) { return abs(f.y[a]); });
    if (!(size > 0.0)) return false;
    g.for_each(f.size(), [&](int a) { f.x[a] = f.y[f.support[a]] / size; });
    solve_factor(g, f);
    take_solution(g, f);
  }
  const double size = g.max(f.m(), [&](int a) { return abs(f.y[a]); });
  g.for_each(f.m(), [&](int a) { f.y[a] = size > 0.0 ? f.y[a] / size : 0.0; });
  // |A y + shift y| is now 1 / size. A certificate has y^T A y = 0, so A y = 0, since A is positive
  // semidefinite. If |A y| is far from 0, no principal submatrix of A has a null space either.
  // Float data must be as near to it as double data (kReach).
  const double far = 16.0 * sqrt(Limits<double>::epsilon);
  return is_finite(size) && far * size > 1.0;
}

/// y -= (B^T B + shift)^-1 B^T B y on the support: removes the part outside the null space.
template <class G, class Scalar>
SS_HD void project_once(const G& g, const EnvProblem<Scalar>& p, const Farkas& f) {
  g.for_each(p.n, [&](int i) {
    double sum = 0.0;
    for (int a = 0; a < f.size(); ++a) {
      sum = fma(null_entry(p, f, i, f.support[a]), f.y[f.support[a]], sum);
    }
    f.full[i] = sum;
  });
  g.for_each(f.size(), [&](int a) {
    double sum = 0.0;
    for (int i = 0; i < p.n; ++i) sum = fma(null_entry(p, f, i, f.support[a]), f.full[i], sum);
    f.x[a] = sum;
  });
  solve_factor(g, f);
  g.for_each(f.size(), [&](int a) { f.y[f.support[a]] -= f.x[a]; });
}

/// Whether y, without its entries of the wrong sign, is a certificate; `dropped`: there were some.
template <class G, class Scalar>
SS_HD bool is_certificate(const G& g, const EnvProblem<Scalar>& p, double tolerance,
                          const Farkas& f, bool& dropped) {
  dropped = g.any(f.m(), [&](int a) { return f.y[a] < 0.0 && !is_free_row(p, f, a); });
  g.for_each(p.n, [&](int i) { f.full[i] = 0.0; });
  g.for_each(f.m(), [&](int a) {
    f.y[a] = is_free_row(p, f, a) ? f.y[a] : max(f.y[a], 0.0);
    f.full[f.row[a]] = f.y[a] * f.scale[a];
  });
  return certificate_holds(g, p, tolerance, f.full);
}

/// Projects y onto the null space on its support, which excludes rows below `least` times the
/// largest. Returns whether the result is a certificate, with or without the last steps.
template <class G, class Scalar>
SS_HD bool project_ray(const G& g, const EnvProblem<Scalar>& p, double least, double tolerance,
                       const Farkas& f) {
  constexpr int kRounds = 6, kSteps = 4;
  g.for_each(f.m(), [&](int a) { f.y[a] = f.start[a]; });
  for (int round = 0; round < kRounds; ++round) {
    const double size = g.max(f.m(), [&](int a) { return abs(f.y[a]); });
    if (!(size > 0.0) || !is_finite(size)) return false;
    g.for_each(f.m(), [&](int a) {
      const double y = f.y[a] / size;
      f.in[a] = is_free_row(p, f, a) || y > least ? 1 : 0;
      f.y[a] = f.in[a] != 0 ? y : 0.0;
    });
    if (!iterate_inverse(g, p, f)) return false;
    bool dropped = false;
    SS_ROLLED for (int steps = 0; steps <= kSteps && !dropped; steps += kSteps) {
      if (steps > 0 && !factor_null_space(g, p, f)) return false;
      for (int step = 0; step < steps; ++step) project_once(g, p, f);
      if (is_certificate(g, p, tolerance, f, dropped)) return true;
    }
    if (!dropped) return false;
  }
  return false;
}

/// Tries to prove that the problem has no solution, in up to `budget` passes; returns the passes
/// done. The judge keeps a proof that is found.
template <class G, class Scalar>
SS_PART int run_farkas(const G& g, const EnvProblem<Scalar>& p, Farkas f, int budget,
                       Judge<Scalar>& judge) {
  constexpr double kDelta = 1e-8;
  open_farkas(g, p, f);
  if (!g.any(f.m(), [&](int a) { return f.c[a] != 0.0; })) return 0;
  const int passes = pivot_blocks(g, p, kDelta, budget, f);
  g.for_each(f.m(), [&](int a) { f.start[a] = f.y[a]; });
  const double tolerance = judge.at->tolerance;
  SS_ROLLED for (int i = 0; i < 3; ++i) {
    const double least = i == 0 ? 1e-6 : i == 1 ? 1e-4 : 1e-9;
    if (!project_ray(g, p, least, tolerance, f)) continue;
    keep_certificate(g, p, f.full, judge);
    break;
  }
  return passes;
}

}  // namespace stickslip::kernels::inline SS_ISA
