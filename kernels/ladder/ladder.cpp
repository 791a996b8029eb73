// The ladders, law by law (docs/mathematics.md §11, with the problems that each rung solves).
#include "kernels/ladder/ladder.hpp"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>

#include "kernels/law/dispatch.hpp"

namespace stickslip::kernels {

namespace {

constexpr double kSoftAnswer = 1e-2;        // compliance of the answer if there is no solution
constexpr int kSoftenings = 12;             // stages: with this one, then with 0.58 to this one
constexpr double kAstray = 1e-4;            // residual over max|b| where no solution is near
constexpr int kFarkasPasses = 100;          // each a fraction of a Newton step
constexpr double kByVelocity = 1.0 / 32.0;  // 1/rho of Newton's map, to see states in velocities
constexpr int kDrawnStarts = 1000;
constexpr int kFloatStarts = 100;  // in float most of the remaining problems are rounding

void add(Ladder& ladder, const Stage& stage) {
  if (ladder.count == Ladder::kCapacity) throw std::logic_error("a ladder has too many stages");
  ladder.stages[ladder.count++] = stage;
}

Stage sweeps(int rung, int budget) {
  return {.method = Method::pgs, .rung = rung, .budget = budget};
}

Stage newton(int rung, int steps) {
  return {.method = Method::newton, .rung = rung, .budget = steps};
}

/// Newton for contacts that are nearly identical or steep.
Stage lightly_regularised(int rung, int steps) {
  Stage stage = newton(rung, steps);
  stage.epsilon = kWeakEpsilon;
  stage.steep = true;
  return stage;
}

/// The same with 10 rho: velocities identify the states better than impulses.
Stage by_velocities(int rung, int steps) {
  Stage stage = lightly_regularised(rung, steps);
  stage.factor = 0.1;
  return stage;
}

/// `stage` with its start scaled by hashed numbers.
Stage reseeded(Stage stage, int seed) {
  stage.seed = seed;
  return stage;
}

/// The proof that there is no solution.
void add_proof(Ladder& ladder) {
  add(ladder, {.method = Method::farkas, .rung = 1, .budget = kFarkasPasses});
}

/// Coarse sweeps, judged by the stage that follows.
void add_coarse_sweeps(Ladder& ladder) {
  Stage stage = sweeps(0, 3);
  stage.coarse = true;
  add(ladder, stage);
}

/// Newton for one solution among many.
Stage selecting(int steps, double factor) {
  Stage stage = newton(0, steps);
  stage.selects = true;
  stage.factor = factor;
  return stage;
}

/// Where no impulse near a solution was found: Newton from the impulses with which all contacts
/// stick. A contact that wedges (|W_nt| mu > W_nn, together with active limits: Painleve's side)
/// has a solution there to which Alart-Curnier's states do not lead: they slide and open by turns.
void add_sticking(Ladder& ladder, int steps) {
  Stage stuck = newton(0, steps);
  stuck.sticks = true;
  for (Stage stage : {stuck, selecting(steps, 1.0)}) {
    stage.most_rows = kFewRows;
    stage.beyond = kAstray;
    add(ladder, stage);
  }
}

/// Newton for any solution from the warm start, from rest, and from sweeps, of environments of so
/// many rows.
void add_retries(Ladder& ladder, int rung, int steps, int least_rows, int most_rows) {
  const Stage any = newton(rung, steps);
  Stage given = any, afresh = sweeps(rung, 3), resumed = sweeps(rung, 20), large_rho = any;
  given.start = Start::given;
  afresh.start = Start::zero;
  large_rho.factor = 0.1;
  for (Stage stage : {given, afresh, any, large_rho, resumed, large_rho}) {
    stage.least_rows = least_rows;
    stage.most_rows = most_rows;
    add(ladder, stage);
  }
}

/// Rung 0 after its sweeps: Newton for the selected solution, with velocities that decide about the
/// states more and more; then for any, with few rows also from rest (the search for the selected
/// one may end at a kink where velocities are hardly consistent) and from other starts.
void add_newton(Ladder& ladder, int steps) {
  Stage first = selecting(steps, 1.0);
  first.coarse = true;
  add(ladder, first);
  Stage again = selecting(steps, kByVelocity);
  again.most_rows = kPileRows;
  add(ladder, again);
  if (facts_of(ladder.options.law).may_jam) add_sticking(ladder, steps);
  add(ladder, newton(0, steps));
  add_retries(ladder, 0, steps, 0, kFewRows);
}

/// The interior point, from the best impulse so far.
void add_interior(Ladder& ladder, int steps) {
  add(ladder, {.method = Method::interior,
               .rung = 1,
               .budget = 6 * steps / 5,
               .start = Start::best,
               .distance = 0.1});
}

/// After the homotopy, the continuation from the best impulse, and from rest with twice the budget
/// (Siconos' RockPile, 1,389 rows, needs some 1,000 factorisations); then Newton with many steps.
/// Newton at the end of its path has 1 / factor times rho, because there velocities identify the
/// states better than impulses (kernels/solver/interior/README.md).
void add_continuation(Ladder& ladder, int steps) {
  Stage path{.method = Method::continuation,
             .rung = 1,
             .budget = 7 * steps,
             .factor = 1e-5,
             .start = Start::best,
             .distance = 0.1};
  add(ladder, path);
  path.budget *= 2;
  path.start = Start::zero;
  path.distance = 1.0;
  add(ladder, path);
}

/// Rung 2: other basins, from starts changed by sweeps and hashed numbers; Newton after each.
/// Needed by `convex` and `box` at extreme scales (tests/oracle/extreme_test.cpp).
void add_other_starts(Ladder& ladder, int steps) {
  const Stage usual = lightly_regularised(2, steps);
  Stage large_rho = usual, from_rest = sweeps(2, 100);
  large_rho.factor = 0.01;
  from_rest.start = Start::zero;
  // By turns many sweeps, and few sweeps before Newton with a large rho.
  for (const int seed : {0, 6}) {
    add(ladder, seed == 0 ? from_rest : reseeded(sweeps(2, 100), seed));
    add(ladder, usual);
    add(ladder, reseeded(sweeps(2, 20), seed == 0 ? 5 : seed + 1));
    add(ladder, large_rho);
  }
  add(ladder, sweeps(2, 500));
  add(ladder, usual);
  add(ladder, newton(2, steps));
}

/// Rung 3: other basins, from random states and impulses.
void add_drawn_starts(Ladder& ladder, int steps) {
  int seed = 0;
  for (const Start start : {Start::random_states, Start::random_impulses}) {
    Stage stage = lightly_regularised(3, steps);
    stage.start = start;
    add(ladder, reseeded(stage, ++seed));
  }
  const bool coarse = ladder.options.precision == Precision::float32;
  ladder.cycle = ladder.count - Ladder::kCycle;
  ladder.turns = (coarse ? kFloatStarts : kDrawnStarts) / Ladder::kCycle;
}

/// The stages for problems where sweeps and Newton fail.
void add_later_rungs(Ladder& ladder, int steps, bool has_central_path) {
  add_proof(ladder);
  add_retries(ladder, 1, steps, kFewRows + 1, kRetryRows);
  if (has_central_path) {
    add_interior(ladder, steps);
    add_continuation(ladder, steps);
  }
  // From the best, because another launch than that of rung 0 does not know where that ended.
  Stage from_best = by_velocities(1, steps);
  from_best.start = Start::best;
  add(ladder, from_best);
  add_other_starts(ladder, steps);
  add_drawn_starts(ladder, steps);
}

/// Lemke's method, in `mixed` precision first with a float tableau. If it fails, the proof that
/// there is no solution: with a proof, once more with softer contacts; without one, covering
/// vectors of another kind.
void add_lemke(Ladder& ladder) {
  const SolveOptions& o = ladder.options;
  Stage stage{.method = Method::lemke, .budget = o.max_pivots, .fixed = o.fixed_pivots};
  stage.coarse = true;
  add(ladder, stage);
  stage.coarse = false;
  if (o.precision == Precision::mixed) add(ladder, stage);
  if (o.fixed_pivots) return;
  add_proof(ladder);
  stage.rung = 1;
  stage.attempts = {kLemkeAttempts, kWideAttempts, kSteepAttempts};
  add(ladder, stage);
}

/// Sweeps; Newton from their result, and further stages if that fails.
void add_box(Ladder& ladder, int steps, bool has_central_path) {
  add(ladder, sweeps(0, ladder.options.max_sweeps));
  Stage stage = newton(1, steps);
  stage.start = Start::best;
  add(ladder, stage);
  add_later_rungs(ladder, steps, has_central_path);
}

void add_stages(Ladder& ladder) {
  const SolveOptions& o = ladder.options;
  const LawFacts law = facts_of(o.law);
  const int steps = std::min(o.max_newton, kMostSteps);
  if (o.solver == Solver::pgs) {
    Stage stage = sweeps(0, o.max_sweeps);
    stage.fixed = o.fixed_sweeps;
    return add(ladder, stage);
  }
  if (law.ladder == LadderKind::pivots) return add_lemke(ladder);
  if (law.ladder != LadderKind::primal && o.solver == Solver::newton) {
    add(ladder, selecting(steps, 1.0));
    ladder.stages[0].coarse = true;
    return add(ladder, newton(0, steps));
  }
  if (law.ladder == LadderKind::sweeps) return add_box(ladder, steps, law.has_central_path);
  if (o.solver != Solver::newton) add_coarse_sweeps(ladder);
  if (law.ladder == LadderKind::primal) {
    add(ladder, {.method = Method::primal, .budget = steps});
  }
  add_newton(ladder, steps);
  add_later_rungs(ladder, steps, law.has_central_path);
}

KernelVariant variant_of(const Ladder& ladder) {
  if (ladder.stages[0].method == Method::lemke) return KernelVariant::pivoting;
  const Stage second = ladder.stage(1);
  const bool alone = second.method == Method::none || second.rung > 0;
  return alone && ladder.stages[0].method == Method::pgs ? KernelVariant::sweeping
                                                         : KernelVariant::rung0;
}

}  // namespace

Ladder::Ladder(const SolveOptions& solve_options) : options(solve_options) {
  add_stages(*this);
  variant = variant_of(*this);
  const int steps = std::min(options.max_newton, kMostSteps);
  selection = selecting(steps, 1.0);
  selects = std::any_of(stages, stages + count, [](const Stage& s) { return s.selects; });
  const auto* later =
      std::find_if(stages, stages + count, [](const Stage& s) { return s.rung > 0; });
  has_later_rungs = later != stages + count && later->rung <= options.max_rung;
  answers_far = has_later_rungs && facts_of(options.law).may_jam;
  softened_answer = stages[0].method == Method::lemke ? stages[0] : newton(1, steps);
  softened_answer.rung = 1;
  softened_answer.start = Start::zero;
  softened_answer.soften = kSoftAnswer;
  softenings = softened_answer.method == Method::newton ? kSoftenings : 1;
  softened_answer.fixed = softened_answer.coarse = false;
}

}  // namespace stickslip::kernels
