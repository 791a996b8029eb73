// Continuation from any interior point to a solution of Coulomb's law, around the turning points of
// its path (README.md; Allgower & Georg 1990).
#pragma once
#include "kernels/group/stop.hpp"
#include "kernels/residual/judge.hpp"
#include "kernels/solver/interior/continuation_step.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// One step along the path from w.path.at, shorter until the corrector converges. False if there is
/// no step.
template <class S, class Real, class G>
SS_HD bool continue_path(const G& g, S& s, const Continuation<Real>& w) {
  constexpr int kCorrections = 5;
  constexpr Real kClose = Real(0.1), kLeastReach = Real(1e-4), kMostReach = Real(2);
  ContinuationProgress<Real>& at = *w.progress;
  if (!find_tangent(g, s, w)) return false;
  orient_tangent(g, s, w);
  const Real change = largest_change(g, s, w);
  const Real most = safe_length(g, s, w.path, w.tangent, Real(1e6));
  while (at.reach > kLeastReach) {
    const Real length = min(at.reach / change, most);
    move_path(g, s, w, w.base, w.tangent, length, at.t, length * at.direction);
    for (int correction = 0; correction <= kCorrections; ++correction) {
      evaluate_path(g, s, w.path, w.now);
      if (path_error(g, s, w, at.trial) < kClose) {
        g.once([&] {
          const Real grow = correction == 0 ? Real(2) : (correction == 1 ? Real(1.3) : Real(0.8));
          at.t = at.trial;
          at.corrected = correction > 0;
          at.reach = min(at.reach * grow, kMostReach);
        });
        return true;
      }
      if (correction == kCorrections || !correct_point(g, s, w)) break;
    }
    g.once([&] { at.reach *= Real(0.4); });
  }
  return false;
}

/// Follows the path from the end of the last stage, moved `distance` inside, with up to about
/// `budget` factorisations; returns their number. finish() as in `run_interior`.
template <class S, class Real, class G, class Scalar, class Finish>
SS_HD int run_continuation(const G& g, const EnvProblem<Scalar>& p, S& s,
                           const Continuation<Real>& w, int budget, double distance,
                           Judge<Scalar>& judge, Finish&& finish) {
  constexpr Real kFar = Real(3);  // a path that comes back from there leads to no solution
  const CentralPath<Real>& path = w.path;
  ContinuationProgress<Real>& at = *w.progress;
  ease_contacts(g, s, Real(1));
  open_path(g, s, path, judge.at->start, Real(distance));
  evaluate_path(g, s, path, w.start);
  const Real mean = mean_product(g, s, path, Real(0));
  g.once([&] { at = ContinuationProgress<Real>{.mean = mean}; });
  while (at.done < budget && !stopped(g)) {
    if (judge_iterate(g, p, s, path.at.z, judge)) break;
    continue_from_candidate(g, p, judge);
    if (at.t * at.mean < Real(1e-3) && at.t < Real(0.1) * at.finished) {
      set_compliance(g, s, true);
      const int steps = finish();
      ease_contacts(g, s, at.t);
      g.once([&] {
        at.finished = at.t;
        at.corrected = false;  // finish() uses the same memory
        at.done += steps;
      });
      if (judge.solved()) break;
    }
    if (at.t * at.mean < Real(kEndOfPath) || at.t > kFar || !continue_path(g, s, w)) break;
  }
  set_compliance(g, s, true);
  return at.done;
}

}  // namespace stickslip::kernels::inline SS_ISA
