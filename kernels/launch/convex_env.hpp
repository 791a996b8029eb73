// One environment of law `convex` from its mechanism to its verdict, without forming W: what the
// residual needs of it is its diagonal and the velocities W r + b = J M^-1 J^T r + b.
#pragma once
#include "kernels/delassus/tree.hpp"
#include "kernels/launch/solve_env.hpp"
#include "kernels/solver/newton/velocity.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct ConvexScratch {
  ViewScratch<double> view;
  Judge<double> judge;
  JudgeMemory<double> judge_memory;
  Scaled<double> scaled;  ///< without its matrix
  TreeScratch tree;
  double *diagonal, *change;  ///< [rows] of W; [nv]
  VelocityNewton newton;

  SS_HD ConvexScratch(Arena& arena, int nv, int max_rows, int max_contacts)
      : view(arena, max_rows, max_contacts),
        judge(arena),
        judge_memory(arena, max_rows),
        scaled(arena, max_rows, max_contacts),
        tree(arena, nv, max_rows),
        diagonal(arena.take<double>(padded(max_rows))),
        change(arena.take<double>(nv)),
        newton(arena, nv, max_rows) {}
  SS_HD static std::size_t bytes(int nv, int max_rows, int max_contacts) {
    Arena arena(nullptr);
    ConvexScratch(arena, nv, max_rows, max_contacts);
    return arena.used();
  }
};

/// u_R of impulses r without W.
struct SparseVelocity {
  const EnvProblem<double>& p;
  const SparseMechanism& m;
  double* change;  ///< [nv] scratch: M^-1 J^T r
  template <class G>
  SS_HD void operator()(const G& g, const double* r, double* u) const {
    g.for_each(m.tree.n, [&](int k) { change[k] = 0.0; });
    add_J_transposed(
        g, m, [&](int i) { return r[i]; }, change);
    solve_ltdl(g, m.tree, m.L, m.D_inv, change);
    multiply_J(g, m, change,
               [&](int i, double sum) { u[i] = sum + fma(p.compliance(i), r[i], p.b[i]); });
  }
};

/// Opens the problem with the diagonal of W in place of W: a matrix whose rows all begin at the
/// same place, of which nothing but the diagonal may be read.
template <class G>
SS_HD EnvStatus open_without_W(const G& g, const ProblemBatch<double>& batch, std::int64_t env,
                               const SparseMechanism& m, const ConvexScratch& scratch,
                               EnvProblem<double>& p, int& rows_needed) {
  const EnvStatus status = open_problem(g, batch, env, scratch.view, p, rows_needed);
  if (status != EnvStatus::solved) return status;
  half_solve(g, m, padded(p.n), scratch.tree);
  gram_diagonal(g, m, padded(p.n), scratch.tree, scratch.diagonal);
  p.W = scratch.diagonal;
  p.ld_W = 0;
  p.symmetric = true;
  const bool broken = g.any(p.n, [&](int i) { return !is_finite(p.W[i]) || !row_is_valid(p, i); });
  return broken ? EnvStatus::bad_input : EnvStatus::solved;
}

/// Solves environment `env` of the batch, whose W is not looked at, from the scaled velocities that
/// `start`[nv], less those of the free motion, gives.
template <class G>
SS_HD void solve_convex(const G& g, const ProblemBatch<double>& batch, const SparseMechanism& m,
                        const double* start, const ResultBatch<double>& result,
                        const SolveOptions& o, std::int64_t env, ConvexScratch& scratch) {
  double* impulse = slot(result.impulse, env);
  g.for_each(batch.max_rows, [&](int i) { impulse[i] = 0.0; });
  EnvProblem<double> p{};
  int rows_needed = 0;
  EnvStatus status = open_without_W(g, batch, env, m, scratch, p, rows_needed);
  if (status != EnvStatus::solved) {
    report(g, result, env, status, Limits<double>::infinity, 0, Solver::automatic, 0, rows_needed);
    return;
  }
  enter_circular_coordinates(g, p, o.law, scratch.view);
  Judge<double>& judge = scratch.judge;
  open_judge(g, p, o, scratch.judge_memory, impulse, judge);
  Scaled<double>& s = scratch.scaled;
  scale_vectors(g, p, o.law, s);
  g.for_each(m.tree.n, [&](int k) { scratch.newton.x[k] = s.q * start[k]; });
  const int steps =
      run_velocity_newton(g, p, m, s, scratch.newton, 2 * min(o.max_newton, kMostSteps),
                          SparseVelocity{p, m, scratch.change}, judge);
  status = judge.solved() ? EnvStatus::solved : EnvStatus::not_converged;
  report(g, result, env, status, judge.best_residual, steps, Solver::newton, 0, p.n);
}

}  // namespace stickslip::kernels::inline SS_ISA
