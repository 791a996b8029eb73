// What `solver = automatic` does, law by law: a list of stages, each starting where the one before
// ended, until one of them solves; the result is the best impulse that any of them met. Data, not
// code.
#pragma once
#include "kernels/linalg/math.hpp"
#include "stickslip/types.hpp"

namespace stickslip::kernels::inline SS_ISA {

enum class Method : std::int32_t { none, pgs, newton, primal, lemke };

/// Where a stage starts.
enum class Start : std::int32_t {
  last,  ///< where the stage before ended
  rest   ///< without impulses
};

/// What a stage's result tells beside being a solution.
enum class Check : std::int32_t {
  none,
  unsolvable,  ///< runs if the stage before found no solution; its own is the softened answer
  softened,    ///< begins the test for jams; its own is the answer if there is no solution
  growth,      ///< whether impulses grow as the compliance shrinks; runs if so far they have
  divergence   ///< the same, and if they have: no solution
};

inline constexpr double kEpsilon = 1e-8;       ///< least regularisation of Newton's Jacobian
inline constexpr double kWeakEpsilon = 1e-12;  ///< for contacts that are nearly the same

struct Stage {
  Method method = Method::none;
  int rung = 0;               ///< of the ladder; recorded with the result
  int budget = 0;             ///< sweeps, steps or pivots
  double factor = 1.0;        ///< multiplies 1/rho of the natural map (newton)
  double epsilon = kEpsilon;  ///< least regularisation, in double (newton)
  Start start = Start::last;
  double grow = 1.0;   ///< multiplies the start
  int shake = 0;       ///< seed: scales the start by hashed numbers in [0, 1); 0: does not
  bool exact = false;  ///< no early exit (pgs, lemke)
  /// First sweeps: coarse, judged by the Newton that follows. First Lemke stage: float tableau if
  /// mixed.
  bool first = false;
  int most_rows = 1 << 30;  ///< environments of more rows skip it
  double soften = 0.0;      ///< compliance of contacts, times W_nn
  int rounds = 0;           ///< of De Saxce's fixed point (newton)
  Check check = Check::none;
  bool suspected = false;  ///< for suspected jams alone

  SS_HD bool alters() const { return soften > 0.0 || rounds > 0; }
};

SS_HD Solver solver_of(Method method) {
  if (method == Method::lemke) return Solver::lemke;
  return method == Method::pgs ? Solver::pgs : Solver::newton;
}

/// Rung 1, from rest: contacts so soft that Newton cannot fail, then ever harder ones. A jam's
/// impulses grow like 1/soften, so its next solution is a known multiple of the last.
SS_HD Stage compliance_homotopy(int index, int steps) {
  Stage stage{.method = Method::newton, .rung = 1, .budget = steps};
  switch (index) {
    case 0:
      stage.start = Start::rest;
      stage.soften = 1e-1;
      break;
    case 1:
      stage.grow = 10.0;
      stage.soften = 1e-2;
      stage.check = Check::softened;
      break;
    case 2:
      stage.grow = 10.0;
      stage.soften = 1e-3;
      stage.check = Check::growth;
      break;
    case 3:
      stage.grow = 100.0;
      stage.soften = 1e-5;
      stage.check = Check::growth;
      break;
    case 4:
      stage.grow = 100.0;
      stage.soften = 1e-7;
      stage.check = Check::divergence;
      break;
    default:  // no jam: on towards the problem as given
      stage.soften = 1e-5;
  }
  return stage;
}

/// Rung 1 of a suspected jam, in place of rung 0: soft contacts from rest, then at once contacts so
/// hard that a jam's impulses cannot be mistaken.
SS_HD Stage short_jam_test(int index, int steps) {
  Stage stage{.method = Method::newton, .rung = 1, .budget = steps};
  stage.suspected = true;
  if (index == 0) {
    stage.start = Start::rest;
    stage.soften = 1e-2;
    stage.check = Check::softened;
  } else {
    stage.grow = 1e4;
    stage.soften = 1e-6;
    stage.check = Check::divergence;
  }
  return stage;
}

inline constexpr int kRetryRows = 64;  ///< with more, a jam would wait too long for its verdict
inline constexpr int kMostSteps = 1 << 24;  ///< of `max_newton`, so that multiples of it fit an int

/// Rungs 3 and 4: other basins, from starts that sweeps and hashed numbers shake.
SS_HD Stage shaken_starts(int index, int steps, int many) {
  Stage stage{.method = index % 2 == 0 ? Method::pgs : Method::newton, .rung = 3, .budget = steps};
  stage.epsilon = kWeakEpsilon;
  const int round = index / 2;
  if (round < 6) {  // with many sweeps and with a large rho by turns
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
  if (round == 6) {  // patience
    if (stage.method == Method::pgs) stage.budget = 500;
    return stage;
  }
  // De Saxce's fixed point and few sweeps by turns
  if (round > 19) return {};
  stage.rung = 4;
  if (index % 2 == 0) {
    const bool fixed_point = round % 2 != 0;
    if (fixed_point) stage.method = Method::newton;
    stage.budget = fixed_point ? many : 5;
    stage.rounds = fixed_point ? 40 : 0;
    stage.epsilon = kEpsilon;
    stage.shake = round == 7 ? 0 : (fixed_point ? 21 : 1) + round / 2;
  }
  return stage;
}

/// The ladder of Coulomb's law (docs/mathematics.md §11, with what each rung solves): sweeps and
/// Newton, then what is tried where those fail.
SS_HD Stage newton_ladder(int index, const SolveOptions& o) {
  constexpr Method pgs = Method::pgs, newton = Method::newton;
  const int steps = min(o.max_newton, kMostSteps), many = 10 * steps / 3;
  // At least one: the first stage of rung 1 begins at rest, which those after it rely on.
  const int few = max(min(1, steps), 2 * steps / 3);
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
    case 5:
    case 6:
      return short_jam_test(index - 5, few);
    case 13:
      return {.method = newton, .rung = 1, .budget = many, .factor = 0.1, .epsilon = kWeakEpsilon};
    case 14:  // De Saxce's fixed point
      return {.method = newton, .rung = 2, .budget = many, .rounds = 40};
    case 15:
      return {.method = newton, .rung = 2, .budget = many, .factor = 0.1, .epsilon = kWeakEpsilon};
    default:
      if (index < 13) return compliance_homotopy(index - 7, few);
      return shaken_starts(index - 16, steps, many);
  }
}

/// Lemke's method, in `mixed` precision first with a float tableau; where all attempts end on rays,
/// once more with softer contacts.
SS_HD Stage lemke_ladder(int index, const SolveOptions& o) {
  const int last = o.precision == Precision::mixed ? 1 : 0;
  if (index == last + 1 && !o.exact_pivots) {
    return {.method = Method::lemke,
            .rung = 1,
            .budget = o.max_pivots,
            .soften = 1e-2,
            .check = Check::unsolvable};
  }
  if (index > last) return {};
  return {.method = Method::lemke,
          .budget = o.max_pivots,
          .exact = o.exact_pivots,
          .first = index == 0};
}

/// Stage `index` of the options' ladder; Method::none ends it.
SS_HD Stage stage_of(const SolveOptions& o, int index) {
  if (o.solver == Solver::pgs) {
    return index == 0
               ? Stage{.method = Method::pgs, .budget = o.max_sweeps, .exact = o.exact_sweeps}
               : Stage{};
  }
  if (o.law == Law::pyramid) return lemke_ladder(index, o);
  if (o.law == Law::box) {
    return index == 0 ? Stage{.method = Method::pgs, .budget = o.max_sweeps} : Stage{};
  }
  const int skip = o.solver == Solver::newton ? 1 : 0;  // newton alone: no sweeps at the start
  if (o.law == Law::convex) {
    if (index + skip == 1)
      return {.method = Method::primal, .budget = 2 * min(o.max_newton, kMostSteps)};
    return newton_ladder(index + skip > 1 ? index + skip - 1 : 0, o);
  }
  if (o.solver == Solver::newton) {
    return index == 0 ? newton_ladder(1, o) : Stage{};
  }
  return newton_ladder(index, o);
}

/// Whether anything is tried where rung 0 fails.
SS_HD bool has_later_rungs(const SolveOptions& o) {
  int index = 0;
  while (stage_of(o, index).method != Method::none && stage_of(o, index).rung == 0) ++index;
  const Stage stage = stage_of(o, index);
  return stage.method != Method::none && stage.rung <= o.max_rung;
}

/// Whether some stage of the ladder tests for jams of rigid contacts.
SS_HD bool tests_jams(const SolveOptions& o) {
  return o.solver == Solver::automatic && o.max_rung > 0 &&
         (o.law == Law::coulomb || o.law == Law::frictionless);
}

/// Work of one iteration in multiplications: Newton factorises n x n.
SS_HD double work_of(const Stage& stage, int n) {
  const double square = double(n) * n;
  return stage.method == Method::newton ? square * n : 5.0 * square;
}

/// Work that the stages after rung 0 share, so that no environment of up to 130 rows holds up
/// a batch for more than some 20 ms: all of the ladder for 80 rows, enough to tell a jam for any n.
SS_HD double work_after_rung_0(int n) { return max(1e9, 60.0 * n * n * double(n)); }

/// Whether a solver can take a law: the one place that says so.
SS_HD bool solver_supports(Solver solver, Law law) {
  switch (law) {
    case Law::coulomb:
    case Law::convex:
    case Law::frictionless:
      return solver != Solver::lemke;
    case Law::box:
      return solver == Solver::automatic || solver == Solver::pgs;
    case Law::pyramid:
      return solver == Solver::automatic || solver == Solver::lemke;
  }
  return false;
}

}  // namespace stickslip::kernels::inline SS_ISA
