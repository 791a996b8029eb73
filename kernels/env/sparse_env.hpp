// One environment of an engine's mechanism from its slot to its verdict without W, island by
// island.
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
  ColumnIndex columns;  ///< of an island's J
  Islands<double> islands;
  MechanismScratch mechanism;
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
        islands(arena, max_rows, max_contacts),
        mechanism(arena, nv, max_rows, max_contacts),
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

/// Opens the problem with the diagonal of W alone, makes m its mechanism, and finds the islands,
/// `count` of them. What may be of use with W is not bad input yet.
template <class G>
SS_HD EnvStatus open_sparse(const G& g, const EngineMechanism& mechanism,
                            const ProblemBatch<double>& batch, std::int64_t env,
                            const SparseEnvScratch& scratch, SparseMechanism& m,
                            EnvProblem<double>& p, int& rows_needed, int& count) {
  const EnvStatus status = open_problem(g, batch, env, scratch.view, p, rows_needed);
  if (status != EnvStatus::solved) return status;
  if (!widen_mechanism(g, view_of(mechanism, env), mechanism.nv, p.n, scratch.widened, m))
    return EnvStatus::not_converged;
  const ItemPaths& w = scratch.mechanism.scaled.paths;  // not used yet
  count = divide_mechanism(g, m, scratch.mechanism.islands, scratch.islands, w.column, w.dofs,
                           mechanism.nv, p);
  return count > 0 ? EnvStatus::solved : EnvStatus::not_converged;
}

/// Solves island i of p.
template <class G>
SS_HD Outcome solve_sparse_island(const G& g, const EnvProblem<double>& p, const SparseMechanism& m,
                                  const Ladder& ladder, std::int64_t env, int i, double* impulse,
                                  double* certificate, SparseEnvScratch& scratch) {
  const Islands<double>& s = scratch.islands;
  MechanismScratch& mechanism = scratch.mechanism;
  enter_island(g, p, s, i, impulse);
  const SparseMechanism own = part_of(g, p, m, s, i, mechanism.islands);
  enter_diagonal(g, s, mechanism.islands);
  if constexpr (G::kChunk == 1) {  // columns have lanes of their own
    list_columns(g, own, scratch.columns);
    g.once([&] { mechanism.scaled.columns = scratch.columns; });
  }
  Judge<double> judge(ladder.options.law, scratch.judge);
  open_judge(g, *s.part, ladder.options, scratch.judge_memory, s.impulse, s.certificate, judge);
  VelocityScratch place{mechanism.scaled, judge,       scratch.climb,
                        scratch.stage,    s.matrix(i), mechanism.islands.tree};
  Outcome out;
  const double share = double(s.part->n) / double(max(p.n, 1));
  // Small islands are better off with W, and get it soon.
  const Rungs rungs = s.part->n <= kUndividedRows ? Rungs::opening : Rungs::all;
  climb_sparse(g, *s.part, own, ladder, rungs, 0, place, env, share, out);
  leave_island(g, s, impulse, certificate);
  return out;
}

/// Solves environment `env`, which `begins_without_W`. Where the block LU of an island does not fit
/// its memory (block_capacity), only the start is judged.
template <IsGroup G>
SS_HD void solve_sparse_env(const G& g, const MatrixSource<double>& source,
                            const ProblemBatch<double>& batch, const ResultBatch<double>& result,
                            const Ladder& ladder, std::int64_t env, SparseEnvScratch& scratch) {
  double *impulse = slot(result.impulse, env), *certificate = slot(result.certificate, env);
  clear_result(g, batch.max_rows, impulse, certificate);
  SparseMechanism m{};
  EnvProblem<double> view{};
  int rows_needed = 0, count = 0;
  Outcome all;
  all.status = open_sparse(g, source.engine, batch, env, scratch, m, view, rows_needed, count);
  const double* v_free = slot(source.step.v_free, env);
  double* v_next = slot(source.step.v_next, env);
  if (all.status != EnvStatus::solved) {
    all.residual = Limits<double>::infinity;
    report(g, result, env, all, rows_needed);
    write_velocity(
        g, source.engine.nv, [](int) { return -0.0; }, v_free, v_next);
    return;
  }
  view.directions = ladder.options.directions;
  g.once([&] { *scratch.problem = view; });
  const EnvProblem<double>& p = *scratch.problem;
  enter_circular_coordinates(g, p, facts_of(ladder.options.law).is_frictionless, scratch.view);
  for (int i = 0; i < count; ++i) {
    combine(solve_sparse_island(g, p, m, ladder, env, i, impulse, certificate, scratch), all);
  }
  report(g, result, env, all, p.n);
  double* const x = scratch.mechanism.scaled.change;
  change_velocity(g, m, impulse, x);
  write_velocity(
      g, m.tree.n, [&](int k) { return x[k]; }, v_free, v_next);
}

}  // namespace stickslip::kernels::inline SS_ISA
