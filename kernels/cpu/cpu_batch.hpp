// The CPU batch loops: environments [begin, end) of a batch on one thread.
#pragma once
#include "kernels/delassus/delassus.hpp"
#include "kernels/delassus/matrix_source.hpp"
#include "kernels/env/adjoint_call.hpp"
#include "kernels/env/gradient_env.hpp"
#include "kernels/env/solve_env.hpp"
#include "kernels/group/host_group.hpp"
#include "kernels/residual/measures.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// solve_vjp of environment `env` after its solve, whose scratch has the scaled problem unless its
/// start was the solution.
template <class Factor>
SS_PART void vjp_in_scratch(const ProblemBatch<double>& batch, const ResultBatch<double>& result,
                            const AdjointCall<double>& call, const SolveOptions& o,
                            std::int64_t env, EnvScratch<double, Factor, double>& scratch) {
  const HostGroup g;
  const StepLoss<double> loss{{}, call.loss};
  StepGradient<double> out;
  out.contacts = call.gradient;
  const double* r = slot(result.impulse, env);
  clear_b(g, call.gradient, env, batch.max_rows);
  if (result.status[env] == EnvStatus::solved) {
    const EnvProblem<double>& p = *scratch.problem;
    if (scratch.scaled.n != p.n) scale_and_select(g, p, o.law, scratch.scaled);
    Arena arena = scratch.stage;
    const GradientScratch work(arena, batch.max_rows);
    const StepScratch<double> no_step(Arena(nullptr), 0, 0);
    differentiate_solved(g, p, scratch.scaled, r, MechanismStep<double>{}, loss, out, o, env,
                         batch.max_rows, work, false, no_step);
  } else {
    refuse_gradient(g, batch, 0, out, env, scratch.view);
  }
}

/// `adjoint`: also differentiates each environment, in the scratch of its solve; null: not.
template <class Real, class Factor, class Scalar>
void solve_range(const ProblemBatch<Scalar>& batch, const ResultBatch<Scalar>& result,
                 const Ladder& ladder, const MatrixSource<Scalar>& source, std::int64_t begin,
                 std::int64_t end, void* memory, Rungs rungs, const AdjointCall<Scalar>* adjoint) {
  const int directions = lcp_directions(ladder.options);
  const EnvScratch<Real, Factor, Scalar> scratch(Arena(memory), batch.max_rows, batch.max_contacts,
                                                 directions, kind_of(source));
  for (std::int64_t env = begin; env < end; ++env) {
    const auto differentiate = [&](auto& solved) {
      if constexpr (sizeof(Real) == 8 && sizeof(Scalar) == 8) {
        if (adjoint != nullptr)
          vjp_in_scratch(batch, result, *adjoint, ladder.options, env, solved);
      }
    };
    Rungs next = rungs;
    if constexpr (sizeof(Factor) == 8 && sizeof(Scalar) == 8) {
      if (rungs != Rungs::later && begins_without_W(source, ladder, usable_rows(batch, env))) {
        solve_sparse_env(HostGroup{}, source, batch, result, ladder, env, memory);
        if (rungs == Rungs::opening || result.status[env] != EnvStatus::not_converged) continue;
        next = Rungs::later;
      }
    }
    solve_env<Real, Factor>(HostGroup{}, batch, result, ladder, env, scratch, next, source,
                            differentiate);
  }
}

/// Opens environment `env` in the scratch; false if its input is not valid.
template <class Scalar, class Scratch>
bool open_usable(const ProblemBatch<Scalar>& batch, std::int64_t env, Law law,
                 const Scratch& scratch, EnvProblem<Scalar>& p) {
  const HostGroup g;
  int rows = 0;
  if (open_problem(g, batch, env, scratch.view, p, rows) != EnvStatus::solved) return false;
  if (!check_values(g, p, facts_of(law).needs_symmetric_W)) return false;
  enter_circular_coordinates(g, p, facts_of(law).is_frictionless, scratch.view);
  return true;
}

template <class Scalar>
void measure_range(const ProblemBatch<Scalar>& batch, EnvArray<const Scalar> impulse, Law law,
                   Measures* measures, int directions, std::int64_t begin, std::int64_t end,
                   void* memory) {
  const EnvScratch<double, double, Scalar> scratch(Arena(memory), batch.max_rows,
                                                   batch.max_contacts);
  for (std::int64_t env = begin; env < end; ++env) {
    EnvProblem<Scalar> p{};
    measures[env] = Measures{};
    measures[env].residual = Limits<double>::infinity;
    if (!open_usable(batch, env, law, scratch, p)) continue;
    p.directions = directions;
    measures[env] = measure_impulse(HostGroup{}, p, law, slot(impulse, env), scratch.judge_memory.u,
                                    scratch.judge_memory.e);
  }
}

template <class Scalar>
void certify_range(const ProblemBatch<Scalar>& batch, EnvArray<const double> certificate,
                   const SolveOptions& o, std::uint8_t* holds, std::int64_t begin, std::int64_t end,
                   void* memory) {
  const EnvScratch<double, double, Scalar> scratch(Arena(memory), batch.max_rows,
                                                   batch.max_contacts);
  const HostGroup g;
  for (std::int64_t env = begin; env < end; ++env) {
    EnvProblem<Scalar> p{};
    holds[env] = 0;
    if (!open_usable(batch, env, o.law, scratch, p)) continue;
    const double b_max = g.max(p.n, [&](int i) { return abs(double(p.b[i])); });
    const double tolerance = tolerance_of(o.atol, o.rtol, o.precision, b_max);
    holds[env] = certificate_holds(g, p, tolerance, slot(certificate, env)) ? 1 : 0;
  }
}

template <class Scalar>
void delassus_range(const MechanismBatch<Scalar>& batch, EnvArray<Scalar> W, int ld_W,
                    std::int32_t* ok, std::int64_t begin, std::int64_t end, void* memory) {
  const DelassusScratch<Scalar> scratch(Arena(memory), batch.nv, batch.max_rows);
  for (std::int64_t env = begin; env < end; ++env) {
    form_delassus(HostGroup{}, batch, W, ld_W, ok, env, scratch);
  }
}

template <class Scalar>
void apply_range(const MechanismBatch<Scalar>& batch, EnvArray<const Scalar> impulse,
                 EnvArray<const Scalar> v_free, EnvArray<Scalar> v_next, std::int32_t* ok,
                 std::int64_t begin, std::int64_t end, void* memory) {
  const DelassusScratch<Scalar> scratch(Arena(memory), batch.nv, batch.max_rows);
  for (std::int64_t env = begin; env < end; ++env) {
    apply_env_impulse(HostGroup{}, batch, impulse, v_free, v_next, ok, env, scratch);
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
