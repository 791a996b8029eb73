// Semismooth Newton with a non-monotone line search, and Levenberg regularisation if that fails
// (docs/mathematics.md §9; Alart & Curnier 1991; Grippo, Lampariello & Lucidi 1986). It finds any
// solution, or selects one of many (problem/selection.hpp): first that of the problem with the
// compliance epsilon D; from there, steps whose Jacobian has this compliance are those of proximal
// points (Rockafellar 1976), which remove it and keep the choice. While no row changes its state
// and steps contract well, they use the factors of the last Jacobian again.
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
  bool selects = false;        ///< one solution among many; else any

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

/// Progress of the steps: not in Newton, which the lanes of a group may share.
template <class Real, class Factor>
struct NewtonProgress {
  double merit = 0.0;
  double least_left = 0.0;      ///< merit; a step that leaves less behind leaves a candidate
  Real soft = Real(0);          ///< compliance of the equations, times D
  Regularisation<Factor> more;  ///< of the next Jacobian
  double least_epsilon = 0.0;   ///< of `more`
  bool keeps = false;           ///< the next step may use the factors of the last one again
  int count = 0;                ///< rows of these factors
};

inline constexpr double kFloatEpsilon = 1e-6;   ///< least regularisation of a Jacobian in float
inline constexpr int kHalvings = 6;             ///< of the line search
inline constexpr double kTinyMerit = 1e-28;     ///< always accepted: rounding noise
inline constexpr double kRoundedMerit = 1e-16;  ///< merit, relative, that may be all rounding
inline constexpr double kAlteredGoal = 1e-16;   ///< the same that ends steps on an altered problem
inline constexpr double kSlow = 0.01;  ///< merit: velocities contract by less than 10 in a step

/// The velocities of the equations.
template <class Real, class Factor, class G>
SS_HD void newton_velocity(const G& g, const Scaled<Real>& s,
                           const NewtonProgress<Real, Factor>& path, const Real* z, Real* u) {
  scaled_velocity(g, s, z, u);
  if (!(path.soft > Real(0))) return;
  for_chunks(g, s.n, [&](int i) { u[i] = fma(path.soft * s.selecting[i], z[i], u[i]); });
}

/// Line search from z0 = z along dz. Returns the number of halvings, or kHalvings + 1 on failure
/// (z, u, and the linearisation are then those of the start).
template <class Real, class Factor, class G>
SS_HD int line_search(const G& g, const Scaled<Real>& s, const Newton<Real, Factor>& w,
                      NewtonProgress<Real, Factor>& path) {
  const double reference = w.history->reference();
  for_chunks(g, s.n, [&](int i) {
    w.z0[i] = w.z[i];
    w.z[i] += w.dz[i];
  });
  newton_velocity(g, s, path, w.z, w.u1);
  Real t = Real(1);
  for (int halving = 0; halving <= kHalvings; ++halving) {
    if (halving > 0) {
      for_chunks(g, s.n, [&](int i) { w.z[i] = fma(t, w.dz[i], w.z0[i]); });
      newton_velocity(g, s, path, w.z, w.u1);
    }
    path.merit = linearise(g, s, w.at, w.z, w.u1);
    if (path.merit <= reference * (1.0 - 1e-4 * double(t)) || path.merit < kTinyMerit) {
      for_chunks(g, s.n, [&](int i) { w.u[i] = w.u1[i]; });
      return halving;
    }
    t *= Real(0.5);
  }
  for_chunks(g, s.n, [&](int i) { w.z[i] = w.z0[i]; });
  path.merit = linearise(g, s, w.at, w.z, w.u);
  return kHalvings + 1;
}

/// Linearises at z with its velocities; the line search begins anew.
template <class Real, class Factor, class G>
SS_HD void linearise_anew(const G& g, const Scaled<Real>& s, const Newton<Real, Factor>& w,
                          NewtonProgress<Real, Factor>& path) {
  newton_velocity(g, s, path, w.z, w.u);
  g.once([&] { *w.history = MeritHistory{}; });
  path.merit = linearise(g, s, w.at, w.z, w.u);
}

/// The step dz.
template <class Real, class Factor, class G>
SS_HD bool find_direction(const G& g, const Scaled<Real>& s, const Newton<Real, Factor>& w,
                          const Real* mismatch, NewtonProgress<Real, Factor>& path) {
  path.keeps = path.keeps && repeat_direction(g, s, w.at, w.z, w.direction, path.count, w.dz);
  return path.keeps || newton_direction(g, s, w.at, path.more, w.z, mismatch, w.direction,
                                        path.count, w.u1, w.dz);
}

/// Judges the iterate z. Whether it is what the steps are to find.
template <class Real, class Factor, class G, class In>
SS_HD bool is_found(const G& g, const EnvProblem<In>& p, const Scaled<Real>& s,
                    const Newton<Real, Factor>& w, const Real* z, Judge<In>& judge, Guess guess) {
  const bool any_selects = judge.selects;
  judge.selects = any_selects || w.selects;
  const bool done = judge_iterate(g, p, s, z, judge, guess);
  judge.selects = any_selects;
  return done || (!w.selects && judge.solved());
}

/// max|z|^2
template <class Real, class G>
SS_HD double squared_size(const G& g, const Scaled<Real>& s, const Real* z) {
  const double size = g.max(s.n, [&](int i) { return abs(double(z[i])); });
  return size * size;
}

/// Whether some contact slides.
template <class Real, class Factor, class G>
SS_HD bool any_slides(const G& g, const Scaled<Real>& s, const Newton<Real, Factor>& w) {
  return g.any(s.n, [&](int i) { return w.at.is(i, RowState::sliding); });
}

/// After a step: regularises less, the less it was shortened, and tells whether its factors serve
/// again. Not where something slides and the Jacobian has little compliance: tangents of another
/// point then lead far along what is hardly determined.
template <class Real, class Factor, class G>
SS_HD void relax(const G& g, const Scaled<Real>& s, const Newton<Real, Factor>& w, int halvings,
                 double contraction, NewtonProgress<Real, Factor>& path) {
  constexpr Factor kLeast = sizeof(Factor) == 4 ? Factor(kFloatEpsilon) : Factor(1e-12);
  constexpr double kSafeProximal = 1e-5;
  const bool slow = halvings > 0 || contraction > kSlow;
  const Regularisation<Factor> before = path.more;
  if (slow && w.selects && !(path.soft > Real(0))) {
    path.more.proximal = max(path.more.proximal * Factor(0.01), kLeast);
  }
  const double share = halvings == 0 ? 0.01 : (halvings < 3 ? 0.3 : 1.0);
  path.more.epsilon = Factor(max(path.least_epsilon, double(path.more.epsilon) * share));
  path.keeps = !slow && path.more == before &&
               (double(path.more.proximal) > kSafeProximal || !any_slides(g, s, w));
}

/// Prepares the first step: z and its velocities, or random states.
template <class Real, class Factor, class G, class In>
SS_HD void begin_newton(const G& g, const Scaled<Real>& s, const Newton<Real, Factor>& w,
                        double least_epsilon, const Judge<In>& judge,
                        NewtonProgress<Real, Factor>& path) {
  path.least_epsilon = sizeof(Factor) == 4 ? kFloatEpsilon : least_epsilon;
  path.soft = w.selects ? Real(kSelecting<In>) : Real(0);
  path.more = {Factor(path.least_epsilon), Factor(path.soft)};
  scale_impulse(g, s, judge.at->start, w.z);
  if (w.seed == 0) {
    linearise_anew(g, s, w, path);
    return;
  }
  draw_states(g, s, w.seed, w.z, w.u1);
  newton_velocity(g, s, path, w.z, w.u);
  g.for_each(s.ld, [&](int i) { w.z0[i] = i < s.n ? w.u[i] - w.u1[i] : Real(0); });
  path.merit = linearise(g, s, w.at, w.z, w.u1);
}

enum class Moved : std::int32_t { yes, no, found };

/// One step of the line search, or none and more regularisation.
template <class Real, class Factor, class G, class In>
SS_HD Moved newton_step(const G& g, const EnvProblem<In>& p, const Scaled<Real>& s,
                        const Newton<Real, Factor>& w, NewtonProgress<Real, Factor>& path,
                        Judge<In>& judge) {
  g.once([&] { w.history->push(path.merit); });
  if (!find_direction(g, s, w, s.zero, path)) {
    path.more.epsilon *= Factor(1e3);
    if (path.more.epsilon > Factor(1e-2)) path.more.epsilon = Factor(10);  // given up
    return Moved::no;
  }
  const double before = path.merit;
  const int halvings = line_search(g, s, w, path);
  if (halvings <= kHalvings) {
    relax(g, s, w, halvings, path.merit / before, path);
    if (path.soft > Real(0) || !(before < min(path.merit, path.least_left))) return Moved::yes;
    path.least_left = before;  // the search may not come back
    return is_found(g, p, s, w, w.z0, judge, Guess::unknown) ? Moved::found : Moved::yes;
  }
  const bool repeats = path.keeps;
  path.keeps = false;
  if (repeats) return Moved::no;
  if (path.soft > Real(0)) {
    if (path.merit < kRoundedMerit * squared_size(g, s, w.z)) return Moved::found;
  } else if (before < kRoundedMerit || sizeof(Real) == 4) {
    // At the rounding floor of the merit a full step still improves z.
    for_chunks(g, s.n, [&](int i) { w.z[i] += w.dz[i]; });
    if (is_found(g, p, s, w, w.z, judge, Guess::unknown)) return Moved::found;
    for_chunks(g, s.n, [&](int i) { w.z[i] = w.z0[i]; });
  }
  path.more.epsilon = max(path.more.epsilon * Factor(100), Factor(1e-5));
  return Moved::no;
}

/// A full step from random states: their merit has no meaning.
template <class Real, class Factor, class G>
SS_HD bool leave_random_states(const G& g, const Scaled<Real>& s, const Newton<Real, Factor>& w,
                               NewtonProgress<Real, Factor>& path) {
  if (!find_direction(g, s, w, w.z0, path)) return false;
  for_chunks(g, s.n, [&](int i) { w.z[i] += w.dz[i]; });
  linearise_anew(g, s, w, path);
  return true;
}

/// Whether z is worth judging: at once, if the next step needs new factors.
template <class Real, class Factor, class In>
SS_HD bool is_near(const NewtonProgress<Real, Factor>& path, const Judge<In>& judge) {
  return path.merit < (path.keeps ? 0.01 * judge.at->near : worth_judging(judge));
}

/// Up to `budget` Newton steps from the end of the last stage, with the equations selected by
/// `w.at` and a Jacobian regularised by at least `least_epsilon` (by reference: it stays in memory
/// and uses no GPU register). `altered`: s is not the judged problem; the aim is to converge on s.
/// Returns the steps done.
template <class Real, class Factor, class G, class In>
SS_HD int run_newton(const G& g, const EnvProblem<In>& p, const Scaled<Real>& s,
                     const Newton<Real, Factor>& w, int budget, const double& least_epsilon,
                     bool altered, Judge<In>& judge) {
  constexpr bool kCoarse = sizeof(Real) == 4;  // the merit is at its floor early: judge each step
  constexpr double kSelected = kCoarse ? 1e-12 : 1e-20;  // merit for which forces are right to 1e-6
  const Guess guess = kCoarse ? Guess::unknown : Guess::solution;
  NewtonProgress<Real, Factor> path;
  begin_newton(g, s, w, least_epsilon, judge, path);
  const double start_merit = path.merit;
  path.least_left = altered ? 0.0 : Limits<double>::infinity;
  Moved moved = w.seed == 0 ? Moved::yes : Moved::no;
  int steps = 0;
  if (w.seed != 0 && budget > 0) {
    ++steps;
    moved = leave_random_states(g, s, w, path) ? Moved::yes : Moved::no;
  }
  while (!stopped(g)) {
    if (path.soft > Real(0)) {
      const bool converged =
          steps > 0 && moved == Moved::yes && path.merit < kSelected * squared_size(g, s, w.z);
      if (converged || moved == Moved::found) {
        path.soft = Real(0);
        linearise_anew(g, s, w, path);
        moved = Moved::yes;
        path.keeps = converged && !any_slides(g, s, w);
        continue;
      }
    } else if (altered) {
      if (steps > 0 && path.merit < kAlteredGoal * (squared_size(g, s, w.z) + 1.0)) break;
    } else if (moved == Moved::found ||
               (moved == Moved::yes && (is_near(path, judge) || (kCoarse && steps > 0)) &&
                is_found(g, p, s, w, w.z, judge, guess))) {
      continue_from_candidate(g, p, judge);
      return steps;
    }
    if (steps >= budget || path.more.epsilon > Factor(1)) break;
    ++steps;
    moved = newton_step(g, p, s, w, path, judge);
  }
  judge_iterate(g, p, s, w.z, judge);
  if (altered || w.selects || path.merit < start_merit) continue_from_candidate(g, p, judge);
  return steps;
}

}  // namespace stickslip::kernels::inline SS_ISA
