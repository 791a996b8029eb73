// One environment from its slot in the batch to its verdict: check, scale, run the ladder, judge.
#pragma once
#include "kernels/env/solve_islands.hpp"
#include "kernels/group/is_group.hpp"
#include "stickslip/batch.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Writes the results that every verdict has.
template <class G, class Scalar>
SS_HD void report(const G& g, const ResultBatch<Scalar>& result, std::int64_t env, EnvStatus status,
                  double residual, int iterations, Solver solver, int rung, int rows_needed,
                  Selected selected = Selected::no) {
  g.once([&] {
    result.status[env] = status;
    result.residual[env] = residual;
    result.iterations[env] = iterations;
    if (result.solver != nullptr) result.solver[env] = solver;
    if (result.rows_needed != nullptr) result.rows_needed[env] = rows_needed;
    if (result.rung != nullptr) result.rung[env] = rung;
    if (result.selected != nullptr) result.selected[env] = selected;
  });
}

template <class G, class Scalar>
SS_HD void report(const G& g, const ResultBatch<Scalar>& result, std::int64_t env,
                  const Outcome& out, int rows) {
  const Selected selected = !out.chooses   ? Selected::unique
                            : out.selected ? Selected::yes
                                           : Selected::no;
  report(g, result, env, out.status, out.residual, out.iterations, out.solver, out.rung, rows,
         selected);
}

template <class Scalar>
SS_HD MechanismView<Scalar> view_of(const MatrixSource<Scalar>& source, std::int64_t env) {
  if (source.engine.num_envs == 0) return view_of(source.step.mechanism, env);
  return {source.engine.nv, nullptr, nullptr, true, view_of(source.engine, env)};
}

/// Opens the problem of the batch, or of a caller's arrays in float.
template <class Scratch, class G, class Scalar>
SS_HD EnvStatus open_source(const G& g, const MatrixSource<Scalar>& source,
                            const ProblemBatch<Scalar>& batch, std::int64_t env,
                            const Scratch& scratch, EnvProblem<Scalar>& p, int& rows_needed) {
  if constexpr (sizeof(Scalar) == 8) {
    const ProblemBatch<float>& floats = source.floats.problem;
    if (floats.num_envs > 0) {
      const EnvStatus status = open_problem(g, floats, env, scratch.view, p, rows_needed);
      if (status == EnvStatus::solved) widen_vectors(g, floats, env, scratch.vectors, p);
      return status;
    }
  }
  return open_problem(g, batch, env, scratch.view, p, rows_needed);
}

/// Forms W in the scratch if the batch does not have it. False if the mechanism is not valid.
template <class Scratch, class G, class Scalar>
SS_HD bool form_own_matrix(const G& g, const MatrixSource<Scalar>& source, std::int64_t env,
                           const Scratch& scratch, EnvProblem<Scalar>& p) {
  if (scratch.W == nullptr) return true;
  p.W = scratch.W;
  p.ld_W = scratch.ld_W;
  if constexpr (sizeof(Scalar) == 8) {
    if (source.floats.problem.W.data != nullptr) {
      widen_matrix(g, source.floats.problem, env, p.n, scratch.W, p.ld_W);
      return true;
    }
    if (source.engine.num_envs > 0) {
      const EngineView engine = view_of(source.engine, env);
      if (!indices_are_valid(g, engine, source.engine.nv, p.n)) return false;
    }
  }
  return form_matrix(g, view_of(source, env), p.n, scratch.delassus, scratch.W, p.ld_W);
}

/// Completes and checks the matrix of the open problem, and divides a large one into `islands`; 0:
/// it stays whole. False if some number is not valid.
template <class Scratch, class G, class Scalar>
SS_HD bool open_matrix(const G& g, const MatrixSource<Scalar>& source, std::int64_t env,
                       const Ladder& ladder, const Scratch& scratch, EnvProblem<Scalar>& p,
                       const MechanismStage& mechanism, int& islands) {
  if constexpr (sizeof(Scalar) == 8 && Scratch::kDivides && !kOnGpu) {
    if (mechanism.given != nullptr) {
      const IslandMechanism& a = mechanism.scratch->islands;
      islands = divide_mechanism(g, *mechanism.given, a, scratch.islands, a.x, a.path, 0, p);
      return islands > 0;
    }
  }
  const bool needs_symmetry = facts_of(ladder.options.law).needs_symmetric_W;
  if (!form_own_matrix(g, source, env, scratch, p) ||
      !check_values(g, p, needs_symmetry, source.is_from_float()))
    return false;
  if constexpr (Scratch::kDivides && kTakesLarge<G>) {
    // Packs of sweeps take environments as a whole.
    if (p.n > kUndividedRows && ladder.variant == KernelVariant::rung0)
      islands = divide(g, p, scratch.islands);
  }
  return true;
}

/// Writes v_next = v_free + x, if it is requested; x(k) of degree of freedom k.
template <class G, class Data, class X>
SS_HD void write_velocity(const G& g, int nv, X&& x, const Data* v_free, Data* v_next) {
  if (v_next == nullptr) return;
  g.for_each(nv, [&](int k) { v_next[k] = Data(x(k) + v_free[k]); });
}

/// Applies the impulse to the velocities and writes results in float, if they are requested.
template <class Scratch, class G, class Scalar>
SS_HD void advance(const G& g, const MatrixSource<Scalar>& source,
                   const ProblemBatch<Scalar>& batch, const ResultBatch<Scalar>& result,
                   std::int64_t env, const Scratch& scratch) {
  const FloatStorage& floats = source.floats;
  const Scalar* impulse = slot(result.impulse, env);
  if (floats.impulse.data != nullptr) {
    float* narrow = slot(floats.impulse, env);
    g.for_each(batch.max_rows, [&](int i) { narrow[i] = float(impulse[i]); });
  }
  if (source.step.v_next.data == nullptr && floats.v_next.data == nullptr) return;
  const EnvStatus status = result.status[env];
  const bool moves = status != EnvStatus::bad_input && status != EnvStatus::over_capacity;
  const MechanismView<Scalar> mechanism = view_of(source, env);
  if (moves) change_velocity(g, mechanism, scratch.problem->n, impulse, scratch.delassus);
  const int nv = mechanism.nv;
  const auto x = [&](int k) {  // in reverse order; -0: the sum is v_free, whatever its sign
    return moves ? scratch.delassus.x[nv - 1 - k] : Scalar(-0.0);
  };
  write_velocity(g, nv, x, slot(source.step.v_free, env), slot(source.step.v_next, env));
  write_velocity(g, nv, x, slot(floats.v_free, env), slot(floats.v_next, env));
}

struct Nothing {
  template <class Scratch>
  SS_HD void operator()(Scratch&) const {}
};

/// Writes zero impulses, and no proof.
template <class G, class Scalar>
SS_HD void clear_result(const G& g, int max_rows, Scalar* impulse, double* certificate) {
  g.for_each(max_rows, [&](int i) {
    impulse[i] = Scalar(0);
    if (certificate != nullptr) certificate[i] = 0.0;
  });
}

/// Solves environment `env` of the batch. In `Rungs::later`, rung 0 has run before and `result`
/// contains its result: the later rungs need only this, and rung 1 starts at rest.
template <class Real, class Factor, class G, class Scalar, KernelVariant kVariant>
SS_HD void solve_problem(const G& g, const MatrixSource<Scalar>& source,
                         const ProblemBatch<Scalar>& batch, const ResultBatch<Scalar>& result,
                         const Ladder& ladder, std::int64_t env,
                         EnvScratch<Real, Factor, Scalar, kVariant>& scratch, Rungs rungs) {
  const SolveOptions& o = ladder.options;
  Scalar* impulse = slot(result.impulse, env);
  double* certificate = slot(result.certificate, env);
  if (rungs != Rungs::later) clear_result(g, batch.max_rows, impulse, certificate);
  EnvProblem<Scalar> view{};
  int rows_needed = 0, islands = 0;
  EnvStatus status = open_source(g, source, batch, env, scratch, view, rows_needed);
  view.directions = o.directions;
  MechanismStage mechanism;
  if constexpr (!kOnGpu) {
    if (source.sparse != nullptr) {
      mechanism = {source.sparse,
                   &MechanismScratch::make(g, scratch.mechanism, source.sparse->tree.n,
                                           batch.max_rows, batch.max_contacts)};
    }
  }
  if (status == EnvStatus::solved &&
      !open_matrix(g, source, env, ladder, scratch, view, mechanism, islands))
    status = EnvStatus::bad_input;
  if constexpr (kVariant == KernelVariant::pivoting) {
    if (status == EnvStatus::solved && scratch.directions == 0 && !fits_pyramid_tableau(view))
      status = EnvStatus::over_capacity;  // no later variant takes it
  }
  if (status != EnvStatus::solved) {
    report(g, result, env, status, Limits<double>::infinity, 0, Solver::automatic, 0, rows_needed);
    return;
  }
  g.once([&] {
    *scratch.problem = view;
    scratch.climb->env = env;
  });
  const EnvProblem<Scalar>& p = *scratch.problem;
  enter_circular_coordinates(g, p, facts_of(o.law).is_frictionless, scratch.view);
  Outcome before;
  if (rungs == Rungs::later) {
    before.residual = result.residual[env];
    before.iterations = result.iterations[env];
    before.tried = is_finite(before.residual) && begins_without_W(source, ladder, p.n);
    if (result.solver != nullptr) before.solver = result.solver[env];
    if (result.rung != nullptr) before.rung = result.rung[env];
  }
  const Outcome out = solve_islands(g, p, mechanism, ladder, scratch, rungs, env, islands, impulse,
                                    certificate, before);
  report(g, result, scratch.climb->env, out, p.n);
}

/// The same from the matrix of the caller or of the mechanism to the new velocities. At the end,
/// `then` may use what the scratch holds of the problem.
template <class Real, class Factor, IsGroup G, class Scalar, KernelVariant kVariant,
          class Then = Nothing>
SS_HD void solve_env(const G& g, const ProblemBatch<Scalar>& batch,
                     const ResultBatch<Scalar>& result, const Ladder& ladder, std::int64_t env,
                     EnvScratch<Real, Factor, Scalar, kVariant> scratch, Rungs rungs = Rungs::all,
                     const MatrixSource<Scalar>& source = MatrixSource<Scalar>{},
                     Then then = Then{}) {
  if constexpr (kVariant == KernelVariant::general) {  // continues where `pivoting` ended
    const RowCounts s = *slot(batch.counts, env);
    const std::int32_t rows = rows_of(s, slot(batch.dims, env), batch.max_contacts);
    if (fits_pyramid_tableau(rows, s.n_contacts, ladder.options.directions)) return;
  }
  scratch.scaled.n = 0;  // not scaled yet
  solve_problem<Real, Factor>(g, source, batch, result, ladder, env, scratch, rungs);
  advance(g, source, batch, result, env, scratch);
  then(scratch);
}

}  // namespace stickslip::kernels::inline SS_ISA
