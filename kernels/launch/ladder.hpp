// The ladder of `solver = automatic`, law by law: a list of stages. Each stage starts where the one
// before ended, until one of them solves; the result is the best impulse of all stages.
#pragma once
#include "kernels/launch/stage.hpp"
#include "kernels/law/dispatch.hpp"

namespace stickslip::kernels::inline SS_ISA {

inline constexpr double kSoftAnswer = 1e-2;  ///< compliance of the answer if there is no solution

/// Rung 1, from rest: contacts so soft that Newton cannot fail, then harder in each stage. If there
/// is no solution, impulses grow like 1 / soften.
SS_HD Stage compliance_homotopy(int index, int steps) {
  Stage stage{.method = Method::newton, .rung = 1, .budget = steps};
  if (index == 0) stage.start = Start::rest;
  if (index == 1) {
    stage.grow = 10.0;
    stage.softened = Softened::step;
  }
  if (index == 2) stage.softened = Softened::growth;
  stage.soften = index == 0 ? 1e-1 : index == 1 ? kSoftAnswer : index == 2 ? 1e-3 : 1e-5;
  return stage;
}

/// The answer to a problem that probably has no solution, after all else has failed.
SS_HD Stage softened_answer() {
  Stage stage{.method = Method::newton, .rung = 1, .budget = 20, .start = Start::rest};
  stage.soften = kSoftAnswer;
  stage.softened = Softened::answer;
  return stage;
}

inline constexpr int kRetryRows =
    64;  ///< with more, a problem without a solution would take too long
inline constexpr int kInteriorRows = kRetryRows + 1;  ///< fewest rows for the interior point
inline constexpr int kMostSteps = 1 << 24;  ///< of `max_newton`, so that its multiples fit an int

/// Rung 1 of environments with many rows: the interior point from the best impulse so far; after
/// the homotopy the continuation from the best impulse, and from rest with twice the budget
/// (Siconos' RockPile, 1,389 rows, needs some 1,000 factorisations); then Newton with many steps.
/// Newton at the end of a path has 1 / factor times rho, because there velocities identify the
/// states better than impulses (kernels/solver/interior/README.md).
SS_HD Stage many_rows(int index, int steps) {
  Stage stage{.method = Method::continuation, .rung = 1, .budget = 22 * steps, .factor = 1e-5};
  if (index == 0) {
    stage.method = Method::interior;
    stage.budget = 4 * steps;
    stage.factor = 1e-2;
  }
  if (index < 2) {
    stage.start = Start::best;
    stage.distance = 0.1;
  }
  if (index == 2) {
    stage.start = Start::rest;
    stage.budget *= 2;
  }
  if (index == 3) return {.method = Method::pgs, .rung = 1, .budget = 3, .start = Start::rest};
  if (index == 4) return {.method = Method::newton, .rung = 1, .budget = 10 * steps};
  return stage;
}

/// Rungs 3 and 4: other basins, from starts changed by sweeps and hashed numbers.
SS_HD Stage shaken_starts(int index, int steps, int many) {
  Stage stage{.method = index % 2 == 0 ? Method::pgs : Method::newton, .rung = 3, .budget = steps};
  stage.epsilon = kWeakEpsilon;
  stage.steep = true;
  const int round = index / 2;
  if (round < 6) {  // alternately with many sweeps and with a large rho
    const bool sweeps = round % 2 == 0;
    if (stage.method == Method::pgs) {
      stage.budget = sweeps ? 100 : 20;
      stage.start = round == 0 ? Start::rest : Start::last;
      stage.shake = round == 0 ? 0 : 4 + round;
    } else if (!sweeps) {
      stage.budget = many;
      stage.factor = 0.01;
    }
    return stage;
  }
  if (round == 6) {  // many steps
    if (stage.method == Method::pgs) stage.budget = 500;
    return stage;
  }
  // De Saxce's fixed point and few sweeps alternately
  stage.rung = 4;
  if (index % 2 == 0) {
    const bool fixed_point = round % 2 != 0;
    if (fixed_point) stage.method = Method::newton;
    stage.budget = fixed_point ? many : 5;
    stage.rounds = fixed_point ? 40 : 0;
    stage.epsilon = kEpsilon;
    stage.steep = false;
    stage.shake = round == 7 ? 0 : (fixed_point ? 21 : 1) + round / 2;
  }
  return stage;
}

inline constexpr int kDrawnStarts = 1000;
inline constexpr int kFloatStarts = 100;  ///< in float most of the remaining problems are rounding

/// Rung 5: other basins, from random states and impulses, with few steps and with many.
SS_HD Stage drawn_start(int index, int few, int many) {
  Stage stage{.method = Method::newton, .rung = 5, .budget = index % 2 == 0 ? few : many};
  stage.start = index / 2 % 2 == 0 ? Start::states : Start::drawn;
  stage.shake = 1 + index;
  stage.epsilon = kWeakEpsilon;
  stage.steep = true;
  return stage;
}

/// Newton with 10 rho: velocities identify the states better than impulses.
SS_HD Stage by_velocities(int rung, int steps) {
  Stage stage{.method = Method::newton, .rung = rung, .budget = steps, .factor = 0.1};
  stage.epsilon = kWeakEpsilon;
  stage.steep = true;
  return stage;
}

inline constexpr int kFarkasPasses = 100;  ///< each a fraction of a Newton step

// Stages of the ladder below.
inline constexpr int kFirstProof = 5;
inline constexpr int kHomotopy = 7;   ///< 4 stages
inline constexpr int kManyRows = 11;  ///< 4 stages; the first of `many_rows` comes earlier
inline constexpr int kShaken = 18;    ///< 40 stages
inline constexpr int kDrawn = 58;     ///< kDrawnStarts or kFloatStarts stages

/// The ladder of Coulomb's law (docs/mathematics.md §11, with the problems that each rung solves):
/// sweeps and Newton, then the stages for problems where those fail.
SS_HD Stage newton_ladder(int index, const SolveOptions& o) {
  constexpr Method pgs = Method::pgs, newton = Method::newton;
  const int steps = min(o.max_newton, kMostSteps), many = 10 * steps / 3;
  // At least one: the first stage of rung 1 begins at rest, as the stages after it require.
  const int few = max(min(1, steps), 2 * steps / 3);
  if (index == kFirstProof + 1 || (index >= kManyRows && index < kManyRows + 4)) {
    Stage stage = many_rows(index < kManyRows ? 0 : index - kManyRows + 1, steps);
    stage.least_rows = facts_of(o.law).has_central_path ? kInteriorRows : kNever;
    return stage;
  }
  switch (index) {
    case 0:
      return {.method = pgs, .budget = 3, .first = true};
    case 1:
      return {.method = newton, .budget = steps, .first = true};
    case 2:
      return {.method = newton, .budget = few, .factor = 0.1, .most_rows = kRetryRows};
    case 3:
      return {.method = pgs, .budget = 20, .most_rows = kRetryRows};
    case 4:
      return {.method = newton, .budget = few, .most_rows = kRetryRows};
    case kFirstProof:
      return {.method = Method::farkas, .rung = 1, .budget = kFarkasPasses};
    case kShaken - 3:
      return by_velocities(1, many);
    case kShaken - 2:  // De Saxce's fixed point
      return {.method = newton, .rung = 2, .budget = many, .rounds = 40};
    case kShaken - 1:
      return by_velocities(2, many);
    default:
      if (index < kManyRows) return compliance_homotopy(index - kHomotopy, few);
      if (index < kDrawn) return shaken_starts(index - kShaken, steps, many);
      if (index - kDrawn < (o.precision == Precision::fp32 ? kFloatStarts : kDrawnStarts)) {
        return drawn_start(index - kDrawn, few, many);
      }
      return {};
  }
}

/// Sweeps; Newton from their result, and further stages if that fails.
SS_HD Stage box_ladder(int index, const SolveOptions& o) {
  if (index == 0) return {.method = Method::pgs, .budget = o.max_sweeps};
  if (index > 1) return newton_ladder(index - 2 + kFirstProof, o);
  Stage stage{.method = Method::newton, .rung = 1, .budget = min(o.max_newton, kMostSteps)};
  stage.start = Start::best;
  return stage;
}

/// Lemke's method, in `mixed` precision first with a float tableau. If it fails, the proof that
/// there is no solution: with a proof, once more with softer contacts; without one, covering
/// vectors of another kind.
SS_HD Stage lemke_ladder(int index, const SolveOptions& o) {
  const int last = o.precision == Precision::mixed ? 1 : 0;
  if (index > last && o.exact_pivots) return {};
  if (index == last + 1) return {.method = Method::farkas, .rung = 1, .budget = kFarkasPasses};
  if (index > last + 3) return {};
  Stage stage{.method = Method::lemke, .budget = o.max_pivots};
  if (index == last + 2) {
    stage.rung = 1;
    stage.attempts = {kLemkeAttempts, kWideAttempts, kSteepAttempts};
  } else if (index > last) {
    stage.rung = 1;
    stage.soften = kSoftAnswer;
    stage.softened = Softened::answer;
  } else {
    stage.exact = o.exact_pivots;
    stage.first = index == 0;
  }
  return stage;
}

/// Stage `index` of the options' ladder; Method::none ends it.
SS_HD Stage stage_of(const SolveOptions& o, int index) {
  if (o.solver == Solver::pgs) {
    return index == 0
               ? Stage{.method = Method::pgs, .budget = o.max_sweeps, .exact = o.exact_sweeps}
               : Stage{};
  }
  const LadderKind kind = facts_of(o.law).ladder;
  if (kind == LadderKind::pivots) return lemke_ladder(index, o);
  const int skip = o.solver == Solver::newton ? 1 : 0;  // newton alone: no sweeps at the start
  if (kind == LadderKind::primal) {
    if (index + skip == 1)
      return {.method = Method::primal, .budget = 2 * min(o.max_newton, kMostSteps)};
    return newton_ladder(index + skip > 1 ? index + skip - 1 : 0, o);
  }
  if (o.solver == Solver::newton) return index == 0 ? newton_ladder(1, o) : Stage{};
  return kind == LadderKind::sweeps ? box_ladder(index, o) : newton_ladder(index, o);
}

/// Whether there are stages after rung 0.
SS_HD bool has_later_rungs(const SolveOptions& o) {
  int index = 0;
  while (stage_of(o, index).method != Method::none && stage_of(o, index).rung == 0) ++index;
  const Stage stage = stage_of(o, index);
  return stage.method != Method::none && stage.rung <= o.max_rung;
}

/// Work of one iteration in multiplications: Newton factorises n x n; Farkas' lemma uses only the
/// normals.
SS_HD double work_of(const Stage& stage, int n) {
  const double square = double(n) * n;
  if (stage.method == Method::pgs || stage.method == Method::lemke) return 5.0 * square;
  return stage.method == Method::farkas ? square * n / 27.0 : square * n;
}

/// Work of the stages after rung 0, unless the options set it. `thorough`: enough for the whole
/// ladder for 25 rows, and for both continuations of `many_rows` for any n. If not: less, because
/// in a simulation a failure costs only one step of one environment.
SS_HD double work_after_rung_0(int n, bool thorough) {
  const double cube = double(n) * n * n;
  if (thorough) return max(1e9, 2400.0 * cube);
  return n > kRetryRows ? 1300.0 * cube : max(1e7, 100.0 * cube);
}

/// The same for problems that seem to have no solution.
SS_HD double work_if_unsolvable(int n, bool thorough) {
  return thorough ? max(1e8, 30.0 * n * n * double(n)) : 0.0;
}

}  // namespace stickslip::kernels::inline SS_ISA
