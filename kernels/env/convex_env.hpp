// One environment of law `convex` from its mechanism to its verdict, without forming W: the
// residual needs only the diagonal of W and the velocities W r + b = J M^-1 J^T r + b.
#pragma once
#include "kernels/delassus/tree.hpp"
#include "kernels/delassus/widen_mechanism.hpp"
#include "kernels/env/solve_env.hpp"
#include "kernels/solver/newton/velocity.hpp"
#include "kernels/velocity/sparse_velocity.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct ConvexScratch {
  ViewScratch<double> view;
  Judge<double> judge;
  JudgeMemory<double> judge_memory;
  Scaled<double> scaled;  ///< without its matrix
  TreeScratch tree;
  double* diagonal;                          ///< [rows] of W
  double *change, *left, *partial, *spread;  ///< [nv]
  VelocityNewton newton;

  SS_HD ConvexScratch(Arena& arena, int nv, int max_rows, int max_contacts)
      : view(arena, max_rows, max_contacts),
        judge(arena),
        judge_memory(arena, max_rows),
        scaled(arena, max_rows, max_contacts, 0),
        tree(arena, nv, max_rows),
        diagonal(arena.take<double>(padded(max_rows))),
        change(arena.take<double>(nv)),
        left(arena.take<double>(nv)),
        partial(arena.take<double>(nv)),
        spread(arena.take<double>(nv)),
        newton(arena, nv, max_rows) {}
  SS_HD static std::size_t bytes(int nv, int max_rows, int max_contacts) {
    Arena arena(nullptr);
    ConvexScratch(arena, nv, max_rows, max_contacts);
    return arena.used();
  }
};

/// Opens the problem with the diagonal of W alone. `mechanism` as in solve_convex.
template <class G, class Mechanism>
SS_HD EnvStatus open_without_W(const G& g, const ProblemBatch<double>& batch, std::int64_t env,
                               const Mechanism& mechanism, const ConvexScratch& scratch,
                               SparseMechanism& m, EnvProblem<double>& p, int& rows_needed) {
  const EnvStatus status = open_problem(g, batch, env, scratch.view, p, rows_needed);
  if (status != EnvStatus::solved) return status;
  if (!mechanism(p.n, m)) return EnvStatus::bad_input;
  half_solve(g, m, tree_columns(p.n), scratch.tree);
  gram_diagonal(g, m, tree_columns(p.n), scratch.tree, scratch.diagonal);
  measure_spread(g, m, scratch.left, scratch.spread);
  return take_diagonal(g, scratch.diagonal, p) ? EnvStatus::solved : EnvStatus::bad_input;
}

/// Solves environment `env` of the batch without reading its W. `mechanism(n, m)` makes m that of
/// its n rows; false if it is not valid. Starts from the scaled velocities given by `start`[nv],
/// which are relative to the free velocity; null: 0.
template <IsGroup G, class Mechanism>
SS_HD void solve_convex(const G& g, const ProblemBatch<double>& batch, const Mechanism& mechanism,
                        const double* start, const ResultBatch<double>& result,
                        const SolveOptions& o, std::int64_t env, ConvexScratch& scratch) {
  clear_result(g, batch.max_rows, slot(result.impulse, env), slot(result.certificate, env));
  SparseMechanism m;
  EnvProblem<double> p{};
  int rows_needed = 0;
  EnvStatus status = open_without_W(g, batch, env, mechanism, scratch, m, p, rows_needed);
  if (status != EnvStatus::solved) {
    report(g, result, env, status, Limits<double>::infinity, 0, Solver::automatic, 0, rows_needed);
    return;
  }
  enter_circular_coordinates(g, p, facts_of(o.law).is_frictionless, scratch.view);
  Judge<double>& judge = scratch.judge;
  open_judge(g, p, o, scratch.judge_memory, slot(result.impulse, env), nullptr, judge);
  Scaled<double>& s = scratch.scaled;
  scale_vectors(g, p, o.law, s);
  g.for_each(m.tree.n,
             [&](int k) { scratch.newton.x[k] = start == nullptr ? 0.0 : s.q * start[k]; });
  const SparseVelocity velocity{
      p, m, scratch.change, scratch.left, scratch.partial, scratch.spread};
  const int steps = run_velocity_newton(g, p, m, s, scratch.newton, min(o.max_newton, kMostSteps),
                                        velocity, judge);
  close_judge(g, p, velocity, judge);
  status = verdict_of(judge);
  report(g, result, env, status, judge.best_residual, steps, Solver::newton, 0, p.n);
}

/// The same for the mechanism of one environment.
template <IsGroup G>
SS_HD void solve_convex(const G& g, const ProblemBatch<double>& batch,
                        const SparseMechanism& mechanism, const double* start,
                        const ResultBatch<double>& result, const SolveOptions& o, std::int64_t env,
                        ConvexScratch& scratch) {
  const auto given = [&](int, SparseMechanism& m) {
    m = mechanism;
    return true;
  };
  solve_convex(g, batch, given, start, result, o, env, scratch);
}

/// Scratch of an environment whose mechanism an engine stores.
struct EngineConvexScratch {
  ConvexScratch convex;
  SparseScratch sparse;

  SS_HD EngineConvexScratch(Arena& arena, int nv, int max_rows, int max_contacts)
      : convex(arena, nv, max_rows, max_contacts), sparse(arena, nv, max_rows) {}
  SS_HD static std::size_t bytes(int nv, int max_rows, int max_contacts) {
    Arena arena(nullptr);
    EngineConvexScratch(arena, nv, max_rows, max_contacts);
    return arena.used();
  }
};

/// EngineConvexScratch::bytes in the form of the kernels that know pyramids.
inline std::size_t convex_bytes(int max_rows, int max_contacts, int, MatrixKind matrix) {
  return EngineConvexScratch::bytes(matrix.nv, max_rows, max_contacts);
}

/// The same for environment `env` of an engine's mechanisms; `scratch` for exactly their nv.
template <IsGroup G>
SS_HD void solve_convex(const G& g, const ProblemBatch<double>& batch,
                        const EngineMechanism& mechanism, EnvArray<const double> start,
                        const ResultBatch<double>& result, const SolveOptions& o, std::int64_t env,
                        EngineConvexScratch& scratch) {
  const auto widened = [&, view = view_of(mechanism, env), nv = mechanism.nv](int n,
                                                                              SparseMechanism& m) {
    return widen_mechanism(g, view, nv, n, scratch.sparse, m);
  };
  solve_convex(g, batch, widened, slot(start, env), result, o, env, scratch.convex);
}

}  // namespace stickslip::kernels::inline SS_ISA
