// One linear complementarity problem, from its slot in the batch to its verdict.
#pragma once
#include "kernels/group/host_group.hpp"
#include "kernels/group/is_group.hpp"
#include "kernels/problem/env_problem.hpp"
#include "kernels/residual/tolerance.hpp"
#include "kernels/solver/lcp/reduce.hpp"
#include "kernels/solver/lcp/solve.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Fills the view of environment `env`; returns solved if its input is valid.
template <class G, class Scalar>
SS_HD EnvStatus open_lcp(const G& g, const LcpBatch<Scalar>& batch, const LcpOptions& o,
                         std::int64_t env, LcpProblem<Scalar>& p) {
  const auto number = [&](const EnvArray<const std::int32_t>& array, int absent) {
    return array.data == nullptr ? absent : *slot(array, env);
  };
  p.n = number(batch.rows, batch.max_rows);
  p.n_free = number(batch.n_free, 0);
  if (p.n < 0 || p.n_free < 0 || p.n_free > p.n) return EnvStatus::bad_input;
  if (p.n > batch.max_rows) return EnvStatus::over_capacity;
  p.ld_M = batch.ld_M > 0 ? batch.ld_M : batch.max_rows;
  p.M = slot(batch.M, env);
  p.q = slot(batch.q, env);
  p.lo = slot(batch.lo, env);
  p.hi = slot(batch.hi, env);
  p.start = slot(batch.start, env);
  p.findex = slot(batch.findex, env);
  p.cfm = o.cfm;
  const bool broken = g.any(p.n, [&](int i) { return !lcp_row_is_valid(p, i); });
  return broken ? EnvStatus::bad_input : EnvStatus::solved;
}

template <class G, class Scalar>
SS_HD void report_lcp(const G& g, const LcpResult<Scalar>& result, std::int64_t env,
                      EnvStatus status, double residual, int iterations, LcpMethod method) {
  g.once([&] {
    result.status[env] = status;
    result.residual[env] = residual;
    result.iterations[env] = iterations;
    result.method[env] = method;
  });
}

/// Solves environment `env` of the batch.
template <class Real, IsGroup G, class Scalar>
SS_HD void solve_lcp_env(const G& g, const LcpBatch<Scalar>& batch, const LcpResult<Scalar>& result,
                         const LcpOptions& o, std::int64_t env, LcpScratch<Real, Scalar> scratch) {
  Scalar* z = slot(result.z, env);
  Scalar* w = slot(result.w, env);
  g.for_each(batch.max_rows, [&](int i) {
    z[i] = Scalar(0);
    if (w != nullptr) w[i] = Scalar(0);
  });
  LcpProblem<Scalar> p{};
  EnvStatus status = open_lcp(g, batch, o, env, p);
  if (status != EnvStatus::solved) {
    report_lcp(g, result, env, status, Limits<double>::infinity, 0, LcpMethod::automatic);
    return;
  }
  LcpJudge<Scalar>& judge = scratch.judge;
  judge.best = z;
  const double q_max = g.max(p.n, [&](int i) { return abs(double(p.q[i])); });
  judge.tolerance = tolerance_of(o.atol, o.rtol, o.precision, q_max);
  const LcpOutcome out = run_lcp<Real>(g, p, o, scratch);
  status = judge.solved()   ? EnvStatus::solved
           : out.infeasible ? EnvStatus::infeasible
                            : EnvStatus::not_converged;
  const double found = lcp_residual(g, p, z, judge.w);
  if (!judge.solved()) judge.best_residual = found + lcp_rounding(g, p, z, judge.w);
  if (w != nullptr) g.for_each(p.n, [&](int i) { w[i] = Scalar(judge.w[i]); });
  report_lcp(g, result, env, status, judge.best_residual, out.iterations, out.method);
}

/// Eliminates the free variables of environment `env`.
template <class G, class Out>
SS_HD void eliminate_env(const G& g, const LcpBatch<double>& batch, const Out& out,
                         std::int64_t env, LcpScratch<double, double> scratch) {
  LcpProblem<double> p{};
  const EnvStatus opened = open_lcp(g, batch, LcpOptions{}, env, p);
  int rank = 0;
  if (opened == EnvStatus::solved) {
    standardise(g, p, scratch.standard);
    LemkeScratch<double> lemke(scratch.attempt, scratch.standard.m, nullptr);
    rank = reduce_dictionary(g, scratch.standard, lemke.dictionary, lemke_slack(0));
    const auto read = [&](int variable, double* row, double& constant) {
      read_reduced_row(g, scratch.standard, lemke.dictionary, p.n_free, variable, row, constant);
    };
    for (int i = p.n_free; i < p.n; ++i) {
      const int k = i - p.n_free;
      read(i, slot(out.A, env) + std::int64_t(k) * out.ld, slot(out.q, env)[k]);
    }
    for (int i = 0; i < p.n_free; ++i) {
      read(i, slot(out.T, env) + std::int64_t(i) * out.ld, slot(out.t, env)[i]);
    }
  }
  g.once([&] {
    out.status[env] = rank < 0 ? EnvStatus::infeasible : opened;
    out.rank[env] = rank < 0 ? -1 - rank : rank;
  });
}

/// Environments [begin, end) of a batch on one thread.
template <class Out>
void eliminate_range(const LcpBatch<double>& batch, const Out& out, std::int64_t begin,
                     std::int64_t end, void* memory) {
  const LcpScratch<double, double> scratch(Arena(memory), batch.max_rows, batch.max_rows);
  for (std::int64_t env = begin; env < end; ++env) {
    eliminate_env(HostGroup{}, batch, out, env, scratch);
  }
}

template <class Real, class Scalar>
void solve_lcp_range(const LcpBatch<Scalar>& batch, const LcpResult<Scalar>& result,
                     const LcpOptions& o, std::int64_t begin, std::int64_t end, void* memory) {
  const int max_m = standard_rows(batch.max_rows, batch.lo.data != nullptr);
  const LcpScratch<Real, Scalar> scratch(Arena(memory), batch.max_rows, max_m);
  for (std::int64_t env = begin; env < end; ++env) {
    solve_lcp_env<Real>(HostGroup{}, batch, result, o, env, scratch);
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
