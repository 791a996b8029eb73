// A problem that nothing divides, from its start to its verdict: an environment, or an island of
// one.
#pragma once
#include "kernels/env/start.hpp"
#include "kernels/group/stop.hpp"
#include "kernels/ladder/run_stage.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Scalar>
SS_HD EnvStatus verdict_of(const Judge<Scalar>& judge) {
  if (judge.solved()) return EnvStatus::solved;
  return judge.infeasible ? EnvStatus::infeasible : EnvStatus::not_converged;
}

/// Whether zero impulses that were not judged at the start are judged now: after the first
/// candidate, at the latest before `next` leaves rung 0 or the ladder.
template <class Scalar>
SS_HD bool zero_is_due(const Stage& next, const Judge<Scalar>& judge) {
  return judge.best_residual < Limits<double>::infinity || next.rung > 0 ||
         next.method == Method::none;
}

/// Whether another stage may select among solutions: the first starts at the solution that was
/// found; the second at zero impulses, in large problems not always. In simulations of mechanisms
/// with limits, equalities or dry friction it is hardly of use where the first has lost its way
/// only after the softened problem, and not tried (measured: 22 of 3,379 such searches succeeded on
/// robots, 828 of 3,160 others, but 5 of 39 such on walls of bricks).
template <class G, class S, class Scalar>
SS_HD bool selects_again(const G& g, const Climb& at, const S& s, const Judge<Scalar>& judge,
                         bool thorough) {
  if (at.selections != 1) return at.selections == 0;
  if (!thorough && judge.at->softened && s.scalars > 0) return false;
  return s.size_of(s.n) <= kPileRows || selects_from_rest(g, s);
}

/// Runs the stages of the rungs until one of them solves. `judged`: whether the start was judged.
template <class Scratch, class G, class Scalar>
SS_HD void climb(const G& g, const EnvProblem<Scalar>& p, const Ladder& ladder, Scratch& scratch,
                 Rungs rungs, bool judged) {
  Judge<Scalar>& judge = scratch.judge;
  Climb& at = *scratch.climb;
  while (!stopped(g)) {
    if constexpr (Scratch::kRungs != Rungs::later) {
      if (!judged && zero_is_due(ladder.stage(at.next), judge)) {
        if (judge_zero(g, p, velocity_of(p, scratch.scaled), judge))
          g.once([&] { at.forget(ladder); });
        judged = true;
      }
    }
    if (judge.solved() && !judge.selected) {  // few attempts to select; it is a solution anyway
      if (!selects_again(g, at, scratch.scaled, judge, ladder.options.thorough)) break;
      const bool selected = p.start_selected && at.iterations == 0;
      g.once([&] {
        judge.at->softened = false;  // of an earlier stage, which another launch does not know
        at.select(ladder, scratch.scaled.size_of(p.n), judge.best_residual, selected);
      });
    } else {
      const double b_max = g.max(p.n, [&](int i) { return abs(double(p.b[i])); });
      g.once([&] {
        // Where the other rungs are a launch of their own, it does not know.
        if (at.stage.rung == 0) judge.at->hidden = false;
        at.enter(ladder, p.n, scratch.scaled.size_of(p.n), judge.best_residual, b_max,
                 judge.infeasible);
        // A solution that rounding hides is hardly in another basin: simulations do not look there.
        const bool hides = judge.at->hidden && !ladder.options.thorough;
        if (hides && at.stage.rung >= kOtherBasins) at.stage.budget = 0;
      });
    }
    if (at.stage.method == Method::none) break;
    if (rungs == Rungs::opening && at.stage.rung > 0) break;
    if (at.stage.budget == 0 || (rungs == Rungs::later && at.stage.rung == 0)) continue;
    judge.last_residual = Limits<double>::infinity;
    const int done = run_stage(g, p, at.stage, scratch);
    g.once([&] { at.leave(done, judge.best_residual); });
    if (judge.done()) break;
    if (at.softenings > 0 && !judge.solved()) {
      const bool settled = judge.at->settled, first = at.softenings == 1;
      if (settled || first) {
        answer_candidate(g, p, judge);
        g.once([&] { at.rung = at.stage.rung; });
      }
      if (settled == first) break;  // the answer, or no nearer to it
    }
  }
}

/// Scales the problem for the iterative methods; where it is regular, nothing is to be selected.
template <class Real, class Factor, class G, class Scalar, KernelVariant kVariant>
SS_HD void prepare(const G& g, const EnvProblem<Scalar>& p, const Ladder& ladder,
                   EnvScratch<Real, Factor, Scalar, kVariant>& scratch) {
  constexpr Contents kHas = contents_of(kVariant);
  Judge<Scalar>& judge = scratch.judge;
  if (ladder.variant != KernelVariant::pivoting) {
    if constexpr (kHas.newton || kHas.altered) {
      scale_and_select(g, p, ladder.options.law, scratch.scaled);
      const double crowd = measure_crowds(g, scratch.scaled);
      Arena arena = scratch.stage;
      Real* const K = arena.take<Real>(std::size_t(p.n) * p.n);
      if (!judge.selects && is_regular(g, scratch.scaled, judge.at->best, crowd, K))
        judge.selects = judge.selected = true;
    } else {
      scale_problem(g, p, ladder.options.law, scratch.scaled);
    }
  }
  if constexpr (kVariant == KernelVariant::later) g.once([&] { *scratch.kept = scratch.scaled; });
}

/// The result of a solve, besides the impulse.
struct Outcome {
  EnvStatus status = EnvStatus::solved;
  double residual = 0.0;
  int iterations = 0, rung = 0;
  Solver solver = Solver::automatic;
  bool selected = true;  ///< of many solutions
  bool chooses = false;  ///< there may be many
  bool tried = false;    ///< all rungs have run without W
};

/// Whether something that bears no load does not open, so that it may have been found just now, and
/// may share the load of others. The judge has the velocities of the start.
template <class G, class Scalar>
SS_HD bool waits_for_load(const G& g, const EnvProblem<Scalar>& p, const Judge<Scalar>& judge) {
  const JudgeMemory<Scalar>& at = *judge.at;
  return g.any(p.n_nonneg + p.n_contacts, [&](int item) {
    const int row = item < p.n_nonneg ? p.n_free + item : p.block[item - p.n_nonneg];
    return at.best[row] == Scalar(0) && !(at.u[row] > at.tolerance);
  });
}

/// Whether the impulse to begin with is the selected solution, if it is one: the path of that
/// begins at zero impulses. What is kept from the last problem
/// must satisfy this one to rounding: colliders answer to a tilt of 1e-12 with other points.
template <class G, class Scalar>
SS_HD bool starts_selected(const G& g, const EnvProblem<Scalar>& p, const Judge<Scalar>& judge,
                           Rungs rungs) {
  constexpr double kSpare = 1e-3;
  const bool exact =
      p.start_kept && rungs != Rungs::later && judge.best_residual <= kSpare * judge.at->tolerance;
  return (exact && (p.start_selected || !waits_for_load(g, p, judge))) ||
         !g.any(p.n, [&](int i) { return judge.at->best[i] != Scalar(0); });
}

/// Measures the impulse that an earlier pass found.
template <class G, class Scalar>
SS_HD void judge_best(const G& g, const EnvProblem<Scalar>& p, Judge<Scalar>& judge) {
  g.for_each(p.n, [&](int i) { judge.at->candidate[i] = judge.at->best[i]; });
  judge.best_residual = judged_residual(g, p, MatrixVelocity<Scalar>{p}, judge.law, *judge.at,
                                        judge.at->candidate, Guess::solution);
}

/// Solves p, whose judge is open. In `Rungs::later`, rung 0 has run before: `judge` knows the
/// residual of its impulse, and rung 1 starts at rest; `before`: its result. `share`: of the work
/// that the options allow.
template <class Real, class Factor, class G, class Scalar, KernelVariant kVariant>
SS_HD Outcome solve_part(const G& g, const EnvProblem<Scalar>& p, const Ladder& ladder,
                         EnvScratch<Real, Factor, Scalar, kVariant>& scratch, Rungs rungs,
                         std::int64_t env, double share, const Outcome& before) {
  const SolveOptions& o = ladder.options;
  Judge<Scalar>& judge = scratch.judge;
  Climb& at = *scratch.climb;
  g.once([&] {
    const Work work = Work::of_dense(p.n);
    const double later = before.tried ? work_after_sparse(work.step, o.thorough)
                                      : work_after_rung_0(p.n, work.step, o.thorough);
    at = Climb(env, ladder, work, later, share);
  });
  judge.selects = !(ladder.selects && may_select(g, p));
  bool judged = true;
  if (rungs == Rungs::later) {
    g.once([&] {
      at.iterations = before.iterations;
      at.solver = before.solver;
    });
  } else {
    judged = judge_start(g, p, MatrixVelocity<Scalar>{p}, judge,
                         ladder.variant != KernelVariant::sweeping);
  }
  judge.selected = judge.selects || starts_selected(g, p, judge, rungs);
  if (p.n > 0 && (!judge.done() || o.fixed_sweeps || o.fixed_pivots)) {
    if constexpr (EnvScratch<Real, Factor, Scalar, kVariant>::kIterates)
      prepare(g, p, ladder, scratch);
    const bool exact = o.fixed_sweeps || o.fixed_pivots;
    if (!judge.done() || exact) climb(g, p, ladder, scratch, rungs, judged);
  }
  // The later rungs continue with a residual that is not yet the bound.
  if (rungs != Rungs::opening || !ladder.has_later_rungs)
    close_judge(g, p, MatrixVelocity<Scalar>{p}, judge);
  return {verdict_of(judge), judge.best_residual, at.iterations, at.rung,
          at.solver,         judge.done(),        !judge.selects};
}

}  // namespace stickslip::kernels::inline SS_ISA
