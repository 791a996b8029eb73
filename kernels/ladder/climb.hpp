// Progress of an environment on the ladder: in memory, because a GPU has few registers.
#pragma once
#include "kernels/group/math.hpp"
#include "kernels/ladder/ladder.hpp"
#include "kernels/residual/judge.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Work of one iteration in multiplications: a sweep or pivot; a step, which factorises.
struct Work {
  double sweep, step;
  SS_HD static Work of_dense(int n) { return {5.0 * n * n, double(n) * n * n}; }
};

/// Farkas' lemma uses only the normals.
SS_HD double work_of(const Stage& stage, const Work& work) {
  if (stage.method == Method::pgs || stage.method == Method::lemke) return work.sweep;
  return stage.method == Method::farkas ? work.step / 27.0 : work.step;
}

/// Work of the stages after rung 0, unless the options set it. `thorough`: enough for the whole
/// ladder for 25 rows, and for both continuations for any n. If not: less, because in a simulation
/// a failure costs only one step of one environment. `step`: work of a step.
SS_HD double work_after_rung_0(int n, double step, bool thorough) {
  if (thorough) return max(1e9, 2400.0 * step);
  return n > kFewRows ? 1300.0 * step : min(max(1e7, 1000.0 * step), 4e7);
}

/// The same with W, after all rungs without it: what they have not solved is hardly solved then, so
/// it is for the proof that there is no solution.
SS_HD double work_after_sparse(double step, bool thorough) {
  return thorough ? max(1e9, 2400.0 * step) : 30.0 * step;
}

struct Climb {
  std::int64_t env;  ///< of the batch
  Work work;
  Stage stage;
  int next = 0;                  ///< the next stage of the ladder
  double residual_before = 0.0;  ///< the best before the stage
  double work_left[2] = {};      ///< of rung 0, of the other rungs
  int selections = 0;            ///< attempts to select, after a solution
  int softenings = 0;            ///< stages of the softened answer that have begun
  // Results in addition to the impulse:
  int iterations = 0, rung = 0;
  Solver solver = Solver::automatic;

  /// `share`: of the work that the options allow to the environment.
  /// `later`: work of the stages after rung 0, unless the options set it.
  SS_HD Climb(std::int64_t batch_env, const Ladder& ladder, const Work& each, double later,
              double share = 1.0)
      : env(batch_env), work(each), solver(solver_of(ladder.stages[0].method)) {
    const SolveOptions& o = ladder.options;
    const bool limited = o.max_work > 0.0;
    const double half = 0.5 * share * o.max_work;
    work_left[0] = limited ? half : Limits<double>::infinity;
    work_left[1] = limited ? half : later;
  }

  /// The best is the start again: no stage has found it.
  SS_HD void forget(const Ladder& ladder) {
    rung = 0;
    solver = solver_of(ladder.stages[0].method);
  }

  /// Begins the next stage, with the budget allowed by the work left. `b_max`: max|b|;
  /// `infeasible`: only the softened answer is left to be found. That is due after the last stage
  /// too, if nothing near a solution was found. `size`: the rows n, or fewer where there are few
  /// degrees of freedom (SparseScaled::size_of).
  SS_HD void enter(const Ladder& ladder, int n, int size, double best_residual, double b_max,
                   bool infeasible) {
    const SolveOptions& o = ladder.options;
    stage = ladder.stage(next++);
    residual_before = best_residual;
    const bool over = stage.method == Method::none || stage.rung > o.max_rung;
    if (infeasible || over) {
      const bool far = !(best_residual <= kFar * b_max);
      const bool answers = infeasible || softenings > 0 || (far && ladder.answers_far);
      stage = answers ? ladder.softening(softenings++) : Stage{};
      return;
    }
    const bool near = stage.beyond > 0.0 && best_residual <= stage.beyond * b_max;
    if (near || n < stage.least_rows || size > stage.most_rows) stage.budget = 0;
    if (stage.attempts.first > 0) stage.budget = max(0, stage.budget - iterations);  // go on
    const double each = work_of(stage, work), left = work_left[stage.rung > 0 ? 1 : 0];
    if (each * stage.budget > left) stage.budget = int(max(left, 0.0) / each);
  }

  /// Begins a stage that selects among solutions, where one was found: from there; from rest, as
  /// the path from there may end at a kink. `selected`: the first is nearly the selected one.
  SS_HD void select(const Ladder& ladder, int size, double best_residual, bool selected) {
    const int found = max(rung, stage.rung);
    stage = ladder.selection;
    stage.start = selections == 0 ? Start::best : Start::zero;
    stage.coarse = selected && selections == 0;
    ++selections;
    if (size > kPileRows) stage.budget = min(stage.budget, kPileSteps);
    stage.rung = found;
    residual_before = best_residual;
  }

  /// Ends the stage after `done` iterations.
  SS_HD void leave(int done, double best_residual) {
    if (stage.method != Method::farkas) iterations += done;  // a proof does not improve the impulse
    work_left[stage.rung > 0 ? 1 : 0] -= work_of(stage, work) * done;
    if (!(best_residual < residual_before)) return;
    rung = stage.rung;
    // A stage that only judged the result of the previous stage has found nothing itself.
    if (done > 0) solver = solver_of(stage.method);
  }
};

}  // namespace stickslip::kernels::inline SS_ISA
