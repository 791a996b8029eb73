// An environment, as a whole or island by island (problem/islands.hpp), from its open problem to
// its result.
#pragma once
#include "kernels/env/solve_sparse.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Whether environments that a group solves may be large enough to be divided.
#if defined(__CUDACC__)
template <class G>
inline constexpr bool kTakesLarge = G::kLanes > 64;
#else
template <class G>
inline constexpr bool kTakesLarge = true;
#endif

/// Finds the islands and forms their matrices. Returns how many there are; 0: only one.
template <class G, class Scalar>
SS_HD int divide(const G& g, const EnvProblem<Scalar>& p, const Islands<Scalar>& s) {
  const int count = find_islands(g, p, s);
  if (count <= 1) return 0;
  list_islands(g, p, count, s);
  for (int i = 0; i < count; ++i) {
    lay_out_island(g, p, s, i);
    copy_island_matrix(g, p, s, i);
  }
  return count;
}

/// The same for a mechanism in sparse form, also where it is one island: p has the diagonal of W in
/// place of W, and no matrix is formed yet. 0 if some number is not finite. x, path, `ld`: scratch
/// of delassus_diagonal.
template <class G>
SS_HD int divide_mechanism(const G& g, const SparseMechanism& m, const IslandMechanism& a,
                           const Islands<double>& s, double* x, std::int32_t* path, int ld,
                           EnvProblem<double>& p) {
  const int count = max(find_islands(g, p, m, a, s), 1);
  list_islands(g, p, count, s);
  delassus_diagonal(g, m, a.diagonal, x, path, ld);
  return take_diagonal(g, a.diagonal, p) ? count : 0;
}

/// Adds the result of an island to that of its environment.
SS_HD void combine(const Outcome& island, Outcome& all) {
  if (island.status > all.status) all.status = island.status;
  all.residual = max(all.residual, island.residual);
  all.iterations = max(all.iterations, island.iterations);
  all.selected = all.selected && island.selected;
  all.chooses = all.chooses || island.chooses;
  if (all.solver != Solver::automatic && island.rung <= all.rung) return;
  all.rung = island.rung;
  all.solver = island.solver;
}

/// Begins with island i, or with p if it is not divided. Whether it has been solved before.
template <class Real, class Factor, class G, class Scalar, KernelVariant kVariant>
SS_HD bool open_part(const G& g, const EnvProblem<Scalar>& p, const SolveOptions& o,
                     EnvScratch<Real, Factor, Scalar, kVariant>& scratch, bool divided, int i,
                     bool begun, Scalar* impulse, double* certificate, Outcome& before) {
  Judge<Scalar>& judge = scratch.judge;
  const Islands<Scalar>& s = scratch.islands;
  if (!divided) {
    open_judge(g, p, o, scratch.judge_memory, impulse, certificate, judge);
    if (begun) judge.best_residual = before.residual;
    return false;
  }
  const IslandState state = IslandState(s.state[i]);
  before.iterations = 0;
  before.status = state == IslandState::left         ? EnvStatus::not_converged
                  : state == IslandState::infeasible ? EnvStatus::infeasible
                                                     : EnvStatus::solved;
  before.residual = s.residual[i];
  before.selected = state == IslandState::selected;
  before.chooses = true;  // or not: this says the same
  before.tried = state == IslandState::tried ||
                 (state == IslandState::unknown && before.tried && s.rows[i] > kUndividedRows);
  if (begun && is_final(state)) return true;
  enter_island(g, p, s, i, impulse);
  open_judge(g, *s.part, o, scratch.judge_memory, s.impulse, s.certificate, judge);
  if (!begun) return false;
  if (state == IslandState::unknown) {
    judge_best(g, *s.part, judge);
    before.residual = judge.best_residual;
  }
  judge.best_residual = before.residual;
  return judge.solved();
}

/// What is known of an island after a solve.
SS_HD IslandState state_after(const Outcome& one, bool left) {
  if (one.status == EnvStatus::solved)
    return one.selected ? IslandState::selected : IslandState::solved;
  if (one.status == EnvStatus::infeasible) return IslandState::infeasible;
  if (!one.tried) return IslandState::unsolved;
  return left ? IslandState::left : IslandState::tried;
}

/// Ends with island i; `left`: for good.
template <class G, class Scalar>
SS_HD void close_island(const G& g, const Islands<Scalar>& s, int i, const Outcome& one, bool left,
                        Scalar* impulse, double* certificate) {
  leave_island(g, s, impulse, certificate);
  g.once([&] {
    s.state[i] = std::int32_t(state_after(one, left));
    s.residual[i] = one.residual;
  });
}

/// Whether p, which all rungs have not solved without W, is left at that: where no other rungs are
/// allowed, or not a step of them, and in simulations near a solution, where neither a proof nor a
/// softened answer would be of use. `share`: of the work that the options allow.
template <class G, class Scalar>
SS_HD bool is_left(const G& g, const EnvProblem<Scalar>& p, const Ladder& ladder, double residual,
                   double share) {
  const SolveOptions& o = ladder.options;
  const double b_max = g.max(p.n, [&](int i) { return abs(double(p.b[i])); });
  const bool near = residual <= kFar * b_max;
  const bool limited = o.max_work > 0.0 && share * o.max_work < Work::of_dense(p.n).step;
  return !ladder.has_later_rungs || limited || (near && !o.thorough);
}

/// The island i of a mechanism that was entered and opened: solved without W if it is large and
/// sparse. Unless that solves it, its matrix is formed, and the solve goes on from the best impulse
/// so far. Whether nothing is left to do; `one`: the result, if it was tried.
template <class Real, class Factor, class G, KernelVariant kVariant>
SS_HD bool solve_mechanism_island(const G& g, const EnvProblem<double>& p,
                                  const MechanismStage& mechanism, const Ladder& ladder,
                                  EnvScratch<Real, Factor, double, kVariant>& scratch, int i,
                                  bool begun, std::int64_t env, double share, Outcome& one) {
  const Islands<double>& s = scratch.islands;
  const IslandState state = IslandState(s.state[i]);
  if (state == IslandState::unsolved || state == IslandState::tried)
    return false;  // has its matrix
  const IslandMechanism& islands = mechanism.scratch->islands;
  const SparseMechanism own = part_of(g, p, *mechanism.given, s, i, islands);
  Judge<double>& judge = scratch.judge;
  if constexpr (kWithoutW<G> && sizeof(Real) == 8) {
    if (!begun && ladder.variant == KernelVariant::rung0 &&
        leaves_W(s.rows[i], s.part->first_contact_row(), own.tree.n)) {
      enter_diagonal(g, s, islands);
      VelocityScratch sparse{mechanism.scratch->scaled,
                             judge,
                             scratch.climb,
                             scratch.stage,
                             s.matrix(i),
                             islands.tree};
      const bool ran = solve_sparse(g, *s.part, own, ladder, sparse, env, share, one);
      const bool left = is_left(g, *s.part, ladder, judge.best_residual, share);
      if (ran && (judge.solved() || judge.infeasible || left)) return true;
    }
  }
  form_island_matrix(g, own, s, i, islands);
  open_judge(g, *s.part, ladder.options, scratch.judge_memory, s.impulse, s.certificate, judge);
  if (one.tried) judge.best_residual = one.residual;
  return false;
}

/// Solves p, divided into `count` islands or, if that is 0, as a whole. Islands run rung 0, all of
/// them, before the unsolved ones run the others. `before`: the result of the rungs that have run;
/// `mechanism`: that of p, if its W is not formed.
template <class Real, class Factor, class G, class Scalar, KernelVariant kVariant>
SS_HD Outcome solve_islands(const G& g, const EnvProblem<Scalar>& p,
                            const MechanismStage& mechanism, const Ladder& ladder,
                            EnvScratch<Real, Factor, Scalar, kVariant>& scratch, Rungs rungs,
                            std::int64_t env, int count, Scalar* impulse, double* certificate,
                            const Outcome& before) {
  const bool divided = count > 0,
             twice = count > 1 && rungs == Rungs::all && ladder.has_later_rungs;
  Rungs now = twice ? Rungs::opening : rungs;
  Outcome first = before;
  for (;;) {
    Outcome all{.rung = first.rung, .solver = first.solver};
    for (int i = 0; i < max(count, 1); ++i) {
      Outcome one = first;
      const bool begun = now == Rungs::later;
      bool over =
          open_part(g, p, ladder.options, scratch, divided, i, begun, impulse, certificate, one);
      if (over) {
        combine(one, all);
        continue;
      }
      // One place that solves: a GPU's instruction cache has no room for another.
      const EnvProblem<Scalar>& part = divided ? *scratch.islands.part : p;
      const double share = double(part.n) / double(max(p.n, 1));
      if constexpr (kVariant == KernelVariant::all && sizeof(Scalar) == 8 && !kOnGpu) {
        if (mechanism.given != nullptr)
          over =
              solve_mechanism_island(g, p, mechanism, ladder, scratch, i, begun, env, share, one);
      }
      bool left = over;
      if (begun && one.tried && is_left(g, part, ladder, scratch.judge.best_residual, share)) {
        left = over = true;
        one.status = EnvStatus::not_converged;
        one.chooses = true;
        one.selected = false;
      }
      if (one.tried && now == Rungs::opening) over = true;  // the others first
      const Rungs next = one.tried ? Rungs::later : now;
      if (!over) one = solve_part(g, part, ladder, scratch, next, env, share, one);
      if (!divided) return one;
      close_island(g, scratch.islands, i, one, left, impulse, certificate);
      combine(one, all);
    }
    all.iterations += first.iterations;
    if (!twice || now == Rungs::later || all.status == EnvStatus::solved) return all;
    first = all;
    now = Rungs::later;
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
