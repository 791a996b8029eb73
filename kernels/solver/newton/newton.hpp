// Semismooth Newton with a non-monotone line search, and Levenberg regularisation if that fails
// (docs/mathematics.md §9; Alart & Curnier 1991; Grippo, Lampariello & Lucidi 1986). It finds any
// solution, or selects one of many (scaling/selection.hpp): first that of the problem with the
// compliance epsilon D; from there, steps whose Jacobian has this compliance are those of proximal
// points (Rockafellar 1976), which remove it and keep the choice. The same steps lead from the
// selected solution of one b to that of another. While no row changes its state
// and steps contract well, they use the factors of the last Jacobian again.
#pragma once
#include "kernels/group/stop.hpp"
#include "kernels/residual/judge.hpp"
#include "kernels/solver/newton/at_bounds.hpp"
#include "kernels/solver/newton/drawn_states.hpp"

namespace stickslip::kernels::inline SS_ISA {

inline constexpr double kFloatEpsilon = 1e-6;   ///< least regularisation of a Jacobian in float
inline constexpr double kGivenUp = 10.0;        ///< regularisation that ends the steps
inline constexpr double kRoundedMerit = 1e-16;  ///< merit, relative, that may be all rounding
inline constexpr double kAlteredGoal = 1e-16;   ///< the same that ends steps on an altered problem
inline constexpr double kSettled = 1e-8;        ///< the same that is a solution of one
inline constexpr int kPatience = 10;   ///< steps that may pass until the merit is halved again
inline constexpr int kImpatience = 3;  ///< the same where other methods are as fast
inline constexpr double kSlow = 0.01;  ///< merit: velocities contract by less than 10 in a step

/// Whether the path has the choice of its start still: not after steps of little compliance to
/// other rows at their bounds.
template <class Real, class Factor, class G>
SS_HD bool keeps_choice(const G& g, const Scaled<Real>& s, const Newton<Real, Factor>& w,
                        const NewtonProgress<Real, Factor>& path, double compliance) {
  return double(path.more.proximal) > 1e-3 * compliance ||
         rows_at_bounds(g, s, w) == path.at_bounds;
}

/// Judges the iterate z. Whether it is what the steps are to find, or a solution that the path does
/// not select.
template <class S, class Real, class Factor, class G, class Scalar>
SS_HD bool is_found(const G& g, const EnvProblem<Scalar>& p, const S& s,
                    const Newton<Real, Factor>& w, const NewtonProgress<Real, Factor>& path,
                    const Real* z, Judge<Scalar>& judge, Guess guess) {
  const bool any_selects = judge.selects;
  judge.selects = any_selects || (w.selects && keeps_choice(g, s, w, path, kSelecting<Scalar>));
  const bool done = judge_iterate(g, p, s, z, judge, guess);
  judge.selects = any_selects;
  return done || (w.selects ? judge.last_residual <= judge.at->tolerance : judge.solved());
}

/// Whether some contact slides.
template <class Real, class Factor, class G>
SS_HD bool any_slides(const G& g, const Scaled<Real>& s, const Newton<Real, Factor>& w) {
  return g.any(s.n, [&](int i) { return w.at.is(i, RowState::sliding); });
}

/// Whether a proximal step with little compliance and new factors has hardly changed the merit: it
/// is at a kink, where all further ones stay.
template <class Real, class Factor>
SS_HD bool is_stuck(const Newton<Real, Factor>& w, const NewtonProgress<Real, Factor>& path,
                    double contraction) {
  constexpr double kLittle = sizeof(Factor) == 4 ? 1e-5 : 1e-9;
  return w.selects && !(path.soft > Real(0)) && !path.keeps && path.more.proximal < kLittle &&
         contraction > 0.9 && contraction < 1.01;
}

/// After a step: regularises less, the less it was shortened; whether its factors serve again: not
/// where something slides and there is little compliance (tangents of another point lead far then).
template <class Real, class Factor, class G>
SS_HD void relax(const G& g, const Scaled<Real>& s, const Newton<Real, Factor>& w, int halvings,
                 double contraction, NewtonProgress<Real, Factor>& path) {
  constexpr Factor kLeast = sizeof(Factor) == 4 ? Factor(kFloatEpsilon) : Factor(1e-12);
  constexpr double kSafeProximal = 1e-5;
  const bool slow = halvings > 0 || contraction > kSlow;
  const Regularisation<Factor> before = path.more;
  const bool stuck = is_stuck(w, path, contraction);
  if (slow && w.selects && !(path.soft > Real(0))) {
    path.more.proximal = max(path.more.proximal * Factor(0.01), kLeast);
  }
  const double share = halvings == 0 ? 0.01 : (halvings < 3 ? 0.3 : 1.0);
  path.more.epsilon = Factor(max(path.least_epsilon, double(path.more.epsilon) * share));
  path.keeps = !slow && path.more == before &&
               (double(path.more.proximal) > kSafeProximal || !any_slides(g, s, w));
  if (stuck) path.more.epsilon = Factor(kGivenUp);
}

/// Prepares the first step.
template <class S, class Real, class Factor, class G, class Scalar>
SS_HD void begin_newton(const G& g, const S& s, const Newton<Real, Factor>& w, double least_epsilon,
                        const Judge<Scalar>& judge, NewtonProgress<Real, Factor>& path) {
  path.least_epsilon = sizeof(Factor) == 4 ? kFloatEpsilon : least_epsilon;
  const bool anew = w.selects && !w.from_solution;
  path.soft = anew && !w.from_selected ? Real(kSelecting<Scalar>) : Real(0);
  path.more = {Factor(path.least_epsilon), Factor(anew ? kSelecting<Scalar> : 0.0)};
  scale_impulse(g, s, judge.at->start, w.z);
  if (w.seed == 0) {
    g.for_each(s.ld, [&](int i) { w.z0[i] = Real(0); });
    path.anew = true;
    return;
  }
  draw_states(g, s, w.seed, w.z, w.u1);
  newton_velocity(g, s, path, w.z, w.u);
  g.for_each(s.ld, [&](int i) { w.z0[i] = i < s.n ? w.u[i] - w.u1[i] : Real(0); });
  path.merit = linearise(g, s, w.at, w.z, w.u1);
}

/// Whether the first step is a full one: from random states, whose merit has no meaning, and from a
/// solution that is not exact, because its errors move rows from their bounds.
template <class Real, class Factor, class Scalar>
SS_HD bool leaps(const Newton<Real, Factor>& w, const Judge<Scalar>& judge) {
  return w.seed != 0 || (w.from_solution && judge.best_residual > 0.01 * judge.at->tolerance);
}

/// Begins to select at the solution z, where the equations are linearised.
template <class Real, class Factor, class G, class Scalar>
SS_HD void begin_selection(const G& g, Scaled<Real>& s, const Newton<Real, Factor>& w,
                           const Judge<Scalar>& judge, NewtonProgress<Real, Factor>& path) {
  keep_at_bounds(g, s, w, double(judge.at->tolerance), kSelecting<Scalar>);
  path.soft = Real(kSelecting<Scalar>);
  path.more.proximal = Factor(path.soft);
  path.anew = true;
}

enum class Moved : std::int32_t { yes, no, found };

/// One step: of the line search, or none and more regularisation; a full one from velocities with
/// the error z0, if it `leaps`.
template <class S, class Real, class Factor, class G, class Scalar>
SS_HD Moved newton_step(const G& g, const EnvProblem<Scalar>& p, const S& s,
                        const Newton<Real, Factor>& w, bool leaps,
                        NewtonProgress<Real, Factor>& path, Judge<Scalar>& judge) {
  if (!leaps) g.once([&] { w.history->push(path.merit); });
  const bool found = newton_direction(g, s, w.at, path.more, w.z, leaps ? w.z0 : s.zero,
                                      w.direction, path.keeps, path.count, w.u1, w.dz);
  if (leaps) {
    if (!found) return Moved::no;
    for_chunks(g, s.n, [&](int i) { w.z[i] += w.dz[i]; });
    path.anew = true;
    return Moved::yes;
  }
  if (!found) {
    path.more.epsilon *= Factor(1e3);
    if (path.more.epsilon > Factor(1e-2)) path.more.epsilon = Factor(kGivenUp);
    return Moved::no;
  }
  const double before = path.merit;
  const int halvings = line_search(g, s, w, path);
  if (halvings <= kHalvings) {
    relax(g, s, w, halvings, path.merit / before, path);
    if (path.soft > Real(0) || !(before < min(path.merit, path.least_left))) return Moved::yes;
    path.least_left = before;  // the search may not come back
    return is_found(g, p, s, w, path, w.z0, judge, Guess::unknown) ? Moved::found : Moved::yes;
  }
  const bool repeats = path.keeps;
  path.keeps = false;
  if (repeats) return Moved::no;
  if (path.soft > Real(0)) {
    if (path.merit < kRoundedMerit * squared_size(g, s, w.z)) return Moved::found;
  } else if (before < kRoundedMerit || sizeof(Real) == 4) {
    // At the rounding floor of the merit a full step still improves z.
    for_chunks(g, s.n, [&](int i) { w.z[i] += w.dz[i]; });
    if (is_found(g, p, s, w, path, w.z, judge, Guess::unknown)) return Moved::found;
    for_chunks(g, s.n, [&](int i) { w.z[i] = w.z0[i]; });
  }
  path.more.epsilon = max(path.more.epsilon * Factor(100), Factor(1e-5));
  return Moved::no;
}

/// Whether z is worth judging: at once, if the next step needs new factors.
template <class Real, class Factor, class Scalar>
SS_HD bool is_near(const NewtonProgress<Real, Factor>& path, const Judge<Scalar>& judge) {
  return path.merit < (path.keeps ? 0.01 * judge.at->near : worth_judging(judge));
}

/// Whether steps from the selected solution go on near another: bodies at rest then stay there to
/// rounding. After a turn of 1e-12 colliders place contacts elsewhere.
template <class S, class Real, class Factor, class G>
SS_HD bool polishes(const G& g, const S& s, const Newton<Real, Factor>& w,
                    const NewtonProgress<Real, Factor>& path, double selected, int steps) {
  return w.from_selected && steps < 3 &&
         (steps == 0 || !(path.merit < selected * squared_size(g, s, w.z)));
}

/// Counts the steps since the merit was halved.
template <class Real, class Factor>
SS_HD void count_waiting(NewtonProgress<Real, Factor>& path) {
  ++path.waited;
  if (!(path.merit < 0.5 * path.halved)) return;
  path.halved = path.merit;
  path.waited = 0;
}

/// Whether the steps go on in vain, in a cycle for example. Where a solution is known, the way to
/// the selected one may be long; in piles it is hardly found then.
template <class Real, class Factor, class Scalar>
SS_HD bool is_in_vain(const Newton<Real, Factor>& w, const NewtonProgress<Real, Factor>& path,
                      const Judge<Scalar>& judge) {
  if (w.impatient) return path.waited > (judge.solved() ? 5 : kImpatience);
  return path.waited > kPatience && !(path.soft > Real(0) && judge.solved());
}

/// Ends steps that have found nothing: judges their iterate, from where the next stage goes on if
/// it is nearer to a solution than the start.
template <class S, class Real, class Factor, class G, class Scalar>
SS_HD void end_newton(const G& g, const EnvProblem<Scalar>& p, const S& s,
                      const Newton<Real, Factor>& w, const NewtonProgress<Real, Factor>& path,
                      double start_merit, bool altered, Judge<Scalar>& judge) {
  if (altered) {
    const bool settled = path.merit < kSettled * (squared_size(g, s, w.z) + 1.0);
    g.once([&] { judge.at->settled = settled; });
  }
  if (w.selects) g.once([&] { judge.at->softened = !(path.soft > Real(0)); });
  judge_iterate(g, p, s, w.z, judge);
  if (altered || w.selects || path.merit < start_merit) continue_from_candidate(g, p, judge);
}

/// Up to `budget` Newton steps from the end of the last stage, with the equations selected by
/// `w.at` and a Jacobian regularised by at least `least_epsilon` (by reference: it stays in memory
/// and uses no GPU register). `altered`: s is not the judged problem; the aim is to converge on s.
/// Returns the steps done. With `w.from_solution`, s is altered afterwards.
template <class S, class Real, class Factor, class G, class Scalar>
SS_HD int run_newton(const G& g, const EnvProblem<Scalar>& p, S& s, const Newton<Real, Factor>& w,
                     int budget, const double& least_epsilon, bool altered, Judge<Scalar>& judge) {
  constexpr bool kCoarse = sizeof(Real) == 4;  // the merit is at its floor early: judge each step
  constexpr double kSelected = kCoarse ? 1e-12 : 1e-20;  // merit for which forces are right to 1e-6
  const Guess guess = kCoarse ? Guess::unknown : Guess::solution;
  NewtonProgress<Real, Factor> path;
  begin_newton(g, s, w, least_epsilon, judge, path);
  double start_merit = path.merit;
  path.least_left = altered ? 0.0 : Limits<double>::infinity;
  Moved moved = w.seed == 0 ? Moved::yes : Moved::no;
  // What is still to begin. All of it comes through the one place below that takes a step, because
  // a GPU's instruction cache has no room for another.
  bool leaping = leaps(w, judge) && budget > 0, selecting = w.from_solution;
  int steps = 0;
  while (!stopped(g)) {
    if (path.anew) {
      linearise_anew(g, s, w, path);
      if (steps == 0) start_merit = path.merit;
      path.keeps = path.keeps && !any_slides(g, s, w);
      const bool chosen = w.selects && !selecting && !(path.soft > Real(0));
      if (chosen) path.at_bounds = rows_at_bounds(g, s, w);
    }
    if (!leaping) {
      if (selecting) {
        begin_selection(g, s, w, judge, path);
        selecting = false;
        continue;
      }
      if (path.soft > Real(0)) {
        // Or the merit is all rounding, and steps change nothing else.
        const double enough = path.waited > 1 ? max(kSelected, kRoundedMerit) : kSelected;
        const bool converged =
            steps > 0 && moved == Moved::yes && path.merit < enough * squared_size(g, s, w.z);
        if (converged || moved == Moved::found) {
          path.soft = Real(0);
          path.keeps = converged;
          path.anew = true;
          moved = Moved::yes;
          continue;
        }
      } else if (altered) {
        if (steps > 0 && path.merit < kAlteredGoal * (squared_size(g, s, w.z) + 1.0)) break;
      } else if (moved == Moved::found ||
                 (moved == Moved::yes && (is_near(path, judge) || (kCoarse && steps > 0)) &&
                  !polishes(g, s, w, path, kSelected, steps) &&
                  is_found(g, p, s, w, path, w.z, judge, guess))) {
        continue_from_candidate(g, p, judge);
        return steps;
      }
      if (steps >= budget || path.more.epsilon > Factor(1) || is_in_vain(w, path, judge)) break;
    }
    ++steps;
    moved = newton_step(g, p, s, w, leaping, path, judge);
    leaping = false;
    count_waiting(path);
  }
  end_newton(g, p, s, w, path, start_merit, altered, judge);
  return steps;
}

}  // namespace stickslip::kernels::inline SS_ISA
