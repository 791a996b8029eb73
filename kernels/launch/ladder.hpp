// What `solver = automatic` does, law by law: a list of stages, each starting where the one before
// ended, until one of them solves; the result is the best impulse that any of them met. Data, not
// code.
#pragma once
#include "kernels/linalg/math.hpp"
#include "stickslip/types.hpp"

namespace stickslip::kernels::inline SS_ISA {

enum class Method : std::int32_t { none, pgs, newton, primal, lemke };

/// Which stages a kernel has compiled in. On a GPU, none shall cost another registers or scratch:
/// pivoting and sweeps have kernels of their own, and Newton's method two, one for rung 0, which
/// all environments run, and one for the rungs that few of them need.
enum class Program : std::int32_t {
  all,
  sweeping,  ///< projected Gauss-Seidel alone
  first,     ///< rung 0 of the iterative methods
  later,     ///< their other rungs; goes on where `first` ended
  pivoting   ///< Lemke's method, all rungs
};
inline constexpr int kPrograms = 5;

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

  SS_HD bool alters() const { return soften > 0.0 || rounds > 0; }
};

/// Whether a program has what a stage needs: an altered problem, a test for jams, and, in `mixed`,
/// a factorisation in double belong to the later rungs alone.
SS_HD bool program_has(Program program, const Stage& stage) {
  const bool pivots = stage.method == Method::lemke;
  if (program == Program::pivoting) return pivots;
  if (program == Program::sweeping) return stage.method == Method::pgs && stage.rung == 0;
  if (program == Program::first) {
    return !pivots && stage.rung == 0 && !stage.alters() && stage.check == Check::none;
  }
  if (program == Program::later) {
    return !pivots && stage.rung > 0 && stage.method != Method::primal;
  }
  return true;
}

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
  const int steps = min(o.max_newton, kMostSteps), few = 2 * steps / 3, many = 10 * steps / 3;
  constexpr int retry = 64;  // rows; with more, a jam would wait too long for its verdict
  switch (index) {
    case 0:
      return {.method = pgs, .budget = 3, .first = true};
    case 1:
      return {.method = newton, .budget = steps, .first = true};
    case 2:
      return {.method = newton, .budget = few, .factor = 0.1, .most_rows = retry};
    case 3:
      return {.method = pgs, .budget = 20, .most_rows = retry};
    case 4:
      return {.method = newton, .budget = few, .most_rows = retry};
    case 11:
      return {.method = newton, .rung = 1, .budget = many, .factor = 0.1, .epsilon = kWeakEpsilon};
    case 12:  // De Saxce's fixed point
      return {.method = newton, .rung = 2, .budget = many, .rounds = 40};
    case 13:
      return {.method = newton, .rung = 2, .budget = many, .factor = 0.1, .epsilon = kWeakEpsilon};
    default:
      if (index < 11) return compliance_homotopy(index - 5, few);
      return shaken_starts(index - 14, steps, many);
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

/// The program that begins a solve.
SS_HD Program program_of(const SolveOptions& o) {
  if (o.law == Law::pyramid) return Program::pivoting;
  const bool sweeps = stage_of(o, 0).method == Method::pgs;
  return sweeps && stage_of(o, 1).method == Method::none ? Program::sweeping : Program::first;
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
