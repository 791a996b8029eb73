// One environment of an engine's mechanism from its slot to its verdict without W. It is solved as
// a whole: the pattern of the block LU has its islands apart anyway, and all of them give the lanes
// of a group work.
#pragma once
#include "kernels/delassus/widen_mechanism.hpp"
#include "kernels/env/climb_sparse.hpp"
#include "kernels/env/solve_env.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct SparseEnvScratch {
  ViewScratch<double> view;
  EnvProblem<double>* problem;
  Climb* climb;
  JudgeMemory<double>* judge;
  JudgeMemory<double> judge_memory;
  SparseScratch widened;
  ColumnIndex columns;  ///< of J
  double* diagonal;     ///< [rows] of W
  double* W;            ///< [rows][rows], if it is needed
  TreeScratch tree;
  SparseScaled scaled;
  Arena stage;

  SS_HD SparseEnvScratch(Arena& arena, int nv, int max_rows, int max_contacts)
      : view(arena, max_rows, max_contacts),
        problem(arena.take<EnvProblem<double>>(1)),
        climb(arena.take<Climb>(1)),
        judge(arena.take<JudgeMemory<double>>(1)),
        judge_memory(arena, max_rows),
        widened(arena, nv, max_rows),
        columns{arena.take<std::int32_t>(std::size_t(nv) + 1),
                arena.take<std::int32_t>(std::size_t(max_rows) * nv),
                arena.take<std::int32_t>(std::size_t(max_rows) * nv)},
        diagonal(arena.take<double>(max_rows)),
        W(arena.take<double>(std::size_t(max_rows) * max_rows)),
        tree(arena, nv, max_rows),
        scaled(arena, nv, max_rows, max_contacts),
        stage(arena) {}

  /// In memory: its pointers would use too many registers.
  template <class G>
  SS_HD static SparseEnvScratch& make(const G& g, Arena arena, int nv, int max_rows,
                                      int max_contacts) {
    SparseEnvScratch& scratch = *arena.take<SparseEnvScratch>(1);
    g.once([&] { scratch = SparseEnvScratch(arena, nv, max_rows, max_contacts); });
    return scratch;
  }
  SS_HD static std::size_t bytes(int nv, int max_rows, int max_contacts) {
    Arena arena(nullptr);
    arena.take<SparseEnvScratch>(1);
    Arena path = SparseEnvScratch(arena, nv, max_rows, max_contacts).stage, proof = path;
    path.take<InteriorScratch<double>>(1);
    InteriorScratch<double>(path, max_rows, max_contacts);
    proof.take<EnvProblem<double>>(1);
    Farkas(proof, max_rows);
    return max(path.used(), proof.used());
  }
};

/// SparseEnvScratch::bytes in the form of the kernels that know pyramids.
inline std::size_t sparse_bytes(int max_rows, int max_contacts, int, MatrixKind matrix) {
  return SparseEnvScratch::bytes(matrix.nv, max_rows, max_contacts);
}

/// Opens the problem with the diagonal of W alone, and makes m its mechanism. What may be of use
/// with W is not bad input yet.
template <class G>
SS_HD EnvStatus open_sparse(const G& g, const EngineMechanism& mechanism,
                            const ProblemBatch<double>& batch, std::int64_t env,
                            const SparseEnvScratch& scratch, SparseMechanism& m,
                            EnvProblem<double>& p, int& rows_needed) {
  const EnvStatus status = open_problem(g, batch, env, scratch.view, p, rows_needed);
  if (status != EnvStatus::solved) return status;
  const int nv = mechanism.nv;
  if (!widen_mechanism(g, view_of(mechanism, env), nv, p.n, scratch.widened, m))
    return EnvStatus::not_converged;
  const ItemPaths& w = scratch.scaled.paths;  // not used yet
  delassus_diagonal(g, m, scratch.diagonal, w.column, w.dofs, nv);
  return take_diagonal(g, scratch.diagonal, p) ? EnvStatus::solved : EnvStatus::not_converged;
}

/// Solves environment `env`, which `begins_without_W`. Where the block LU does not fit its memory
/// (block_capacity), only the start is judged.
template <IsGroup G>
SS_HD void solve_sparse_env(const G& g, const MatrixSource<double>& source,
                            const ProblemBatch<double>& batch, const ResultBatch<double>& result,
                            const Ladder& ladder, std::int64_t env, SparseEnvScratch& scratch) {
  const SolveOptions& o = ladder.options;
  double *impulse = slot(result.impulse, env), *certificate = slot(result.certificate, env);
  clear_result(g, batch.max_rows, impulse, certificate);
  SparseMechanism m{};
  EnvProblem<double> view{};
  int rows_needed = 0;
  const EnvStatus status = open_sparse(g, source.engine, batch, env, scratch, m, view, rows_needed);
  const MechanismStep<double>& step = source.step;
  if (status != EnvStatus::solved) {
    report(g, result, env, status, Limits<double>::infinity, 0, Solver::automatic, 0, rows_needed);
    write_velocity(
        g, source.engine.nv, [](int) { return -0.0; }, slot(step.v_free, env),
        slot(step.v_next, env));
    return;
  }
  view.directions = o.directions;
  g.once([&] { *scratch.problem = view; });
  const EnvProblem<double>& p = *scratch.problem;
  enter_circular_coordinates(g, p, facts_of(o.law).is_frictionless, scratch.view);
  if constexpr (G::kChunk == 1) {  // columns have lanes of their own
    list_columns(g, m, scratch.columns);
    g.once([&] { scratch.scaled.columns = scratch.columns; });
  }
  Judge<double> judge(o.law, scratch.judge);
  open_judge(g, p, o, scratch.judge_memory, impulse, certificate, judge);
  VelocityScratch place{scratch.scaled, judge,     scratch.climb,
                        scratch.stage,  scratch.W, scratch.tree};
  Outcome out;
  climb_sparse(g, p, m, ladder, 0, place, env, 1.0, out);
  report(g, result, env, out, p.n);
  change_velocity(g, m, impulse, scratch.scaled.change, scratch.scaled.columns);
  write_velocity(
      g, m.tree.n, [&](int k) { return scratch.scaled.change[k]; }, slot(step.v_free, env),
      slot(step.v_next, env));
}

}  // namespace stickslip::kernels::inline SS_ISA
