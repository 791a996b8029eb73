// The problem of a mechanism without W: the stages of the ladder with a block-sparse LU in the
// space of velocities (velocity/item_steps.hpp).
#pragma once
#include "kernels/env/solve_part.hpp"
#include "kernels/ladder/sparse_stage.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Solves p, which has the diagonal of W alone, with its mechanism m and an open judge, which has
/// the best impulse at the end. `gain`: how many times fewer multiplications than n^3 a block LU
/// must take. False if it takes more: only the start was judged.
template <class G>
SS_HD bool climb_sparse(const G& g, const EnvProblem<double>& p, const SparseMechanism& m,
                        const Ladder& ladder, Rungs rungs, std::int64_t gain,
                        VelocityScratch& scratch, std::int64_t env, double share, Outcome& out) {
  SparseScaled& s = scratch.scaled;
  Judge<double>& judge = scratch.judge;
  Climb& at = *scratch.climb;
  g.once([&] { s.m = m; });
  measure_spread(g, m, s.off, s.spread);
  judge.selects = !(ladder.selects && may_select(g, p));
  const bool judged = judge_start(g, p, velocity_of(p, s), judge, true);
  judge.selected = judge.selects || starts_selected(g, p, judge, Rungs::all);
  g.once([&] { at = Climb(env, ladder, Work{}, 0.0, share); });
  const bool climbs = !judge.done();
  const bool sparse = !climbs || scale_sparse(g, p, ladder.options.law, gain, s);
  if (climbs && sparse) {
    g.once([&] {
      const Work work = work_of(s);
      at = Climb(env, ladder, work, work_after_rung_0(p.n, work.step, ladder.options.thorough),
                 share);
    });
    climb(g, p, ladder, scratch, rungs, judged);
  }
  close_judge(g, p, velocity_of(p, s), judge);
  out = {.status = verdict_of(judge),
         .residual = judge.best_residual,
         .iterations = at.iterations,
         .rung = at.rung,
         .solver = at.solver,
         .selected = judge.done(),
         .chooses = !judge.selects,
         .tried = sparse && !judge.solved()};
  return sparse;
}

}  // namespace stickslip::kernels::inline SS_ISA
