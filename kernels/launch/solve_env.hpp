// One environment from its slot in the batch to its verdict: check, scale, run the stages, judge.
#pragma once
#include "kernels/launch/ladder.hpp"
#include "kernels/solver/newton/newton.hpp"
#include "kernels/solver/newton/primal.hpp"
#include "kernels/solver/pgs/pgs.hpp"
#include "stickslip/batch.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Scratch of one environment. Stages run one after the other, so their scratch overlaps.
template <class Real, class Factor, class In>
struct EnvScratch {
  ViewScratch view;
  EnvProblem<In>* problem;  ///< the view in memory: its pointers would fill a GPU's registers
  Judge<In> judge;
  Scaled<Real> scaled;
  Arena stage;  ///< what is left, for the stage that runs

  SS_HD EnvScratch(Arena arena, int max_rows, int max_contacts)
      : view(arena, max_rows, max_contacts),
        problem(arena.take<EnvProblem<In>>(1)),
        judge(arena, max_rows),
        scaled(arena, max_rows, max_contacts),
        stage(arena) {}

  /// Bytes for environments of that size.
  SS_HD static std::size_t bytes(int max_rows, int max_contacts) {
    const EnvScratch fixed(Arena(nullptr), max_rows, max_contacts);
    Arena pgs = fixed.stage, newton = fixed.stage, primal = fixed.stage, fallback = fixed.stage;
    Pgs<Real>(pgs, max_rows);
    Newton<Real, Factor>(newton, max_rows);
    Newton<Real, Real>(fallback, max_rows);
    Primal<Real>(primal, max_rows);
    return max(max(pgs.used(), newton.used()), max(primal.used(), fallback.used()));
  }
};

/// The tolerance of the options for an environment with the given max|b|.
SS_HD double tolerance_of(const SolveOptions& o, double max_abs_b) {
  const double standard = o.precision == Precision::fp32 ? 1e-5 : 1e-9;
  const double atol = o.atol > 0.0 ? o.atol : standard;
  const double rtol = o.rtol > 0.0 ? o.rtol : standard;
  return fma(rtol, max_abs_b, atol);
}

/// Writes what every verdict has.
template <class G, class In>
SS_HD void report(const G& g, const ResultBatch<In>& result, std::int64_t env, EnvStatus status,
                  double residual, int iterations, Solver solver, int rows_needed) {
  g.once([&] {
    result.status[env] = status;
    result.residual[env] = residual;
    result.iterations[env] = iterations;
    result.solver[env] = solver;
    if (result.rows_needed != nullptr) result.rows_needed[env] = rows_needed;
  });
}

/// Scales every entry of the start by a hashed number in [0, 1): another basin to fall into.
template <class G, class In>
SS_HD void shake_start(const G& g, const EnvProblem<In>& p, int seed, Judge<In>& judge) {
  g.for_each(p.n, [&](int i) {
    std::uint32_t h = std::uint32_t(i) * 2654435761U + std::uint32_t(seed) * 40503U;
    h = (h ^ (h >> 16)) * 0x7feb352dU;
    h = (h ^ (h >> 15)) * 0x846ca68bU;
    judge.start[i] *= In(double(h >> 9) * (1.0 / 8388608.0));
  });
}

template <class Real>
SS_HD void choose_equations(const Stage& stage, Law law, Linearisation<Real>& at) {
  at.factor = Real(stage.factor);
  at.cone = stage.cone || law == Law::convex;
}

template <class Real, class Factor, class G, class In>
SS_HD int run_stage(const G& g, const EnvProblem<In>& p, const Stage& stage,
                    EnvScratch<Real, Factor, In>& scratch) {
  if (stage.shake != 0) shake_start(g, p, stage.shake, scratch.judge);
  Arena arena = scratch.stage;
  if (stage.method == Method::pgs) {
    Pgs<Real> pgs(arena, p.n);
    return run_pgs(g, p, scratch.scaled, pgs, stage.budget, stage.exact, scratch.judge);
  }
  if (stage.method == Method::primal) {
    const Primal<Real> primal(arena, p.n);
    return run_primal(g, p, scratch.scaled, primal, stage.budget, scratch.judge);
  }
  if constexpr (sizeof(Factor) != sizeof(Real)) {
    if (!stage.first) {
      Newton<Real, Real> newton(arena, p.n);
      choose_equations(stage, scratch.judge.law, newton.at);
      return run_newton(g, p, scratch.scaled, newton, stage.budget, scratch.judge);
    }
  }
  Newton<Real, Factor> newton(arena, p.n);
  choose_equations(stage, scratch.judge.law, newton.at);
  return run_newton(g, p, scratch.scaled, newton, stage.budget, scratch.judge);
}

/// Judges where the stages start from: the warm start, or no impulse at all.
template <class G, class In>
SS_HD void judge_start(const G& g, const EnvProblem<In>& p, Judge<In>& judge) {
  g.for_each(p.n, [&](int i) {
    judge.best[i] = In(0);
    judge.candidate[i] = p.warm_start == nullptr ? In(0) : p.warm_start[i];
  });
  judge_candidate(g, p, judge);
  continue_from_candidate(g, p, judge);
}

/// Solves environment `env` of the batch.
template <class Real, class Factor, class G, class In>
SS_HD void solve_env(const G& g, const ProblemBatch<In>& batch, const ResultBatch<In>& result,
                     const SolveOptions& o, std::int64_t env,
                     EnvScratch<Real, Factor, In> scratch) {
  In* impulse = slot(result.impulse, env);
  g.for_each(batch.max_rows, [&](int i) { impulse[i] = In(0); });
  EnvProblem<In> view{};
  int rows_needed = 0;
  EnvStatus status = open_problem(g, batch, env, scratch.view, view, rows_needed);
  view.directions = o.directions;
  if (status == EnvStatus::solved && !check_values(g, view, o.law)) status = EnvStatus::bad_input;
  if (status != EnvStatus::solved) {
    report(g, result, env, status, Limits<double>::infinity, 0, Solver::automatic, rows_needed);
    return;
  }
  g.once([&] { *scratch.problem = view; });
  const EnvProblem<In>& p = *scratch.problem;
  enter_circular_coordinates(g, p, o.law, scratch.view);
  Judge<In>& judge = scratch.judge;
  judge.law = o.law;
  const double b_max = g.max(p.n, [&](int i) { return abs(double(p.b[i])); });
  judge.tolerance = tolerance_of(o, b_max);
  judge.near = b_max > 0.0 ? judge.tolerance / b_max * (judge.tolerance / b_max) : 1.0;
  judge.best = impulse;
  judge_start(g, p, judge);
  int iterations = 0;
  Solver solver = solver_of(stage_of(o, 0).method);
  if (p.n > 0 && (!judge.solved() || o.exact_sweeps)) {
    scale_problem(g, p, o.law, scratch.scaled);
    for (int index = 0;; ++index) {
      Stage stage = stage_of(o, index);
      if (stage.method == Method::none) break;
      stage.budget = affordable(stage, p.n);
      const double before = judge.best_residual;
      iterations += run_stage(g, p, stage, scratch);
      if (judge.best_residual < before) solver = solver_of(stage.method);
      if (judge.solved()) break;
    }
  }
  status = judge.solved() ? EnvStatus::solved : EnvStatus::not_converged;
  report(g, result, env, status, judge.best_residual, iterations, solver, rows_needed);
}

}  // namespace stickslip::kernels::inline SS_ISA
