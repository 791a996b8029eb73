// Semismooth Newton with a non-monotone line search, and Levenberg regularisation if that fails
// (docs/mathematics.md §9; Alart & Curnier 1991; Grippo, Lampariello & Lucidi 1986). It finds any
// solution, or selects one of many (scaling/selection.hpp) on a path: its first step ends at the
// solution of the problem with the compliance epsilon D, and the others at proximal points
// (Rockafellar 1976), which remove the compliance and keep the choice. Such steps also lead from
// the selected solution of one b to that of another. While no row changes its state and Newton's
// steps contract well, they use the factors of the last Jacobian again.
#pragma once
#include "kernels/group/stop.hpp"
#include "kernels/solver/newton/drawn_states.hpp"
#include "kernels/solver/newton/selection_path.hpp"

namespace stickslip::kernels::inline SS_ISA {

inline constexpr double kAlteredGoal = 1e-16;  ///< the same that ends steps on an altered problem
inline constexpr double kSettled = 1e-8;       ///< the same that is a solution of one
inline constexpr int kPatience = 10;   ///< steps that may pass until the merit is halved again
inline constexpr int kImpatience = 3;  ///< the same where other methods are as fast

/// Judges the iterate z. Whether it is what the steps are to find, or a solution that the path does
/// not select.
template <class S, class Real, class Factor, class G, class Scalar>
SS_HD bool is_found(const G& g, const EnvProblem<Scalar>& p, const S& s,
                    const Newton<Real, Factor>& w, const NewtonProgress<Real, Factor>& path,
                    const Real* z, Judge<Scalar>& judge, Guess guess) {
  const bool any_selects = judge.selects;
  judge.selects = any_selects || (w.selects && keeps_choice(g, s, w, path));
  const bool done = judge_iterate(g, p, s, z, judge, guess);
  judge.selects = any_selects;
  return done || (w.selects ? judge.last_residual <= judge.at->tolerance : judge.solved());
}

/// After a step: regularises less, the less it was shortened; whether its factors serve again: not
/// where something slides and there is little compliance (tangents of another point lead far then).
template <class Real, class Factor, class G>
SS_HD void relax(const G& g, const Scaled<Real>& s, const Newton<Real, Factor>& w, int halvings,
                 double contraction, NewtonProgress<Real, Factor>& path) {
  constexpr double kSafeProximal = 1e-5;
  const bool slow = halvings > 0 || contraction > kSlow;
  const Regularisation<Factor> before = path.more;
  const double share = halvings == 0 ? 0.01 : (halvings < 3 ? 0.3 : 1.0);
  path.more.epsilon = Factor(max(path.least_epsilon, double(path.more.epsilon) * share));
  path.keeps = !slow && path.more == before &&
               (double(path.more.proximal) > kSafeProximal || !any_slides(g, s, w));
}

/// Prepares the first step.
template <class S, class Real, class Factor, class G, class Scalar>
SS_HD void begin_newton(const G& g, const S& s, const Newton<Real, Factor>& w, double least_epsilon,
                        const Judge<Scalar>& judge, NewtonProgress<Real, Factor>& path) {
  path.least_epsilon = sizeof(Factor) == 4 ? kFloatEpsilon : least_epsilon;
  const bool anew = w.selects && !w.from_solution;
  path.first = anew && !w.from_selected;
  path.soft = anew ? Real(kSelecting<Scalar>) : Real(0);
  path.more = {Factor(path.least_epsilon), Factor(path.soft)};
  scale_impulse(g, s, judge.at->start, w.z);
  if (w.selects)
    g.for_each(s.ld, [&](int i) { w.anchor[i] = w.from_selected && i < s.n ? w.z[i] : Real(0); });
  if (w.seed == 0) {
    g.for_each(s.ld, [&](int i) { w.z0[i] = Real(0); });
    path.anew = true;
    return;
  }
  draw_states(g, s, w.seed, w.z, w.u1);
  newton_velocity(g, s, w, path, w.z, w.u);
  g.for_each(s.ld, [&](int i) { w.z0[i] = i < s.n ? w.u[i] - w.u1[i] : Real(0); });
  path.merit = linearise(g, s, w.at, w.z, w.u1);
}

/// Whether the first step is a full one: from random states, whose merit has no meaning, and from a
/// solution that is not exact, because its errors move rows from their bounds.
template <class Real, class Factor, class Scalar>
SS_HD bool leaps(const Newton<Real, Factor>& w, const Judge<Scalar>& judge) {
  return w.seed != 0 || (w.from_solution && judge.best_residual > 0.01 * judge.at->tolerance);
}

inline constexpr int kSlowSteps = 3;      ///< that do not halve the merit: at a kink
inline constexpr double kPassing = 3e-4;  ///< share of the compliance with which none is passed

/// Whether a full step may pass a kink, at which the merit lets pass none: the proximal point,
/// which is unique, lies beyond. With less compliance such a step would lead anywhere.
template <class Real, class Factor>
SS_HD bool may_pass(const NewtonProgress<Real, Factor>& path, double compliance) {
  return is_proximal(path) && !path.leapt && double(path.soft) > kPassing * compliance;
}

/// A full step, whatever its merit.
template <class Real, class Factor, class G, class S>
SS_HD Moved leap(const G& g, const S& s, const Newton<Real, Factor>& w,
                 NewtonProgress<Real, Factor>& path) {
  for_chunks(g, s.n, [&](int i) { w.z[i] += w.dz[i]; });
  path.anew = true;
  return Moved::yes;
}

/// Judges what a step leaves for a larger merit, if it may be the best: the anchor, or the iterate,
/// whose merit was `before`. The search may not come back there.
template <class S, class Real, class Factor, class G, class Scalar>
SS_HD bool finds_left(const G& g, const EnvProblem<Scalar>& p, const S& s,
                      const Newton<Real, Factor>& w, double before,
                      NewtonProgress<Real, Factor>& path, Judge<Scalar>& judge) {
  const bool proximal = is_proximal(path);
  const double left = proximal ? path.natural : before;
  if (path.first || !(left < path.least_left)) return false;
  path.least_left = left;
  return is_found(g, p, s, w, path, proximal ? w.anchor : w.z0, judge, Guess::unknown);
}

/// One step: of the line search, or none and more regularisation; a full one from velocities with
/// the error z0, if it `leaps`.
template <class S, class Real, class Factor, class G, class Scalar>
SS_HD Moved newton_step(const G& g, const EnvProblem<Scalar>& p, const S& s,
                        const Newton<Real, Factor>& w, bool leaps,
                        NewtonProgress<Real, Factor>& path, Judge<Scalar>& judge) {
  if (!leaps) g.once([&] { w.history->push(path.merit); });
  const bool regular = newton_direction(g, s, w.at, path.more, w.z, leaps ? w.z0 : s.zero,
                                        w.direction, path.keeps, path.count, w.u1, w.dz);
  if (leaps) return regular ? leap(g, s, w, path) : Moved::no;
  if (!regular) {
    path.more.epsilon *= Factor(1e3);
    if (path.more.epsilon > Factor(1e-2)) path.more.epsilon = Factor(kGivenUp);
    return Moved::no;
  }
  const double before = path.merit;
  const bool passes = may_pass(path, kSelecting<Scalar>);
  const bool tries = !(passes && path.waited >= kSlowSteps);
  const int halvings = tries ? line_search(g, s, w, path) : kHalvings + 1;
  if (halvings <= kHalvings) {
    relax(g, s, w, halvings, path.merit / before, path);
    const bool found = before < path.merit && finds_left(g, p, s, w, before, path, judge);
    return found ? Moved::found : Moved::yes;
  }
  const bool repeats = path.keeps;
  path.keeps = false;
  if (repeats) return Moved::no;
  const bool rounded = path.merit < kRoundedMerit * squared_size(g, s, w.z);
  if (is_proximal(path)) {
    if (finds_left(g, p, s, w, before, path, judge)) return Moved::found;
    if (passes && !rounded) {
      path.leapt = true;
      return leap(g, s, w, path);
    }
  }
  if (path.first) {
    if (rounded) return Moved::found;
  } else if (before < kRoundedMerit || sizeof(Real) == 4) {
    // At the rounding floor of the merit a full step still improves z.
    for_chunks(g, s.n, [&](int i) { w.z[i] += w.dz[i]; });
    if (is_found(g, p, s, w, path, w.z, judge, Guess::unknown)) return Moved::found;
    for_chunks(g, s.n, [&](int i) { w.z[i] = w.z0[i]; });
  }
  path.more.epsilon = max(path.more.epsilon * Factor(100), Factor(1e-5));
  return Moved::no;
}

/// Merit of iterates that are worth judging: also of those as near as the solution at the start.
template <class Real, class Factor, class Scalar>
SS_HD double worth_judging(const Newton<Real, Factor>& w, double start_merit,
                           const Judge<Scalar>& judge) {
  constexpr double kAsNear = 4.0;  // velocities twice as large
  return max(worth_judging(judge), w.from_solution ? kAsNear * start_merit : 0.0);
}

/// Whether z is worth judging: at once, if the next step needs new factors; also where the path has
/// contracted slowly, as it does where little noise of many redundant gaps is all that is left.
template <class Real, class Factor, class Scalar>
SS_HD bool is_near(const NewtonProgress<Real, Factor>& path, const Judge<Scalar>& judge) {
  if (is_proximal(path) && path.contraction > kSlow) return true;
  return path.merit < (path.keeps ? 0.01 * judge.at->near : path.worth);
}

/// Whether steps from the selected solution go on near another: bodies at rest then stay there to
/// rounding. After a turn of 1e-12 colliders place contacts elsewhere. Not where they get no
/// nearer: what no impulse changes, as noise of redundant gaps, moves the impulses.
template <class S, class Real, class Factor, class G>
SS_HD bool polishes(const G& g, const S& s, const Newton<Real, Factor>& w,
                    const NewtonProgress<Real, Factor>& path, double selected, int steps) {
  return w.from_selected && steps < 3 && !has_stalled(path) &&
         (steps == 0 || !(path.merit < selected * squared_size(g, s, w.z)));
}

/// Whether the first of these steps was in vain and the start is a solution: that stays the answer,
/// or noise would move the impulses in every step of a simulation.
template <class Real, class Factor, class Scalar>
SS_HD bool keeps_start(const Newton<Real, Factor>& w, const NewtonProgress<Real, Factor>& path,
                       const Judge<Scalar>& judge, int steps) {
  return w.from_selected && steps == 1 && has_stalled(path) && judge.solved();
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
  return path.waited > kPatience && !(path.first && judge.solved());
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
  if (w.selects) g.once([&] { judge.at->softened = !path.first; });
  if (is_proximal(path)) for_chunks(g, s.n, [&](int i) { w.z[i] = w.anchor[i]; });
  judge_iterate(g, p, s, w.z, judge);
  if (altered || w.selects || path.merit < start_merit) continue_from_candidate(g, p, judge);
}

/// Up to `budget` Newton steps from the end of the last stage, with the equations selected by
/// `w.at` and a Jacobian regularised by at least `epsilon` (by reference: it stays in memory
/// and uses no GPU register). `altered`: s is not the judged problem; the aim is to converge on s.
/// Returns the steps done. With `w.from_solution`, s is altered afterwards.
template <class S, class Real, class Factor, class G, class Scalar>
SS_PART int run_newton(const G& g, const EnvProblem<Scalar>& p, S& s, const Newton<Real, Factor>& w,
                       int budget, const double& epsilon, bool altered, Judge<Scalar>& judge) {
  constexpr bool kCoarse = sizeof(Real) == 4;  // the merit is at its floor early: judge each step
  constexpr double kSelected = kCoarse ? 1e-12 : 1e-20;  // merit for which forces are right to 1e-6
  const Guess guess = kCoarse ? Guess::unknown : Guess::solution;
  NewtonProgress<Real, Factor> path;
  begin_newton(g, s, w, epsilon, judge, path);
  double start_merit = path.merit;
  path.least_left = altered ? 0.0 : Limits<double>::infinity;
  Moved moved = w.seed == 0 ? Moved::yes : Moved::no;
  // What is still to begin. All of it comes through the one place below that takes a step, because
  // a GPU's instruction cache has no room for another.
  bool leaping = leaps(w, judge) && budget > 0, selecting = w.from_solution;
  int steps = 0;
  while (!stopped(g)) {
    if (path.anew) {
      newton_velocity(g, s, w, path, w.z, w.u);
      begin_search(g, s, w, path);
      if (steps == 0) {
        start_merit = path.natural = path.merit;
        path.worth = worth_judging(w, start_merit, judge);
      }
      if (steps == 0 && w.from_selected) path.least_left = path.merit;  // it is judged
      if (steps == 0 && w.selects) path.at_bounds = rows_at_bounds(g, s, w);
    }
    if (!leaping) {
      if (selecting) {
        begin_selection(g, s, w, judge, path);
        selecting = false;
        continue;
      }
      bool judges = moved == Moved::yes && (steps == 0 || !(path.soft > Real(0)));
      const bool first = path.first;
      if (first ? is_first_done(g, s, w, path, moved, kSelected, steps)
                : is_point_done(path, moved, steps)) {
        next_point(g, s, w, path);
        if (first) path.keeps = moved == Moved::yes && !any_slides(g, s, w);
        if (keeps_start(w, path, judge, steps)) scale_impulse(g, s, judge.at->start, w.z);
        moved = Moved::yes;
        judges = true;
      }
      if (altered) {
        if (steps > 0 && path.merit < kAlteredGoal * (squared_size(g, s, w.z) + 1.0)) break;
      } else if (!path.first && (moved == Moved::found ||
                                 (judges && (is_near(path, judge) || (kCoarse && steps > 0)) &&
                                  !polishes(g, s, w, path, kSelected, steps) &&
                                  is_found(g, p, s, w, path, w.z, judge, guess)))) {
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
