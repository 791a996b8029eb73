// What `solver = automatic` does, law by law: a list of stages, each starting where the one before
// ended, until one of them solves; the result is the best impulse that any of them met. Data, not
// code.
#pragma once
#include "kernels/group/defs.hpp"
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

struct Stage {
  Method method = Method::none;
  int budget = 0;       ///< sweeps, steps or pivots
  double factor = 1.0;  ///< multiplies 1/rho of the natural map (newton)
  int shake = 0;        ///< seed: scales the start by hashed numbers in [0, 1); 0: starts as it is
  bool exact = false;   ///< no early exit (pgs, lemke)
  bool first = false;   ///< first of its method: all its budget, float factorisation if mixed
  bool cone = false;    ///< natural map of the cone instead of Alart-Curnier (newton)
};

SS_HD Solver solver_of(Method method) {
  if (method == Method::lemke) return Solver::lemke;
  return method == Method::pgs ? Solver::pgs : Solver::newton;
}

/// Sweeps before the first Newton stage and between the later ones, and the projection parameters
/// that those try: the same equations with other kinks (docs/mathematics.md; measured on 225,000
/// problems of six families and 2,800 of robots).
SS_HD Stage newton_ladder(int index, const SolveOptions& o) {
  switch (index) {
    case 0:
      return {Method::pgs, 3};
    case 1:
      return {Method::newton, o.max_newton, 1.0, 0, false, true};
    case 2:
      return {Method::pgs, 20};
    case 3:
      return {Method::newton, o.max_newton, 10.0};
    case 4:
      return {Method::pgs, 30};
    case 5:
      return {Method::newton, o.max_newton, 0.1};
    case 6:
      return {Method::pgs, 45, 1.0, 1};
    case 7:
      return {Method::newton, o.max_newton};
    case 8:
      return {Method::pgs, 60, 1.0, 2};
    case 9:
      return {Method::newton, o.max_newton, 1.0, 0, false, false, true};
    default:
      return {};
  }
}

/// Lemke's method, in `mixed` precision first with a float tableau.
SS_HD Stage lemke_ladder(int index, const SolveOptions& o) {
  if (index > (o.precision == Precision::mixed ? 1 : 0)) return {};
  return {Method::lemke, o.max_pivots, 1.0, 0, o.exact_pivots, index == 0};
}

/// Stage `index` of the options' ladder; Method::none ends it.
SS_HD Stage stage_of(const SolveOptions& o, int index) {
  if (o.solver == Solver::pgs) {
    return index == 0 ? Stage{Method::pgs, o.max_sweeps, 1.0, 0, o.exact_sweeps} : Stage{};
  }
  if (o.law == Law::pyramid) return lemke_ladder(index, o);
  if (o.law == Law::box) {
    return index == 0 ? Stage{Method::pgs, o.max_sweeps} : Stage{};
  }
  const int skip = o.solver == Solver::newton ? 1 : 0;  // newton alone: no sweeps at the start
  if (o.law == Law::convex) {
    if (index + skip == 1) return {Method::primal, 2 * o.max_newton};
    return newton_ladder(index + skip > 1 ? index + skip - 1 : 0, o);
  }
  if (o.solver == Solver::newton) {
    return index == 0 ? newton_ladder(1, o) : Stage{};
  }
  return newton_ladder(index, o);
}

/// Newton steps cost n^3: the stages after the first Newton share a budget of work, so that a large
/// environment without a solution (a jam) answers in milliseconds too. Up to 78 rows keep it all.
SS_HD int affordable(const Stage& stage, int n) {
  if (stage.method != Method::newton || stage.first || n <= 78) return stage.budget;
  const double share = 78.0 / double(n);
  const int steps = int(double(stage.budget) * share * share * share);
  return steps > 1 ? steps : 1;
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
