// Primal-dual interior point on Coulomb's law (README.md).
#pragma once
#include "kernels/group/stop.hpp"
#include "kernels/residual/judge.hpp"
#include "kernels/solver/interior/path_step.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// One step of the interior point from w.at; returns its length, 0 if there is no step.
template <class S, class Real, class G>
SS_HD Real follow_path(const G& g, const S& s, const CentralPath<Real>& w) {
  if (!factor_path(g, s, w)) return Real(0);
  clear_corrections(g, s, w);
  if (!solve_path(g, s, w, Real(0))) return Real(0);
  // The length of the step towards products of 0 decides the next target (Mehrotra 1992).
  const Real reach = safe_length(g, s, w, w.step, Real(1));
  const Real ahead = max(Real(0), mean_product(g, s, w, reach) / w.progress->mean);
  const bool blocked = reach < Real(0.1);
  const Real share = clamp(ahead * ahead * ahead, blocked ? Real(0.5) : Real(1e-3), Real(1));
  if (!blocked) set_corrections(g, s, w);
  if (!solve_path(g, s, w, share * w.progress->mean)) return Real(0);
  const Real alpha = safe_length(g, s, w, w.step, Real(1));
  g.for_each(s.n, [&](int i) {
    w.at.z[i] = fma(alpha, w.step.z[i], w.at.z[i]);
    w.at.low[i] = fma(alpha, w.step.low[i], w.at.low[i]);
    w.at.high[i] = fma(alpha, w.step.high[i], w.at.high[i]);
  });
  scaled_velocity(g, s, w.at.z, w.at.u);
  return alpha;
}

/// Whether Newton may find the states from here: the products are small, and have decreased since
/// its last failure.
template <class Real, class G>
SS_HD bool is_near_end(const G& g, const Scaled<Real>& s, const CentralPath<Real>& w) {
  const Real mean = w.progress->mean;
  return mean < Real(1e-6) && mean < Real(0.1) * w.progress->finished &&
         largest_gap(g, s, w) < Real(1e-2);
}

/// After a step of length alpha: restarts if the path turns back or the point is far from it, each
/// time farther inside. False if no restart is left.
template <class S, class Real, class G>
SS_HD bool keep_moving(const G& g, const S& s, const CentralPath<Real>& w, Real alpha) {
  constexpr int kRestarts = 4, kPatience = 3;
  PathProgress<Real>& at = *w.progress;
  g.once([&] { at.slow = alpha < Real(0.1) ? at.slow + 1 : 0; });
  if (alpha >= Real(1e-2) && at.slow < kPatience) return true;
  if (!(alpha > Real(0)) || at.restarts == kRestarts) return false;
  enter_interior(g, s, w, sqrt(Real(10) * at.mean * Real(1 << (2 * at.restarts))));
  g.once([&] {
    ++at.restarts;
    at.slow = 0;
    at.finished = Limits<Real>::infinity;
  });
  return true;
}

/// Follows the central path from the end of the last stage, moved `distance` inside, to its end,
/// with up to `budget` factorisations; returns their number. finish() continues from
/// judge.at->start with a method that converges once the states (open, stick, slide) are right, and
/// returns its own factorisations.
template <class S, class Real, class G, class Scalar, class Finish>
SS_HD int run_interior(const G& g, const EnvProblem<Scalar>& p, const S& s,
                       const CentralPath<Real>& w, int budget, double distance,
                       Judge<Scalar>& judge, Finish&& finish) {
  open_path(g, s, w, judge.at->start, Real(distance));
  int done = 0;
  while (done < budget && !stopped(g)) {
    const Real mean = mean_product(g, s, w, Real(0));
    g.once([&] { w.progress->mean = mean; });
    if (judge_iterate(g, p, s, w.at.z, judge)) break;
    continue_from_candidate(g, p, judge);
    if (is_near_end(g, s, w)) {
      g.once([&] { w.progress->finished = w.progress->mean; });
      done += finish();
      if (judge.solved()) break;
    }
    if (done > 0 && !(w.progress->mean > Real(kEndOfPath))) break;
    const Real alpha = follow_path(g, s, w);
    ++done;
    if (!keep_moving(g, s, w, alpha)) break;
  }
  return done;
}

}  // namespace stickslip::kernels::inline SS_ISA
