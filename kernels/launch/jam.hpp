// The test for problems without a solution. Opposed contacts whose gaps no velocity satisfies (a
// hand that squeezes) jam: as compliance shrinks, their impulses grow like its inverse for ever,
// while those of a solvable problem, however stiff, come to rest.
#pragma once
#include "kernels/launch/climb.hpp"
#include "kernels/residual/judge.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Whether the warm start, judged just now, looks like what a jam left behind: impulses so large
/// that, with contacts a little elsewhere, they are worse than none. Only where rung 0 is costly.
template <class G, class In>
SS_HD bool suspects_jam(const G& g, const EnvProblem<In>& p, const SolveOptions& o,
                        const Judge<In>& judge) {
  if (p.n <= kRetryRows || p.warm_start == nullptr || !tests_jams(o)) return false;
  if (!g.any(p.n, [&](int i) { return p.warm_start[i] != In(0); })) return false;
  return judge.best_residual > g.max(p.n, [&](int i) { return abs(double(p.b[i])); });
}

/// Draws the conclusion of the climb's last stage, one with softer contacts; true if the problem
/// has no solution, its answer is then the softened one.
template <class G, class In>
SS_HD bool finds_jam(const G& g, const EnvProblem<In>& p, Climb& at, Judge<In>& judge) {
  // Merit, relative to max|z|^2. A long step must end with velocities that are right to 3 % of
  // soften max|z|: where W z = 0, its start has a small merit already.
  const double converged = at.stage.suspected ? 1e-3 * at.stage.soften * at.stage.soften : 1e-8;
  const Check check = at.stage.check;
  if (check == Check::none) return false;
  if (check == Check::softened) {
    keep_softened(g, p, judge);
    g.once([&] { at.jam.softened_residual = judge.last_residual; });
  }
  if (!(judge.last_merit < converged)) return false;  // the stage tells nothing
  const double size = candidate_size(g, p, judge);
  g.once([&] { at.jam.learn(size, at.stage.soften); });
  if (check != Check::divergence || !at.jam.found()) return false;
  answer_softened(g, p, at.jam.softened_residual, judge);
  g.once([&] { at.rung = at.stage.rung; });
  return true;
}

}  // namespace stickslip::kernels::inline SS_ISA
