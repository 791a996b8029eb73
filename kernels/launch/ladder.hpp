// What `solver = automatic` does, law by law: a list of stages, each starting where the one before
// ended, until one of them solves; the result is the best impulse that any of them met. Data, not
// code.
#pragma once
#include "kernels/linalg/math.hpp"
#include "stickslip/types.hpp"

namespace stickslip::kernels::inline SS_ISA {

enum class Method : std::int32_t { none, pgs, newton, primal, lemke };

/// Which methods a kernel has compiled in. On a GPU, pivoting has kernels of its own: its tableau
/// takes the memory that the others' scratch leaves free, and neither shall cost the other
/// registers.
enum class Program : std::int32_t { all, iterative, pivoting };

SS_HD Program program_of(const SolveOptions& o) {
  return o.law == Law::pyramid ? Program::pivoting : Program::iterative;
}

/// Where a stage starts.
enum class Start : std::int32_t {
  last,     ///< where the stage before ended
  rest,     ///< without impulses
  softened  ///< at the solution with softer contacts that `Check::softened` kept
};

/// What a stage's result tells beside being a solution.
enum class Check : std::int32_t {
  none,
  unsolvable,  ///< runs if the stage before found no solution; its own is the softened answer
  softened,    ///< once converged: the answer if there turns out to be no solution
  divergence   ///< once converged: impulses that grow as the compliance shrinks mean no solution
};

struct Stage {
  Method method = Method::none;
  int rung = 0;         ///< of the ladder; recorded with the result
  int budget = 0;       ///< sweeps, steps or pivots
  double factor = 1.0;  ///< multiplies 1/rho of the natural map (newton)
  Start start = Start::last;
  double grow = 1.0;   ///< multiplies the start
  int shake = 0;       ///< seed: scales the start by hashed numbers in [0, 1); 0: does not
  bool exact = false;  ///< no early exit (pgs, lemke)
  /// First sweeps: coarse, judged by the Newton that follows. First Newton or Lemke stage: all its
  /// budget, float factorisation or tableau if mixed.
  bool first = false;
  double soften = 0.0;    ///< compliance on contact normals, times W_nn
  double friction = 1.0;  ///< multiplies the friction coefficients
  Check check = Check::none;

  SS_HD bool alters() const { return soften > 0.0 || friction != 1.0; }
};

SS_HD Solver solver_of(Method method) {
  if (method == Method::lemke) return Solver::lemke;
  return method == Method::pgs ? Solver::pgs : Solver::newton;
}

/// Rung 1, from rest: contacts so soft that Newton cannot fail, then ever harder ones. A jam's
/// impulses grow like 1/soften, so its next solution is ten times the last.
SS_HD Stage compliance_homotopy(int index) {
  constexpr Method newton = Method::newton;
  constexpr int steps = 20;
  switch (index) {
    case 0:
      return {.method = Method::pgs, .rung = 1, .budget = 10, .start = Start::rest, .soften = 1.0};
    case 1:
      return {.method = newton, .rung = 1, .budget = steps, .soften = 1.0};
    case 2:
      return {.method = newton, .rung = 1, .budget = steps, .grow = 10.0, .soften = 1e-1};
    case 3:
      return {.method = newton,
              .rung = 1,
              .budget = steps,
              .grow = 10.0,
              .soften = 1e-2,
              .check = Check::softened};
    case 4:
      return {.method = newton,
              .rung = 1,
              .budget = steps,
              .grow = 10.0,
              .soften = 1e-3,
              .check = Check::divergence};
    case 5:
      return {
          .method = newton, .rung = 1, .budget = steps, .start = Start::softened, .soften = 1e-3};
    default:
      return {};
  }
}

/// The ladder of Coulomb's law (docs/mathematics.md §11; measured on 50,000 problems of six
/// families and 1,400 of robots): sweeps and Newton, then what is tried where those fail.
SS_HD Stage newton_ladder(int index, const SolveOptions& o) {
  const int steps = o.max_newton;
  constexpr Method pgs = Method::pgs, newton = Method::newton;
  if (index == 0) return {.method = pgs, .budget = 3, .first = true};
  if (index == 1) return {.method = newton, .budget = steps, .first = true};
  if (index < 8) return compliance_homotopy(index - 2);
  if (index == 8) return {.method = newton, .rung = 1, .budget = steps};
  // Rung 2: other projection parameters, the same equations with other kinks.
  if (index == 9) return {.method = pgs, .rung = 2, .budget = 20};
  if (index == 10) return {.method = newton, .rung = 2, .budget = steps, .factor = 10.0};
  if (index == 11) return {.method = pgs, .rung = 2, .budget = 30};
  if (index == 12) return {.method = newton, .rung = 2, .budget = steps, .factor = 0.1};
  // Rung 3: sweeps, from rest and from shaken starts.
  if (index < 21) {
    const int round = (index - 13) / 2;
    if (index % 2 == 0) {
      return {.method = newton, .rung = 3, .budget = steps, .shake = round < 3 ? 5 + round : 0};
    }
    return {
        .method = pgs, .rung = 3, .budget = 100, .start = round == 0 ? Start::rest : Start::last};
  }
  // Rung 4: more and more friction, from none.
  if (index < 28) {
    return {.method = newton,
            .rung = 4,
            .budget = 8,
            .start = index == 21 ? Start::rest : Start::last,
            .friction = 0.125 * (index - 20)};
  }
  if (index == 28) return {.method = newton, .rung = 4, .budget = steps};
  // Rung 5: patience.
  if (index == 29) return {.method = pgs, .rung = 5, .budget = 500};
  if (index == 30) return {.method = newton, .rung = 5, .budget = steps};
  return {};
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
    if (index + skip == 1) return {.method = Method::primal, .budget = 2 * o.max_newton};
    return newton_ladder(index + skip > 1 ? index + skip - 1 : 0, o);
  }
  if (o.solver == Solver::newton) {
    return index == 0 ? newton_ladder(1, o) : Stage{};
  }
  return newton_ladder(index, o);
}

/// Newton steps cost n^3 and sweeps n^2: the stages after the first Newton share a budget of work,
/// so that a large environment without a solution (a jam) answers in milliseconds too.
SS_HD int affordable(const Stage& stage, int n) {
  if (stage.first || stage.exact) return stage.budget;
  double share = 1.0;
  if (stage.method == Method::newton && n > 70) share = (70.0 / n) * (70.0 / n) * (70.0 / n);
  if (stage.method == Method::pgs && stage.rung > 2 && n > 30) share = (30.0 / n) * (30.0 / n);
  return max(1, int(double(stage.budget) * share));
}

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
