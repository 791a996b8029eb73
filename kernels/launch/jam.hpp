// The test for problems without a solution. Opposed contacts whose gaps no velocity satisfies (a
// hand that squeezes) jam: as compliance shrinks, their impulses grow like its inverse for ever,
// while those of a solvable problem, however stiff, come to rest.
#pragma once
#include "kernels/launch/climb.hpp"
#include "kernels/residual/judge.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Draws the conclusion of the climb's last stage, one with softer contacts; true if the problem
/// has no solution, its answer is then the softened one.
template <class G, class In>
SS_HD bool finds_jam(const G& g, const EnvProblem<In>& p, Climb& at, Judge<In>& judge) {
  constexpr double kConverged = 1e-8;  // merit, relative
  const Check check = at.stage.check;
  if (check == Check::none) return false;
  if (check != Check::unsolvable) {
    if (check == Check::softened) {
      keep_softened(g, p, judge);
      g.once([&] { at.jam.softened_residual = judge.last_residual; });
    }
    if (!(judge.last_merit < kConverged)) return false;  // the stage tells nothing
    const double size = candidate_size(g, p, judge);
    g.once([&] { at.jam.learn(size, at.stage.soften); });
    if (check != Check::divergence || !at.jam.found()) return false;
    answer_softened(g, p, at.jam.softened_residual, judge);
  }
  g.once([&] { at.rung = at.stage.rung; });
  return true;
}

}  // namespace stickslip::kernels::inline SS_ISA
