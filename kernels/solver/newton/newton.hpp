// Semismooth Newton with a non-monotone line search, and Levenberg regularisation if that fails
// (docs/mathematics.md; Alart & Curnier 1991; Grippo, Lampariello & Lucidi 1986).
#pragma once
#include "kernels/group/stop.hpp"
#include "kernels/linalg/merit_history.hpp"
#include "kernels/residual/judge.hpp"
#include "kernels/solver/newton/direction.hpp"
#include "kernels/solver/newton/drawn_states.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Real, class Factor>
struct Newton {
  MeritHistory* history;
  Linearisation<Real> at;
  DirectionScratch<Factor> direction;
  Real *z, *u, *dz, *z0, *u1;  ///< [ld] iterate, velocity, step, start and full-step velocity
  int seed = 0;                ///< of random states for the first step; 0: states of the start

  SS_HD Newton(Arena& arena, int max_rows)
      : history(arena.take<MeritHistory>(1)),
        at(arena, max_rows),
        direction(arena, max_rows),
        z(arena.take<Real>(padded(max_rows))),
        u(arena.take<Real>(padded(max_rows))),
        dz(arena.take<Real>(padded(max_rows))),
        z0(arena.take<Real>(padded(max_rows))),
        u1(arena.take<Real>(padded(max_rows))) {}
};

inline constexpr double kFloatEpsilon = 1e-6;  ///< least regularisation of a Jacobian in float
inline constexpr int kHalvings = 6;            ///< of the line search
inline constexpr double kTinyMerit = 1e-28;    ///< always accepted: rounding noise
inline constexpr double kAlteredGoal = 1e-16;  ///< merit, relative, that ends a step of a homotopy

/// Line search from z0 = z along dz. Returns the number of halvings, or kHalvings + 1 on failure
/// (z, u, and the linearisation are then those of the start).
template <class Real, class Factor, class G>
SS_HD int line_search(const G& g, const Scaled<Real>& s, Newton<Real, Factor>& w, double reference,
                      double& merit) {
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

/// Up to `budget` Newton steps from the end of the last stage, with the equations selected by
/// `w.at` and a Jacobian regularised by at least `least_epsilon` (by reference: it stays in memory
/// and uses no GPU register). `altered`: s is not the judged problem; the aim is to converge on s.
/// Returns the steps done.
template <class Real, class Factor, class G, class In>
SS_HD int run_newton(const G& g, const EnvProblem<In>& p, const Scaled<Real>& s,
                     Newton<Real, Factor>& w, int budget, const double& least_epsilon, bool altered,
                     Judge<In>& judge) {
  const auto floor = [&] { return sizeof(Factor) == 4 ? kFloatEpsilon : least_epsilon; };
  const auto near = [&] { return worth_judging(judge); };
  const bool coarse = sizeof(Real) == 4;  // float: the merit is at its floor early, judge each step
  const Guess guess = coarse ? Guess::unknown : Guess::solution;
  scale_impulse(g, s, judge.at->start, w.z);
  bool drawn = w.seed != 0;
  if (drawn) draw_states(g, s, w.seed, w.z, w.u1);
  scaled_velocity(g, s, w.z, w.u);
  if (drawn) g.for_each(s.ld, [&](int i) { w.z0[i] = i < s.n ? w.u[i] - w.u1[i] : Real(0); });
  double merit = linearise(g, s, w.at, w.z, drawn ? w.u1 : w.u);
  if (!altered && !drawn && merit < near() && judge_iterate(g, p, s, w.z, judge, guess)) return 0;
  const double start_merit = merit;
  double epsilon = floor();
  g.once([&] { *w.history = MeritHistory{}; });
  int steps = 0;
  while (steps < budget && !stopped(g)) {
    if (!drawn) g.once([&] { w.history->push(merit); });
    const Real* mismatch = drawn ? w.z0 : s.zero;
    if (!newton_direction(g, s, w.at, Factor(epsilon), w.z, mismatch, w.direction, w.u1, w.dz)) {
      epsilon *= 1e3;
      ++steps;
      if (epsilon > 1e-2) break;
      continue;
    }
    ++steps;
    if (drawn) {  // full step: the merit of random states has no meaning
      for_chunks(g, s.n, [&](int i) { w.z[i] += w.dz[i]; });
      scaled_velocity(g, s, w.z, w.u);
      merit = linearise(g, s, w.at, w.z, w.u);
      drawn = false;
      continue;
    }
    const bool was_near = merit < 1e-16;
    const int halvings = line_search(g, s, w, w.history->reference(), merit);
    if (halvings > kHalvings) {
      if (was_near || coarse) {  // at the rounding floor of the merit a full step still improves z
        for_chunks(g, s.n, [&](int i) { w.z[i] += w.dz[i]; });
        if (judge_iterate(g, p, s, w.z, judge)) return steps;
        for_chunks(g, s.n, [&](int i) { w.z[i] = w.z0[i]; });
      }
      epsilon = max(epsilon * 100.0, 1e-5);
      if (epsilon > 1.0) break;
      continue;
    }
    epsilon = max(floor(), epsilon * (halvings == 0 ? 0.01 : (halvings < 3 ? 0.3 : 1.0)));
    if (altered) {
      const double size = g.max(s.n, [&](int i) { return abs(double(w.z[i])); });
      if (merit < kAlteredGoal * fma(size, size, 1.0)) break;
    } else if ((merit < near() || coarse) && judge_iterate(g, p, s, w.z, judge, guess)) {
      return steps;
    }
  }
  judge_iterate(g, p, s, w.z, judge);
  if (altered || merit < start_merit) continue_from_candidate(g, p, judge);
  return steps;
}

}  // namespace stickslip::kernels::inline SS_ISA
