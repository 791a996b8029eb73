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
  constexpr double kGrowth = 0.5;      // of the compliance's: 1 in a jam, at last 0 with a solution
  const Check check = at.stage.check;
  if (check == Check::none) return false;
  if (check != Check::unsolvable) {
    const double size = candidate_size(g, p, judge);
    const bool converged = judge.last_merit < kConverged;
    g.once([&] {
      const bool grew = size * at.stage.soften > kGrowth * at.jam.size * at.jam.soften;
      at.jam = {converged && (check == Check::softened || (grew && at.jam.growing)), size,
                at.stage.soften};
    });
    if (check == Check::softened && at.jam.growing) keep_softened(g, p, judge);
    if (check != Check::divergence || !at.jam.growing) return false;
    answer_softened(g, p, judge);
  }
  g.once([&] { at.rung = at.stage.rung; });
  return true;
}

}  // namespace stickslip::kernels::inline SS_ISA
