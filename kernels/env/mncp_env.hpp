// One mixed nonlinear complementarity problem, from its slot in the batch to its verdict.
#pragma once
#include "kernels/group/host_group.hpp"
#include "kernels/problem/env_problem.hpp"
#include "kernels/solver/lcp/nonlinear.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Solves environment `env` of the batch.
template <class G, class Call>
SS_HD void solve_mncp_env(const G& g, const MncpBatch& batch, const Call& call,
                          const MncpResult& result, const MncpOptions& o, std::int64_t env,
                          NonlinearScratch& scratch) {
  const auto number = [&](const EnvArray<const std::int32_t>& array, int absent) {
    return array.data == nullptr ? absent : *slot(array, env);
  };
  const int n_x = number(batch.n_x, batch.max_x), n_w = number(batch.n_w, batch.max_w);
  const auto report = [&](EnvStatus status, double residual, int iterations) {
    g.once([&] {
      result.status[env] = status;
      result.residual[env] = residual;
      result.iterations[env] = iterations;
    });
  };
  double *x = slot(result.x, env), *w = slot(result.w, env), *y = slot(result.y, env);
  g.for_each(batch.max_x, [&](int i) {
    x[i] = 0.0;
    if (y != nullptr) y[i] = 0.0;
  });
  g.for_each(batch.max_w, [&](int i) { w[i] = 0.0; });
  if (n_x < 0 || n_w < 0) return report(EnvStatus::bad_input, Limits<double>::infinity, 0);
  if (n_x > batch.max_x || n_w > batch.max_w)
    return report(EnvStatus::over_capacity, Limits<double>::infinity, 0);

  LcpJudge<double>& judge = scratch.judge;
  const NonlinearMap<Call> map{call,          int(env),         n_x,
                               n_x + n_w,     scratch.standard, judge,
                               scratch.point, scratch.value,    scratch.jacobian};
  int iterations = 0;
  if (!run_mncp(g, map, slot(batch.start_x, env), slot(batch.start_w, env), o, scratch, iterations))
    return report(EnvStatus::bad_input, Limits<double>::infinity, 0);
  g.for_each(n_x, [&](int i) { x[i] = judge.best[i]; });
  g.for_each(n_w, [&](int i) { w[i] = judge.best[n_x + i]; });
  if (y != nullptr) {
    map.evaluate(g, judge.best, false);
    g.for_each(n_x, [&](int i) { y[i] = map.value[i]; });
  }
  report(judge.solved() ? EnvStatus::solved : EnvStatus::not_converged, judge.best_residual,
         iterations);
}

/// Environments [begin, end) of a batch on one thread, until the work must end: a map that has
/// thrown has no values for the others.
template <class Call>
void solve_mncp_range(const MncpBatch& batch, const Call& call, const MncpResult& result,
                      const MncpOptions& o, std::int64_t begin, std::int64_t end, void* memory) {
  NonlinearScratch scratch(Arena(memory), batch.max_x + batch.max_w);
  const HostGroup g;
  for (std::int64_t env = begin; env < end && !stopped(g); ++env) {
    solve_mncp_env(g, batch, call, result, o, env, scratch);
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
