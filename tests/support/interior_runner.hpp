// Runs only the interior point or the continuation on one environment, on any group.
#pragma once
#include "tests/support/env_runner.hpp"

namespace stickslip::support {

/// Its impulse for an environment of the batch, from rest; `finish`: with Newton steps at the end,
/// as the ladder runs it.
template <class G>
std::vector<double> run_path_alone(const G& g, const ProblemBatch<double>& batch, int env,
                                   kernels::Method method, bool finish,
                                   const SolveOptions& options = {}) {
  using namespace kernels;
  EnvMemory<double, double, double> memory(batch.max_rows, batch.max_contacts);
  memory.poison();
  auto scratch = memory.scratch();
  std::vector<double> impulse(std::size_t(batch.max_rows));
  EnvProblem<double> p{};
  int rows_needed = 0;
  open_problem(g, batch, env, scratch.view, p, rows_needed);
  check_values(g, p, facts_of(options.law).needs_symmetric_W);
  enter_circular_coordinates(g, p, facts_of(options.law).is_frictionless, scratch.view);
  open_judge(g, p, options, scratch.judge_memory, impulse.data(), nullptr, scratch.judge);
  judge_start(g, p, kernels::MatrixVelocity<double>{p}, scratch.judge, false);
  scale_and_select(g, p, options.law, scratch.scaled);
  measure_crowds(g, scratch.scaled);
  const Stage stage{.method = method, .budget = 500, .start = Start::zero};
  place_start<true>(g, p, stage, scratch.judge);
  Arena arena = scratch.stage;
  if (finish) {
    run_interior_stage(g, p, stage, scratch.scaled, arena, scratch.judge);
  } else {
    const LinearSystem<double> system(arena, p.n);
    const Continuation<double> w(arena, p.n, p.n_contacts, system);
    const auto nothing = [] { return 0; };
    Scaled<double>& s = scratch.scaled;
    if (method == Method::continuation) {
      run_continuation(g, p, s, w, stage.budget, stage.distance, scratch.judge, nothing);
    } else {
      run_interior(g, p, s, w.path, stage.budget, stage.distance, scratch.judge, nothing);
    }
  }
  return impulse;
}

}  // namespace stickslip::support
