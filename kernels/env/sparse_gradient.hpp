// The derivatives of one environment that is solved without W (climb_sparse.hpp), without it: a
// change by a block-sparse LU in the space of velocities, a loss by its transpose.
#pragma once
#include "kernels/delassus/tree.hpp"
#include "kernels/env/gradient_env.hpp"
#include "kernels/gradient/filtered_velocity.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct SparseGradientScratch {
  ViewScratch<double> view;
  EnvProblem<double>* problem;
  SparseScaled* scaled;
  double *diagonal, *x;  ///< [rows] of W, [nv]
  std::int32_t* path;    ///< [nv]
  GradientScratch work;  ///< without a matrix

  SS_HD SparseGradientScratch(Arena& arena, int nv, int max_rows, int max_contacts)
      : view(arena, max_rows, max_contacts),
        problem(arena.take<EnvProblem<double>>(1)),
        scaled(arena.take<SparseScaled>(1)),
        diagonal(arena.take<double>(padded(max_rows))),
        x(arena.take<double>(nv)),
        path(arena.take<std::int32_t>(nv)),
        work(arena, max_rows, 0) {
    const SparseScaled its(arena, nv, max_rows, max_contacts);
    if (problem != nullptr) *scaled = its;
  }
  SS_HD static std::size_t bytes(int nv, int max_rows, int max_contacts) {
    Arena arena(nullptr);
    SparseGradientScratch(arena, nv, max_rows, max_contacts);
    return arena.used();
  }
};

enum class Opened : std::int32_t { yes, no, dense };

/// Opens and scales environment 0 of the mechanism m. `no`: there is nothing to differentiate;
/// `dense`: m is not sparse.
template <class G>
SS_HD Opened open_without_W(const G& g, const ProblemBatch<double>& batch, const SparseMechanism& m,
                            const SolutionBatch<double>& solution, const SolveOptions& o,
                            SparseGradientScratch& e) {
  EnvProblem<double>& p = *e.problem = {};
  const double* r = slot(solution.impulse, 0);
  const LawFacts law = facts_of(o.law);
  int rows = 0;
  if (solution.status[0] != EnvStatus::solved ||
      open_problem(g, batch, 0, e.view, p, rows) != EnvStatus::solved) {
    return Opened::no;
  }
  p.directions = o.directions;
  delassus_diagonal(g, m, e.diagonal, e.x, e.path, 0);
  if (!take_diagonal(g, e.diagonal, p) || g.any(p.n, [&](int i) { return !is_finite(r[i]); }))
    return Opened::no;
  enter_circular_coordinates(g, p, law.is_frictionless, e.view);
  e.scaled->m = m;
  return scale_sparse(g, p, o.law, kSparse, *e.scaled) ? Opened::yes : Opened::dense;
}

/// solve_vjp of environment 0, whose mechanism is m. False, with nothing written, if m is not
/// sparse.
template <IsGroup G>
SS_HD bool vjp_sparse(const G& g, const ProblemBatch<double>& batch, const SparseMechanism& m,
                      const SolutionBatch<double>& solution, const LossBatch<double>& loss,
                      const GradientBatch<double>& gradient, const SolveOptions& o,
                      SparseGradientScratch& e) {
  const Opened opened = open_without_W(g, batch, m, solution, o, e);
  if (opened == Opened::dense) return false;
  clear_b(g, gradient, 0, batch.max_rows);
  const StepGradient<double> out{gradient, {}, {}, {}, {}};
  if (opened == Opened::no) {
    refuse_gradient(g, batch, 0, out, 0, e.view);
    return true;
  }
  differentiate_solved(g, *e.problem, *e.scaled, slot(solution.impulse, 0), {}, {{}, loss}, out, o,
                       0, batch.max_rows, e.work, false, StepScratch<double>(Arena(nullptr), 0, 0));
  return true;
}

/// solve_jvp of the same.
template <IsGroup G>
SS_HD bool jvp_sparse(const G& g, const ProblemBatch<double>& batch, const SparseMechanism& m,
                      const SolutionBatch<double>& solution, const ChangeBatch<double>& change,
                      const SolutionChange<double>& out, const SolveOptions& o,
                      SparseGradientScratch& e) {
  const Opened opened = open_without_W(g, batch, m, solution, o, e);
  if (opened == Opened::dense) return false;
  change_solved(g, opened == Opened::yes, *e.problem, *e.scaled, slot(solution.impulse, 0), change,
                out, o, 0, batch.max_rows, e.work);
  return true;
}

}  // namespace stickslip::kernels::inline SS_ISA
