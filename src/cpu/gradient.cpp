#include "stickslip/gradient.hpp"

#include "kernels/law/dispatch.hpp"
#include "src/api/check.hpp"
#include "src/cpu/workspace.hpp"

namespace stickslip {

namespace {

/// Runs f(kernels, begin, end, scratch) over the batch, with scratch for `nv` degrees of freedom.
template <class Scalar, class F>
void for_derivatives(const ProblemBatch<Scalar>& problem, int nv, Workspace& workspace, F&& f) {
  check_workspace(problem, workspace);
  check_bounds(problem);
  const auto& kernels = kernels::typed<Scalar>(kernels::kernel_table());
  Workspace::Impl& memory = impl_of(workspace);
  const auto turn = memory.caller.enter();
  memory.reserve(kernels.gradient_bytes(problem.max_rows, problem.max_contacts, nv));
  memory.for_chunks(problem.num_envs, memory.work_of(problem.max_rows),
                    [&](std::int64_t begin, std::int64_t end, void* scratch) {
                      f(kernels, begin, end, scratch);
                    });
}

/// Runs f(scratch) for the one environment of the mechanism m.
template <class F>
bool derive_without_W(const ProblemBatch<double>& problem, const SparseMechanism& m,
                      std::size_t (*bytes)(int nv, int max_rows, int max_contacts),
                      Workspace& workspace, F&& f) {
  require(problem.num_envs == 1, "problem.num_envs", "1", problem.num_envs);
  Workspace::Impl& memory = impl_of(workspace);
  const auto turn = memory.caller.enter();
  memory.reserve(bytes(m.tree.n, problem.max_rows, problem.max_contacts));
  return f(memory.scratch(0));
}

}  // namespace

template <class Scalar>
void solve_vjp(const ProblemBatch<Scalar>& problem, const SolutionBatch<Scalar>& solution,
               const LossBatch<Scalar>& loss, const GradientBatch<Scalar>& gradient,
               const SolveOptions& options, Workspace& workspace) {
  check_gradient(problem, solution, gradient, options);
  StepLoss<Scalar> all_loss;
  all_loss.contacts = loss;
  StepGradient<Scalar> all;
  all.contacts = gradient;
  for_derivatives(problem, kernels::kGivenMatrix, workspace,
                  [&](const auto& kernels, auto begin, auto end, void* scratch) {
                    kernels.vjp(problem, {}, solution, all_loss, all, options, begin, end, scratch);
                  });
}

template <class Scalar>
void solve_jvp(const ProblemBatch<Scalar>& problem, const SolutionBatch<Scalar>& solution,
               const ChangeBatch<Scalar>& change, const SolutionChange<Scalar>& result,
               const SolveOptions& options, Workspace& workspace) {
  check_change(problem, solution, change, result, options);
  for_derivatives(problem, kernels::kGivenMatrix, workspace,
                  [&](const auto& kernels, auto begin, auto end, void* scratch) {
                    kernels.jvp(problem, solution, change, result, options, begin, end, scratch);
                  });
}

template <class Scalar>
void step_vjp(const MechanismStep<Scalar>& step, const ProblemBatch<Scalar>& problem,
              const SolutionBatch<Scalar>& solution, const StepLoss<Scalar>& loss,
              const StepGradient<Scalar>& gradient, const SolveOptions& options,
              Workspace& workspace) {
  check_step_gradient(step, problem, solution, gradient, options);
  for_derivatives(problem, step.mechanism.nv, workspace,
                  [&](const auto& kernels, auto begin, auto end, void* scratch) {
                    kernels.vjp(problem, step, solution, loss, gradient, options, begin, end,
                                scratch);
                  });
}

bool solve_vjp(const ProblemBatch<double>& problem, const SparseMechanism& m,
               const SolutionBatch<double>& solution, const LossBatch<double>& loss,
               const GradientBatch<double>& gradient, const SolveOptions& options,
               Workspace& workspace) {
  require(gradient.W.data == nullptr, "gradient.W", "none", "an array");
  check_gradient(problem, solution, gradient, options, MatrixOf::mechanism);
  const auto& kernels = kernels::kernel_table();
  return derive_without_W(problem, m, kernels.sparse_gradient_bytes, workspace, [&](void* scratch) {
    return kernels.vjp_sparse(problem, m, solution, loss, gradient, options, scratch);
  });
}

bool solve_jvp(const ProblemBatch<double>& problem, const SparseMechanism& m,
               const SolutionBatch<double>& solution, const ChangeBatch<double>& change,
               const SolutionChange<double>& result, const SolveOptions& options,
               Workspace& workspace) {
  require(change.W.data == nullptr, "change.W", "none", "an array");
  check_change(problem, solution, change, result, options, MatrixOf::mechanism);
  const auto& kernels = kernels::kernel_table();
  return derive_without_W(problem, m, kernels.sparse_gradient_bytes, workspace, [&](void* scratch) {
    return kernels.jvp_sparse(problem, m, solution, change, result, options, scratch);
  });
}

bool solve_convex_vjp(const ProblemBatch<double>& problem, const SparseMechanism& m,
                      const SolutionBatch<double>& solution, const LossBatch<double>& loss,
                      const GradientBatch<double>& gradient, const SolveOptions& options,
                      Workspace& workspace) {
  require(options.law == Law::convex, "options.law", "convex", int(options.law));
  require(gradient.W.data == nullptr, "gradient.W", "none", "an array");
  check_gradient(problem, solution, gradient, options, MatrixOf::mechanism);
  const auto& kernels = kernels::kernel_table();
  return derive_without_W(problem, m, kernels.vjp_convex_bytes, workspace, [&](void* scratch) {
    return kernels.vjp_convex(problem, m, solution, loss, gradient, options, scratch);
  });
}

template <class Scalar>
void solve_with_vjp(const ProblemBatch<Scalar>& problem, const ResultBatch<Scalar>& result,
                    const LossBatch<Scalar>& loss, const GradientBatch<Scalar>& gradient,
                    const SolveOptions& options, Workspace& workspace) {
  const SolutionBatch<Scalar> solution{{result.impulse.data, result.impulse.stride}, result.status};
  check_solve(problem, result, options);
  check_gradient(problem, solution, gradient, options);
  if (sizeof(Scalar) == 4 || options.precision == Precision::float32) {  // scaled in float
    solve(problem, result, options, workspace);
    solve_vjp(problem, solution, loss, gradient, options, workspace);
    return;
  }
  check_workspace(problem, workspace);
  check_bounds(problem);
  const auto& kernels = kernels::typed<Scalar>(kernels::kernel_table());
  Workspace::Impl& memory = impl_of(workspace);
  const auto turn = memory.caller.enter();
  const std::int32_t n = problem.max_rows, contacts = problem.max_contacts;
  constexpr int nv = kernels::kGivenMatrix;
  memory.reserve(kernels.solve_bytes(n, contacts, kernels::lcp_directions(options), {}) +
                 kernels.gradient_bytes(n, contacts, nv));
  const kernels::Ladder& ladder = memory.ladder_of(options);
  const kernels::AdjointCall<Scalar> call{loss, gradient};
  memory.for_chunks(problem.num_envs, memory.work_of(n),
                    [&](std::int64_t begin, std::int64_t end, void* scratch) {
                      kernels.solve[int(options.precision)](problem, result, ladder, {}, begin, end,
                                                            scratch, kernels::Rungs::all, &call);
                    });
}

#define SS_INSTANTIATE(Scalar)                                                          \
  template void solve_vjp(const ProblemBatch<Scalar>&, const SolutionBatch<Scalar>&,    \
                          const LossBatch<Scalar>&, const GradientBatch<Scalar>&,       \
                          const SolveOptions&, Workspace&);                             \
  template void solve_jvp(const ProblemBatch<Scalar>&, const SolutionBatch<Scalar>&,    \
                          const ChangeBatch<Scalar>&, const SolutionChange<Scalar>&,    \
                          const SolveOptions&, Workspace&);                             \
  template void solve_with_vjp(const ProblemBatch<Scalar>&, const ResultBatch<Scalar>&, \
                               const LossBatch<Scalar>&, const GradientBatch<Scalar>&,  \
                               const SolveOptions&, Workspace&);                        \
  template void step_vjp(const MechanismStep<Scalar>&, const ProblemBatch<Scalar>&,     \
                         const SolutionBatch<Scalar>&, const StepLoss<Scalar>&,         \
                         const StepGradient<Scalar>&, const SolveOptions&, Workspace&);
SS_INSTANTIATE(double)
SS_INSTANTIATE(float)
#undef SS_INSTANTIATE

}  // namespace stickslip
