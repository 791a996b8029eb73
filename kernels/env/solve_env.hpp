// One environment from its slot in the batch to its verdict: check, scale, run the ladder, judge.
#pragma once
#include "kernels/env/start.hpp"
#include "kernels/group/is_group.hpp"
#include "kernels/group/stop.hpp"
#include "kernels/ladder/run_stage.hpp"
#include "stickslip/batch.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Scalar>
SS_HD EnvStatus verdict_of(const Judge<Scalar>& judge) {
  if (judge.solved()) return EnvStatus::solved;
  return judge.infeasible ? EnvStatus::infeasible : EnvStatus::not_converged;
}

/// Writes the results that every verdict has.
template <class G, class Scalar>
SS_HD void report(const G& g, const ResultBatch<Scalar>& result, std::int64_t env, EnvStatus status,
                  double residual, int iterations, Solver solver, int rung, int rows_needed) {
  g.once([&] {
    result.status[env] = status;
    result.residual[env] = residual;
    result.iterations[env] = iterations;
    if (result.solver != nullptr) result.solver[env] = solver;
    if (result.rows_needed != nullptr) result.rows_needed[env] = rows_needed;
    if (result.rung != nullptr) result.rung[env] = rung;
  });
}

/// Whether zero impulses that were not judged at the start are judged now: after the first
/// candidate, at the latest before `next` leaves rung 0 or the ladder.
template <class Scalar>
SS_HD bool zero_is_due(const Stage& next, const Judge<Scalar>& judge) {
  return judge.best_residual < Limits<double>::infinity || next.rung > 0 ||
         next.method == Method::none;
}

/// Runs the stages of the rungs until one of them solves. `judged`: whether the start was judged.
template <class Real, class Factor, class G, class Scalar, KernelVariant kVariant>
SS_HD void climb(const G& g, const EnvProblem<Scalar>& p, const Ladder& ladder,
                 EnvScratch<Real, Factor, Scalar, kVariant>& scratch, Rungs rungs, bool judged) {
  Judge<Scalar>& judge = scratch.judge;
  Climb& at = *scratch.climb;
  while (!stopped(g)) {
    if constexpr (rungs_of(kVariant) != Rungs::later) {
      if (!judged && zero_is_due(ladder.stage(at.next), judge)) {
        if (judge_zero(g, p, judge)) g.once([&] { at.forget(ladder); });
        judged = true;
      }
    }
    if (judge.solved() && !judge.selected) {  // few attempts to select; it is a solution anyway
      if (!at.may_select(p.n)) break;
      g.once([&] { at.select(ladder, p.n, judge.best_residual); });
    } else {
      const double b_max = g.max(p.n, [&](int i) { return abs(double(p.b[i])); });
      g.once([&] {
        // Where the other rungs are a launch of their own, it does not know.
        if (at.stage.rung == 0) judge.at->hidden = false;
        at.enter(ladder, p.n, judge.best_residual, b_max, judge.infeasible);
        // A solution that rounding hides is hardly in another basin: simulations do not look there.
        const bool hides = judge.at->hidden && !ladder.options.thorough;
        if (hides && at.stage.rung >= kOtherBasins) at.stage.budget = 0;
      });
    }
    if (at.stage.method == Method::none) break;
    if (rungs == Rungs::opening && at.stage.rung > 0) break;
    if (at.stage.budget == 0 || (rungs == Rungs::later && at.stage.rung == 0)) continue;
    judge.last_residual = Limits<double>::infinity;
    const int done = run_stage(g, p, at.stage, scratch);
    g.once([&] { at.leave(done, p.n, judge.best_residual); });
    if (judge.done()) break;
    if (at.answering && !judge.solved()) {
      answer_candidate(g, p, judge);
      g.once([&] { at.rung = at.stage.rung; });
      break;
    }
  }
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

/// Writes v_next = v_free + x, if it is requested; x in reverse order, null: 0.
template <class G, class Scalar, class Data>
SS_HD void write_velocity(const G& g, int nv, const Scalar* x, const Data* v_free, Data* v_next) {
  if (v_next == nullptr) return;
  g.for_each(nv, [&](int k) {
    v_next[k] = x == nullptr ? v_free[k] : Data(Scalar(v_free[k]) + x[nv - 1 - k]);
  });
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
  const Scalar* x = moves ? scratch.delassus.x : nullptr;
  const int nv = mechanism.nv;
  write_velocity(g, nv, x, slot(source.step.v_free, env), slot(source.step.v_next, env));
  write_velocity(g, nv, x, slot(floats.v_free, env), slot(floats.v_next, env));
}

struct Nothing {
  template <class Scratch>
  SS_HD void operator()(Scratch&) const {}
};

/// Scales the problem for the iterative methods; where it is regular, nothing is to be selected.
template <class Real, class Factor, class G, class Scalar, KernelVariant kVariant>
SS_HD void prepare(const G& g, const EnvProblem<Scalar>& p, const Ladder& ladder,
                   EnvScratch<Real, Factor, Scalar, kVariant>& scratch) {
  constexpr Contents kHas = contents_of(kVariant);
  Judge<Scalar>& judge = scratch.judge;
  if (ladder.variant != KernelVariant::pivoting) {
    if constexpr (kHas.newton || kHas.altered) {
      scale_and_select(g, p, ladder.options.law, scratch.scaled);
      const double crowd = measure_crowds(g, scratch.scaled);
      Arena arena = scratch.stage;
      Real* const K = arena.take<Real>(std::size_t(p.n) * p.n);
      if (!judge.selects && is_regular(g, scratch.scaled, crowd, K))
        judge.selects = judge.selected = true;
    } else {
      scale_problem(g, p, ladder.options.law, scratch.scaled);
    }
  }
  if constexpr (kVariant == KernelVariant::later) g.once([&] { *scratch.kept = scratch.scaled; });
}

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
  const LawFacts law = facts_of(o.law);
  EnvProblem<Scalar> view{};
  int rows_needed = 0;
  EnvStatus status = open_source(g, source, batch, env, scratch, view, rows_needed);
  view.directions = o.directions;
  if (status == EnvStatus::solved &&
      !(form_own_matrix(g, source, env, scratch, view) &&
        check_values(g, view, law.needs_symmetric_W, source.is_from_float()))) {
    status = EnvStatus::bad_input;
  }
  if constexpr (kVariant == KernelVariant::pivoting) {
    if (status == EnvStatus::solved && scratch.directions == 0 && !fits_pyramid_tableau(view))
      status = EnvStatus::over_capacity;  // no later variant takes it
  }
  if (status != EnvStatus::solved) {
    report(g, result, env, status, Limits<double>::infinity, 0, Solver::automatic, 0, rows_needed);
    return;
  }
  g.once([&] { *scratch.problem = view; });
  const EnvProblem<Scalar>& p = *scratch.problem;
  enter_circular_coordinates(g, p, law.is_frictionless, scratch.view);
  Judge<Scalar>& judge = scratch.judge;
  open_judge(g, p, o, scratch.judge_memory, impulse, certificate, judge);
  Climb& at = *scratch.climb;
  g.once([&] { at = Climb(env, ladder, p.n); });
  judge.selects = !(ladder.selects && may_select(g, p));
  bool judged = true;
  if (rungs == Rungs::later) {
    judge.best_residual = result.residual[env];
    g.once([&] {
      at.iterations = result.iterations[env];
      if (result.solver != nullptr) at.solver = result.solver[env];
    });
  } else {
    judged = judge_start(g, p, judge, ladder.variant != KernelVariant::sweeping);
  }
  // The path of the selected solution begins at zero impulses.
  judge.selected = judge.selects || !g.any(p.n, [&](int i) { return impulse[i] != Scalar(0); });
  if (p.n > 0 && (!judge.done() || o.fixed_sweeps || o.fixed_pivots)) {
    if constexpr (EnvScratch<Real, Factor, Scalar, kVariant>::kIterates)
      prepare(g, p, ladder, scratch);
    const bool exact = o.fixed_sweeps || o.fixed_pivots;
    if (!judge.done() || exact) climb(g, p, ladder, scratch, rungs, judged);
  }
  // The later rungs continue with a residual that is not yet the bound.
  if (rungs != Rungs::opening || !ladder.has_later_rungs)
    close_judge(g, p, MatrixVelocity<Scalar>{p}, judge);
  status = verdict_of(judge);
  report(g, result, at.env, status, judge.best_residual, at.iterations, at.solver, at.rung, p.n);
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
