// Progress of an environment on the ladder: in memory, because a GPU has few registers.
#pragma once
#include "kernels/launch/ladder.hpp"
#include "kernels/linalg/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Work of one iteration in multiplications: Newton factorises n x n; Farkas' lemma uses only the
/// normals.
SS_HD double work_of(const Stage& stage, int n) {
  const double square = double(n) * n;
  if (stage.method == Method::pgs || stage.method == Method::lemke) return 5.0 * square;
  return stage.method == Method::farkas ? square * n / 27.0 : square * n;
}

/// Work of the stages after rung 0, unless the options set it. `thorough`: enough for the whole
/// ladder for 25 rows, and for both continuations for any n. If not: less, because
/// in a simulation a failure costs only one step of one environment.
SS_HD double work_after_rung_0(int n, bool thorough) {
  const double cube = double(n) * n * n;
  if (thorough) return max(1e9, 2400.0 * cube);
  return n > kRetryRows ? 1300.0 * cube : max(1e7, 100.0 * cube);
}

/// The same for problems that seem to have no solution. `clearly`: impulses grow no less than 1 /
/// soften; the others are often towers of bodies whose masses differ much. Of the clear ones few
/// have a solution that random starts find: with many rows almost none, but some where friction is
/// `steep` (some mu > 1).
SS_HD double work_if_unsolvable(int n, bool clearly, bool steep, bool thorough) {
  constexpr int kFewRows = 48;
  if (!thorough) return 0.0;
  if (!clearly || steep) return max(1e8, 30.0 * n * n * double(n));
  return n <= kFewRows ? 5e6 : 0.0;
}

struct Climb {
  std::int64_t env;  ///< of the batch
  Stage stage;
  int next = 0;                   ///< the next stage of the ladder
  double residual_before = 0.0;   ///< the best before the stage
  double work_left[2] = {};       ///< of rung 0, of the other rungs
  double work_for_answer = 0.0;   ///< of max_work: no longer for a search, but for the last stage
  double softened_size = 0.0;     ///< max|r| soften of the last softened stage
  bool seems_unsolvable = false;  ///< a guess, for the work spent and the answer, not the status
  bool answered = false;          ///< the softened answer was requested
  // Results in addition to the impulse:
  int iterations = 0, rung = 0;
  Solver solver = Solver::automatic;

  SS_HD Climb(std::int64_t batch_env, const Ladder& ladder, int n)
      : env(batch_env), solver(solver_of(ladder.stages[0].method)) {
    const SolveOptions& o = ladder.options;
    const bool limited = o.max_work > 0.0;
    work_left[0] = limited ? 0.5 * o.max_work : Limits<double>::infinity;
    work_left[1] = limited ? 0.5 * o.max_work : work_after_rung_0(n, o.thorough);
  }

  /// The best is the start again: no stage has found it.
  SS_HD void forget(const Ladder& ladder) {
    rung = 0;
    solver = solver_of(ladder.stages[0].method);
  }

  /// Begins the next stage, with the budget allowed by the work left.
  SS_HD void enter(const Ladder& ladder, int n, double best_residual, bool infeasible) {
    const SolveOptions& o = ladder.options;
    stage = ladder.stage(next++);
    residual_before = best_residual;
    const bool over = stage.method == Method::none || stage.rung > o.max_rung;
    if (over) {
      stage = seems_unsolvable && !answered ? ladder.softened_answer : Stage{};
      answered = true;
    } else if (n < stage.least_rows || n > stage.most_rows ||
               (infeasible ? !(stage.soften > 0.0) : stage.softened == Softened::answer)) {
      stage.budget = 0;  // with a proof, only the answer remains to be found
    }
    if (stage.attempts.first > 0) stage.budget = max(0, stage.budget - iterations);  // go on
    if (over && !(o.max_work > 0.0)) return;
    const double work = work_of(stage, n);
    const double left = work_left[stage.rung > 0 ? 1 : 0] + (over ? work_for_answer : 0.0);
    if (work * stage.budget > left) stage.budget = int(max(left, 0.0) / work);
  }

  /// Records max|r| after a softened stage. If there is no solution, it grows like 1 / soften; only
  /// stages that end before their budget show that.
  SS_HD void learn(const SolveOptions& o, double size, bool converged, int n, bool steep) {
    constexpr double kGrowth = 0.5, kClear = 0.99;
    const double before = softened_size;
    softened_size = converged ? size * stage.soften : 0.0;
    if (stage.softened != Softened::growth || !(before > 0.0)) return;
    seems_unsolvable = softened_size > kGrowth * before;
    if (!seems_unsolvable || (o.thorough && o.max_work > 0.0)) return;
    const bool clearly = softened_size > kClear * before;
    const double reduced = min(work_left[1], work_if_unsolvable(n, clearly, steep, o.thorough));
    work_for_answer += work_left[1] - reduced;
    work_left[1] = reduced;
  }

  /// Ends the stage after `done` iterations.
  SS_HD void leave(int done, int n, double best_residual) {
    if (stage.method != Method::farkas) iterations += done;  // a proof does not improve the impulse
    work_left[stage.rung > 0 ? 1 : 0] -= work_of(stage, n) * done;
    if (!(best_residual < residual_before)) return;
    rung = stage.rung;
    // A stage that only judged the result of the previous stage has found nothing itself.
    if (done > 0) solver = solver_of(stage.method);
  }
};

}  // namespace stickslip::kernels::inline SS_ISA
