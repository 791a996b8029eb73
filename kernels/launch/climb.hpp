// Where an environment stands on its way up the ladder: in memory, as a GPU's registers are short.
#pragma once
#include "kernels/launch/ladder.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The test for problems without a solution (kernels/launch/jam.hpp).
struct JamTest {
  bool suspected = false;  ///< by the warm start: the test comes first, and rung 0 is left out
  bool possible = true;    ///< the impulses have grown with every softened stage that was solved
  int stages = 0;          ///< how many that are
  double size = 0.0;       ///< max|r| of the last of them
  double soften = 0.0;     ///< and its compliance
  double softened_residual = 0.0;  ///< of the answer if there is no solution

  /// Takes in max|r| of a softened stage that was solved.
  SS_HD void learn(double new_size, double new_soften) {
    constexpr double kGrowth = 0.5;  // of the compliance's: 1 in a jam, at last 0 with a solution
    if (stages > 0 && !(new_size * new_soften > kGrowth * size * soften)) possible = false;
    ++stages;
    size = new_size;
    soften = new_soften;
  }
  SS_HD bool found() const { return possible && stages > 1; }

  /// Whether a stage has anything to find out.
  SS_HD bool wants(const Stage& stage, bool no_solution_so_far) const {
    if (stage.suspected && !suspected) return false;
    if (stage.check == Check::unsolvable) return no_solution_so_far;
    return possible || !(stage.check == Check::growth || stage.check == Check::divergence);
  }
};

struct Climb {
  std::int64_t env;  ///< of the batch
  Stage stage;
  int next = 0;                  ///< stage of the ladder
  double residual_before = 0.0;  ///< the best before the stage
  double work_left = 0.0;        ///< of the stages after rung 0
  JamTest jam;
  // What the result tells beside the impulse:
  int iterations = 0, rung = 0;
  Solver solver = Solver::automatic;

  SS_HD Climb(std::int64_t batch_env, Solver first, int n)
      : env(batch_env), work_left(work_after_rung_0(n)), solver(first) {}

  /// Begins the next stage, with the budget that the work left allows.
  SS_HD void enter(const SolveOptions& o, int n, double best_residual) {
    stage = stage_of(o, next++);
    residual_before = best_residual;
    if (n > stage.most_rows) stage.budget = 0;
    if (stage.rung == 0 || stage.suspected) return;
    const double work = work_of(stage, n);
    if (work * stage.budget > work_left) stage.budget = int(work_left / work);
  }

  /// Ends it, after `done` iterations.
  SS_HD void leave(int done, int n, double best_residual) {
    iterations += done;
    if (stage.rung > 0 && !stage.suspected) work_left -= work_of(stage, n) * done;
    if (!(best_residual < residual_before)) return;
    rung = stage.rung;
    // A stage that only judged where the one before ended has found nothing itself.
    if (done > 0) solver = solver_of(stage.method);
  }
};

}  // namespace stickslip::kernels::inline SS_ISA
