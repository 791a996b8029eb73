// The test for problems without a solution. Opposed contacts whose gaps no velocity satisfies (a
// hand that squeezes) jam: as compliance shrinks, their impulses grow like its inverse for ever,
// while those of a solvable problem, however stiff, come to rest.
#pragma once
#include "kernels/launch/ladder.hpp"
#include "kernels/residual/judge.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct JamTest {
  bool growing = false;  ///< the impulses have grown with every softened stage so far
  double size = 0.0;     ///< max|r| of the last softened stage
  double soften = 0.0;   ///< and its compliance

  /// Whether a stage has anything to find out.
  SS_HD bool wants(const Stage& stage, bool no_solution_so_far) const {
    if (stage.check == Check::unsolvable) return no_solution_so_far;
    return growing || !(stage.check == Check::growth || stage.check == Check::divergence);
  }
};

/// Draws the conclusion of a stage with softer contacts; true if the problem jams, its answer is
/// then the softened one.
template <class G, class In>
SS_HD bool finds_jam(const G& g, const EnvProblem<In>& p, const Stage& stage, Judge<In>& judge,
                     JamTest& test) {
  constexpr double kConverged = 1e-8;  // merit, relative
  constexpr double kGrowth = 0.5;      // of the compliance's: 1 in a jam, at last 0 with a solution
  if (stage.check == Check::none || stage.check == Check::unsolvable) {
    return stage.check == Check::unsolvable;
  }
  const JamTest last = test;
  test = {judge.last_merit < kConverged, candidate_size(g, p, judge), stage.soften};
  if (stage.check == Check::softened) {
    if (test.growing) keep_softened(g, p, judge);
    return false;
  }
  test.growing = test.growing && test.size * test.soften > kGrowth * last.size * last.soften;
  if (!test.growing || stage.check != Check::divergence) return false;
  answer_softened(g, p, judge);
  return true;
}

}  // namespace stickslip::kernels::inline SS_ISA
