// Semismooth Newton with a non-monotone line search and Levenberg regularisation where it fails
// (docs/mathematics.md; Alart & Curnier 1991; Grippo, Lampariello & Lucidi 1986).
#pragma once
#include "kernels/residual/judge.hpp"
#include "kernels/solver/newton/direction.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Real, class Factor>
struct Newton {
  Linearisation<Real> at;
  DirectionScratch<Factor> direction;
  Real *z, *u, *dz, *z0, *u1;  ///< [ld] iterate, velocity, step, start and full-step velocity

  SS_HD Newton(Arena& arena, int max_rows)
      : at(arena, max_rows),
        direction(arena, max_rows),
        z(arena.take<Real>(padded(max_rows))),
        u(arena.take<Real>(padded(max_rows))),
        dz(arena.take<Real>(padded(max_rows))),
        z0(arena.take<Real>(padded(max_rows))),
        u1(arena.take<Real>(padded(max_rows))) {}
};

/// The largest of the last merits: what a step must improve on. Eight, because one (monotone)
/// stalls at kinks and four loses 15 % of the robots' hard problems.
struct MeritHistory {
  static constexpr int kLength = 8;
  double last[kLength] = {};  ///< merits are >= 0: empty places never win

  SS_HD void push(double merit) {
    // Shifted, not indexed: registers on a GPU cannot be indexed.
    for (int i = kLength - 1; i > 0; --i) last[i] = last[i - 1];
    last[0] = merit;
  }
  SS_HD double reference() const {
    double largest = 0.0;
    for (int i = 0; i < kLength; ++i) largest = max(largest, last[i]);
    return largest;
  }
};

inline constexpr double kEpsilon = 1e-8;        ///< least regularisation of the Jacobian
inline constexpr double kWeakEpsilon = 1e-12;   ///< for contacts that are nearly the same
inline constexpr int kHalvings = 6;             ///< of the line search
inline constexpr double kTinyMerit = 1e-28;     ///< always accepted: rounding noise
inline constexpr double kAlteredGoal = 1e-16;   ///< merit, relative, that ends a step of a homotopy
inline constexpr double kNearSolution = 1e-14;  ///< merit at which one more step will do

/// Line search from z0 = z along dz. Returns the number of halvings, or kHalvings + 1 on failure
/// (z, u, and the linearisation are then those of the start).
template <class Real, class Factor, class G>
SS_HD int line_search(const G& g, const Scaled<Real>& s, const Newton<Real, Factor>& w,
                      double reference, double& merit) {
  for_chunks(g, s.n, [&](int i) {
    w.z0[i] = w.z[i];
    w.z[i] += w.dz[i];
  });
  scaled_velocity(g, s, w.z, w.u1);
  Real t = Real(1);
  for (int halving = 0; halving <= kHalvings; ++halving) {
    if (halving > 0) {
      for_chunks(g, s.n, [&](int i) { w.z[i] = fma(t, w.dz[i], w.z0[i]); });
      scaled_velocity(g, s, w.z, w.u1);
    }
    merit = linearise(g, s, w.at, w.z, w.u1);
    if (merit <= reference * (1.0 - 1e-4 * double(t)) || merit < kTinyMerit) {
      for_chunks(g, s.n, [&](int i) { w.u[i] = w.u1[i]; });
      return halving;
    }
    t *= Real(0.5);
  }
  for_chunks(g, s.n, [&](int i) { w.z[i] = w.z0[i]; });
  merit = linearise(g, s, w.at, w.z, w.u);
  return kHalvings + 1;
}

/// Up to `budget` Newton steps from where the last stage ended, with the equations that
/// `w.at` names and a Jacobian regularised by `least_epsilon` or more. `altered`: s is not the
/// problem that is judged, and converging on it is the aim. Returns the steps done.
template <class Real, class Factor, class G, class In>
SS_HD int run_newton(const G& g, const EnvProblem<In>& p, const Scaled<Real>& s,
                     const Newton<Real, Factor>& w, int budget, double least_epsilon, bool altered,
                     Judge<In>& judge) {
  const double floor = sizeof(Factor) == 4 ? 1e-6 : least_epsilon;
  const double near = max(kNearSolution, 100.0 * judge.near);
  const bool coarse = sizeof(Real) == 4;  // float iterates: the merit floors early, ask every step
  scale_impulse(g, s, judge.start, w.z);
  scaled_velocity(g, s, w.z, w.u);
  double merit = linearise(g, s, w.at, w.z, w.u);
  if (!altered && merit < near && judge_iterate(g, p, s, w.z, judge)) return 0;
  const double start_merit = merit;
  double epsilon = floor;
  MeritHistory history;
  int steps = 0;
  while (steps < budget) {
    history.push(merit);
    if (!newton_direction(g, s, w.at, Factor(epsilon), w.z, w.direction, w.u1, w.dz)) {
      epsilon *= 1e3;
      ++steps;
      if (epsilon > 1e-2) break;
      continue;
    }
    ++steps;
    const bool was_near = merit < 1e-16;
    const int halvings = line_search(g, s, w, history.reference(), merit);
    if (halvings > kHalvings) {
      if (was_near || coarse) {  // at the rounding floor of the merit a full step still polishes
        g.for_each(s.ld, [&](int i) { w.z[i] += w.dz[i]; });
        if (judge_iterate(g, p, s, w.z, judge)) return steps;
        g.for_each(s.ld, [&](int i) { w.z[i] = w.z0[i]; });
      }
      epsilon = max(epsilon * 100.0, 1e-5);
      if (epsilon > 1.0) break;
      continue;
    }
    epsilon = max(floor, epsilon * (halvings == 0 ? 0.01 : (halvings < 3 ? 0.3 : 1.0)));
    if (altered) {
      const double size = g.max(s.n, [&](int i) { return abs(double(w.z[i])); });
      if (merit < kAlteredGoal * fma(size, size, 1.0)) break;
    } else if ((merit < near || coarse) && judge_iterate(g, p, s, w.z, judge)) {
      return steps;
    }
  }
  judge_iterate(g, p, s, w.z, judge);
  if (altered || merit < start_merit) continue_from_candidate(g, p, judge);
  const double size = g.max(s.n, [&](int i) { return abs(double(w.z[i])); });
  judge.last_merit = merit / fma(size, size, 1.0);
  return steps;
}

}  // namespace stickslip::kernels::inline SS_ISA
